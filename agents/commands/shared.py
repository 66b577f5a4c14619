"""What several commands of ``python -m agents`` need."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from typing import Any

from rich import box
from rich.table import Table

from agents.config import ConfigError, choices, load, load_evaluation
from agents.evaluation import Evaluation
from core.rules import RULESETS

NEEDS_A_TARGET = "function"
"""The evaluation that is nothing without a setting."""


def announce(line: str) -> None:
    """Say on the error stream what is being compiled, so that results stay clean."""
    print(line, file=sys.stderr)


def add_ruleset(parser: ArgumentParser) -> None:
    """Declare the option ``--ruleset``."""
    parser.add_argument(
        "--ruleset", default="standard", metavar="NAME", help=f"one of {', '.join(RULESETS)}"
    )


def folders_of(options: Namespace) -> list[str]:
    """The folder of ``--config-dir``, if there is one; ConfigError if it does not exist."""
    return [options.config_dir] if options.config_dir else []


def empty_table(*headings: str, left: Collection[str] = ()) -> Table:
    """A table for the terminal, without rows. Columns are for numbers, save those named in
    ``left``."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right")
    return table


def evaluation_settings(name: str) -> dict[str, Any]:
    """The settings of an evaluation, given by name or as ``path/to/file.py:function``."""
    if ":" in name:
        return load("evaluation", NEEDS_A_TARGET) | {"target": name}
    return load("evaluation", name)


def chosen_evaluations(name: str, side: int) -> dict[str, Evaluation]:
    """The evaluation of this name, or all that are made for a board of this size; ConfigError."""
    if name == "all":
        known = [known for known in choices("evaluation") if known != NEEDS_A_TARGET]
        found = {known: load_evaluation(known) for known in known}
        return {known: each for known, each in found.items() if side in each.sides}
    own = {"target": name} if ":" in name else {}
    kind = NEEDS_A_TARGET if own else name
    evaluation = load_evaluation(kind, **own)
    if side not in evaluation.sides:
        raise ConfigError(f"evaluation {kind} is not made for a board of {side}x{side}")
    return {name: evaluation}
