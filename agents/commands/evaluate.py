"""``python -m agents evaluate``: what heuristics think of a position."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Console

from agents.commands.shared import announce, chosen_evaluations, empty_table
from agents.evaluation import Evaluation
from core.cli import add_ruleset
from core.notation import is_obf
from core.position import Position
from core.shown import plain


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="what heuristics think of a position, and why",
        description="Print a position and each evaluation's value of it, with the terms it is made "
        "of, now and after each legal move, best first.",
    )
    parser.add_argument("position", help='an OBF line ("---...XO... X") or a transcript (f5d6c3)')
    parser.add_argument(
        "--evaluation",
        default="all",
        metavar="NAME",
        help="one of python -m agents list evaluations, path/to/file.py:function, or all (default)",
    )
    add_ruleset(parser)
    parser.set_defaults(run=run)


def _worth(evaluation: Evaluation, position: Position) -> tuple[int | None, str]:
    """The value of a position to its mover and what it is made of; no value once it is over."""
    if position.is_over:
        return None, f"game over: {position.disc_difference:+d} discs"
    parts = evaluation.parts(position)
    return evaluation(position), "; ".join(f"{name} = {term:+g}" for name, term in parts.items())


def run(options: Namespace, console: Console) -> None:
    """Print the board, and each evaluation's value of it and after each move, best move first.
    ValueError for bad input."""
    rules = options.ruleset
    read = Position.from_obf if is_obf(options.position) else Position.from_transcript
    position = read(options.position, rules)
    evaluations = chosen_evaluations(options.evaluation, rules.side)
    for evaluation in evaluations.values():
        evaluation.prepare(announce)
    console.print(str(position), highlight=False)
    for name, evaluation in evaluations.items():
        console.print()
        value, made_of = _worth(evaluation, position)
        headings = (name, "value", "made of") if made_of else (name, "value")
        table = empty_table(*headings, left=(name, "made of"))
        now = ("now", "-" if value is None else f"{value:+d}", made_of)
        table.add_row(*map(plain, now[: len(table.columns)]))
        table.add_section()
        rows: list[tuple[float, str, str, str]] = []
        for move in position.legal_moves():
            after = position.play(move)
            theirs, made_of = _worth(evaluation, after)
            if theirs is None:
                # A finished game counts more than any promise, and is told in discs.
                discs = -after.disc_difference
                rows.append((discs * 1e9, move, f"{discs:+d} discs", "the game is over"))
            else:
                note = f"to the opponent: {made_of}" if made_of else ""
                rows.append((-theirs, move, f"{-theirs:+d}", note))
        for _, *cells in sorted(rows, key=lambda row: -row[0]):
            table.add_row(*map(plain, cells[: len(table.columns)]))
        console.print(table)
    if not position.is_over:
        console.print("Values are to the side to move now; after a move, minus the opponent's.")
