"""All that the champion is made of, from nothing: resumed, used, shipped, compared."""

from __future__ import annotations

import importlib.util
import shutil
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml
from processes import Command, await_

from othello_lab.__main__ import main
from othello_lab.agents.config import build_agent, load, load_evaluation
from othello_lab.agents.evaluation import DiscCount
from othello_lab.agents.learned.patterns import VERSION
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.agents.search.window.probcut import ProbCut, Regression, fingerprint
from othello_lab.experiments.pairing.openings import BALANCED
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.studies.record import StudyRecord
from othello_lab.training import shipping
from othello_lab.training.champion import ChampionFiles, ChampionTraining
from othello_lab.training.champion_report import errors_of_both, sigmas
from othello_lab.training.data import Positions
from othello_lab.training.steps import read

WORDS = ("champion_tiny", "figures=false", "executor.workers=1")


class Made(NamedTuple):
    folder: Path
    files: ChampionFiles


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A tiny champion, made without an interruption."""
    results = tmp_path_factory.mktemp("champion")
    assert main(["train", *WORDS, f"results={results}"]) == 0
    (folder,) = (results / "champion_tiny").iterdir()
    return Made(folder, ChampionFiles(folder))


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
    "patterns/training.sqlite",
    "patterns/rounds/outcomes/0/pieces.bin",
    "patterns/rounds/first",
    "patterns/learn",
    "rows/probcut/full_searches.jsonl",
    "rows/probcut/own_searches.jsonl",
    "probcut.yaml",
    "rows/openings/searching_4_plies,_sample.jsonl",
    "rows/openings/playing.jsonl",
    "balanced_4.txt",
    "held_out/pieces.bin",
    "rows/solver/solving.jsonl",
    "match/games.sqlite",
    "errors.csv",
)
"""Files and folders in the order in which they are made; after each one the training is killed."""


def _stopped_or_made(command: Command, results: Path, name: str) -> bool:
    return command.poll() is not None or bool(list(results.glob(f"*/*/{name}")))


@pytest.mark.integration
def test_killed_between_and_within_steps_it_makes_the_same(made: Made, tmp_path: Path) -> None:
    command = Command("train", *WORDS, f"results={tmp_path}")
    folder = None
    for name in AFTER:
        try:
            await_(partial(_stopped_or_made, command, tmp_path, name), 600)
            command.kill()
        finally:
            command.kill()
        (folder,) = (tmp_path / "champion_tiny").iterdir()
        assert (folder / name).exists(), command.printed
        command = Command("resume", str(folder))
    assert command.wait(600) == 0, command.printed
    assert folder is not None and outcome(folder) == outcome(made.folder)
    with StudyRecord.open(folder) as record:
        assert record.study()["complete"] and len(record.done()) == 6


@pytest.mark.integration
def test_the_report_tells_what_changed_and_how_to_play_with_it(made: Made) -> None:
    report = (made.folder / "report.md").read_text()
    for said in (
        "Elo of the new champion less that of the old one",
        "The new weights miss the score by",
        "Sorting by the new weights the solver visits",
        "Error of the weights, discs",
        "standard deviation of a check",
        "openings kept",
        "--config-dir",
        "agent@first=trained_champion",
        "minutes of 2 cores",
    ):
        assert said in report, said


@pytest.mark.integration
def test_it_plays_with_what_is_new(made: Made, tmp_path: Path) -> None:
    settings = load("agent", "trained_champion", [made.files.conf])
    assert settings["evaluation"]["weights"] == str(made.files.patterns / "weights/patterns.npz")
    build_agent(settings, "new")
    words = ["agents=duel", "agent@first=trained_champion", "agent@second=champion", "games=2"]
    words += ["limits.nodes=500", f"--config-dir={made.files.conf}", "executor=serial"]
    words += ["figures=false", f"results={tmp_path}"]
    assert main(["run", *words]) == 0


@pytest.mark.integration
def test_it_ships_all_that_is_made(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "made"
    shutil.copytree(made.folder, folder)
    for path in folder.glob("balanced_4.*"):
        path.rename(path.with_stem(BALANCED.stem))
    for place in ("conf/evaluation", "shipped/probcut"):
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(shipping, "conf_folder", lambda: tmp_path / "conf")
    monkeypatch.setattr("othello_lab.agents.learned.weights.SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(shipping, "FITTED", tmp_path / "shipped" / "probcut")
    monkeypatch.setattr(shipping, "BALANCED", tmp_path / BALANCED.name)
    assert main(["train", "--ship", str(folder)]) == 0
    evaluation = load_evaluation("patterns")
    fitted = ProbCut.load(tmp_path / "shipped" / "probcut" / "patterns.yaml")
    assert fitted.fingerprint == fingerprint(evaluation)
    assert (tmp_path / BALANCED.name).read_text() == made.files.openings.read_text()
    about = yaml.safe_load((tmp_path / BALANCED.name).with_suffix(".yaml").read_text())
    assert about["settings"]["evaluation"] == "patterns"


# ------------------------------------------------------------------ its parts


def test_the_whole_fits_into_three_hours() -> None:
    study = read("champion", []).study
    assert isinstance(study, ChampionTraining)
    steps = {"patterns", "probcut", "openings", "held_out", "solver", "match"}
    assert set(study.minutes) == steps
    assert sum(study.minutes.values()) <= 180


def test_the_tiny_one_takes_a_minute() -> None:
    study, whole = (read(name, []).study for name in ("champion_tiny", "champion"))
    assert isinstance(study, ChampionTraining) and isinstance(whole, ChampionTraining)
    expected = {key: study.minutes[key] for key in whole.minutes}
    assert sum(expected.values()) <= 1


def test_without_pyarrow_no_plan_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *m: None if name == "pyarrow" else found(name, *m)
    )
    assert main(["train", "champion_tiny", f"results={tmp_path}"]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and "needs pyarrow; pip install '.[learn]'" in said.err
    assert not said.out and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["train.probcut_depth=2"], "train.probcut_depth=2: a whole number from 3"),
        (["train.balanced={depht: 3}"], "unexpected keyword argument 'depht'"),
        (["train.balanced={depth: 2, shallow: 3}"], "--shallow=3"),
        (["+agents.third={_target_: othello_lab.GreedyAgent}"], "agents: two are needed"),
        (["agent@first=greedy"], "has no evaluation"),
        (["train.patterns={shrikn: 1}"], "no setting 'shrikn'"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_made(
    words: list[str], refusal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "champion", *words, f"results={tmp_path}"]) == 2
    said = capsys.readouterr().err
    assert any(part in said for part in refusal.split("|")), said
    assert not list(tmp_path.iterdir())


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
