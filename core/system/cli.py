"""The common part of the rooms' command lines."""

from __future__ import annotations

import argparse
import errno
import io
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from othello_lab.core.system.escaping import NARROW, visible
from othello_lab.core.system.processes import is_shortage
from othello_lab.core.system.settings import unknown_choice

DISTRIBUTION = "othello-strategy-lab"
"""The lab's name for pip."""

_LONGEST = 2000  # characters of a message
_BOARD = re.compile(r"-[-.*xobw]{14,}( .*)?", re.IGNORECASE | re.DOTALL)

Command = Callable[[Sequence[str]], int]
"""Does what its arguments say; returns the exit code."""


def dispatch(
    program: str,
    usage: str,
    commands: Mapping[str, Command],
    arguments: Sequence[str] | None,
    failures: Mapping[type[Exception], int],
) -> int:
    """Run the command that the first of the arguments names; return the exit code: 2 if there is no
    such command, else as :func:`in_order`.

    usage: printed for ``--help``, or without arguments. arguments: None for those of this process.
    failures: exceptions that become one line, and the exit code of each.
    """
    name, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]

    def run() -> int:
        if name in ("--help", "-h"):
            print(usage, end="")
            return 0
        if name == "--version":
            from importlib import metadata  # takes a while

            print(f"Othello strategy lab {metadata.version(DISTRIBUTION)}")
            return 0
        if name in commands:
            return commands[name](rest)
        print(refusal(program, unknown_choice("command", name, sorted(commands))), file=sys.stderr)
        return 2

    return in_order(program, run, failures)


def in_order(program: str, run: Callable[[], int], failures: Mapping[type[Exception], int]) -> int:
    """Run a command line; return its exit code: that of ``run``, 130 after Ctrl-C, 141 if nobody
    reads its output any more.

    failures: exceptions that become one line, and the exit code of each. Errors of the system (a
    disk, memory) become one line too, with exit code 1.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # see core/__init__.py
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=NARROW)
    try:
        code = run()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        with suppress(OSError):  # Python would complain at its end of what it cannot print
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except tuple(failures) as error:
        print(refusal(program, error), file=sys.stderr)
        return next(code for kind, code in failures.items() if isinstance(error, kind))
    except (OSError, MemoryError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            # No such file, wherever it is looked for.
            print(refusal(program, f"{error.filename}: {error.strerror}"), file=sys.stderr)
            return 2
        if not isinstance(error, OSError) and not is_shortage(error):
            raise
        print(refusal(program, str(error) or "no memory is left"), file=sys.stderr)
        return 1


def refusal(program: str, said: object) -> str:
    """Return a program's message as one line, with the middle left out if it is long."""
    text = visible(said)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return f"{program}: {text}"


class Parser(argparse.ArgumentParser):
    """An argument parser that answers bad input with one line and exit code 2, and takes a board
    that begins with an empty square (``-X-XO...``) for a position, not for an option."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else args
        return super().parse_known_args(
            [f" {word}" if _BOARD.fullmatch(word) else word for word in words], namespace
        )

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{refusal(self.prog, message)}\n")


def seconds(text: str) -> float:
    """The type of an option that takes a time of more than 0 seconds."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: seconds of more than 0 are needed")
    return number


def whole_number(least: int, most: int | None = None) -> argparse._ActionType:
    """The type of an option that takes an integer of at least ``least``, at most ``most``."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is too small; {least} or more")
        if most is not None and number > most:
            raise argparse.ArgumentTypeError(f"{number} is too large; {most} or less")
        return number

    return convert
