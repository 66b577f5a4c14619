"""The console of all commands, and the typed text of the command."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from rich.console import Console

WIDTH_OF_FILES = 120  # columns where the output is no terminal that would tell its own


class ResultsConsole(Console):
    """A console that does without a reader: when the program that a run's output is piped into
    has ended, the run goes on."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        # Python itself would complain at the end that it cannot write what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_console() -> Console:
    """The console for results: wide enough for the tables also when written to a file."""
    console = ResultsConsole()
    return console if console.is_terminal else ResultsConsole(width=WIDTH_OF_FILES)


def as_typed(arguments: Sequence[str]) -> str:
    """The command line that starts the same run."""
    return "othello-lab " + shlex.join(arguments)
