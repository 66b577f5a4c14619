"""The window searches: their settings, and how they go from depth to depth."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, astuple, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import INFINITY, MAX_DEPTH
from othello_lab.agents.search.endgame.memory import MOST_THREADS
from othello_lab.agents.search.endgame.solver import EndgameSolver, Solution, solvable
from othello_lab.agents.search.limits import FAST_MOVES, SHORTEST, allotment
from othello_lab.agents.search.observer import SearchObserver
from othello_lab.agents.search.search_agent import SearchAgent
from othello_lab.agents.search.table import Megabytes, TableMemory
from othello_lab.agents.search.window import plain
from othello_lab.agents.search.window.negamax import negamax
from othello_lab.agents.search.window.ordering import (
    CRITERIA,
    forget_cutoffs,
    read_ordering,
    set_criteria,
    set_static,
)
from othello_lab.agents.search.window.probcut import ProbCut
from othello_lab.agents.search.window.selective import taper_widths
from othello_lab.agents.search.window.transposition import NO_MOVE, new_generation, new_tags
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, Announce, Int, Mask, prepare
from othello_lab.core.system.settings import Meanings, Number, Switch, Whole

_ROOT = np.int64(0)

_BUCKETS_A_SECOND = 3_000_000
"""Buckets of the table for a second of search: it fills some 2,000,000 entries, two a bucket, and
what the searches before it have found stays useful."""
_FEWEST_BUCKETS = 4096


def _as_decision(solution: Solution) -> Decision | None:
    """Return the solver's move; None if it has neither ended nor proven a win or a draw."""
    if not solution.complete and solution.lower < 0:
        return None
    score = solution.lower if solution.score is None else solution.score
    line = solution.pv or solution.best
    return Decision(line[0], FINAL_UNIT * score, line, len(line), solution.stats)


def _sum(costs: Sequence[SearchStats]) -> SearchStats:
    return SearchStats(*map(sum, zip(*map(astuple, costs), strict=True)))


def _next(took: Sequence[float]) -> float:
    """Predict the time of the next depth: it grows by the same factor as the last one."""
    growth = took[-1] / max(took[-2], 1e-9) if len(took) > 1 else 1.0
    return took[-1] * max(1.0, growth)


def _is_settled(best_moves: Sequence[tuple[int, ...]]) -> bool:
    """Return True if the last three depths have the same best move."""
    return len(best_moves) > 2 and len(set(best_moves[-3:])) == 1


