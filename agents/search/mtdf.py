"""MTD(f): the value by bisection with windows of width 1 alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.search import context as layout
from agents.search.context import INFINITY
from agents.search.iterative import WindowSearch
from core.position import Position


class MTDf(WindowSearch):
    """MTD(f): from a first guess, windows of width 1 move a lower and an upper bound of the value
    towards each other until they meet. Each pass repeats most of the one before, so it needs a
    transposition table to be worth anything, and a good guess: with iterative deepening the value
    found two plies shallower (the values of even and odd depths differ), otherwise 0.

    Source: A. Plaat, J. Schaeffer, W. Pijls, A. de Bruin, *Best-first fixed-depth minimax
    algorithms* (1996).
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        if settings.get("aspiration") is not None:
            raise ValueError("aspiration: MTD(f) has no window that could be narrower")
        super().__init__(*args, **settings)

    @property
    def bare(self) -> bool:
        return False

    def _check_plain(self) -> None:
        raise ValueError("MTD(f) has no plain twin: compiled: true and an evaluation that compiles")

    def _at_depth(
        self, position: Position, depth: int, values: Sequence[int]
    ) -> tuple[int, tuple[int, ...]]:
        lower, upper = -int(INFINITY), int(INFINITY)
        value = values[-2]
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
