"""A small neural network that learns the score of positions, by PyTorch.

It has the layers of :class:`agents.learned.network.NetworkEvaluation`, and is clipped in the same
places, but its numbers have fractions; in the end it becomes that one's whole numbers. Limits on
the weights see to it that these fit.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.learned.network import (
    EMPTIES,
    FIRST,
    FULL,
    HIDDEN,
    HIDDEN_BIAS,
    INPUTS,
    KIND,
    LAST_BITS,
    OUTPUT,
    OUTPUT_BIAS,
    PLANES,
    SECOND,
    SQUARES,
    STAGES,
    UNIT,
    VERSION,
    NetworkEvaluation,
)
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import legal_moves, symmetric_forms
from othello_lab.core.system.compile import Array, kernel
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.settings import Number, Whole
from othello_lab.experiments.config import Plan
from othello_lab.training.data import TRAIN, VALIDATION, Positions
from othello_lab.training.stages import MOST_EMPTIES, stages_of_empties
from othello_lab.training.training import (
    LearningResult,
    Training,
    TrainingContext,
    disc_worth_figures,
)

WARMING = 0.1
"""The share of the time in which the learning rate rises."""
_HELD = 100_000  # positions held back whose error is told after each epoch
LIMITS = {
    INPUTS: 0.7,
    EMPTIES: 32.0,
    HIDDEN: 8.0,
    HIDDEN_BIAS: 128.0,
    OUTPUT: 8.0,
    OUTPUT_BIAS: 8.0,
}
"""How far from 0 weights may be; those of discs among the inputs twice as far as those of moves, as
a square has one disc at most while both sides may move there: 64 squares with 1.4 and the number of
empty squares make less than 128, of which 1/256 is the unit in 16 bits."""
SYMMETRIES = 8
_AS_IT_IS = SYMMETRIES - 1
"""The number of the form, of those of symmetric_forms, that is not turned."""
_CHUNK = 20_000
_SIDE = 8


# ---------------------------------------------------------------------- what it is shown


@dataclass(frozen=True, eq=False)
class NetworkInputs:
    """Positions as the network sees them.

    planes: masks of discs and moves in the order of PLANES, uint64, shape (n, 4). empties: int64,
    shape (n,). score: discs, float32, shape (n,).
    """

    planes: np.ndarray
    empties: np.ndarray
    score: np.ndarray

    @classmethod
    def of(cls, positions: Positions) -> NetworkInputs:
        """With the moves of both sides."""
        planes = np.zeros((len(positions), len(PLANES)), dtype=np.uint64)
        planes[:, 0], planes[:, 1] = positions.mover, positions.opponent
        _add_moves(planes)
        return cls(planes, positions.empties, positions.score)

    def __len__(self) -> int:
        return len(self.score)

    def shown(self, rows: Any, symmetry: int = _AS_IT_IS) -> np.ndarray:
        """The inputs of these rows, 0 or 1, uint8, shape (k, 256), in one of eight symmetries."""
        mover, other, moves, other_moves = self.planes[rows].T
        turned = (
            next(itertools.islice(symmetric_forms(*pair, _SIDE), symmetry, None))
            for pair in ((mover, other), (moves, other_moves))
        )
        planes = np.stack([mask for pair in turned for mask in pair], axis=1)
        return np.unpackbits(planes.astype("<u8").view(np.uint8), axis=1, bitorder="little")


@kernel
def _add_moves(planes: Array) -> None:
    for row in planes:
        row[2], row[3] = legal_moves(row[0], row[1]), legal_moves(row[1], row[0])


# ---------------------------------------------------------------------- what learns


class Network:
    """The weights while they are learned, and Adam's memory of how they changed.

    Of the same shapes as :mod:`agents.learned.network` tells, in units of their own: a unit's
    answer is 0 to 1, and an output of 1 is all squares of the board.
    """

    def __init__(self, stages: int, rng: np.random.Generator, mean: float) -> None:
        """mean: of the scores, in discs."""
        import torch

        def drawn(*shape: int, inputs: int) -> Any:
            bound = inputs**-0.5
            return torch.from_numpy(rng.uniform(-bound, bound, shape).astype(np.float32))

        count = len(PLANES) * SQUARES
        self.weights: dict[str, Any] = {
            INPUTS: drawn(count, FIRST, inputs=count),
            EMPTIES: drawn(1, FIRST, inputs=count).repeat(SQUARES + 1, 1),
            HIDDEN: drawn(stages, SECOND, FIRST, inputs=FIRST),
            HIDDEN_BIAS: drawn(stages, SECOND, inputs=FIRST),
            OUTPUT: drawn(stages, SECOND, inputs=SECOND),
            OUTPUT_BIAS: torch.full((stages,), mean / SQUARES),
        }
        for tensor in self.weights.values():
            tensor.requires_grad_()
        self._optimizer = torch.optim.Adam(self.weights.values())
        self.stages = stages
        self._stages = torch.from_numpy(stages_of_empties(stages).astype(np.int64))
        # Discs first, then moves.
        limits = torch.full((count, 1), LIMITS[INPUTS])
        limits[: count // 2] *= 2
        self._limits: dict[str, Any] = LIMITS | {INPUTS: limits}

    def foretold(self, shown: Any, empties: Any) -> Any:
        """The expected score in discs, of inputs (float32, shape (k, 256)) and empty squares."""
        w, stage = self.weights, self._stages[empties]
        first = (shown @ w[INPUTS] + w[EMPTIES][empties]).clamp(0, 1)
        # All stages' units at once: choosing their weights position by position takes longer.
        sums = first @ w[HIDDEN].reshape(-1, FIRST).T
        chosen = sums.reshape(len(shown), -1, SECOND)[range(len(shown)), stage]
        second = (chosen + w[HIDDEN_BIAS][stage]).clamp(0, 1)
        return SQUARES * ((second * w[OUTPUT][stage]).sum(dim=1) + w[OUTPUT_BIAS][stage])

    def improve(self, inputs: NetworkInputs, rows: np.ndarray, symmetry: int, rate: float) -> float:
        """Take one step; the mean squared error before it, in squared discs."""
        import torch

        for group in self._optimizer.param_groups:
            group["lr"] = rate
        missed = self._foretold(inputs, rows, symmetry) - torch.from_numpy(inputs.score[rows])
        error = (missed**2).mean()
        self._optimizer.zero_grad()
        (error / SQUARES**2).backward()
        self._optimizer.step()
        with torch.no_grad():
            for name, limit in self._limits.items():
                self.weights[name].clamp_(-limit, limit)
        return float(error.detach())

    def _foretold(self, inputs: NetworkInputs, rows: Any, symmetry: int = _AS_IT_IS) -> Any:
        import torch

        shown = torch.from_numpy(inputs.shown(rows, symmetry)).float()
        return self.foretold(shown, torch.from_numpy(inputs.empties[rows]))

    def squared_error(self, inputs: NetworkInputs) -> float:
        """Mean, in squared discs."""
        import torch

        total = 0.0
        with torch.no_grad():
            for begin in range(0, len(inputs), _CHUNK):
                rows = slice(begin, begin + _CHUNK)
                missed = self._foretold(inputs, rows).numpy() - inputs.score[rows]
                total += float((missed.astype(float) ** 2).sum())
        return total / len(inputs)

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights, as they are."""
        return {name: tensor.detach().numpy() for name, tensor in self.weights.items()}

    def tensors(self) -> bytes:
        """Return the weights, and Adam's memory, for :meth:`restore`."""
        import torch

        content = io.BytesIO()
        torch.save([self.weights, self._optimizer.state_dict()], content)
        return content.getvalue()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the ``tensors`` of a state; nothing for one that has none."""
        import torch

        if "tensors" not in state:
            return
        weights, memory = torch.load(io.BytesIO(state["tensors"]), weights_only=True)
        with torch.no_grad():
            for name, tensor in self.weights.items():
                tensor.copy_(weights[name])
        self._optimizer.load_state_dict(memory)

    def whole_numbers(self) -> dict[str, np.ndarray]:
        """Return the arguments of :class:`agents.learned.network.NetworkEvaluation`."""
        arrays = self.arrays()
        last = SQUARES * UNIT * (1 << LAST_BITS) / FULL

        def whole(name: str, unit: float, kind: type) -> np.ndarray:
            return np.rint(arrays[name].astype(float) * unit).astype(kind)

        return {
            STAGES: self._stages.numpy().astype(np.uint8),
            INPUTS: whole(INPUTS, FULL, np.int16).reshape(len(PLANES), SQUARES, FIRST),
            EMPTIES: whole(EMPTIES, FULL, np.int16),
            HIDDEN: whole(HIDDEN, FULL, np.int16),
            HIDDEN_BIAS: whole(HIDDEN_BIAS, FULL * FULL, np.int32),
            OUTPUT: whole(OUTPUT, last, np.int32),
            OUTPUT_BIAS: whole(OUTPUT_BIAS, last * FULL, np.int32),
        }


# ---------------------------------------------------------------------- the training


@dataclass(frozen=True, kw_only=True)
class NetworkTraining(Training):
    """A network of two hidden layers learns the final disc difference, by Adam on squared errors.

    The learning rate rises for a tenth of the time and then falls to 0, reached with the last
    epoch, or with the minutes if these end before. Each batch is shown in one of the board's eight
    symmetries, drawn by lot.
    """

    epochs: Annotated[int, Whole(1)] = 20
    """How often each position of training is shown."""
    batch: Annotated[int, Whole(1)] = 1024
    """Positions between two changes of the weights."""
    rate: Annotated[float, Number(above=0)] = 0.002
    """The highest learning rate."""
    stages: Annotated[int, Whole(1, MOST_EMPTIES + 1)] = 12
    """Stages of the game, which have a second hidden layer and an output of their own."""

    def check(self, plan: Plan) -> None:
        super().check(plan)
        needs("this training", "torch", "network")

    def learn(self, work: TrainingContext) -> LearningResult:
        train = work.positions.part(TRAIN)
        work.finite("scores", train.score, "training")
        held = NetworkInputs.of(work.positions.part(VALIDATION).sample(_HELD, work.rng(0)))
        network = Network(self.stages, work.rng(1), float(np.mean(train.score)))
        state = work.load_checkpoint("network") or {}
        network.restore(state)
        shown = NetworkInputs.of(train)
        with _one_thread():
            for number in work.steps("network", self.epochs, state, unit="epochs"):
                errors = {"train": self._epoch(work, network, shown, number)}
                where = f"epoch {number + 1}"
                work.finite("error", errors["train"], where)
                for name, weights in network.arrays().items():
                    work.finite(name, weights, where)
                if len(held):
                    errors["validation"] = network.squared_error(held)
                work.note(epoch=number + 1, **errors)
                work.tell(", ".join(f"{k} {error**0.5:.2f} discs" for k, error in errors.items()))
                state["tensors"] = network.tensors()
        learned = LearnedWeights(KIND, VERSION, UNIT, network.whole_numbers())
        return LearningResult(
            {"_target_": "othello_lab.agents.learned.NetworkEvaluation"},
            learned,
            unit=UNIT,
            figures=lambda: disc_worth_figures(NetworkEvaluation(learned), train, UNIT),
            about={"epochs": state["step"]},
        )

    def _epoch(
        self, work: TrainingContext, network: Network, shown: NetworkInputs, epoch: int
    ) -> float:
        """Show each position once; the mean squared error meanwhile. It ends early when the minutes
        are used up."""
        rng = work.rng(2, epoch)
        order = rng.permutation(len(shown))
        errors = []
        for begin in range(0, len(order), self.batch):
            passed = (epoch + begin / len(order)) / self.epochs
            if work.left is not None:
                passed = max(passed, 1 - work.left)
            rows, symmetry = order[begin : begin + self.batch], int(rng.integers(SYMMETRIES))
            errors.append(network.improve(shown, rows, symmetry, self.rate * rate_at(passed)))
            if work.over:
                break
        return float(np.mean(errors))


@contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch works in one thread: the sums, and so the weights, are then the same on any number of
    cores, and batches are so small that two threads take longer in all."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def rate_at(passed: float) -> float:
    """The learning rate, as a share of the highest, when this share of the time has passed."""
    if passed < WARMING:
        return (0.1 + passed) / (0.1 + WARMING)
    return 0.5 + 0.5 * math.cos(math.pi * min(1.0, (passed - WARMING) / (1 - WARMING)))
