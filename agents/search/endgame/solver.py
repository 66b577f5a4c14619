"""Solving endgames: the exact score of a position with perfect play.

>>> from othello_lab.core.position import Position
>>> solution = EndgameSolver(table_mb=1).solve(Position.start("mini4"))
>>> solution.score, solution.complete, len(solution.best)
(-10, True, 1)

The method is explained in :mod:`agents.search.endgame.kernels`, the memory in
:mod:`agents.search.endgame.memory`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, astuple, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.agent import Limits, SearchStats
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.endgame import kernels, many, memory, parallel
from othello_lab.agents.search.endgame.last_squares import UNKNOWN
from othello_lab.agents.search.endgame.sorting import (
    ROUGH,
    TRAINED,
    WEIGHTS,
    SortingSettings,
    sorting_of,
)
from othello_lab.agents.search.limits import allotment, clock_of, limit
from othello_lab.agents.search.table import Megabytes
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Announce, prepare
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.settings import Switch, Whole, check_settings

NO_LIMITS = Limits()

_ETC_FROM = 9
_STABILITY_FROM_ALPHA = 0
"""Lowest alpha for which stable discs are counted at four empty squares; 2 more for each further
one, since the fuller the board the more discs are stable."""

_FIRST_WIDTH = 4
_ANY_SCORE = 256
"""Widths of the window in which the margin is first searched, once the winner is known: of several
threads, whose window doubles until it holds the score, and of one. In a wide window the threads
test many moves against scores that are still far from the best one; narrow windows take 1.06 times
the nodes of one thread instead of 1.15."""


_SOLVED_IN_A_SECOND = 26.5
_TIMES_A_SQUARE = 2.0
"""How many empty squares positions of games have of which three in four are decided in a second,
and how many times longer each further square takes."""


def solvable(seconds: float) -> int:
    """Return the number of empty squares from which on this time is likely to be enough to find the
    winner."""
    return int(_SOLVED_IN_A_SECOND + math.log(seconds) / math.log(_TIMES_A_SQUARE))


@dataclass(frozen=True, slots=True)
class Solution:
    """The solution of a position.

    score: the disc difference to the side to move with perfect play, empty squares going to the
        winner; from :meth:`EndgameSolver.solve_wld` only its sign, +1, 0 or -1. None if the search
        was stopped before it was proven.
    pv: moves to the end of the game (passes included) that lead to this score; shorter if the
        search was stopped meanwhile, and from ``solve_wld`` one move only.
    best: a best move, from :meth:`EndgameSolver.analyse` all of them; without a proven score the
        best move so far. A pass if one is due; empty if the game is over.
    stats: its costs. Nodes are all positions entered; so are those of the heuristic search that
        sorts moves, and of reading out the principal variation. ``evaluations`` are the calls of
        its heuristic. Leaves and cutoffs are not counted, because the kernels of the last squares
        do not know the moves they leave out.
    seconds: wall time.
    complete: True if everything asked for was proven.
    lower, upper: proven bounds of the disc difference, complete or not.
    scores: from ``analyse``, the score of each move.
    """

    score: int | None
    pv: tuple[int, ...]
    best: tuple[int, ...]
    stats: SearchStats
    seconds: float
    complete: bool
    lower: int
    upper: int
    scores: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Bounds:
    """Proven bounds of a position's score to its mover."""

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        return self.lower == self.upper

    def narrow(self, result: int, alpha: int, beta: int) -> None:
        """Take in the fail-soft result of a search with this window."""
        if result > alpha:
            self.lower = max(self.lower, result)
        if result < beta:
            self.upper = min(self.upper, result)

    def __neg__(self) -> _Bounds:
        return _Bounds(-self.upper, -self.lower)


