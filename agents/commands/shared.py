"""What several commands of ``python -m agents`` need."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Collection

from rich import box
from rich.table import Table

from agents.config import NEEDS_A_TARGET, ConfigError, choices, load_evaluation
from agents.evaluation import Evaluation
from core.shown import plain, visible


def announce(line: str) -> None:
    """Say on the error stream what is being compiled, so that results stay clean."""
    print(visible(line), file=sys.stderr)


def add_config_dir(parser: ArgumentParser, use: str) -> None:
    """Declare the option ``--config-dir``, which gives a list of no or one folder."""
    words = f"also {use} the YAMLs in DIR, a folder of your own"
    parser.add_argument("--config-dir", nargs=1, default=[], metavar="DIR", help=words)


def empty_table(*headings: str, left: Collection[str] = ()) -> Table:
    """A table for the terminal, without rows. Columns are for numbers, save those named in
    ``left``."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(plain(heading), justify="left" if heading in left else "right")
    return table


def chosen_evaluations(name: str, side: int) -> dict[str, Evaluation]:
    """The evaluation of this name, or all that are made for a board of this size; ConfigError."""
    if name == "all":
        known = [known for known in choices("evaluation") if known != NEEDS_A_TARGET]
        found = {known: load_evaluation(known) for known in known}
        return {known: each for known, each in found.items() if side in each.sides}
    evaluation = load_evaluation(name)
    if side not in evaluation.sides:
        raise ConfigError(f"evaluation {name} is not made for a board of {side}x{side}")
    return {name: evaluation}
