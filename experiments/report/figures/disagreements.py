"""Boards with different moves of the two agents of a match."""

from __future__ import annotations

from collections.abc import Iterator

from othello_lab.core.notation import parse_square
from othello_lab.core.position import Position
from othello_lab.experiments.report.disagreements import JUDGE
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.board import boards, draw_board, turn_text
from othello_lab.experiments.report.figures.drawing import ReportFigure, signed, wrapped

DRAWN = 6
"""Positions that are drawn."""


def disagreement_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """The positions of a match in which the agents' moves differ most in value."""
    table = facts.disagreements
    if table is None or table.empty:
        return
    rows = table.head(DRAWN).to_dict("records")
    figure, places = boards(len(rows), 4.1)
    for axes, row in zip(places, rows, strict=True):
        position = Position.from_obf(row["position"], facts.plan.rules)
        labels, lines = {}, [turn_text(position)]
        for agent, name in zip(facts.plan.names, facts.names, strict=True):
            move, game, value = (row[f"{what} of {agent}"] for what in ("move", "game", "value"))
            labels[parse_square(move)] = signed(value)
            lines.append(wrapped(f"{name}: {move} {signed(value, 1)} (game {game})", 44))
        draw_board(axes, position, labels, "\n".join(lines))
    first, second = facts.names
    depth = facts.plan.settings.judging.depth
    yield ReportFigure(
        name="disagreements",
        title="Where they disagree most",
        caption=f"Positions in which {first} and {second} moved differently. A number on a "
        f"square is the mover's final lead in discs after that move, judged by {JUDGE} at depth "
        f"{depth}. The largest differences of {len(table)} such positions come first.",
        chart=figure,
        data=table,
    )