@dataclass(eq=False)
class EndgameSolver:
    """Solves positions of any ruleset exactly.

    The techniques that can be left out are explained in :mod:`agents.search.endgame.kernels`.
    Leaving one out shows its worth; the result is the same.

    Each solving starts as if its table were empty, so the same position costs the same nodes after
    any others. Raises ValueError for settings that are not allowed.
    """

    table_mb: Annotated[int, Megabytes()] = 64
    """Size of the transposition table in MB, rounded down to a power of two. A table of 512 KB for
    positions with few empty squares comes on top."""
    _: KW_ONLY
    fastest_first: Annotated[bool, Switch()] = True
    parity: Annotated[bool, Switch()] = True
    stability: Annotated[bool, Switch()] = True
    etc: Annotated[bool, Switch()] = True
    sorting_search: Annotated[bool, Switch()] = True
    sorting: str | Path = TRAINED
    """What the sorting search evaluates with: ``trained``, the weights of patterns that come with
    the lab, where there are some for the board; ``rough``, a heuristic made by hand; or the name
    or file of such weights, for boards of their size."""
    threads: Annotated[int, Whole(1, memory.MOST_THREADS)] = 1
    """Threads that solve a position together (:mod:`agents.search.endgame.parallel`). With several
    the number of nodes differs from run to run, and each gets its share of a limit on nodes. Under
    a limit on processor time one thread solves alone."""

    def __post_init__(self) -> None:
        check_settings(self)
        if self.sorting not in (TRAINED, ROUGH):
            sorting_of(self.sorting, 8)  # bad weights are to be told at once
        self._proven = _Bounds(0, 0)
        self._alone = False

    @cached_property
    def _team(self) -> list[memory.SolverMemory]:
        """The memory of each thread. The first one's context is that of the whole solving."""
        return memory.team_of(self.table_mb, self.threads)

    @property
    def _memory(self) -> memory.SolverMemory:
        return self._team[0]

    def __getstate__(self) -> dict[str, Any]:
        # Addresses mean nothing to a copy, or in another process.
        return {name: value for name, value in vars(self).items() if name != "_team"}

    def prepare(self, announce: Announce | None = None) -> None:
        """Compile the kernels, and make the tables, before they are timed or workers fork."""
        # Where much memory was freed before, making the tables takes longer than a short move.
        _ = self._team
        start = Position.start("mini4")
        for side in WEIGHTS:
            sorting_of(self.sorting, side).evaluation.prepare(announce)
        prepare("endgame solver", lambda: (self.solve(start), self.solve_wld(start)), announce)
        if self.threads > 1:
            team = partial(self._search_together, start, -1, 1)
            prepare("endgame solver, several threads", team, announce)
            cores = available_cores()
            if announce is not None and self.threads > cores:
                announce(
                    f"{self.threads} threads share {counted(cores, 'processor')}: more threads "
                    "than processors solve no faster"
                )

    def prepare_many(self, announce: Announce | None = None) -> None:
        """The same for :meth:`scores`."""
        start = Position.start("mini4")
        mover, opponent = (np.array([mask], dtype=np.uint64) for mask in start.masks)
        rules = start.ruleset
        prepare("endgames, many", lambda: self.scores(mover, opponent, rules, True), announce)

    def stop(self) -> None:
        """Let the solving in another thread end at once, with its present result."""
        layout.stop(self._memory.context)

    def so_far(self) -> tuple[int, int, int]:
        """Of the solving that is going on in another thread: nodes, and the bounds proven so far of
        the position that it is at."""
        nodes = sum(int(member.context[layout.NODES]) for member in self._team)
        return nodes, self._proven.lower, self._proven.upper

    @property
    def stopped(self) -> bool:
        """True if the last search ran out of nodes or time."""
        return layout.stopped(self._memory.context)

    def odd_quadrants(self, position: Position) -> np.uint64:
        """Mask of the quadrants with an odd number of empty squares."""
        empty = position.ruleset.board & ~(position.mover | position.opponent)
        return np.uint64(many.odd_quadrants(self._memory.address, np.uint64(empty)))

    def stats(self) -> SearchStats:
        """Return the costs since the beginning."""
        return layout.read_stats(
            np.sum([member.context[: layout.COUNTERS] for member in self._team], axis=0)
        )

    # ------------------------------------------------------------------ what can be asked

    def solve(self, position: Position, limits: Limits = NO_LIMITS) -> Solution:
        """Return the exact score: first the winner, then the margin.

        Of the limits, nodes and time count; depth does not, since a shallower search would prove
        nothing. Nodes may be exceeded by some thousands. A solution that was stopped may still know
        the winner: see its bounds.
        """
        with self._solving(position, limits) as started:
            bounds = self._bounds(position)
            best = self._best_so_far(position)
            line: tuple[int, ...] = ()
            if bounds.exact:
                line = self._line(position, bounds.lower)
        score = bounds.lower if bounds.exact else None
        return self._solution(started, score, line, line[:1] or best, bounds)

    def solve_wld(self, position: Position, limits: Limits = NO_LIMITS) -> Solution:
        """Win, draw or loss for the side to move: the score is +1, 0 or -1."""
        with self._solving(position, limits) as started:
            bounds = self._bounds(position, exact=False)
            best = self._best_so_far(position)
            score = None
            if bounds.exact or bounds.lower > 0 or bounds.upper < 0:
                score = (bounds.lower > 0) - (bounds.upper < 0)
                if score >= 0:  # a lost position has no move that is better than another
                    best = self._line(position, score, plies=1) or best
        return self._solution(started, score, best, best, bounds)

    def analyse(self, position: Position, limits: Limits = NO_LIMITS) -> Solution:
        """The exact score of each legal move, in the order a1 to h8, and all best moves. Moves that
        a limit left unproven are missing.

        Where a pass is due it is the one move; a finished game has none.
        """
        scores: dict[int, int] = {}
        with self._solving(position, limits) as started:
            bounds = self._widest(position)
            line: tuple[int, ...] = ()
            for move in self._ranked(position):
                guess = -max(scores.values(), default=0)
                of_move = -self._bounds(position.play(move), guess=guess)
                bounds.lower = max(bounds.lower, of_move.lower)
                if not of_move.exact:
                    break
                scores[move] = of_move.lower
            else:
                if scores:
                    bounds.upper = bounds.lower = max(scores.values())
                else:
                    bounds = self._bounds(position)
                line = self._line(position, bounds.lower)
        scores = {move: scores[move] for move in sorted(scores)}
        best = tuple(move for move in scores if scores[move] == max(scores.values()))
        score = bounds.lower if bounds.exact else None
        if line and line[0] in best:
            best = (line[0], *(move for move in best if move != line[0]))
        best = best or self._moves(position)[:1]
        return self._solution(started, score, line, best, bounds, scores)

    def scores(
        self, mover: np.ndarray, opponent: np.ndarray, rules: Ruleset, lines: bool = False
    ) -> tuple[np.ndarray, many.PerfectLines]:
        """Return the exact scores of many positions, int64, in a fraction of the time of one call
        each; and with ``lines`` perfect play from each on.

        mover, opponent: uint64 masks. It cannot be stopped.
        """
        self._set_up(rules)
        discs = np.bitwise_count(mover | opponent)
        self._memory.use_table(rules.squares - int(discs.min(initial=rules.squares)))
        limit(self._memory.context, None, None)
        return many.solve_all(self._memory, mover, opponent, rules.squares if lines else 0)

    # ------------------------------------------------------------------ how it is found out

    @contextmanager
    def _solving(self, position: Position, limits: Limits) -> Iterator[float]:
        """Everything as fresh, and the limits in force; yields when this began."""
        started = time.perf_counter()
        self._begin(position)
        self._alone = limits.cpu_seconds is not None  # which all threads would use up together
        nodes = limits.nodes
        if nodes is not None and self._is_shared(position):
            nodes = -(-nodes // self.threads)
        seconds = allotment(limits, position.empties)
        limit(self._memory.context, nodes, seconds, clock_of(limits))
        yield started

    def _begin(self, position: Position) -> None:
        """Forget all searches before this one."""
        self._set_up(position.ruleset)
        generation = self._memory.context[memory.GENERATION] + 1  # the table is as good as empty
        for member in self._team:
            member.context[: layout.COUNTERS] = 0
            member.context[memory.GENERATION] = generation
            member.context[memory.TOP_EMPTIES] = position.empties
            member.context[memory.TOP_MOVE] = -1
            member.use_table(position.empties)

    def _set_up(self, rules: Ruleset) -> None:
        """Write the switches and the board into the scratch memories, if they changed."""
        switches = astuple(self)
        if len(self._team) != self.threads:
            del self._team  # made anew
        if self._memory.ready_for == (rules, switches):
            return
        sorting = sorting_of(self.sorting, rules.side)
        for member in self._team:
            member.set_board(rules, self.parity)
            self._set_sorting(member, sorting, rules)
            context = member.context
            context[memory.ETC_FROM] = _ETC_FROM if self.etc else memory.NEVER
            thresholds = context[memory.STABILITY_FROM : memory.STABILITY_FROM + 65]
            thresholds[:] = memory.NEVER
            if self.stability and rules.side == 8:  # edges are of 8 squares
                thresholds[4:] = _STABILITY_FROM_ALPHA + 2 * np.arange(61)
            member.ready_for = (rules, switches)

    def _set_sorting(
        self, member: memory.SolverMemory, sorting: SortingSettings, rules: Ruleset
    ) -> None:
        """Write into a scratch memory how moves are sorted."""
        context = member.context
        member.sorting = sorting  # the search gets addresses only
        layout.set_constants(context, rules, sorting.evaluation)
        context[memory.MOBILITY_WEIGHT] = sorting.mobility if self.fastest_first else 0
        context[memory.FREEDOM], context[memory.MARGIN] = sorting.freedom, sorting.margin
        context[memory.DOUBT] = memory.NEVER if sorting.doubt is None else sorting.doubt
        for empties in range(65):
            plies = sorting.plies(empties) if self.sorting_search else -1
            context[memory.PLIES + empties] = plies
            context[memory.VALUE_WEIGHT + empties] = sorting.weight(empties)

    def _arguments(self, position: Position) -> tuple[np.intp, np.uint64, np.uint64]:
        return self._memory.address, *position.masks

    def _is_shared(self, position: Position) -> bool:
        """Return True if several threads search this position."""
        several = self.threads > 1 and not self._alone
        return several and position.empties > parallel.LEAST_EMPTIES

    def _search(self, position: Position, alpha: int, beta: int) -> int:
        """The kernel's fail-soft score within a window; means nothing once stopped."""
        if self._is_shared(position):
            return self._search_together(position, alpha, beta)
        self._memory.context[layout.MADE] -= 1  # it was made before
        window = np.int64(alpha), np.int64(beta)
        rest = self.odd_quadrants(position), np.int64(position.empties)
        return int(kernels.principal(*self._arguments(position), *window, *rest))

    def _search_together(self, position: Position, alpha: int, beta: int) -> int:
        """The same, by all threads."""
        for member in self._team:
            member.context[layout.MADE] -= 1
        window = np.int64(alpha), np.int64(beta)
        rest = self.odd_quadrants(position), np.int64(position.empties)
        return parallel.search_together(self._team, position.masks, window, *rest)

    @staticmethod
    def _widest(position: Position) -> _Bounds:
        return _Bounds(-position.ruleset.squares, position.ruleset.squares)

    def _bounds(self, position: Position, guess: int = 0, exact: bool = True) -> _Bounds:
        """Return proven bounds of a position: at first its score is shown to be less than, equal to
        or more than ``guess`` (an even number); then, if ``exact``, the score is found."""
        bounds = self._proven = self._widest(position)
        widest = self._widest(position)
        width = _FIRST_WIDTH if self._is_shared(position) else _ANY_SCORE
        while not bounds.exact:
            alpha, beta = guess - 1, guess + 1
            if bounds.lower > widest.lower:
                alpha = bounds.lower - 1
                beta = min(alpha + width, bounds.upper + 1)
                width *= 2
            elif bounds.upper < widest.upper:
                beta = bounds.upper + 1
                alpha = max(beta - width, bounds.lower - 1)
                width *= 2
            result = self._search(position, alpha, beta)
            if self.stopped:
                break
            bounds.narrow(result, alpha, beta)
            if not exact:
                break
        return bounds

    def _moves(self, position: Position) -> tuple[int, ...]:
        """The legal moves, a due pass among them."""
        return (PASS,) if position.must_pass else position.moves

    def _ranked(self, position: Position) -> tuple[int, ...]:
        """The legal moves, the most promising first; the positions after them count as made."""
        self._memory.context[layout.MADE] += len(self._moves(position))
        if not position.moves:
            return self._moves(position)
        empties = np.int64(position.empties)
        masks = self._arguments(position)
        first = np.uint64(memory.NO_MOVE)
        if position.empties > kernels.FEW:
            first = kernels.best_known(*masks, empties)
        moves, odd = np.uint64(position.legal_mask), self.odd_quadrants(position)
        number = kernels.rank_moves(*masks, moves, odd, empties, first, UNKNOWN)
        start = memory.MOVES + 64 * position.empties
        ranks = self._memory.context[start : start + number].tolist()
        return tuple(rank & 63 for rank in sorted(ranks, reverse=True))

    def _best_so_far(self, position: Position) -> tuple[int, ...]:
        move = int(self._memory.context[memory.TOP_MOVE])
        return (move,) if move in position.moves else self._moves(position)[:1]

    def _line(self, position: Position, score: int, plies: int = 128) -> tuple[int, ...]:
        """Return a line of best moves from a known score on, as far as it is proven."""
        line: list[int] = []
        while not position.is_over and len(line) < plies:
            for move in self._ranked(position):
                after = position.play(move)
                rest = self.odd_quadrants(after), np.int64(after.empties)
                self._memory.context[layout.MADE] -= 1
                worth = kernels.decide(*self._arguments(after), np.int64(-score), *rest)
                if self.stopped:
                    return tuple(line)
                if worth <= -score:
                    break
            else:
                raise AssertionError(f"no move is worth {score:+d}:\n{position}")
            line.append(move)
            position, score = after, -score
        return tuple(line)

    def _solution(
        self,
        started: float,
        score: int | None,
        pv: tuple[int, ...],
        best: tuple[int, ...],
        bounds: _Bounds,
        scores: dict[int, int] | None = None,
    ) -> Solution:
        seconds, complete = time.perf_counter() - started, score is not None
        lower, upper, stats = bounds.lower, bounds.upper, self.stats()
        return Solution(score, pv, best, stats, seconds, complete, lower, upper, scores or {})
