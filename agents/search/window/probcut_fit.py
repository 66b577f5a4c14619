"""Fitting ProbCut's parameters to an evaluation.

Positions from games are searched at every depth, and the values of deep searches are foretold from
those of shallow ones by least squares, by stage of the game.
"""

from __future__ import annotations

import copy
import platform
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.evaluation import FINAL_UNIT, Evaluation
from othello_lab.agents.search.window.probcut import ProbCut, Regression, fingerprint
from othello_lab.agents.search.window.pvs import PVS
from othello_lab.agents.search.window.search import WindowSearch
from othello_lab.agents.search.window.selective import DEEPEST, STAGE_DISCS, STAGES
from othello_lab.core.game import Limits, play_game
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.cli import DISTRIBUTION
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.settings import Whole, check_values

Row = list[int]

MIN_SAMPLES = 40
"""A stage with fewer positions than this takes the parameters of all stages together."""


def check_depths(depth: int) -> tuple[int, ...]:
    """The depths whose results may stand in for one of ``depth``: about half of it, and two more,
    of the same parity, since the values of even and odd depths differ."""
    half = depth // 2
    least = half if (depth - half) % 2 == 0 else half - 1
    return tuple(check for check in (least, least + 2) if 1 <= check <= depth - 2)


def sample_positions(player: WindowSearch, count: int, seed: int) -> list[Position]:
    """Positions of games that ``player`` plays against itself two plies deep, from random openings
    of 8 to 15 plies; from each game every fifth position, so that they differ."""
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        opening: list[int] = []
        position = Position.start()
        for _ in range(int(rng.integers(8, 16))):
            if not position.moves:
                break
            opening.append(int(rng.choice(position.moves)))
            position = position.play(opening[-1])
        if position.is_over:
            continue
        record = play_game(dict.fromkeys(Color, player), opening=opening, limits=Limits(depth=2))
        position = Position.start()
        moves = (*opening, *(ply.move for ply in record.plies))
        first = int(rng.integers(5))
        for number, move in enumerate(moves):
            if number % 5 == first and position.moves:
                found.append(position)
            position = position.play(move)
    return found[:count]


def fit(
    evaluation: Evaluation,
    name: str,
    depth: Annotated[int, Whole(3, DEEPEST)],
    positions: Annotated[int, Whole(MIN_SAMPLES)],
    seed: int,
    command: str,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] = lambda rows, total: rows,
    glance: bool = False,
) -> ProbCut:
    """Fit parameters for depths 3 to ``depth``.

    name: what the file calls the evaluation. positions: how many are searched, each at every depth
    up to ``depth``, by as many threads as there are processors. progress: wraps an iterable, of so
    many parts, in something that shows how far it is. glance: fit to the evaluation itself
    too, for the setting ``probcut_glance``, and to one check a depth, the deeper.
    Raises ValueError for a depth outside 3 to 20, or too few positions.
    """
    check_values(fit, {"depth": depth, "positions": positions})
    search = PVS(depth, evaluation, ordering="tt+killer+mobility+static", table_mb=64)
    search.prepare()
    sample = sample_positions(search, positions, seed)
    values = np.array(list(progress(_searched(evaluation, sample, depth), len(sample))))
    discs = np.array([position.discs for position in sample])
    checks = []
    for plies in range(3, depth + 1):
        for check in (0, check_depths(plies)[-1]) if glance else check_depths(plies):
            checks += _fit_check(values, discs, plies, check)
    versions = {p: metadata.version(p) for p in (DISTRIBUTION, "numba", "numpy")}
    made = {
        "command": command,
        "positions": positions,
        "depth": depth,
        "seed": seed,
        "versions": {"python": platform.python_version(), **versions},
    }
    return ProbCut(name, fingerprint(evaluation), made, tuple(checks))


def _searched(evaluation: Evaluation, sample: Sequence[Position], depth: int) -> Iterator[Row]:
    """For each position its evaluation and the values of all depths up to ``depth``."""
    search = PVS(depth, evaluation, ordering="tt+mobility+history", table_mb=32, etc=True)
    search.prepare()
    own = threading.local()  # kernels release the interpreter's lock, but each needs its memory

    def row(position: Position) -> Row:
        if not hasattr(own, "search"):
            own.search = copy.deepcopy(search)
        found = [evaluation(position)]
        for plies in range(1, depth + 1):
            value = own.search.search(position, plies, keep=plies > 1).value
            assert value is not None
            found.append(value)
        return found

    with ThreadPoolExecutor(available_cores()) as pool:
        try:
            yield from pool.map(row, sample)
        finally:
            pool.shutdown(cancel_futures=True)


def _fit_check(values: np.ndarray, discs: np.ndarray, depth: int, check: int) -> list[Regression]:
    """The regression of one depth on another, for every stage."""
    deep, shallow = values[:, depth], values[:, check]
    open_game = (np.abs(deep) < FINAL_UNIT) & (np.abs(shallow) < FINAL_UNIT)
    found = []
    for stage in range(STAGES):
        chosen = open_game & (discs // STAGE_DISCS == stage)
        if chosen.sum() < MIN_SAMPLES:
            chosen = open_game
        if chosen.sum() < MIN_SAMPLES or np.ptp(shallow[chosen]) == 0:
            continue
        slope, intercept = np.polyfit(shallow[chosen], deep[chosen], 1)
        sigma = (deep[chosen] - (slope * shallow[chosen] + intercept)).std(ddof=2)
        if slope > 0:
            slope, intercept, sigma = (float(f"{n:.5g}") for n in (slope, intercept, sigma))
            size = int(chosen.sum())
            found.append(
                Regression(depth, check, stage * STAGE_DISCS, slope, intercept, sigma, size)
            )
    return found
