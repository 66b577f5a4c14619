"""The Bradley-Terry model, fitted by maximum likelihood to many replicates of one pool at once.

The *cells* of a pool of k agents are its counts of pairs, shape (k, k, 5), by the share of points
that the row agent made; or, where Black's advantage is fitted too, shape (k, k, 9), by its points
with each colour. Ratings are in natural units: a difference of 1 is odds of e to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy  # which loads its parts when they are used

from othello_lab.experiments.statistics.pairs import (
    OUTCOMES,
    SHARES,
    BoolArray,
    FloatArray,
    IntArray,
)

_BY_COLOUR = np.array([np.repeat(SHARES[::2], 3), np.tile(SHARES[::2], 3)])  # points b/2, w/2
_LONGEST_STEP = 0.75  # natural units; see fit
_ITERATIONS = 500  # of Newton's method; around 6 are needed, many more for absurdly uneven pools


def fit_block(cells: IntArray) -> FloatArray:
    """Return the ratings, mean 0, of the k agents of one block, and Black's advantage, 0 unless the
    cells distinguish colours; shape (k + 1,)."""
    if len(cells) == 1:
        return np.zeros(2)
    first, second = pairings(cells)
    played = cells[first, second].astype(float)
    return fit(*points_and_games(played[None]), first, second, np.zeros((1, len(cells) + 1)))[0]


def pairings(cells: IntArray) -> tuple[IntArray, IntArray]:
    """The agents i < j of each pairing that was played: two arrays of shape (pairings,)."""
    first, second = np.nonzero(np.triu(cells.any(axis=2)))
    return first, second


def points_and_games(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points of the first agent and games, from so much weight on each outcome of a pairing.

    weight: shape (replicates, pairings, 5), or (..., 9) where b/2 points with Black and w/2 with
        White are the outcome 3b + w.
    Returns points, shape (replicates, kinds, pairings), and games, shape (replicates, 1, pairings).
    Kinds of games: one (colours count alike), or two (the first agent is Black, is White).
    """
    shares = SHARES[None] if weight.shape[2] == OUTCOMES else _BY_COLOUR
    return (weight @ shares.T).transpose(0, 2, 1), weight.sum(axis=2)[:, None]


def fit(
    points: FloatArray, games: FloatArray, first: IntArray, second: IntArray, start: FloatArray
) -> FloatArray:
    """Maximum likelihood by Newton's method, for many replicates of one pool at once.

    points, games: see :func:`points_and_games`. start: shape (replicates, k + 1), the first guess:
    the ratings and Black's advantage. Returns the same in natural units, each row's ratings with
    mean 0; the advantage stays unchanged if there is one kind of games.

    A step is cut to 0.75 units in its largest component. Along a step of length s no pairing's
    curvature changes by more than a factor e^(2s). That bounds the third derivative; for s <= 0.75
    the likelihood must rise, so the method can't cycle or run away. The advantage adds to a
    difference, so with it the factor is e^(3s), and s <= 0.5.
    """
    agents = start.shape[1] - 1
    diagonal = np.arange(agents)
    sides = np.eye(agents)[first] - np.eye(agents)[second]  # +1 and -1 for a pairing's two agents
    colours = points.shape[1] > 1
    black = np.array([1.0, -1.0]) if colours else np.zeros(1)  # what the advantage adds, by kind
    longest_step = _LONGEST_STEP * (2 / 3 if colours else 1)
    free = agents + colours
    result = start.copy()
    for _ in range(_ITERATIONS):
        difference = (result[:, :-1] @ sides.T)[:, None] + black[:, None] * result[:, -1:, None]
        win, loss = scipy.special.expit(difference), scipy.special.expit(-difference)
        # points - games * win would lose all digits where win is nearly 1
        surplus = points * loss - (games - points) * win
        weight = games * win * loss
        whole = weight.sum(axis=1)
        slope = np.zeros((len(result), free))
        slope[:, :agents] = surplus.sum(axis=1) @ sides
        curvature = np.zeros((len(result), free, free))
        curvature[:, first, second] = curvature[:, second, first] = -whole
        curvature[:, diagonal, diagonal] = whole @ np.abs(sides)
        # the same for all entries: it fixes the mean, of which the likelihood says nothing
        curvature[:, :agents, :agents] += whole.mean(axis=1)[:, None, None]
        if colours:
            slope[:, -1] = (black @ surplus).sum(axis=1)
            curvature[:, -1, :-1] = curvature[:, :-1, -1] = (black @ weight) @ sides
            curvature[:, -1, -1] = whole.sum(axis=1)
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        result[:, :free] += step * (longest_step / np.maximum(longest, longest_step))
        if longest.max() < 1e-9:
            break
    result[:, :-1] -= result[:, :-1].mean(axis=1, keepdims=True)
    return result


