"""Where the project's YAMLs are."""

from __future__ import annotations

from pathlib import Path

from othello_lab.core.system.settings import ConfigError

NAMED = ("agent", "evaluation")
"""Groups whose options may be the value of a setting of the same name."""
FILLED = ("data", "executor", "openings", "schedule", "study", "train")
"""Groups whose options get the defaults of their classes. Those of agents and evaluations are in
their YAMLs."""
NEEDS_A_TARGET = "function"
"""The evaluation that is made of a function of the user's, its setting ``target``."""


def conf_folder() -> Path:
    """The folder of the project's YAMLs: ``conf/`` in a checkout, ``conf/`` in an
    installed copy."""
    here = Path(__file__).resolve().parent.parent
    if (here / "conf" / "run.yaml").is_file():
        return here / "conf"
    raise ConfigError(f"no configuration folder beside {here / 'agents'}; install the lab again")


def check_folders(folders: list[Path]) -> None:
    """Check further folders of YAMLs; raises ConfigError.

    A file of the same name as one of the project's would never be used, because Hydra takes the
    first it finds and looks into the project's folder first.
    """
    ours = conf_folder()
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"--config-dir {folder}: no such folder")
        for own in sorted(ours.rglob("*.yaml")):
            name = own.relative_to(ours)
            other = folder / name
            if other.is_file() and not other.samefile(own):
                raise ConfigError(
                    f"--config-dir {folder}: {name} is named like a file of the lab, which would "
                    "be used instead; rename it"
                )
