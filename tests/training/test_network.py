"""Training of the network: it learns, its whole numbers say the same, and it goes on where it
was."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from taught import taught_positions

from othello_lab.agents.learned import NetworkEvaluation
from othello_lab.agents.learned.network import INPUTS, KIND, UNIT, VERSION
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import mirror, transpose
from othello_lab.core.position import Position
from othello_lab.training.data import VALIDATION, Positions
from othello_lab.training.network import LIMITS, Network, NetworkInputs, NetworkTraining, rate_at
from othello_lab.training.training import LearningResult, NotFinite, TrainingContext

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed (extra network)")

pytestmark = pytest.mark.nightly

SMALL = NetworkTraining(data=["made up"], epochs=12, batch=128, rate=0.006, stages=3)


@pytest.fixture(scope="module")
def positions() -> Positions:
    return taught_positions()


@pytest.fixture(scope="module")
def trained(positions: Positions, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    work = TrainingContext(tmp_path_factory.mktemp("network"), positions=positions)
    threads = torch.get_num_threads()
    learned = SMALL.learn(work)
    assert torch.get_num_threads() == threads
    return work, learned


def test_it_learns(positions: Positions, trained: tuple[TrainingContext, LearningResult]) -> None:
    history = trained[0].history
    assert [row["epoch"] for row in history] == list(range(1, SMALL.epochs + 1))
    assert history[-1]["train"] < 0.5 * history[0]["train"]
    held = positions.part(VALIDATION)
    variance = float(np.var(held.score))
    assert history[-1]["validation"] < 0.5 * variance


def test_whole_numbers_say_what_fractions_said(
    positions: Positions, trained: tuple[TrainingContext, LearningResult]
) -> None:
    work, learned = trained
    held = positions.part(VALIDATION)
    network = Network(SMALL.stages, work.rng(1), 0.0)
    network.restore(work.load_checkpoint("network") or {})
    evaluation = NetworkEvaluation(learned.weights)
    foretold = evaluation.values(held.mover, held.opponent) / UNIT
    inputs = NetworkInputs.of(held)
    with torch.no_grad():
        shown = torch.from_numpy(inputs.shown(slice(None))).float()
        said = network.foretold(shown, torch.from_numpy(inputs.empties)).numpy()
    assert np.abs(foretold - np.clip(said, -64, 64)).mean() < 0.5
    assert network.squared_error(inputs) == pytest.approx(((said - held.score) ** 2).mean())


def test_minutes_end_it_early(positions: Positions, tmp_path: Path) -> None:
    work = TrainingContext(tmp_path, positions=positions, minutes=1e-9)
    learned = SMALL.learn(work)
    assert len(work.history) == 0
    NetworkEvaluation(learned.weights)  # of what it began with


def test_numbers_that_are_none_stop_it(
    positions: Positions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    improve, calls = Network.improve, []

    def diverging(self: Network, *args: Any) -> float:
        calls.append(1)
        if len(calls) > 30:
            with torch.no_grad():
                self.weights[INPUTS] *= float("nan")
        return improve(self, *args)

    monkeypatch.setattr(Network, "improve", diverging)
    with pytest.raises(NotFinite, match=r"epoch 2: error: .*network\.checkpoint"):
        SMALL.learn(TrainingContext(tmp_path, positions=positions))
    monkeypatch.undo()
    saved = TrainingContext(tmp_path).load_checkpoint("network")
    assert saved is not None and saved["step"] == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_weights_fit(sign: int) -> None:
    network = Network(2, np.random.default_rng(1), 0.0)
    inputs = NetworkInputs(np.zeros((1, 4), np.uint64), np.zeros(1, int), np.zeros(1, np.float32))
    with torch.no_grad():
        for tensor in network.weights.values():
            tensor.fill_(sign * 1e6)
    network.improve(inputs, np.array([0]), 0, 0.0)
    arrays = network.whole_numbers()
    assert np.abs(arrays[INPUTS]).max() == round(256 * 2 * LIMITS[INPUTS])
    NetworkEvaluation(LearnedWeights(KIND, VERSION, UNIT, arrays))


def test_a_symmetry_turns_discs_and_moves_alike(positions: Positions) -> None:
    some = positions[:40]
    inputs = NetworkInputs.of(some)
    seen = {inputs.shown(slice(None), symmetry).tobytes() for symmetry in range(8)}
    assert len(seen) == 8
    for change in (mirror, transpose):
        image = NetworkInputs.of(
            dataclasses.replace(some, mover=change(some.mover), opponent=change(some.opponent))
        )
        assert image.shown(slice(None)).tobytes() in seen


def test_inputs_are_in_the_kernels_order() -> None:
    position = Position.from_transcript("f5")
    column = np.array([position.mover], np.uint64), np.array([position.opponent], np.uint64)
    nothing = np.zeros(1, np.int32)
    one = Positions(
        *column, nothing.astype(np.float32), nothing, nothing > 0, nothing.astype(np.int64),
        nothing.astype(np.uint8),
    )  # fmt: skip
    shown = NetworkInputs.of(one).shown(slice(None)).reshape(4, 64)
    assert np.flatnonzero(shown[2]).tolist() == list(position.moves)
    assert np.flatnonzero(shown[0]).tolist() == [s for s in range(64) if position.mover >> s & 1]


def test_the_rate_rises_and_falls() -> None:
    rates = [rate_at(passed) for passed in np.linspace(0, 1, 101)]
    assert max(rates) == pytest.approx(1)
    assert rates.index(max(rates)) == 10
    assert 0 < rates[0] < 1
    assert rates[-1] == pytest.approx(0)
    assert rate_at(1.3) == pytest.approx(0)


def test_figures_are_drawn(trained: tuple[TrainingContext, LearningResult]) -> None:
    (figure,) = trained[1].figures()
    assert figure.name == "disc_worth"
    titles = [axes.get_title() for axes in figure.chart.axes if axes.get_title()]
    assert titles == ["opening", "midgame", "endgame"]
