"""All that the champion is made of, from nothing: resumed, used, shipped, compared."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml
from processes import Command, await_
from runs import made

from othello_lab.__main__ import main
from othello_lab.agents.composing import load
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import DiscCount
from othello_lab.agents.learned.patterns import VERSION
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.agents.search.window.probcut import ProbCut, Regression, fingerprint
from othello_lab.experiments.pairing.openings import BALANCED
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import Record
from othello_lab.training import shipping
from othello_lab.training.champion import ChampionFiles, ChampionTraining
from othello_lab.training.champion_report import errors_of_both, sigmas
from othello_lab.training.data import Positions
from othello_lab.training.steps import read

WORDS = ("champion_tiny", "figures=false", "executor.workers=1")


def outcome(folder: Path) -> dict[str, object]:
    """All that a training of the champion has made, but for times and paths."""
    files = ChampionFiles(folder)
    weights = LearnedWeights.read(files.patterns / "weights" / "patterns.npz", "patterns", VERSION)
    probcut = ProbCut.load(files.probcut)
    with reading(files.match) as record:
        moves = record.moves()[["game", "ply", "move", "nodes"]]
    return {
        "weights": {name: array.tolist() for name, array in weights.arrays.items()},
        "probcut": (probcut.fingerprint, probcut.checks),
        "openings": files.openings.read_text(),
        "held out": Positions.read([files.held_out]).data_hash,
        "errors": (folder / "errors.csv").read_text(),
        "solver": (folder / "solver.csv").read_text(),
        "moves": moves.to_dict("list"),
    }


AFTER = (
    "patterns",
    "patterns/record.sqlite",
    "patterns/rounds/outcomes/0/record.sqlite",
    "patterns/rounds/first",
    "patterns/learn",
    "rows/probcut/full_searches.jsonl",
    "rows/probcut/own_searches.jsonl",
    "probcut.yaml",
    "rows/openings/searching_4_plies,_sample.jsonl",
    "rows/openings/playing.jsonl",
    "balanced_4.txt",
    "held_out/record.sqlite",
    "rows/solver/solving.jsonl",
    "match/record.sqlite",
    "errors.csv",
)
"""Files and folders in the order in which they are made; after each one the training is killed."""


def stopped_or_made(command: Command, results: Path, name: str) -> bool:
    return command.poll() is not None or any(results.glob(f"*/*/{name}"))


@pytest.mark.nightly
def test_killed_between_and_within_steps_it_makes_the_same(tmp_path: Path) -> None:
    results = tmp_path / "killed"
    command = Command("train", *WORDS, f"results={results}")
    for name in AFTER:
        try:
            await_(partial(stopped_or_made, command, results, name), 600)
        finally:
            command.kill()
        (folder,) = (results / "champion_tiny").iterdir()
        assert (folder / name).exists(), command.printed
        command = Command("resume", str(folder))
    assert command.wait(600) == 0, command.printed
    assert outcome(folder) == outcome(made(tmp_path / "whole", "train", *WORDS)[1])
    with Record.open(folder) as record:
        assert record.head()["complete"] and len(record.pieces()) == 6


@pytest.mark.integration
def test_a_champion_is_reported_played_with_and_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = made(tmp_path, "train", *WORDS)
    files = ChampionFiles(folder)
    report = (folder / "report.md").read_text()
    for said in (
        "Elo of the new champion less that of the old one",
        "new weights miss the score by",
        "the solver visits",
        "Error of the weights, discs",
        "standard deviation of a check",
        "openings kept",
        "--config-dir",
        "agent@first=trained_champion",
        "minutes of 2 cores",
    ):
        assert said in report, said

    settings = load("agent", "trained_champion", [files.conf])
    assert settings["evaluation"]["weights"] == str(files.patterns / "weights/patterns.npz")
    words = ["agents=duel", "agent@first=trained_champion", "agent@second=champion", "games=2"]
    words += ["limits.nodes=500", f"--config-dir={files.conf}", "executor=serial"]
    assert main(["run", *words, "figures=false", f"results={tmp_path / 'again'}"]) == 0

    openings = files.openings.read_text()
    for path in folder.glob("balanced_4.*"):
        path.rename(path.with_stem(BALANCED.stem))
    for place in ("conf/evaluation", "shipped/probcut"):
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(shipping, "conf_folder", lambda: tmp_path / "conf")
    monkeypatch.setattr("othello_lab.agents.learned.weights.SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(shipping, "FITTED", tmp_path / "shipped" / "probcut")
    monkeypatch.setattr(shipping, "BALANCED", tmp_path / BALANCED.name)
    assert main(["train", "--ship", str(folder)]) == 0
    fitted = ProbCut.load(tmp_path / "shipped" / "probcut" / "patterns.yaml")
    assert fitted.fingerprint == fingerprint(load_evaluation("patterns"))
    assert (tmp_path / BALANCED.name).read_text() == openings
    about = yaml.safe_load((tmp_path / BALANCED.name).with_suffix(".yaml").read_text())
    assert about["settings"]["evaluation"] == "patterns"


# ------------------------------------------------------------------ its parts


@pytest.mark.parametrize(("name", "minutes"), [("champion", 180), ("champion_tiny", 1)])
def test_it_fits_into_its_time(name: str, minutes: int) -> None:
    study = read(name, []).study
    assert isinstance(study, ChampionTraining)
    steps = {"patterns", "probcut", "openings", "held_out", "solver", "match"}
    assert set(study.minutes) >= steps
    assert sum(study.minutes[step] for step in steps) <= minutes


def test_errors_are_compared_position_by_position() -> None:
    rng = np.random.default_rng(1)
    mover = rng.integers(0, 1 << 63, 400, dtype=np.uint64)
    opponent = ~mover & np.uint64((1 << 60) - 1)
    score = np.bitwise_count(mover).astype(np.float32) - np.bitwise_count(opponent)
    numbers = np.arange(400)
    positions = Positions.of_games(mover, opponent, score, numbers > 0, numbers)
    evaluation = DiscCount()  # one hundredth of what the score is
    (row,) = errors_of_both(evaluation, evaluation, positions, 1)
    assert row["positions"] == len(positions) and row["fewest"] == 0
    assert row["change"] == row["low"] == row["high"] == 0
    assert row["new"] == pytest.approx(0.99 * np.abs(positions.score).mean(), rel=1e-5)


def test_the_deviation_of_a_depth_is_that_of_its_deepest_check() -> None:
    made = [
        Regression(4, 0, 0, 1, 0, 900, 10),
        Regression(4, 2, 0, 1, 0, 100, 30),
        Regression(4, 2, 8, 1, 0, 300, 10),
        Regression(1, 0, 0, 1, 0, 500, 10),
    ]
    found = sigmas(ProbCut("x", "0" * 16, {}, tuple(made)))
    assert found == {1: (0, 5.0), 4: (2, 1.5)}
