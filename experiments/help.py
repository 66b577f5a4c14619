"""The text of ``othello-lab run --help``, made from the classes and the project's YAMLs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import yaml

from othello_lab.agents.composing import choices, conf_folder, settings_text
from othello_lab.core.system.files import read_text
from othello_lab.core.system.settings import as_yaml
from othello_lab.experiments.config import OBJECTS, RunConfig

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
    """Return the choices and all settings of a run, as the classes declare them.

    folders: further folders of YAMLs.
    """
    text = read_text(conf_folder() / "run.yaml")
    listed = [item for item in yaml.safe_load(text)["defaults"] if isinstance(item, dict)]
    defaults = {group: name for item in listed for group, name in item.items()}
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
            if group not in ("experiment", "ruleset"):
                parts += [f"    {line}" for line in settings_text(group, name, folders)]
    parts += [
        "",
        "== Settings, as key=value or part.key=value; here with their defaults ==",
        *as_yaml(RunConfig, {"name": "(of the line-up)"}, (*OBJECTS, "ruleset")),
    ]
    return "\n".join(parts) + "\n"
