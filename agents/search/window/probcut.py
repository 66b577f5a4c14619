"""ProbCut's parameters: how well a shallow search foretells a deep one, fitted and kept in a file.

For a depth d and a check depth c a linear model says v_d = slope * v_c + intercept + error, the
error normal with standard deviation sigma. It is fitted by least squares to the exact values of
positions from games, by stage of the game. A file of parameters is good for one evaluation, which
it knows by the values that evaluation gives to fixed positions.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.evaluation.base import FINAL_UNIT, Evaluation
from agents.evaluation.function import check_positions
from agents.search.window.selective import CHECKS, DEEPEST, STAGE_DISCS, STAGES, probcut_array
from core.game import Limits, play_game
from core.position import Position
from core.rules import Color

if TYPE_CHECKING:
    from agents.search.window.iterative import WindowSearch

MIN_SAMPLES = 40
"""A stage with fewer positions than this takes the parameters of all stages together."""


def fingerprint(evaluation: Evaluation) -> str:
    """A short hash of the values an evaluation gives to 1,000 fixed positions."""
    if 8 not in evaluation.sides:
        raise ValueError(f"probcut: {evaluation.name} is not made for the board of 8x8")
    values = np.array([evaluation(position) for position in check_positions()], dtype=np.int64)
    return hashlib.sha256(values.tobytes()).hexdigest()[:16]


@dataclass(frozen=True)
class Check:
    """One fitted regression: v_depth = slope * v_check + intercept, error sigma, of positions with
    ``discs`` to ``discs + 7`` discs on the board; ``positions`` is how many it was fitted to."""

    depth: int
    check: int
    discs: int
    slope: float
    intercept: float
    sigma: float
    positions: int


@dataclass(frozen=True)
class ProbCut:
    """Fitted parameters.

    evaluation: its name, for people. fingerprint: what it is known by. made: how and with what the
    file was made. checks: the regressions, for each depth the cheapest check first.
    """

    evaluation: str
    fingerprint: str
    made: dict[str, Any]
    checks: tuple[Check, ...]

    @classmethod
    def of(cls, setting: bool | str | Path, evaluation: Evaluation) -> ProbCut:
        """The parameters for an evaluation: from a file, or (True) the file among ``conf/probcut``
        that was fitted for it. Raises ValueError where there are none."""
        own = fingerprint(evaluation)
        if setting is True:
            for path in sorted(_folder().glob("*.yaml")):
                found = cls.load(path)
                if found.fingerprint == own:
                    return found
            raise ValueError(
                f"probcut: no parameters are fitted for {evaluation.name} with these settings; "
                "make them with python -m agents fit-probcut, and set probcut to the file"
            )
        found = cls.load(Path(str(setting)).expanduser())
        if found.fingerprint != own:
            raise ValueError(
                f"probcut {setting}: fitted for {found.evaluation}, not for {evaluation.name} with "
                "these settings; fit them with python -m agents fit-probcut"
            )
        return found

    @classmethod
    def load(cls, path: Path) -> ProbCut:
        """Read a file; raises ValueError saying what is wrong with it."""
        from omegaconf import OmegaConf

        try:
            read: Any = OmegaConf.to_container(OmegaConf.load(path))
            checks = tuple(Check(**check) for check in read["checks"])
            found = cls(read["evaluation"], read["fingerprint"], read["made"], checks)
        except FileNotFoundError:
            raise ValueError(f"probcut {path}: there is no such file") from None
        except Exception as error:
            message = " ".join(str(error).split())
            raise ValueError(f"probcut {path}: no file of ProbCut parameters ({message})") from None
        for check in checks:
            if not (1 <= check.check < check.depth <= DEEPEST and check.slope > 0):
                raise ValueError(f"probcut {path}: {check} cannot be used")
        return found

    def save(self, path: Path) -> None:
        """Write a file that :meth:`load` reads."""
        from omegaconf import OmegaConf

        body: Mapping[str, Any] = {
            "evaluation": self.evaluation,
            "fingerprint": self.fingerprint,
            "made": self.made,
            "checks": [asdict(check) for check in self.checks],
        }
        head = f"# ProbCut parameters for {self.evaluation}: {self.made['command']}\n"
        path.write_text(head + OmegaConf.to_yaml(OmegaConf.create(dict(body))), encoding="utf-8")

    def array(self, confidence: float) -> np.ndarray:
        """The parameters as the search reads them, with tolerances of ``confidence`` standard
        deviations (see :mod:`agents.search.window.selective`)."""
        array = probcut_array()
        for check in self.checks:
            stage = check.discs // STAGE_DISCS
            number = int(np.count_nonzero(array[check.depth, stage, :, 0]))
            if number < CHECKS:
                fields = check.check, check.slope, check.intercept, confidence * check.sigma
                array[check.depth, stage, number] = fields
        return array


def _folder() -> Path:
    from agents.config import conf_folder

    return conf_folder() / "probcut"


# ------------------------------------------------------------------ fitting


def check_depths(depth: int) -> tuple[int, ...]:
    """The depths whose results may stand in for one of ``depth``: about half of it, and two more,
    of the same parity, since the values of even and odd depths differ."""
    half = depth // 2
    least = half if (depth - half) % 2 == 0 else half - 1
    return tuple(check for check in (least, least + 2) if 1 <= check <= depth - 2)


def sample_positions(
    player: WindowSearch, count: int, seed: int, random_plies: int = 8
) -> list[Position]:
    """Positions of games that ``player`` plays against itself two plies deep, from random openings
    of some ``random_plies``; from each game every fifth position, so that they differ."""
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        opening: list[int] = []
        position = Position.start()
        for _ in range(random_plies + int(rng.integers(8))):
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
    depth: int,
    positions: int,
    seed: int,
    command: str,
    progress: Callable[[Sequence[Position]], Any] = lambda positions: positions,
) -> ProbCut:
    """Fit parameters for depths 3 to ``depth``.

    name: what the file calls the evaluation. positions: how many are searched, each at every depth
    up to ``depth``. progress: wraps the positions in something that shows how far it is.
    Raises ValueError for a depth outside 3 to 20, or too few positions.
    """
    from agents.search.window.pvs import PVS

    if not 3 <= depth <= DEEPEST:
        raise ValueError(f"depth {depth}: 3 to {DEEPEST} is needed")
    if positions < MIN_SAMPLES:
        raise ValueError(f"positions {positions}: {MIN_SAMPLES} or more are needed")
    search = PVS(depth, evaluation, ordering="tt+killer+mobility+static", table_mb=64)
    search.prepare()
    sample = sample_positions(search, positions, seed)
    values = np.zeros((len(sample), depth + 1))
    for row, position in enumerate(progress(sample)):
        for plies in range(1, depth + 1):
            value = search.search(position, plies, keep=plies > 1).value
            assert value is not None
            values[row, plies] = value
    discs = np.array([position.discs for position in sample])
    checks = []
    for plies in range(3, depth + 1):
        for check in check_depths(plies):
            checks += _fit_check(values, discs, plies, check)
    versions = {p: metadata.version(p) for p in ("othello-strategy-lab", "numba", "numpy")}
    made = {
        "command": command,
        "positions": positions,
        "depth": depth,
        "seed": seed,
        "versions": {"python": platform.python_version(), **versions},
    }
    return ProbCut(name, fingerprint(evaluation), made, tuple(checks))


def _fit_check(values: np.ndarray, discs: np.ndarray, depth: int, check: int) -> list[Check]:
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
        errors = deep[chosen] - (slope * shallow[chosen] + intercept)
        if slope > 0:
            found.append(
                Check(
                    depth,
                    check,
                    discs=stage * STAGE_DISCS,
                    slope=float(f"{slope:.5g}"),
                    intercept=float(f"{intercept:.5g}"),
                    sigma=float(f"{errors.std(ddof=2):.5g}"),
                    positions=int(chosen.sum()),
                )
            )
    return found
