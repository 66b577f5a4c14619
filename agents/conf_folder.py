"""The folder of the project's YAMLs."""

from __future__ import annotations

from pathlib import Path

from othello_lab.core.system.plain_yaml import checked_text
from othello_lab.core.system.settings import ConfigError

NAMED = ("agent", "evaluation")
"""Groups whose options may be the value of a setting of the same name."""
GROUPS_WITH_DEFAULTS = ("data", "executor", "openings", "schedule", "study", "train")
"""Groups whose options get the defaults of their classes. Those of agents and evaluations are in
their YAMLs."""
NEEDS_A_TARGET = "function"
"""The evaluation made of a user's function, its setting ``target``."""


def conf_folder() -> Path:
    """Return the folder ``conf/`` of a checkout or of an installed copy; raises ConfigError."""
    here = Path(__file__).resolve().parent.parent
    if (here / "conf" / "run.yaml").is_file():
        return here / "conf"
    raise ConfigError(f"no configuration folder beside {here / 'agents'}; install the lab again")


def check_folders(folders: list[Path]) -> None:
    """Check further folders of YAMLs; raises ConfigError.

    A file named like one of the project's is an error: Hydra looks into the project's folder first
    and would never use it.
    """
    ours = conf_folder()
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"--config-dir {folder}: no such folder")
        for path in sorted(ours.rglob("*.yaml")):
            name = path.relative_to(ours)
            other = folder / name
            if other.is_file() and not other.samefile(path):
                raise ConfigError(
                    f"--config-dir {folder}: {name} is named like a file of the lab, which would "
                    "be used instead; rename it"
                )
        for group in filter(Path.is_dir, ours.iterdir()):
            for path in sorted((folder / group.name).glob("*.yaml")):
                checked_text(path)
