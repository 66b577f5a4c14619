"""A judge of moves that favours neither of two agents: one search for every move, or the solver."""

from __future__ import annotations

from typing import Any

from othello_lab.agents.evaluation import FINAL_UNIT, Evaluation
from othello_lab.agents.search import PVS
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import square_name
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Announce
from othello_lab.experiments.report.late_moves import judged

_TABLE_MB = 16
LEAST_DEPTH = 3
"""Plies; after a move, the shallower of two searches has one left."""


class NeutralJudge:
    """Values of moves in discs, to the mover.

    The search is PVS with a table, and with no selective technique, so its values are minimax's.
    Even and odd depths differ by one to two discs; therefore a move's value is the mean of two
    searches, ``depth`` and ``depth - 1`` plies from the position before it.
    """

    def __init__(self, evaluation: Evaluation, depth: int, per_disc: int, empties: int) -> None:
        """per_disc: units of the evaluation that stand for one disc. empties: the largest number of
        empty squares of a position that the solver judges instead."""
        self._search = PVS(
            depth,
            evaluation,
            ordering="tt+mobility+history",
            table_mb=_TABLE_MB,
            etc=True,
            iterative=True,
        )
        self._solver = EndgameSolver(_TABLE_MB)
        self.per_disc, self.empties = per_disc, empties

    def prepare(self, announce: Announce | None = None) -> None:
        """Compile search and solver."""
        self._search.prepare(announce)
        self._solver.prepare(announce)

    def judged(self, position: Position, move: int) -> dict[str, Any]:
        """Compare a move with the best one: ``position`` (OBF); ``move`` and ``best``, names of
        squares; ``score``, the best value; ``loss``, the best value less the move's, at least 0;
        ``is_best``; ``exact``, true if the solver judged."""
        if position.empties <= self.empties:
            row = judged(position, move, self._solver)
            return {**{key: row[key] for key in row if key != "turning"}, "exact": True}
        values = self.values(position)
        best = max(values, key=values.__getitem__)
        loss = values[best] - values[move]
        return {
            "position": position.to_obf(),
            "move": square_name(move),
            "best": square_name(best),
            "score": values[best],
            "loss": loss,
            "is_best": loss == 0,
            "exact": False,
        }

    def values(self, position: Position) -> dict[int, float]:
        """Return the searched value of each legal move."""
        after = {move: position.play(move) for move in position.moves}
        totals = dict.fromkeys(after, 0.0)
        keep = False
        # All moves at one depth before the next: what the table holds is then never of a deeper
        # search than the one that asks, which would be of the other parity.
        for plies in (self._search.depth - 2, self._search.depth - 1):
            for move, reply in after.items():
                totals[move] -= self._value(reply, plies, keep) / 2
                keep = True
        return totals

    def _value(self, position: Position, plies: int, keep: bool) -> float:
        """Return the value of a position to its mover. keep: use what the table holds."""
        if position.is_over:
            return float(position.disc_difference)
        value = self._search.search(position, plies, keep=keep).value
        assert value is not None  # nothing limits the search
        return value / (FINAL_UNIT if abs(value) >= FINAL_UNIT else self.per_disc)
