"""``othello-lab``: every command of the lab under one name, from any folder."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.cli import Command

HELP = """\
usage: othello-lab COMMAND ...

  run, resume, extend, watch, list, show, compare, report, verify, recover, export, plan, bench,
  openings      as python -m experiments COMMAND ...
  agents ...    as python -m agents ...
  play ...      as python -m play ...
  core ...      as python -m core ...
  completion    a script by which bash and zsh complete all this (completion --help)

othello-lab COMMAND --help explains each of them.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 2 for bad input, 130 after Ctrl-C."""
    from core.cli import dispatch
    from experiments.__main__ import COMMANDS, FAILURES

    if "" not in sys.path:
        sys.path.append("")  # last, so that no file there can stand in for one of the lab's
    from play.completion import completion_command

    packages = {name: _package(name) for name in ("agents", "play", "core")}
    return dispatch(
        "othello-lab",
        HELP,
        {**COMMANDS, **packages, "completion": completion_command},
        arguments,
        FAILURES,
    )


def _package(name: str) -> Command:
    def command(arguments: Sequence[str]) -> int:
        code: int = importlib.import_module(f"{name}.__main__").main(list(arguments))
        return code

    return command
