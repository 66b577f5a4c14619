"""The commands of ``othello-lab core``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from othello_lab.core.perft import perft
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS, Ruleset, ruleset
from othello_lab.core.system.cli import Command, Parser, whole_number

HELP = """\
usage: othello-lab core perft [--depth DEPTH] [--ruleset NAME]

  perft    count the sequences of plies from the start    (perft --help)
"""


DEEPEST = 16
"""Plies of perft; the next one would take weeks."""


def perft_command(arguments: Sequence[str]) -> int:
    """``perft``: count."""
    parser = Parser(
        prog="othello-lab core perft",
        description="Print DEPTH COUNT for each depth from 1: how many sequences of plies there "
        "are from the starting position. A pass is a ply; a finished game is one leaf at any "
        "remaining depth.",
    )
    parser.add_argument(
        "--depth", type=whole_number(1, DEEPEST), default=8, help="greatest depth (default 8)"
    )
    add_ruleset(parser)
    options = parser.parse_args(arguments)
    start = Position.start(options.ruleset)
    for depth in range(1, options.depth + 1):
        count = perft(start, depth, announce=lambda line: print(line, file=sys.stderr))
        print(depth, count, flush=True)
    return 0


def add_ruleset(parser: argparse.ArgumentParser) -> None:
    """Declare the option ``--ruleset``. Its value is a :class:`~core.rules.Ruleset`."""
    parser.add_argument(
        "--ruleset",
        type=_ruleset,
        default="standard",
        metavar="NAME",
        help=f"one of {', '.join(RULESETS)} (default standard)",
    )


def _ruleset(name: str) -> Ruleset:
    try:
        return ruleset(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


COMMANDS: dict[str, Command] = {"perft": perft_command}
