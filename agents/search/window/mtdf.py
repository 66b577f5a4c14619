"""MTD(f): the value by bisection with windows of width 1 alone."""

from __future__ import annotations

from collections.abc import Mapping

from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import INFINITY
from othello_lab.agents.search.window.search import WindowSearch
from othello_lab.core.position import Position
from othello_lab.core.system.settings import explained


@explained
class MTDf(WindowSearch):
    """MTD(f): from a first guess, windows of width 1 move a lower and an upper bound of the value
    towards each other until they meet. Each pass repeats most of the one before, so it needs a
    transposition table to be worth anything, and a good guess. With iterative deepening the guess
    is the value of the last depth that is even or odd as this one is (even and odd depths differ);
    otherwise it is 0.

    Source: A. Plaat, J. Schaeffer, W. Pijls, A. de Bruin, *Best-first fixed-depth minimax
    algorithms* (1996).
    """

    def _check_together(self) -> None:
        if self.aspiration is not None:
            raise ValueError("aspiration: MTD(f) has no window that could be narrower")
        super()._check_together()

    def _check_twin(self) -> None:
        raise ValueError("MTD(f) has no plain twin: compiled: true and an evaluation that compiles")

    @property
    def bare(self) -> bool:
        return False

    def _at_depth(
        self, position: Position, depth: int, values: Mapping[int, int]
    ) -> tuple[int, tuple[int, ...]]:
        lower, upper = -int(INFINITY), int(INFINITY)
        alike = [plies for plies in values if (depth - plies) % 2 == 0]
        value = values[max(alike)] if alike else 0
        line: tuple[int, ...] = ()
        while lower < upper:
            beta = max(value, lower + 1)
            value, better = self._window(position, depth, beta - 1, beta)
            if better:
                line = better
                self._context[layout.ROOT_MOVE] = line[0]
            if layout.stopped(self._context):
                break
            if value < beta:
                upper = value
            else:
                lower = value
        return value, line
