"""Composite: any weighted sum of heuristics, with weights that change as the board fills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from othello_lab.agents.evaluation.catalogue import FEATURES
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, Evaluation
from othello_lab.core.bitboard import popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Announce, Array, Mask
from othello_lab.core.system.settings import Number, called, unknown_choice
from othello_lab.core.vector import address_of, call_evaluation, load, load_float

MOST_EMPTIES = 60
SQUARES = 64
LARGEST = FINAL_UNIT - 1
_WEIGHT = Number(-1e9, 1e9)


class Composite(Evaluation):
    """The sum of weight x feature, rounded half to even, with weights by stage of the game.

    Range: clipped to +-(2^24 - 1); the weights determine the units. Antisymmetric if all features
    are; unchanged under the board's symmetries.

    Why: heuristics know different things, and a sum knows them all. Weights by stage of the game
    let moves count first and discs last.
    """

    def __init__(
        self,
        weights: Mapping[str, float] | None = None,
        stages: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """
        weights: of features, by name (see FEATURES); 0 switches a feature off.
        stages: each with ``empties: [fewest, most]`` and ``weights`` of its own. These replace
            the weights above of the same name in that range of empty squares. All stages together
            must cover 0 to 60 empties, each number exactly once.

        Raises ValueError for unknown features, weights that are no finite numbers, and stages
        that overlap or leave a gap.
        """
        everywhere = _checked_weights(weights or {}, "weights")
        self._given = {
            "weights": {name: w for name, w in everywhere.items() if w},
            "stages": stages,
        }
        self._stage_of = np.zeros(MOST_EMPTIES + 1, dtype=np.int64)
        self.stages: list[dict[str, float]] = [everywhere]
        if stages:
            self._stage_of = _stage_by_empties(stages)
            self.stages = [
                everywhere | _checked_weights(stage.get("weights") or {}, f"stages[{i}].weights")
                for i, stage in enumerate(stages)
            ]
        names = sorted({name for stage in self.stages for name, weight in stage.items() if weight})
        if not names:
            raise ValueError("a composite needs at least one weight that is not 0")
        self.features = {name: FEATURES[name]() for name in names}
        self.sides = frozenset.intersection(*(f.sides for f in self.features.values()))

    def __repr__(self) -> str:
        return called(self, self._given)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The fewest and the most empty squares of each stage."""
        empties = [np.flatnonzero(self._stage_of == stage) for stage in range(len(self.stages))]
        return [(int(stage[0]), int(stage[-1])) for stage in empties]

    def prepare(self, announce: Announce | None = None) -> None:
        for feature in self.features.values():
            feature.prepare(announce)
        super().prepare(announce)

    def make_parameters(self) -> np.ndarray:
        """Return one list of int64, as pairs of int32.

        First come the starts of the weights for each number of empties (65 entries, as a made-up
        board may hold less than a game's first four discs). At each start stands the number of
        features, then for each feature its weight (a float64), the address of its kernel and the
        address of its parameters.
        """
        lists: list[int] = []
        starts = []
        for stage in self.stages:
            used = [(name, weight) for name, weight in stage.items() if weight]
            starts.append(SQUARES + 1 + len(lists))
            lists.append(len(used))
            for name, weight in used:
                feature = self.features[name]
                lists += [int(np.float64(weight).view(np.int64)), feature.address]
                lists.append(feature.parameters_address)
        stages = [self._stage_of[min(empties, MOST_EMPTIES)] for empties in range(SQUARES + 1)]
        table = [starts[stage] for stage in stages] + lists
        return np.array(table, dtype=np.int64).view(np.int32)

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        table = address_of(parameters)
        at = load(table, np.int64(SQUARES) - popcount(mover | opponent))
        count = load(table, at)
        value = 0.0
        for i in range(count):
            entry = at + 1 + 3 * i
            feature = call_evaluation(
                load(table, entry + 1), mover, opponent, load(table, entry + 2)
            )
            value += load_float(table, entry) * feature
        return np.int32(min(max(np.rint(value), -LARGEST), LARGEST))

    def plain(self, position: Position) -> int:
        value = 0.0
        for name, weight in self.weights_at(position.empties).items():
            value += weight * self.features[name].plain(position)
        return int(min(max(round(value), -LARGEST), LARGEST))

    def parts(self, position: Position) -> dict[str, int | float]:
        return {
            f"{name}: {feature:+} x {weight:g}": weight * feature
            for name, weight in self.weights_at(position.empties).items()
            for feature in [self.features[name].plain(position)]
        }

    def weights_at(self, empties: int) -> dict[str, float]:
        """Return the weights by feature at this number of empty squares, without zeros."""
        stage = self.stages[self._stage_of[min(empties, MOST_EMPTIES)]]
        return {name: weight for name, weight in stage.items() if weight}

    def __getstate__(self) -> dict[str, Any]:
        # The parameters hold addresses too.
        return {k: v for k, v in super().__getstate__().items() if k != "parameters"}


def _checked_weights(weights: Mapping[str, float], where: str) -> dict[str, float]:
    if not isinstance(weights, Mapping):
        raise ValueError(f"{where}={weights!r:.60}: names of features and their weights are needed")
    checked = {}
    for name, weight in weights.items():
        if name not in FEATURES:
            raise ValueError(f"{where}: {unknown_choice('feature', name, FEATURES)}")
        if not _WEIGHT.allows(weight):
            raise ValueError(_WEIGHT.refusal(f"{where}.{name}", weight, optional=False))
        checked[str(name)] = float(weight)
    return checked


def _stage_by_empties(stages: Any) -> np.ndarray:
    """Return the stage of each number of empties from 0 to 60, shape (61,); raises ValueError."""
    if not isinstance(stages, Sequence) or isinstance(stages, str):
        raise ValueError(f"stages={stages!r:.60}: a list of stages is needed")
    covered = np.full(MOST_EMPTIES + 1, -1, dtype=np.int64)
    for i, stage in enumerate(stages):
        if not isinstance(stage, Mapping):
            raise ValueError(f"stages[{i}]={stage!r:.60}: empties and weights are needed")
        for key in stage:
            if key not in ("empties", "weights"):
                raise ValueError(f"stages[{i}]: unknown key '{key}'; empties and weights")
        ends: Any = stage.get("empties")
        good = isinstance(ends, Sequence) and [type(end) for end in ends] == [int, int]
        if not good or not 0 <= ends[0] <= ends[1] <= MOST_EMPTIES:
            raise ValueError(f"stages[{i}].empties={ends}: [fewest, most] within 0 to 60 is needed")
        first, last = ends
        for empties in range(first, last + 1):
            if covered[empties] >= 0:
                raise ValueError(
                    f"stages[{covered[empties]}] and [{i}] overlap at {empties} empties"
                )
            covered[empties] = i
    if (covered < 0).any():
        raise ValueError(f"no stage covers {np.flatnonzero(covered < 0)[0]} empties")
    return covered