def advantage_is_finite(cells: IntArray) -> bool:
    """Return True if k rated agents' ratings and Black's advantage have a finite maximum
    likelihood. cells: shape (k, k, 9).

    They have unless some change of them makes no result less likely and one more likely (Albert &
    Anderson 1984, Biometrika 71): a linear programme.
    """
    first, second = pairings(cells)
    agents = len(cells)
    scored, games = points_and_games(cells[first, second][None].astype(float))
    rows, directions = [], []
    for black, points in ((1, scored[0, 0]), (-1, scored[0, 1])):
        sides = np.eye(agents)[first] - np.eye(agents)[second]
        rows.append(np.column_stack([sides, np.full(len(first), black)]))
        directions.append((points == games[0, 0]).astype(int) - (points == 0))
    side, direction = np.concatenate(rows), np.concatenate(directions)
    one_sided = direction[:, None] * side
    ruled = side[direction == 0]
    solution = scipy.optimize.linprog(
        -one_sided.sum(axis=0),
        A_ub=-one_sided,
        b_ub=np.zeros(len(side)),
        A_eq=np.vstack([ruled, np.append(np.ones(agents), 0)]),  # the second fixes the mean
        b_eq=np.zeros(len(ruled) + 1),
        bounds=(-1, 1),
    )
    return bool(-solution.fun < 1e-6)


class Layers:
    """The order in which agents without a finite rating are set aside, and put back with a bound.

    A *block* is a largest set of agents linked by scored points in both directions (a strongly
    connected component), so that within it ratings are finite (Ford 1957, American Mathematical
    Monthly 64); between two blocks all points went one way. Almost always there is one block, or
    one and a few single agents that won or lost everything. The largest block is the *core*; its
    agents are rated. Of the others, all that won or lost everything against those still there are
    set aside, again and again until the core is alone; where all blocks are single agents, the last
    one left is the core, and there may be none.

    bound: "", ">" or "<" for each agent. rated: shape (n,), True for an agent with a rating.
    """

    def __init__(self, points: FloatArray, openings: IntArray) -> None:
        """points: shape (n, n), pairs' worth of points of the row agent. openings: shape (n,), from
        how many each agent has them: that many results its record counts in a bound."""
        met = scipy.sparse.csgraph.connected_components(points > 0, connection="strong")
        label = met[1]
        self._points, self._openings, self._label = points, openings, label
        member = np.eye(label.max() + 1)[label]  # agent x block
        self._won = member.T @ points @ member  # pairs that the row block won of the column block
        np.fill_diagonal(self._won, 0)
        self._round = np.zeros(len(self._won), dtype=int)  # when each block was set aside
        self._side = [""] * len(self._won)
        sizes = member.sum(axis=0)
        self._core = self._peel(int(sizes.argmax()) if sizes.max() > 1 else None)
        self.bound = tuple(self._side[block] for block in label)
        self.rated = np.array([not bound for bound in self.bound])

    def blocks(self) -> Iterator[IntArray]:
        """The agents of each block."""
        return (np.flatnonzero(self._label == block) for block in range(len(self._won)))

    def _peel(self, core: int | None) -> int | None:
        """Set blocks aside until only the core is left; returns it, found or given, if any."""
        left = np.arange(len(self._won))
        number = 0
        while len(left) > 1:
            number += 1
            among = self._won[np.ix_(left, left)]
            outer = (among.sum(axis=1) == 0) | (among.sum(axis=0) == 0)
            if core is not None:
                outer &= left != core
            for block in left[outer]:
                self._round[block] = number
                # Won or lost against those left, or if it met none, against most.
                margin = self._won[block] - self._won[:, block]
                decisive = margin[left].sum() or margin.sum()
                self._side[block] = ">" if decisive >= 0 else "<"
            left = left[~outer]
        return int(left[0]) if len(left) else None

    def placed(self, inside: FloatArray, chance: float) -> FloatArray:
        """All ratings in natural units, shape (n,), from those within each block.

        Blocks come back in the opposite order, each shifted to where its record against those
        already there has the probability ``chance``.
        """
        ratings = inside.copy()
        anchor = self._round.argmax() if self._core is None else self._core
        there = np.arange(len(self._won)) == anchor
        met = self._won + self._won.T > 0
        while not there.all():
            ready = ~there & met[:, there].any(axis=1)
            latest = ready & (self._round == self._round[ready].max())
            for block in np.flatnonzero(latest):
                members = self._label == block
                ratings[members] += self._shift(members, there[self._label], ratings, chance)
            there |= latest
        if self._core is None:
            ratings -= ratings.mean()
        return ratings

    def _shift(
        self, members: BoolArray, there: BoolArray, rating: FloatArray, chance: float
    ) -> float:
        """Return the distance to move a block, so that winning all its won games is as improbable
        as losing all its lost ones; no loss (or no win) counts as ``chance``."""
        won = self._points[np.ix_(members, there)]
        lost = self._points[np.ix_(there, members)].T
        met = (won + lost).sum(axis=1, keepdims=True)
        openings = self._openings[members][:, None]
        weight = openings / np.maximum(met, openings)
        won, lost = weight * won, weight * lost
        gap = rating[there][None, :] - rating[members][:, None]
        log_expit = scipy.special.log_expit

        def surplus(shift: float) -> float:
            wins = (won * log_expit(shift - gap)).sum() if won.any() else math.log(chance)
            losses = (lost * log_expit(gap - shift)).sum() if lost.any() else math.log(chance)
            return float(wins - losses)

        total = won.sum() + lost.sum()
        margin = 5 + 3 / total + math.log(1 + total)  # surplus changes sign within this
        return float(scipy.optimize.brentq(surplus, gap.min() - margin, gap.max() + margin))
