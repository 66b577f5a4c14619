"""What the command lines of the packages share."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """An argument parser that answers bad input with one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


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
