"""``othello-lab agents isolation``: the promises on agents from outside that hold here."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Console

from othello_lab.agents.commands.shared import empty_table
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.promises import promises, system_facts


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "isolation",
        help="the promises on agents from outside that hold here",
        description="Print the means of this kernel and user to keep agents from outside the lab "
        "apart, and the promises of docs/security.md that hold by them. Landlock and seccomp are "
        "used; control groups and namespaces are not. The exit code is 1 if a promise does not "
        "hold.",
    )
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Print the facts and the promises; return 1 if a promise does not hold, else 0."""
    for name, fact in system_facts().items():
        console.print(plain(f"{name:16} {fact}"), soft_wrap=True)
    headings = "an agent from outside", "holds", "by", "whom it binds"
    table = empty_table(*headings, left=headings)
    for promise in promises():
        table.add_row(
            promise.text,
            "yes" if promise.holds else "NO",
            promise.needs,
            "closed agents" if promise.closed else "all",
        )
    console.print()
    console.print(table)
    return 0 if all(promise.holds for promise in promises()) else 1