@dataclass(eq=False, repr=False)
class WindowSearch(SearchAgent):
    """Minimax's value by alpha-beta windows, with any of the techniques.

    Raises ValueError for settings that are not allowed or contradict each other.
    """

    null_windows: ClassVar[bool] = False
    """Whether moves after the first are tried with a window of width 1 (PVS)."""

    _: KW_ONLY
    ordering: Annotated[str, Meanings(CRITERIA)] = "none"
    """Which moves are tried first, so that cutoffs come early; see
    :mod:`agents.search.window.ordering`."""
    sort_leaves: Annotated[bool, Switch()] = False
    """``sorted`` as PAIP has it (18.9): every position is evaluated when it is made, and not again
    as a leaf. So the moves right above the leaves are sorted too, at the cost of evaluating those
    that a cutoff then leaves out; and the root is evaluated like all others. Needs ``ordering`` to
    be ``sorted``, and neither table, iterative deepening nor selective technique."""
    table_mb: Annotated[int | None, Megabytes()] = None
    """A transposition table of so many MB: what was found out about a position is not searched
    again where other moves lead to the same one. None for none."""
    table_by_time: Annotated[bool, Switch()] = False
    """Under a limit on time use no more of the table than a search that short can fill: what fits
    into the processor's cache is found sooner. Needs a table."""
    table_any_depth: Annotated[bool, Switch()] = False
    """Bounds in the table hold for searches less deep than they were found by, too, if both depths
    are even or both odd (selective, as the value is that of no fixed depth). Needs a table."""
    iterative: Annotated[bool, Switch()] = False
    """Iterative deepening: depth 1, then 2, and so on, each with the best move of the one before
    tried first at the root, so that a limit on time or nodes costs the last depth only."""
    depth_by_time: Annotated[bool, Switch()] = False
    """Under a limit on time search as deep as it allows, be it deeper than ``depth``. Needs
    ``iterative``."""
    clock_shares: Annotated[float, Number(1, 10)] = 1.0
    """The most equal shares of a game's clock that one move may use. A depth is begun only if it
    will probably end in that time; once three depths have the same best move, in one share. Needs
    ``iterative``."""
    time_odds: Annotated[float, Number(0.001, 1)] = 1.0
    """Time odds: the part of each limit on time that the search uses, as a handicap in a match."""
    odds_at: Sequence[int] | None = None
    """The most and the fewest empty squares between which ``time_odds`` hold, as [30, 21]. None for
    the whole game."""
    step: Annotated[int, Whole(1)] = 1
    """Plies from one depth of iterative deepening to the next; the last is ``depth``. With 2 only
    even or only odd depths are searched: their values are more alike, and it is fewer nodes in
    all, but a search that is stopped has lost more."""
    aspiration: Annotated[int | None, Whole(1)] = None
    """Aspiration: half the width, in units of the evaluation, of a first window around the value of
    the depth before. None for the full window. Needs ``iterative``."""
    etc: Annotated[bool, Switch()] = False
    """Enhanced transposition cutoffs: before any move is searched, the table is asked whether one
    of them leads to a position that is known to cause a cutoff. Needs a table."""
    probcut: bool | str | Path | ProbCut | None = None
    """Multi-ProbCut: what a shallow search finds so far outside the window that a deep one would
    hardly find it inside is not searched deeply (selective). True for the parameters that
    come with the lab and were fitted for this evaluation, or the path of a file written by
    ``othello-lab agents fit-probcut``; from Python also the parameters themselves."""
    probcut_confidence: Annotated[float, Number(above=0, below=100)] = 1.5
    """Standard deviations by which a check has to be clear."""
    probcut_glance: Annotated[float | None, Number(-100, 100)] = None
    """A check is searched only where the evaluation alone is so many standard deviations beyond the
    window already. None for everywhere; else ``probcut`` must be fitted with ``--glance``."""
    futility: Annotated[float | None, Number(-100, 100)] = None
    """Futility pruning: a node one or two plies above the leaves is given up where the evaluation
    alone is so many standard deviations beyond the window (selective). None for never. Needs
    ``probcut``, fitted with ``--glance``."""
    taper: Sequence[int | Sequence[int]] | None = None
    """Tapered search: only so many of the best-looking moves are searched, by ply and rank of the
    move before (selective). None for all; see
    :func:`agents.search.window.selective.taper_widths`."""
    singular_margin: Annotated[int | None, Whole(0)] = None
    """Singular extension: a move whose evaluation exceeds all others' by so much is searched a ply
    deeper (selective). None for never."""
    singular_plies: Annotated[int, Whole(1)] = 2
    """How often a line may be extended so."""
    endgame: Annotated[int, Whole(0, 60, why="0: never")] = 0
    """Empty squares from which on the position is solved exactly instead: first who wins, then,
    unless ``final`` is ``win``, by how much. Under a limit on time or nodes half of it is spent on
    that. If that was not enough to prove a win or a draw, the rest is spent on the ordinary
    search."""
    endgame_by_time: Annotated[float | None, Number(0.001, 1)] = None
    """Under a limit on time solve from so many empty squares on, be it fewer or more, as this part
    of that time is usually enough for. None: ``endgame`` decides."""
    endgame_table_mb: Annotated[int, Megabytes()] = 16
    """Size of the solver's own table in MB."""
    endgame_threads: Annotated[int, Whole(1, MOST_THREADS)] = 1
    """Threads of the solver. With several the number of nodes, and which of several best moves is
    played, differ from run to run."""

    def _read_settings(self) -> None:
        super()._read_settings()
        self._criteria = read_ordering(self.ordering)
        self._check_together()
        self._check_odds()
        self._probcut = ProbCut.of(self.probcut, self.evaluation) if self.probcut else None
        self._widths = None if self.taper is None else taper_widths(self.taper)
        self._solver = None
        if self.endgame:
            self._solver = EndgameSolver(self.endgame_table_mb, threads=self.endgame_threads)
            self.reproducible = self.endgame_threads == 1

    def _check_together(self) -> None:
        """Raise ValueError where one setting needs another."""
        for user, needs_table in (
            (f"ordering={self.ordering}:", "tt" in self._criteria),
            ("etc (enhanced transposition cutoffs)", self.etc),
            ("table_any_depth", self.table_any_depth),
            ("table_by_time", self.table_by_time),
        ):
            if needs_table and self.table_mb is None:
                raise ValueError(f"{user} needs a table; set table_mb")
        for user, needs_depths in (
            (f"step={self.step}: that of iterative deepening", self.step > 1),
            ("clock_shares: iterative deepening ends in time", self.clock_shares > 1),
            ("depth_by_time: iterative deepening finds how deep", self.depth_by_time),
            ("aspiration needs the value of the depth before", self.aspiration is not None),
        ):
            if needs_depths and not self.iterative:
                raise ValueError(f"{user}; set iterative")
        if self.probcut_glance is not None and not self.probcut:
            raise ValueError(f"probcut_glance={self.probcut_glance:g}: that of probcut; set it too")
        if self.futility is not None and not self.probcut:
            raise ValueError(f"futility={self.futility:g}: probcut has its parameters; set it too")
        if self.taper is not None and not self._criteria:
            raise ValueError("taper keeps the best-looking moves; set an ordering")
        if self.endgame_by_time is not None and not self.endgame:
            raise ValueError("endgame_by_time: without a limit on time endgame decides; set it too")
        if self.sort_leaves and self._criteria != ("sorted",):
            raise ValueError(f"sort_leaves: needs ordering=sorted, not {self.ordering}")
        if self.sort_leaves and (self.table_mb is not None or self.iterative or self.selective):
            raise ValueError(
                "sort_leaves evaluates each position once: it goes with neither table_mb, "
                "iterative, probcut, taper nor singular_margin"
            )
        if not self.compiled:
            self._check_twin()

    def _check_odds(self) -> None:
        """Raise ValueError unless ``odds_at`` is None or two numbers of empty squares."""
        squares = self.odds_at
        if squares is None:
            return
        numbers = list(squares) if isinstance(squares, Sequence) else []
        if [type(number) for number in numbers] != [int, int] or not numbers[0] >= numbers[1] >= 0:
            raise ValueError(
                f"odds_at={squares}: two numbers of empty squares, the most first, such as [30, 21]"
            )

    def _check_twin(self) -> None:
        """Raise ValueError for settings that the reading twin lacks."""
        beyond = {
            "table_mb": self.table_mb is not None,
            "iterative": self.iterative,
            "probcut": bool(self.probcut),
            "taper": self.taper is not None,
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
        """True if it may miss minimax's value."""
        chooses = self.taper is not None or self.singular_margin is not None
        return bool(self.probcut) or self.table_any_depth or chooses

    @property
    def bare(self) -> bool:
        """True if every technique is off."""
        exact = self._criteria or self.table_mb is not None or self.iterative or self.null_windows
        return not (exact or self.selective)

    # ------------------------------------------------------------------ memory

    def _make_context(self) -> None:
        super()._make_context()
        context = self._context
        if self.table_mb is not None:
            self._table = TableMemory.of(self.table_mb)
            context[layout.TABLE] = self._table.address
            context[layout.TABLE_SHIFT] = self._table.shift
            self._tags = new_tags(self._table)
            context[layout.TAGS] = self._tags.ctypes.data
        context[layout.NULL_WINDOWS] = self.null_windows
        context[layout.ANY_DEPTH] = self.table_any_depth
        context[layout.ENHANCED_CUTOFFS] = self.etc
        set_criteria(context, self._criteria)
        context[layout.SORT_LEAVES] = self.sort_leaves
        margin = self.singular_margin
        context[layout.SINGULAR_MARGIN] = -1 if margin is None else margin
        context[layout.SINGULAR_PLIES] = self.singular_plies
        if self._widths is not None:
            context[layout.TAPERED] = 1
            context[layout.WIDTHS : layout.WIDTHS + self._widths.size] = self._widths.ravel()
        if self._probcut is not None:
            self._probcut_array = self._probcut.array(
                self.probcut_confidence, self.probcut_glance, self.futility
            )
            context[layout.PROBCUT] = self._probcut_array.ctypes.data
        self._fresh = True

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_table", "_tags", "_probcut_array", "_fresh")
        return {k: v for k, v in super().__getstate__().items() if k not in left_out}

    def _forget(self) -> None:
        self._fresh = True

    def prepare(self, announce: Announce | None = None) -> None:
        super().prepare(announce)
        if self.compiled and not self.bare:
            # The two kernels are loaded by searching with them; subclasses share the general one.
            prepare("search family", lambda: self.search(Position.start(), 1), announce)
        if self._solver is not None:
            self._solver.prepare(announce)

    def _search(self, position: Position, depth: int, limits: Limits) -> Decision:
        seconds = self._allotment(limits, position)
        # Of a clock, unlike of a time for each move, what is left is worth something later.
        most = self._hard_limit(limits, position) if limits.per_move is None else None
        self._shares = None if seconds is None or most is None else (seconds, most)
        if self.table_mb is not None:
            self._context[layout.TABLE_SHIFT] = self._table_shift(seconds)
        if self.depth_by_time and seconds is not None and limits.depth is None:
            depth = max(depth, position.empties)
        if seconds is not None and len(position.moves) < 2 and self.iterative:
            depth = 1  # there is no choice
        elif self._within_solving(position, seconds):
            return self._solved(position, depth, limits, seconds)
        return super()._search(position, depth, limits)

    def _allotment(self, limits: Limits, position: Position) -> float | None:
        return self._seconds(limits, position, 1.0)

    def _hard_limit(self, limits: Limits, position: Position) -> float | None:
        return self._seconds(limits, position, self.clock_shares)

    def _seconds(self, limits: Limits, position: Position, shares: float) -> float | None:
        # What the solver has shown once need not be found again.
        free = max(FAST_MOVES, self.endgame // 2)
        seconds = allotment(limits, position.empties, free, shares)
        most, fewest = self.odds_at or (position.empties, position.empties)
        if seconds is None or not fewest <= position.empties <= most:
            return seconds
        return max(SHORTEST, seconds * self.time_odds)

    def _table_shift(self, seconds: float | None) -> int:
        """Return the shift of a hash for as much of the table as the next search is to use."""
        if not self.table_by_time or seconds is None:
            return self._table.shift
        buckets = max(_FEWEST_BUCKETS, round(seconds * _BUCKETS_A_SECOND))
        return max(self._table.shift, 64 - (buckets - 1).bit_length())

    def _within_solving(self, position: Position, seconds: float | None) -> bool:
        """Return True if the endgame is to be solved from this position on."""
        if self._solver is None or not position.moves:
            return False
        if self.endgame_by_time is not None and seconds is not None:
            return position.empties <= solvable(seconds * self.endgame_by_time)
        return position.empties <= self.endgame

    def _solved(
        self, position: Position, depth: int, limits: Limits, seconds: float | None
    ) -> Decision:
        """The solver's move, or that of an ordinary search where it has not come far enough."""
        assert self._solver is not None
        nodes = None if limits.nodes is None else -(-limits.nodes // 2)
        time = None if seconds is None else seconds / 2
        if limits.cpu_seconds is None:
            half = Limits(nodes=nodes, seconds=time)
        else:
            half = Limits(nodes=nodes, cpu_seconds=time)
        if self.final == "win":
            solution = self._solver.solve_wld(position, half)
        else:
            solution = self._solver.solve(position, half)
        decision = _as_decision(solution)
        if decision is None:
            decision = super()._search(position, depth, half)
            return replace(decision, stats=_sum([decision.stats, solution.stats]))
        if self.final == "win":
            return replace(decision, depth=position.empties)
        return decision

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
        completed = 0
        began = time.perf_counter()
        took: list[float] = []
        best_moves: list[tuple[int, ...]] = []
        values: dict[int, int] = {}
        first = (depth - 1) % self.step + 1 if self.iterative else depth
        for plies in range(first, depth + 1, self.step):
            context[layout.ROOT_MOVE] = line[0] if line else NO_MOVE
            before = self._looked_up()
            result, better = self._at_depth(position, plies, values)
            if layout.stopped(context):
                if better:  # its line is one of the depth that was not completed
                    value, line = int(context[layout.ROOT_VALUE]), better[: max(1, completed)]
                break
            value, line, completed = result, better, plies
            values[plies] = result
            if self._looked_up() == before:
                break  # neither heuristic nor table was asked: the game was searched to its end
            took.append(time.perf_counter() - began - sum(took))
            best_moves.append(line[:1])
            if self._shares is not None:
                share = self._shares[0 if _is_settled(best_moves) else 1]
                if sum(took) + _next(took) > share:
                    break
        return value, line, completed

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
        self._context[layout.MADE] -= 1  # the root
        window = np.int64(alpha), np.int64(beta)
        value = negamax(self._address, *position.masks, *window, np.int64(depth), _ROOT)
        return int(value), layout.read_pv(self._context, MAX_DEPTH)

    def _compiled(self, context: Address, mover: Mask, opponent: Mask, depth: Int) -> Int:
        """The kernel for when every technique is off; the general one unless there is a leaner."""
        return negamax(context, mover, opponent, -INFINITY, INFINITY, depth, _ROOT)

    def _plainly(
        self, position: Position, depth: int, stats: SearchStats, watch: SearchObserver
    ) -> tuple[int, plain.Line]:
        order = plain.MoveOrder(self._criteria, position.ruleset, self.sort_leaves, self.final)
        evaluate, windows = self.evaluation.plain, self.null_windows
        twin = plain.OrderedSearch(order, evaluate, stats, windows, watch, self.final)
        return twin.search(position, depth)
