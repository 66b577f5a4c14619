"""``python -m agents``: what there is to play with."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.table import Table

from agents.config import choices
from core.cli import Parser

_GROUPS = {
    "agents": ("agent", "agents", "agent@first=NAME, or in a line-up"),
    "evaluations": ("evaluation", "evaluations", "evaluation=NAME"),
    "lineups": ("agents", "line-ups", "agents=NAME"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = Parser(prog="python -m agents", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    listing = commands.add_parser(
        "list",
        help="agents, evaluations and line-ups, a line each",
        description="List agents, evaluations and line-ups: what each is, and how it is chosen in "
        "python -m experiments run. Each is a YAML in conf/.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    listing.add_argument("kind", nargs="?", choices=sorted(_GROUPS), help="only these")
    options = parser.parse_args(arguments)
    console = Console()
    for kind in [options.kind] if options.kind else list(_GROUPS):
        group, title, use = _GROUPS[kind]
        table = Table.grid(padding=(0, 2))
        for name, description in choices(group).items():
            table.add_row(f"  [bold]{name}", description)
        console.print(f"[bold]{title}[/]  ({use})")
        console.print(table)
        console.print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
