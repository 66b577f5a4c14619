"""What the command lines of the packages share."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

from core.rules import RULESETS, Ruleset, ruleset
from core.shown import visible


class Parser(argparse.ArgumentParser):
    """An argument parser that answers bad input with one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {visible(message)}\n")


def add_ruleset(parser: argparse.ArgumentParser) -> None:
    """Declare the option ``--ruleset``, which gives a :class:`~core.rules.Ruleset`."""
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


def seconds(text: str) -> float:
    """The type of an option that takes a time of more than 0 seconds."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: seconds of more than 0 are needed")
    return number


def whole_number(least: int) -> argparse._ActionType:
    """The type of an option that takes an integer of at least ``least``."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is too small; {least} or more")
        return number

    return convert
