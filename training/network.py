"""The training of a small neural network: its order, rate and duration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from othello_lab.agents.learned.network import KIND, UNIT, VERSION, NetworkEvaluation
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.settings import Number, Whole
from othello_lab.experiments.config import Plan
from othello_lab.training.data import TRAIN, VALIDATION
from othello_lab.training.neural import SYMMETRIES, Network, NetworkInputs
from othello_lab.training.stages import MOST_EMPTIES
from othello_lab.training.training import (
    LearningResult,
    Training,
    TrainingContext,
    disc_worth_figures,
)

WARMING = 0.1
"""The share of the time in which the learning rate rises."""
_HELD = 100_000  # positions held back whose error is told after each epoch


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
        epoch = network.restore(work.load_checkpoint("network"))
        shown = NetworkInputs.of(train)
        with _one_thread(), work.progress("epochs", self.epochs, epoch) as bar:
            while epoch < self.epochs and not work.over:
                error = self._epoch(work, network, shown, epoch)
                epoch += 1
                where = f"epoch {epoch}"
                work.finite("error", error, where)
                for name, weights in network.arrays().items():
                    work.finite(name, weights, where)
                told = {"train": error}
                if len(held):
                    told["validation"] = network.squared_error(held)
                work.note(epoch=epoch, **told)
                work.save_checkpoint("network", network.state(epoch))
                bar.advance()
                bar.tell(
                    ", ".join(f"{name} {value**0.5:.2f} discs" for name, value in told.items())
                )
        learned = LearnedWeights(KIND, VERSION, UNIT, network.whole_numbers())
        return LearningResult(
            {"_target_": "othello_lab.agents.learned.NetworkEvaluation"},
            learned,
            unit=UNIT,
            figures=lambda: disc_worth_figures(NetworkEvaluation(learned), train, UNIT),
            about={"epochs": epoch},
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
