"""``othello-lab agents isolation``: the promises on agents from outside that hold here."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Console

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.promises import broken, promises, system_facts


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "isolation",
        help="the promises on agents from outside that hold here",
        description="Print the means of this kernel and user to keep agents from outside the lab "
        "apart, and the promises of docs/security.md that hold by them. The exit code is 1 if a "
        "promise does not hold.",
    )
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Print the facts and the promises; return 1 if a promise does not hold, else 0."""
    console.print(plain(system_facts()), soft_wrap=True)
    console.print("What is promised of a closed agent, and by what:")
    for promise in promises():
        holds = "yes" if promise.holds else "NO "
        console.print(plain(f"{holds}  {promise.text} ({promise.needs})"), soft_wrap=True)
    return 1 if broken() else 0
