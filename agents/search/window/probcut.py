"""ProbCut's parameters: the quality of a shallow search as a prediction of a deep one, kept in a
file.

The linear model for a depth d and a check depth c is v_d = slope * v_c + intercept + error, the
error normal with standard deviation sigma. A file of parameters is good for one evaluation,
recognised by its values of fixed positions. :mod:`agents.search.window.probcut_fit` makes such
files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.function import check_positions
from othello_lab.agents.learned.weights import SHIPPED
from othello_lab.agents.search.window.selective import (
    CHECKS,
    DEEPEST,
    FUTILE,
    GLANCE,
    PROBCUT_SHAPE,
    STAGE_DISCS,
)
from othello_lab.core.system.files import write_file
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import Number, Text, Whole, check_settings

FITTED = SHIPPED / "probcut"
"""The folder of the parameters that come with the lab."""


def fingerprint(evaluation: Evaluation) -> str:
    """A short hash of the values an evaluation gives to 1,000 fixed positions."""
    if 8 not in evaluation.sides:
        raise ValueError(f"probcut: {evaluation.name} is not made for the board of 8x8")
    values = np.array([evaluation(position) for position in check_positions()], dtype=np.int64)
    return hashlib.sha256(values.tobytes()).hexdigest()[:16]


@dataclass(frozen=True)
class Regression:
    """One fitted regression: v_depth = slope * v_check + intercept, error sigma, of positions with
    ``discs`` to ``discs + 7`` discs on the board; ``positions`` is how many it was fitted to. A
    check of depth 0 is the evaluation itself: it never cuts, but tells where a search may."""

    depth: Annotated[int, Whole(1, DEEPEST)]
    check: Annotated[int, Whole(0, DEEPEST)]
    discs: Annotated[int, Whole(0, 64)]
    slope: Annotated[float, Number(above=0)]
    intercept: Annotated[float, Number()]
    sigma: Annotated[float, Number(low=0)]
    positions: Annotated[int, Whole(0)]


@dataclass(frozen=True)
class ProbCut:
    """Fitted parameters.

    evaluation: its name, for people. fingerprint: the mark to recognise it by. made: the file's
    provenance. checks: the regressions, for each depth the cheapest check first. ends: those of end
    scores, if any were fitted.
    """

    evaluation: Annotated[str, Text(".+", "a name")]
    fingerprint: Annotated[str, Text("[0-9a-f]{16}", "16 hexadecimal digits, as a text,")]
    made: dict[str, Any]
    checks: tuple[Regression, ...]

    @classmethod
    def of(cls, setting: bool | str | Path | ProbCut, evaluation: Evaluation) -> ProbCut:
        """Return the parameters for an evaluation: themselves, those of a file, or (True) of the
        file that comes with the lab and was fitted for it. Raise ValueError where there are
        none."""
        if isinstance(setting, ProbCut):
            return setting
        mark = fingerprint(evaluation)
        if setting is True:
            for path in sorted(FITTED.glob("*.yaml")):
                loaded = cls.load(path)
                if loaded.fingerprint == mark:
                    return loaded
            raise ValueError(
                f"probcut: no parameters are fitted for {evaluation.name} with these settings; "
                "make them with othello-lab agents fit-probcut, and set probcut to the file"
            )
        loaded = cls.load(Path(str(setting)).expanduser())
        if loaded.fingerprint != mark:
            raise ValueError(
                f"probcut {setting}: fitted for {loaded.evaluation}, not for {evaluation.name} "
                "with these settings; fit them with othello-lab agents fit-probcut"
            )
        return loaded

    @classmethod
    def load(cls, path: Path) -> ProbCut:
        """Read a file; raises ValueError with the error in it."""
        try:
            content = read_yaml(path)
            checks = tuple(Regression(**check) for check in content["checks"])
            loaded = cls(content["evaluation"], content["fingerprint"], content["made"], checks)
            for part in (loaded, *checks):
                check_settings(part)
        except FileNotFoundError:
            raise ValueError(f"probcut {path}: there is no such file") from None
        except Exception as error:
            message = f"{' '.join(str(error).split()):.300}"
            raise ValueError(f"probcut {path}: no file of ProbCut parameters ({message})") from None
        for check in checks:
            if check.check >= check.depth:
                raise ValueError(f"probcut {path}: {check} cannot be used")
        return loaded

    def save(self, path: Path) -> None:
        """Write a file that :meth:`load` reads."""
        from omegaconf import OmegaConf  # late: it takes 0.05 s

        head = f"# ProbCut parameters for {self.evaluation}: {self.made['command']}\n"
        write_file(path, head + OmegaConf.to_yaml(OmegaConf.create(asdict(self))))

    def array(
        self, confidence: float, glance: float | None = None, futility: float | None = None
    ) -> np.ndarray:
        """The parameters as the search reads them, with tolerances of ``confidence`` standard
        deviations for checks, of ``glance`` for the evaluation before these, and of ``futility``
        for the evaluation alone one or two plies above the leaves, None for leaving that out (see
        :mod:`agents.search.window.selective`). ValueError where that was not fitted."""
        for name, setting in (("probcut_glance", glance), ("futility", futility)):
            if setting is not None and not any(check.check == 0 for check in self.checks):
                raise ValueError(
                    f"{name}={setting:g}: the parameters for {self.evaluation} were fitted "
                    "without; fit them with othello-lab agents fit-probcut --glance"
                )
        array = np.zeros(PROBCUT_SHAPE)  # which allows no cut
        for check in (*self.checks, *self._deeper()):
            stage = check.discs // STAGE_DISCS
            if check.check == 0:
                tolerance = futility if check.depth <= FUTILE else glance
                if tolerance is not None:
                    fields = 1, check.slope, check.intercept, tolerance * check.sigma
                    array[check.depth, stage, GLANCE] = fields
                continue
            number = int(np.count_nonzero(array[check.depth, stage, :CHECKS, 0]))
            if number < CHECKS:
                fields = check.check, check.slope, check.intercept, confidence * check.sigma
                array[check.depth, stage, number] = fields
        return array

    def _deeper(self) -> Iterator[Regression]:
        """Return checks for depths beyond the fitted ones: those of the deepest fitted depth of the
        same parity, with as many plies left out. The smaller the share of plies left out, the
        better a check predicts, so this errs on the safe side."""
        deepest = max((check.depth for check in self.checks), default=DEEPEST)
        for depth in range(deepest + 1, DEEPEST + 1):
            alike = deepest - (depth - deepest) % 2
            for check in self.checks:
                if check.depth == alike:
                    shallow = check.check and check.check + depth - alike
                    yield replace(check, depth=depth, check=shallow)
