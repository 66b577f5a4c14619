"""The family of window searches: one set of settings, and the way from depth to depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from agents.base import Decision, Limits, SearchStats
from agents.evaluation import FINAL_UNIT, Evaluation
from agents.search import context as layout
from agents.search.base import SearchAgent
from agents.search.context import INFINITY, MAX_DEPTH
from agents.search.endgame.solver import EndgameSolver
from agents.search.limits import allotment
from agents.search.window import plain
from agents.search.window.negamax import negamax
from agents.search.window.ordering import Ordering, forget_cutoffs, set_static
from agents.search.window.probcut import ProbCut
from agents.search.window.selective import taper_widths
from agents.search.window.transposition import NO_MOVE, Table, check_size, new_generation
from core.compile import Announce, prepare
from core.position import Position

_ROOT = np.int64(0)


class WindowSearch(SearchAgent):
    """Minimax's value by alpha-beta windows, with any of the techniques.

    ordering: which moves are tried first; see :mod:`agents.search.window.ordering`.
    table_mb: size of the transposition table in MB, None for none.
    iterative: iterative deepening: depth 1, then 2, and so on, each with the best move of the one
        before first at the root; a limit on time or nodes then costs the last depth only.
    step: plies from one depth of iterative deepening to the next, 1 or more, so that ``depth`` is
        the last. With 2 only even or only odd depths are searched: their values are more alike, and
        it is fewer nodes in all, but a search that is stopped has lost more.
    aspiration: half the width, in units of the evaluation, of a first window around the value of
        the depth before; None for the full window. Needs ``iterative``.
    etc: enhanced transposition cutoffs. Needs a table.
    probcut: True for Multi-ProbCut with the parameters fitted for this evaluation in
        ``conf/probcut``, or the path of a file written by ``python -m agents fit-probcut``.
    probcut_confidence: standard deviations by which a check has to be clear, more than 0.
    taper: how many moves are searched, by ply and rank of the move before (see
        :func:`agents.search.window.selective.taper_widths`), None for all.
    singular_margin: by how much a move's evaluation has to exceed all others' for it to be
        searched a ply deeper, 0 or more; None for never.
    singular_plies: how often a line may be extended so, 1 or more.
    endgame: empty squares from which on the position is solved exactly instead, 0 for never; first
        who wins, then by how much. Under a limit on time or nodes half of it is spent on that, and
        if it was not enough to prove a win or a draw the rest on the ordinary search.
    endgame_table_mb: size of the solver's own table.
    The rest as in :class:`agents.search.SearchAgent`.

    Raises ValueError where the settings contradict each other.
    """

    null_windows: ClassVar[bool] = False
    """Whether moves after the first are tried with a window of width 1 (PVS)."""

    def __init__(
        self,
        depth: int,
        evaluation: Evaluation,
        compiled: bool = True,
        *,
        ordering: str = "none",
        table_mb: int | None = None,
        iterative: bool = False,
        step: int = 1,
        aspiration: int | None = None,
        etc: bool = False,
        probcut: bool | str | Path | None = None,
        probcut_confidence: float = 1.5,
        taper: Sequence[int | Sequence[int]] | None = None,
        singular_margin: int | None = None,
        singular_plies: int = 2,
        endgame: int = 0,
        endgame_table_mb: int = 16,
    ) -> None:
        self.ordering = Ordering.parse(ordering)
        self.table_mb = table_mb
        self.iterative = iterative
        self.step = step
        self.aspiration = aspiration
        self.etc = etc
        self.probcut = ProbCut.of(probcut, evaluation) if probcut else None
        self.probcut_confidence = probcut_confidence
        self.widths = None if taper is None else taper_widths(taper)
        self.singular_margin = singular_margin
        self.singular_plies = singular_plies
        self.endgame = endgame
        if endgame:
            check_size("endgame_table_mb", endgame_table_mb)
        self.solver = EndgameSolver(endgame_table_mb) if endgame else None
        self._check_settings()
        super().__init__(depth, evaluation, compiled)
        if not self.compiled:
            self._check_plain()

    def _check_settings(self) -> None:
        if self.ordering.needs_table and self.table_mb is None:
            raise ValueError(f"ordering {str(self.ordering)!r} needs a table; set table_mb")
        if self.etc and self.table_mb is None:
            raise ValueError("etc (enhanced transposition cutoffs) needs a table; set table_mb")
        if type(self.step) is not int or self.step < 1:
            raise ValueError(f"step {self.step!r}: 1 or more plies are needed")
        if self.step > 1 and not self.iterative:
            raise ValueError(f"step {self.step} is that of iterative deepening; set iterative")
        if self.aspiration is not None:
            if type(self.aspiration) is not int or self.aspiration < 1:
                raise ValueError(f"aspiration {self.aspiration!r}: 1 or more, or null, is needed")
            if not self.iterative:
                raise ValueError("aspiration needs the value of the depth before; set iterative")
        if not 0 < self.probcut_confidence < 100:
            raise ValueError(f"probcut_confidence {self.probcut_confidence!r}: more than 0 needed")
        if self.widths is not None and not self.ordering.criteria:
            raise ValueError("taper keeps the best-looking moves; set an ordering")
        if self.singular_margin is not None and (
            type(self.singular_margin) is not int or self.singular_margin < 0
        ):
            raise ValueError(f"singular_margin {self.singular_margin!r}: 0 or more, or null")
        if type(self.singular_plies) is not int or self.singular_plies < 1:
            raise ValueError(f"singular_plies {self.singular_plies!r}: 1 or more is needed")
        if type(self.endgame) is not int or not 0 <= self.endgame <= 60:
            raise ValueError(f"endgame {self.endgame!r}: 0 (never) to 60 empty squares")

    def _check_plain(self) -> None:
        beyond = {
            "table_mb": self.table_mb is not None,
            "iterative": self.iterative,
            "probcut": self.probcut is not None,
            "taper": self.widths is not None,
            "singular_margin": self.singular_margin is not None,
            "endgame": self.endgame > 0,
        }
        for setting, used in beyond.items():
            if used:
                raise ValueError(
                    f"{setting}: only the compiled search has it; it needs compiled: true and an "
                    "evaluation that compiles"
                )

    # ------------------------------------------------------------------ what it is

    @property
    def selective(self) -> bool:  # type: ignore[override]
        """Whether it may miss minimax's value."""
        return bool(self.probcut) or self.widths is not None or self.singular_margin is not None

    @property
    def bare(self) -> bool:
        """Whether every technique is off."""
        return not (
            self.ordering.criteria
            or self.table_mb is not None
            or self.iterative
            or self.null_windows
            or self.selective
        )

    # ------------------------------------------------------------------ memory

    def _make_context(self) -> None:
        super()._make_context()
        context = self._context
        self._table = None if self.table_mb is None else Table(self.table_mb)
        if self._table is not None:
            self._table.attach(context)
        context[layout.NULL_WINDOWS] = self.null_windows
        context[layout.ENHANCED_CUTOFFS] = self.etc
        context[layout.TABLE_MOVES] = self.ordering.needs_table
        context[layout.STATIC_FRONTIER] = "static" in self.ordering.criteria
        context[layout.CRITERIA : layout.CRITERIA + 5] = self.ordering.codes()
        context[layout.SINGULAR_MARGIN] = (
            -1 if self.singular_margin is None else self.singular_margin
        )
        context[layout.SINGULAR_PLIES] = self.singular_plies
        if self.widths is not None:
            context[layout.TAPERED] = 1
            context[layout.WIDTHS : layout.WIDTHS + self.widths.size] = self.widths.ravel()
        if self.probcut is not None:
            self._probcut_array = self.probcut.array(self.probcut_confidence)
            context[layout.PROBCUT] = self._probcut_array.ctypes.data
        self._fresh = True

    def __getstate__(self) -> dict[str, Any]:
        own = ("_table", "_probcut_array", "_fresh")
        return {k: v for k, v in super().__getstate__().items() if k not in own}

    def _forget(self) -> None:
        self._fresh = True

    def prepare(self, announce: Announce | None = None) -> None:
        super().prepare(announce)
        if self.compiled and not self.bare:
            # The two kernels are loaded by searching with them; subclasses share the general one.
            prepare("search family", lambda: self.search(Position.start(), 1), announce)
        if self.solver is not None:
            self.solver.prepare(announce)

    def _search(self, position: Position, depth: int, limits: Limits) -> Decision:
        if self.solver is None or position.empties > self.endgame or not position.moves:
            return super()._search(position, depth, limits)
        seconds = allotment(limits, position.empties)
        half = Limits(
            nodes=None if limits.nodes is None else -(-limits.nodes // 2),
            seconds=None if seconds is None else seconds / 2,
        )
        solution = self.solver.solve(position, half)
        if solution.complete or solution.lower >= 0:
            value = FINAL_UNIT * (solution.lower if solution.score is None else solution.score)
            line = solution.pv or solution.best
            return Decision(line[0], value, line, len(line), solution.stats)
        decision = super()._search(position, depth, half)
        pairs = zip(astuple(decision.stats), astuple(solution.stats), strict=True)
        return replace(decision, stats=SearchStats(*(one + two for one, two in pairs)))

    # ------------------------------------------------------------------ searching

    def _think(self, position: Position, depth: int) -> tuple[int | None, tuple[int, ...], int]:
        if self.bare:
            return super()._think(position, depth)
        context = self._context
        set_static(context, position.ruleset)
        forget_cutoffs(context)
        new_generation(context, self._fresh)
        self._fresh = False
        value: int | None = None
        line: tuple[int, ...] = ()
        reached = 0
        values: dict[int, int] = {}
        first = (depth - 1) % self.step + 1 if self.iterative else depth
        for plies in range(first, depth + 1, self.step):
            context[layout.ROOT_MOVE] = line[0] if line else NO_MOVE
            before = self._looked_up()
            found, better = self._at_depth(position, plies, values)
            if layout.stopped(context):
                if better:
                    value, line = int(context[layout.ROOT_VALUE]), better
                break
            value, line, reached = found, better, plies
            values[plies] = found
            if self._looked_up() == before:
                break  # neither heuristic nor table was asked: the game was searched to its end
        return value, line, reached

    def _looked_up(self) -> tuple[int, ...]:
        context = self._context
        counters = layout.EVALUATIONS, layout.TABLE_RETURNS, layout.PROBCUT_RETURNS
        return tuple(int(context[counter]) for counter in counters)

    def _at_depth(
        self, position: Position, depth: int, values: Mapping[int, int]
    ) -> tuple[int, tuple[int, ...]]:
        """Value and line at one depth, given the values of the depths before. Where the budget
        runs out the line is that of the best root move proven until then, or empty."""
        low, high = -int(INFINITY), int(INFINITY)
        if self.aspiration is not None and values:
            before = values[max(values)]
            low, high = before - self.aspiration, before + self.aspiration
        line: tuple[int, ...] = ()
        while True:
            value, better = self._window(position, depth, low, high)
            line = better or line
            if layout.stopped(self._context) or low < value < high:
                return value, line
            if value <= low:
                low = -int(INFINITY)
            else:
                high = int(INFINITY)
                self._context[layout.ROOT_MOVE] = line[0]

    def _window(
        self, position: Position, depth: int, alpha: int, beta: int
    ) -> tuple[int, tuple[int, ...]]:
        """One search from the root: its result and, unless it failed low, its line."""
        value = negamax(
            np.intp(self._address),
            np.uint64(position.mover),
            np.uint64(position.opponent),
            np.int64(alpha),
            np.int64(beta),
            np.int64(depth),
            _ROOT,
        )
        return int(value), layout.read_pv(self._context, MAX_DEPTH)

    def _compiled(self, context: int, mover: np.uint64, opponent: np.uint64, depth: int) -> int:
        """The kernel for when every technique is off; the general one unless there is a leaner."""
        window = -INFINITY, INFINITY
        args = np.intp(context), mover, opponent, *window, np.int64(depth), _ROOT
        return int(negamax(*args))

    def _search_plainly(self, position: Position, depth: int, limits: Limits) -> Decision:
        stats = SearchStats()
        order = plain.Order(self.ordering.criteria, position.ruleset)
        value, pv = plain.ordered(
            position, depth, self.evaluation.plain, stats, order, null_windows=self.null_windows
        )
        return Decision(pv[0], value, pv, depth, stats)
