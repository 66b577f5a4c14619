"""``othello-lab agents``: show agents and heuristics, evaluate positions, check agents."""

from __future__ import annotations

from rich.console import Console

from othello_lab.agents.commands import (
    check,
    evaluate,
    fit_probcut,
    isolation,
    listing,
    show,
    solve,
)
from othello_lab.core.system.cli import Parser, in_order


def make_parser() -> tuple[Parser, list[str]]:
    """Return the parser of all commands, and their names."""
    parser = Parser(prog="othello-lab agents", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    for command in (listing, show, evaluate, check, fit_probcut, solve, isolation):
        command.add(commands)
    return parser, list(commands.choices)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code; 2 is for bad input (see also the commands)."""
    options = make_parser()[0].parse_args(arguments)
    program = f"othello-lab agents {options.command}"
    return in_order(program, lambda: options.run(options, Console()) or 0, {ValueError: 2})
