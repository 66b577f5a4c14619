"""The selective endgame: end scores that are probable, where proving them would take too long.

As in the exact endgame (:mod:`agents.search.endgame.kernels`) a score is the disc difference at the
end, and each search asks one question: more than alpha, or not? Positions with few empty squares
are solved exactly. Above them a search of a few plies with the evaluation stands in for the search
to the end where it comes out clear of alpha: ProbCut, with regressions of end scores
(:mod:`agents.search.window.probcut`). By how many standard deviations is the confidence; the table
keeps what was found with each confidence apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import (
    count,
    count_evaluation,
    enter_again,
    out_of_budget,
)
from othello_lab.agents.search.endgame import kernels, memory
from othello_lab.agents.search.endgame.last_squares import UNKNOWN, finished, stability_bound
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.agents.search.limits import deadline
from othello_lab.agents.search.window import transposition
from othello_lab.agents.search.window.negamax import negamax
from othello_lab.agents.search.window.selective import (
    END_FIELDS,
    END_GLANCE,
    END_INTERCEPT,
    END_SLOPE,
    END_TOLERANCE,
)
from othello_lab.core.bitboard import ONE, ZERO, after, after_flips, legal_moves, lowest_square
from othello_lab.core.clock import WALL_CLOCK
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.vector import load, load_float, store

_ROOT, _1 = np.int64(0), np.int64(1)

EXACT_FROM = 12
"""Positions with so many empty squares are solved exactly."""
_GLANCE = 0.5
"""A check is searched where the evaluation alone is clear by so many standard deviations."""


def check_confidences(setting: Sequence[float]) -> None:
    """Raise ValueError for anything but rising numbers above 0."""
    numbers = list(setting) if isinstance(setting, Sequence) else []
    fits = all(type(number) in (int, float) and 0 < number < 100 for number in numbers)
    if not numbers or not fits or numbers != sorted(set(numbers)):
        raise ValueError(
            f"selective_endgame={setting}: a list of rising numbers above 0 is needed, of standard "
            "deviations"
        )


class Found(NamedTuple):
    """A move, and the value of a search that foretells its probable score."""

    move: int
    value: int


@kernel
def _bound(checks: Address, place: Int, score: Int, deviations: float) -> float:
    """Return the value of the check that foretells this score, and so many tolerances more."""
    aim = score + deviations * load_float(checks, place + END_TOLERANCE)
    return (aim - load_float(checks, place + END_INTERCEPT)) / load_float(checks, place + END_SLOPE)


@kernel
def more_than(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, odd: Mask, empties: Int, ply: Int
) -> Int:
    """The null window (alpha, alpha + 1) of a position, fail-soft: a result above alpha says that
    the score is probably at least so much, any other that it is probably at most so much.

    odd: mask of the quadrants with an odd number of empty squares. Out of budget the result means
    nothing.
    """
    solver = load(context, layout.SOLVER)
    if empties <= load(context, layout.EXACT_FROM):
        return kernels.decide(solver, mover, opponent, alpha, odd, empties)
    count(context, layout.NODES)
    # Step 1: the opponent's stable discs.
    if alpha >= load(solver, memory.STABILITY_FROM + empties):
        bound = stability_bound(solver, opponent, mover)
        if bound <= alpha:
            count(context, layout.STABILITY_RETURNS)
            return bound
    # Step 2: the table.
    level = load(context, layout.CONFIDENCE)
    hint = transposition.NO_MOVE
    entry = transposition.find(context, mover, opponent)
    if entry != transposition.NOT_FOUND:
        hint = transposition.hint_of(entry)
        if ply > 0 and transposition.depth_of(entry) == level:
            if transposition.lower_of(entry) > alpha:
                count(context, layout.TABLE_RETURNS)
                return transposition.lower_of(entry)
            if transposition.upper_of(entry) <= alpha:
                count(context, layout.TABLE_RETURNS)
                return transposition.upper_of(entry)
    # Step 3: no moves.
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            return finished(solver, mover, opponent)
        return -more_than(context, opponent, mover, -alpha - _1, odd, empties, ply + _1)
    # Step 4: a child in the table.
    left = moves if ply > 0 else ZERO
    while left != ZERO:
        square = lowest_square(left)
        left &= left - ONE
        count(context, layout.MADE)
        entry = transposition.find(context, *after(mover, opponent, square))
        if (
            entry != transposition.NOT_FOUND
            and transposition.depth_of(entry) == level
            and -transposition.upper_of(entry) > alpha
        ):
            count(context, layout.TABLE_RETURNS)
            return -transposition.upper_of(entry)
    # Step 5: ProbCut.
    checks = load(context, layout.END_CHECKS)
    place = empties * END_FIELDS
    depth = np.int64(load_float(checks, place))
    if ply > 0 and depth != 0:
        middle = alpha | _1  # scores are even: it lies between the two that are told apart
        value = count_evaluation(context, mover, opponent)
        store(context, layout.KNOWN + ply, value)
        if value >= _bound(checks, place + END_GLANCE, middle, 1.0):
            bound = np.int64(np.ceil(_bound(checks, place, middle, 1.0)))
            enter_again(context)
            value = negamax(context, mover, opponent, bound - _1, bound, depth, ply)
            if out_of_budget(context):
                return value
            if value >= bound:
                count(context, layout.PROBCUT_RETURNS)
                return middle + _1
        elif value <= _bound(checks, place + END_GLANCE, middle, -1.0):
            bound = np.int64(np.floor(_bound(checks, place, middle, -1.0)))
            enter_again(context)
            value = negamax(context, mover, opponent, bound, bound + _1, depth, ply)
            if out_of_budget(context):
                return value
            if value <= bound:
                count(context, layout.PROBCUT_RETURNS)
                return middle - _1
    # Step 6: the moves, most promising first.
    first_move = np.uint64(hint) if hint < 64 else memory.NO_MOVE
    number = kernels.rank_moves(solver, mover, opponent, moves, odd, empties, first_move, alpha)
    ranked = solver + 8 * (memory.MOVES + 64 * empties)
    flipped_by = solver + 8 * (memory.FLIPS + 64 * empties)
    best, best_move = UNKNOWN, hint
    for turn in range(number):
        square = kernels.next_move(ranked, turn, number)
        flipped = np.uint64(load(flipped_by, np.int64(square)))
        other, own = after_flips(mover, opponent, square, flipped)
        enter_again(context)
        odd_then = odd ^ np.uint64(load(solver, memory.QUADRANT + np.int64(square)))
        score = -more_than(context, other, own, -alpha - _1, odd_then, empties - _1, ply + _1)
        if out_of_budget(context) or out_of_budget(solver):
            return score
        if score > best:
            best = score
            if score > alpha:
                best_move = np.int64(square)
                break
    # Step 7: what was found.
    if ply == 0 and best > alpha:
        store(context, layout.ROOT_MOVE, best_move)
    lower, upper = -layout.INFINITY, layout.INFINITY
    if best > alpha:
        lower = best
    else:
        upper = best
    transposition.remember(context, mover, opponent, level, lower, upper, best_move)
    return best


class SelectiveEndgame:
    """Searches end scores by rising confidence, with the memory of a window search and a solver.

    context: the scratch memory of the window search. checks: as ``END_SHAPE`` says, with tolerances
    of one standard deviation. confidences: how many of these a check has to be clear by.
    """

    def __init__(
        self,
        context: np.ndarray,
        solver: EndgameSolver,
        checks: np.ndarray,
        confidences: Sequence[float],
    ) -> None:
        self._context, self._solver = context, solver
        self._fitted, self._confidences = checks, confidences
        self._checks = checks.copy()
        self._checks[:, END_GLANCE + END_TOLERANCE] *= _GLANCE
        context[layout.END_CHECKS] = self._checks.ctypes.data
        context[layout.EXACT_FROM] = EXACT_FROM

    def load(self, evaluation: Evaluation) -> None:
        """Have the kernel compiled, by a search that ends at once."""
        start = Position.start()
        layout.set_constants(self._context, start.ruleset, evaluation)
        self.search(start, None, deadline(0), WALL_CLOCK)

    def search(
        self, position: Position, value: float | None, until: int, clock: int
    ) -> Found | None:
        """Return the move of the most confident search that found one, None if none did.

        value: that of a search less deep, None if it is not known. until: time of a clock of the
        system to stop at, in nanoseconds.
        """
        context = self._context
        context[: layout.COUNTERS] = 0
        layout.set_limits(context, None, until, clock)
        context[layout.SOLVER] = self._solver.begin(position, until, clock)
        check = self._fitted[position.empties]
        most = position.ruleset.squares
        score = 0.0 if value is None else value * check[END_SLOPE] + check[END_INTERCEPT]
        guess = 2 * round(min(max(score, -most), most) / 2)
        best: Found | None = None
        for level, confidence in enumerate(self._confidences, start=1):
            self._checks[:, END_TOLERANCE] = confidence * self._fitted[:, END_TOLERANCE]
            context[layout.CONFIDENCE] = layout.MAX_DEPTH + level
            lower, upper, move = self._bounds(position, guess)
            if move is not None and (lower == upper or lower >= guess):
                best = Found(move, round((lower - check[END_INTERCEPT]) / check[END_SLOPE]))
            if lower < upper:
                break
            guess = lower
        return best

    def _bounds(self, position: Position, guess: int) -> tuple[int, int, int | None]:
        """Return probable bounds of the score, and the move that has the lower one. They are equal
        unless time ran out.

        guess: where the score is looked for first, an even number.
        """
        context = self._context
        where = np.intp(context.ctypes.data), *position.masks
        odd, empties = self._solver.odd_quadrants(position), np.int64(position.empties)
        lower, upper = -position.ruleset.squares, position.ruleset.squares
        move: int | None = None
        while lower < upper:
            alpha = guess - 1
            found = int(more_than(*where, np.int64(alpha), odd, empties, _ROOT))
            if layout.stopped(context) or self._solver.stopped:
                break
            if found > alpha:
                lower, move = max(lower, found), int(context[layout.ROOT_MOVE])
                guess = lower + 2
            else:
                upper = guess = min(upper, found)
        return lower, upper, move
