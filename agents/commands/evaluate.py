"""``othello-lab agents evaluate``: values of heuristics at a position."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Console

from othello_lab.agents.commands.shared import (
    add_config_dir,
    announce,
    chosen_evaluations,
    empty_table,
)
from othello_lab.agents.evaluation.terms import worth, worth_of_moves
from othello_lab.core.command_line import add_ruleset
from othello_lab.core.notation import is_obf, square_name
from othello_lab.core.position import Position
from othello_lab.core.system.escaping import plain


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="values of heuristics at a position, with their terms",
        description="Print a position and each evaluation's value of it, with its terms, now and "
        "after each legal move, best first.",
    )
    parser.add_argument("position", help='an OBF line ("---...XO... X") or a transcript (f5d6c3)')
    parser.add_argument(
        "--evaluation",
        default="all",
        metavar="NAME",
        help="a name of `agents list evaluations`, path/to/file.py:function, or all (default)",
    )
    add_config_dir(parser, "know")
    add_ruleset(parser)
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> None:
    """Print the board and each evaluation's value, now and after each move, best move first.

    Raises ValueError for bad input.
    """
    rules = options.ruleset
    read = Position.from_obf if is_obf(options.position) else Position.from_transcript
    position = read(options.position, rules)
    evaluations = chosen_evaluations(options.evaluation, rules.side, options.config_dir)
    for evaluation in evaluations.values():
        evaluation.prepare(announce)
    console.print(str(position), highlight=False)
    for name, evaluation in evaluations.items():
        console.print()
        now = worth(evaluation, position)
        value = "-" if now.value is None else f"{now.value:+d}"
        made_of = f"game over: {now.discs:+d} discs" if now.value is None else now.made_of
        headings = (name, "value", "made of") if made_of else (name, "value")
        table = empty_table(*headings, left=(name, "made of"))
        rows = [("now", value, made_of)]
        for move, theirs in worth_of_moves(evaluation, position):
            if theirs.value is None:
                cells = f"{-theirs.discs:+d} discs", "the game is over"
            else:
                note = f"to the opponent: {theirs.made_of}" if theirs.parts else ""
                cells = f"{-theirs.value:+d}", note
            rows.append((square_name(move), *cells))
        for number, row in enumerate(rows):
            table.add_row(*map(plain, row[: len(table.columns)]), end_section=number == 0)
        console.print(table)
    if not position.is_over:
        console.print("Values are to the side to move now; after a move, minus the opponent's.")
