"""What ``othello-lab run --help`` prints: the project's YAMLs, which explain
themselves."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import yaml

from othello_lab.agents.config import choices, conf_folder

USAGE = """\
Play a line-up of agents against each other, and report.

  othello-lab run [key=value ...]         one run
  othello-lab run -m depth=1,2,3,4 ...    a sweep: one run for each combination;
                                                    keys with zip(a,b,c) vary together
  othello-lab run --cfg job [...]         show the configuration, do not run
  othello-lab run --config-dir DIR [...]  also use the YAMLs in DIR

Two agents meet without any file:
  agents=duel agent@first=alphabeta agent@second=greedy first.depth=5
  agents=duel agent@first=./mine.py:MyAgent agent@second=greedy       (a class of yours)
One agent of a line-up is changed with agents.NAME.key=value, of a duel with first.key=value; its
heuristic is first.evaluation=iago, with settings first.evaluation.KEY=VALUE. A function of yours:
  evaluation=./mine.py:hollow    first.evaluation=./mine.py:hollow
"""

EXPLAINED_ELSEWHERE = ("agents", "agent", "evaluation")
"""Groups whose options have settings of their own; ``othello-lab agents list`` explains most."""


def run_help(folders: Sequence[str] = ()) -> str:
    """The choices and all settings of a run, with the comments that stand beside them.

    folders: further folders of YAMLs.
    """
    text = (conf_folder() / "run.yaml").read_text(encoding="utf-8")
    listed = [item for item in yaml.safe_load(text)["defaults"] if isinstance(item, dict)]
    defaults = {group: name for item in listed for group, name in item.items()}
    # The choices are the first paragraph, Hydra's own settings the last.
    settings = text.partition("\n\n")[2].partition("\n\nhydra:")[0]
    parts = [
        USAGE,
        "== Choices, as group=option, and below each its own settings, as group.key=value ==",
        "(othello-lab agents list explains agents, evaluations and line-ups)",
        "",
    ]
    for group in EXPLAINED_ELSEWHERE:
        options = f"{group}: {', '.join(choices(group, folders))}"
        parts.append(textwrap.fill(options, 100, subsequent_indent="  "))
    groups = {path.name for path in conf_folder().iterdir() if path.is_dir()}
    # study --help and selfplay --help explain these.
    for group in sorted(groups - {*EXPLAINED_ELSEWHERE, "study", "train", "data"}):
        parts.append("")
        for name, comment in choices(group, folders).items():
            mark = " (default)" if defaults.get(group) == name else ""
            parts.append(f"{group}={name}{mark}: {comment}")
            if group != "experiment":
                parts += _settings_of(f"{group}/{name}.yaml", comment, folders)
    parts += [
        "",
        "== Settings, as key=value or part.key=value; here with their defaults ==",
        settings,
    ]
    return "\n".join(parts) + "\n"


def _settings_of(file: str, comment: str, folders: Sequence[str]) -> list[str]:
    """The lines of an option's file, without those that say what it is."""
    paths = (folder / file for folder in (conf_folder(), *map(Path, folders)))
    text = next(path for path in paths if path.is_file()).read_text(encoding="utf-8")
    told = {f"# {comment}", f"name: {Path(file).stem}"}
    lines = [line for line in text.splitlines() if "@package" not in line]
    return [
        f"    {line}"
        for line in lines
        if line.strip() not in told and not line.strip().startswith("_target_:")
    ]
