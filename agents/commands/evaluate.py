"""``othello-lab agents evaluate``: values of heuristics at a position."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from othello_lab.agents.commands.shared import (
    add_config_dir,
    announce,
    chosen_evaluations,
    empty_table,
)
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.terms import EvaluationTerms, worth, worth_of_moves
from othello_lab.core.command_line import add_ruleset
from othello_lab.core.notation import is_obf, square_name
from othello_lab.core.position import Position
from othello_lab.core.system.escaping import plain

_SHOWN = 4  # moves of each evaluation where all are listed


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="values of heuristics at a position",
        description="Print a position and the values that all evaluations give it, now and after "
        "the best moves; or those of one evaluation after each move, with its parts.",
    )
    parser.add_argument("position", help='an OBF line ("---...XO... X") or a transcript (f5d6c3)')
    parser.add_argument(
        "--evaluation",
        default="all",
        metavar="NAME",
        help="a name of `agents list evaluations` or path/to/file.py:function, shown with its "
        "parts; or all (default), a line each",
    )
    add_config_dir(parser, "know")
    add_ruleset(parser)
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> None:
    """Print the board, and the values of one evaluation with their parts, or those of all in a line
    each.

    Raises ValueError for bad input.
    """
    rules = options.ruleset
    read = Position.from_obf if is_obf(options.position) else Position.from_transcript
    position = read(options.position, rules)
    evaluations = chosen_evaluations(options.evaluation, rules.side, options.config_dir)
    for evaluation in evaluations.values():
        evaluation.prepare(announce)
    console.print(str(position), highlight=False)
    console.print()
    if len(evaluations) == 1:
        for name, evaluation in evaluations.items():
            console.print(_parts_table(name, evaluation, position))
    else:
        console.print(_overview(evaluations, position))
        console.print("--evaluation NAME shows one with its parts.")
    if not position.is_over:
        console.print("Values are to the side to move now; after a move, minus the opponent's.")


def _overview(evaluations: Mapping[str, Evaluation], position: Position) -> Table:
    """Return a table with a line for each evaluation: its value now, and after the best moves."""
    moves = f"after the best {_SHOWN} moves" if len(position.moves) > _SHOWN else "after each move"
    table = empty_table("evaluation", "now", moves, left=("evaluation", moves))
    for name, evaluation in evaluations.items():
        after = (
            f"{square_name(move)} {_value(-1, theirs)}"
            for move, theirs in worth_of_moves(evaluation, position)[:_SHOWN]
        )
        now = _value(1, worth(evaluation, position))
        table.add_row(*map(plain, (name, now, "  ".join(after))))
    return table


def _value(sign: int, terms: EvaluationTerms) -> str:
    """Return a value with its sign, of a finished game its discs."""
    if terms.value is None:
        return f"{sign * terms.discs:+d} discs"
    return f"{sign * terms.value:+d}"


def _parts_table(name: str, evaluation: Evaluation, position: Position) -> Table:
    """Return a table of the values of an evaluation, with their parts: now, and after each move."""
    now = worth(evaluation, position)
    made_of = f"game over: {now.discs:+d} discs" if now.value is None else now.made_of
    headings = (name, "value", "made of") if made_of else (name, "value")
    table = empty_table(*headings, left=(name, "made of"))
    rows = [("now", "-" if now.value is None else _value(1, now), made_of)]
    for move, theirs in worth_of_moves(evaluation, position):
        note = f"to the opponent: {theirs.made_of}" if theirs.parts else ""
        note = "the game is over" if theirs.value is None else note
        rows.append((square_name(move), _value(-1, theirs), note))
    for number, row in enumerate(rows):
        table.add_row(*map(plain, row[: len(table.columns)]), end_section=number == 0)
    return table
