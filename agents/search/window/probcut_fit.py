"""Fitting ProbCut's parameters to an evaluation.

Positions from games are searched at every depth, and the values of deep searches are foretold from
those of shallow ones by least squares, by stage of the game.

Full searches to great depths take long, and are not what an agent with ProbCut does. So
:func:`fit` can take two steps: a first fit to full searches of a few plies, then the fit to the
agent's own searches, which use the first one.
"""

from __future__ import annotations

import copy
import platform
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib import metadata
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.evaluation import FINAL_UNIT, Evaluation
from othello_lab.agents.search.window.probcut import ProbCut, Regression, fingerprint
from othello_lab.agents.search.window.pvs import PVS
from othello_lab.agents.search.window.search import WindowSearch
from othello_lab.agents.search.window.selective import DEEPEST, FUTILE, STAGE_DISCS, STAGES
from othello_lab.core.game import Limits, play_game
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.cli import DISTRIBUTION
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.rows import RowMaker
from othello_lab.core.system.settings import Whole, check_values

Row = list[float]

MIN_SAMPLES = 40
"""A stage with fewer positions than this takes the parameters of all stages together."""

FULL = 8
"""Plies of the full searches that come before an agent's own."""
OWN = (
    "ordering",
    "table_mb",
    "table_any_depth",
    "etc",
    "probcut_confidence",
    "probcut_glance",
    "futility",
)
"""Settings of an agent that make its values at a fixed depth."""


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
    positions: list[Position] = []
    while len(positions) < count:
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
                positions.append(position)
            position = position.play(move)
    return positions[:count]


def fit(
    evaluation: Evaluation,
    name: str,
    depth: Annotated[int, Whole(3, DEEPEST)],
    positions: Annotated[int, Whole(MIN_SAMPLES)],
    seed: int,
    command: str,
    rows: RowMaker | None = None,
    glance: bool = False,
    agent: Mapping[str, Any] | None = None,
) -> ProbCut:
    """Fit parameters for depths 3 to ``depth``.

    name: what the file calls the evaluation. positions: how many are searched, each at every depth
    up to ``depth``, by as many threads as there are processors. rows: makes the values of all
    positions. glance: fit to the evaluation itself too, for the settings ``probcut_glance`` and
    ``futility``, and to one check a depth, the deeper. agent: settings of the agent whose own
    searches the parameters are fitted to, with those of :data:`OWN`; it needs ``glance``. None:
    full searches only.
    Raises ValueError for a depth outside 3 to 30, or too few positions.
    """
    check_values(fit, {"depth": depth, "positions": positions})
    rows = rows or RowMaker()
    search = PVS(depth, evaluation, ordering="tt+killer+mobility+static", table_mb=64)
    search.prepare()
    sample = sample_positions(search, positions, seed)
    discs = np.array([position.discs for position in sample])
    full = depth if agent is None else min(depth, FULL)
    searcher = PVS(full, evaluation, ordering="tt+mobility+history", table_mb=32, etc=True)
    values = np.array(rows("full searches", sample, partial(_searched, searcher)))
    checks = list(_regressions(values, discs, glance))
    versions = {p: metadata.version(p) for p in (DISTRIBUTION, "numba", "numpy")}
    sizes = {"positions": positions, "depth": depth, "seed": seed}
    versions = {"python": platform.python_version(), **versions}
    made = {"command": command, **sizes, "versions": versions}
    fitted = ProbCut(name, fingerprint(evaluation), made, tuple(checks))
    if agent is not None:
        settings = {key: agent[key] for key in OWN if key in agent}
        searcher = PVS(depth, evaluation, probcut=fitted, **settings)
        values = np.array(rows("own searches", sample, partial(_searched, searcher)))
        # Pruning right above the leaves is fitted to full searches.
        checks = [check for check in checks if check.depth <= FUTILE]
        checks += [check for check in _regressions(values, discs, glance) if check.depth > FUTILE]
    return replace(fitted, checks=tuple(checks))


def _regressions(values: np.ndarray, discs: np.ndarray, glance: bool) -> Iterator[Regression]:
    """Yield the regressions of each depth on its checks."""
    for plies in range(1 if glance else FUTILE + 1, values.shape[1]):
        checks = check_depths(plies)
        if glance:
            checks = (0, *checks[-1:])
        for check in checks:
            yield from _fit_check(values, discs, plies, check)


def _searched(search: WindowSearch, sample: Sequence[Position]) -> Iterator[Row]:
    """For each position its evaluation and the values of all depths up to that of the search."""
    search.prepare()

    # A thread a processor: kernels release the interpreter's lock, but each needs its memory.
    storage = threading.local()

    def row(position: Position) -> Row:
        if not hasattr(storage, "search"):
            storage.search = copy.deepcopy(search)
        searcher: WindowSearch = storage.search
        values: Row = [searcher.evaluation(position)]
        for plies in range(1, searcher.depth + 1):
            value = searcher.search(position, plies, keep=plies > 1).value
            assert value is not None
            values.append(value)
        return values

    with ThreadPoolExecutor(available_cores()) as pool:
        try:
            yield from pool.map(row, sample)
        finally:
            pool.shutdown(cancel_futures=True)


def _line(values: np.ndarray, aims: np.ndarray) -> tuple[float, float, float]:
    """Slope and intercept of the aims by least squares, and the standard deviation of the rest."""
    slope, intercept = np.polyfit(values, aims, 1)
    sigma = (aims - (slope * values + intercept)).std(ddof=2)
    slope, intercept, sigma = (float(f"{n:.5g}") for n in (slope, intercept, sigma))
    return slope, intercept, sigma


def _fit_check(values: np.ndarray, discs: np.ndarray, depth: int, check: int) -> list[Regression]:
    """The regression of one depth on another, for every stage."""
    deep, shallow = values[:, depth], values[:, check]
    open_game = (np.abs(deep) < FINAL_UNIT) & (np.abs(shallow) < FINAL_UNIT)
    regressions = []
    for stage in range(STAGES):
        chosen = open_game & (discs // STAGE_DISCS == stage)
        if chosen.sum() < MIN_SAMPLES:
            chosen = open_game
        if chosen.sum() < MIN_SAMPLES or np.ptp(shallow[chosen]) == 0:
            continue
        line = _line(shallow[chosen], deep[chosen])
        if line[0] > 0:
            size = int(chosen.sum())
            regressions.append(Regression(depth, check, stage * STAGE_DISCS, *line, size))
    return regressions
