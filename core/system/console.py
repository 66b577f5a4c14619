"""The console of all commands, and the typed text of the command."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from collections.abc import Sequence

from rich.console import Console

from othello_lab.core.system.cli import Command

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


def command_of(module: str, name: str) -> Command:
    """Return a command that a module of the lab defines: a function of arguments and a console.

    The module is imported when the command is called, so --help and a misspelt command answer at
    once.
    """

    def run(arguments: Sequence[str]) -> int:
        function = getattr(importlib.import_module(f"othello_lab.{module}"), name)
        code: int = function(arguments, make_console())
        return code

    return run
