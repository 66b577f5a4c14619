"""How trainings are made: by name, step by step, measured, resumed, shipped."""

from __future__ import annotations

import json
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from rich.console import Console
from runs import line_of
from taught import taught_positions
from trained import TwoWeights

from othello_lab.__main__ import main
from othello_lab.agents.composing import choices, load
from othello_lab.agents.config import build
from othello_lab.agents.evaluation import Composite, Evaluation
from othello_lab.experiments.config import RunConfig
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.record.store import Record
from othello_lab.training import rounds, shipping, training_session
from othello_lab.training.data import Positions
from othello_lab.training.learned_files import StepResult
from othello_lab.training.reporting import about_guessing, about_matches
from othello_lab.training.rounds import parts_of
from othello_lab.training.steps import LearnStep, MatchStep, PlayStep, read, steps_of
from othello_lab.training.training import Training, TrainingContext
from othello_lab.training.training_group import MAKER as TRAINER

YAML = """\
# Two weights, of corners and mobility
_target_: trained.TwoWeights
# Steps of gradient descent
steps: 30
rounds:
  first: {agent: alphabeta, depth: 1, evaluation: mobility, games: 100, exact: 0}
  second: {agent: trained, depth: 1, games: 100, exact: 0}
"""
COMMON = ("executor=serial", "agents=duel", "agent@first=random", "agent@second=greedy")


def train(where: Path, *words: str, name: str = "two", code: int = 0) -> tuple[str, Path]:
    """Train what YAML describes, which ends with this code; what is told, and the folder."""
    conf = where / "conf" / "train"
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "two.yaml").write_text(YAML)
    before = set(where.glob("results/*/*"))
    common = [*COMMON, "games=4", "depth=1", f"results={where}/results"]
    said = line_of("train", name, *common, f"--config-dir={where}/conf", *words, code=code)
    (new,) = set(where.glob("results/*/*")) - before or {where}
    return said, new


def positions_of(training: Path) -> str:
    """The setting by which a training learns from the positions of another one."""
    (part,) = parts_of(training / "rounds" / "outcomes")
    return f"train.data=[{part}]"


@pytest.mark.integration
def test_the_report_says_how_good_it_is(recorded_training: Path) -> None:
    report = (recorded_training / "report.md").read_text()
    for title in ("Matches", "Steps"):
        assert f"## {title}" in report
    for said in ("othello-lab train tuned", "at depth 1, tuned", "misses the score", "10 discs"):
        assert said in report
    saved = StepResult.read(recorded_training, "tuned")
    assert saved.about["data_hash"] and saved.about["seed"] == 1
    assert set(saved.about["scores"]["elo"]) == {"random", "greedy"}


def test_what_is_no_better_than_guessing_is_called_so() -> None:
    stages = pd.DataFrame(
        {"fewest": [0, 5, 10, 15], "most": [4, 9, 14, 19], "error": [4.0, 9, 9, 4], "guessing": 5.0}
    )
    parts = pd.DataFrame({"part": ["train", "test"], "error": [9.0, 4.0], "guessing": 5.0})
    (said,) = about_guessing(parts, "test", stages)
    assert "5 to 14 empty" in said and "no better" in said
    (said,) = about_guessing(parts, "train", stages)
    assert "5.0 discs" in said and "9.0" in said
    assert not list(about_guessing(parts, "test", stages.iloc[[0, 3]]))


def test_only_what_is_certain_is_said_of_matches() -> None:
    rows = [
        ("lost", 0.2, -240.0, -300.0, -180.0, ""),
        ("open", 0.5, 0.0, -80.0, 80.0, ""),
        ("bound", 0.9, -20.0, np.nan, np.nan, ">"),
        ("beaten", 0.9, 380.0, 300.0, 500.0, ""),
    ]
    columns = ["opponent", "score", "elo", "elo_low", "elo_high", "bound"]
    matches = pd.DataFrame(rows, columns=columns).assign(games=100, split=False)
    training, settings = TwoWeights(), RunConfig(depth=4)
    said = about_matches("two", training, settings, matches)
    for part in (
        "depth 4",
        "1 of 4",
        "to lost;",
        "open and bound",
        "lost: -240 [-300, -180], in",
        "100",
    ):
        assert part in said
    won = matches.iloc[[3, 3]].reset_index(drop=True)
    said = about_matches("two", training, settings, won)
    assert "all 2 opponents" in said and "beaten, by +380 [300, 500]" in said
    for row, part in (({"bound": ">"}, "more than +380"), ({"split": True}, "every pair split")):
        assert part in about_matches("two", training, settings, won.assign(**row))


@pytest.mark.integration
def test_other_commands_know_what_it_is(recorded_training: Path, tmp_path: Path) -> None:
    folder = str(recorded_training)
    duel = ["agents=duel", "agent@first=alphabeta", "agent@second=random", "games=2", "depth=1"]
    duel += [f"--config-dir={folder}/conf", "evaluation=trained_tuned", f"results={tmp_path}"]
    for words, code, named in (
        (["watch", folder, "--once"], 0, "3 of 3 steps, complete"),
        (["list", str(recorded_training.parent)], 0, "training tuned, complete"),
        (["show", folder], 2, "is a training"),
        (["extend", folder, "games=8"], 2, "is a training"),
        (["run", *duel, "figures=false", "executor=serial"], 0, "alphabeta"),
    ):
        assert named in line_of(*words, code=code)


@pytest.mark.integration
def test_after_ctrl_c_the_rest_is_learned_by_resume(
    recorded_training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [positions_of(recorded_training), "figures=false"]
    save = TrainingContext.save_checkpoint

    def save_and_stop(work: TrainingContext, name: str, state: Any) -> None:
        save(work, name, state)
        if state["step"] == 12:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingContext, "save_checkpoint", save_and_stop)
        said, folder = train(tmp_path, *words, code=130)
    assert f"othello-lab resume {folder} --trust" in said
    with Record.open(folder) as record:
        assert record.head()["kind"] == TRAINING.word and not record.pieces()
    assert main(["resume", str(folder)]) == 2  # its code is not the lab's
    assert main(["resume", str(folder), "--trust"]) == 0
    _, whole = train(tmp_path, *words)
    resumed, wanted = StepResult.read(folder, "two"), StepResult.read(whole, "two")
    assert resumed.evaluation == wanted.evaluation
    steps = [[row["step"] for row in result.history] for result in (resumed, wanted)]
    assert steps[0] == steps[1] == list(range(30))
    assert main(["resume", str(folder), "--trust"]) == 0  # there is nothing left to do


@pytest.mark.integration
def test_after_ctrl_c_in_a_match_nothing_is_learned_again(
    recorded_training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("othello_lab.training.training_session.play_part", lambda *_: False)
        words = [positions_of(recorded_training), "figures=false"]
        _, folder = train(tmp_path, *words, code=130)
    with Record.open(folder) as record:
        assert len(record.pieces()) == 1 and not record.head()["complete"]
    assert not (folder / "rounds").exists()
    positions = Positions.read(parts_of(recorded_training / "rounds" / "outcomes"))
    assert StepResult.read(folder, "two").about["data_hash"] == positions.data_hash
    monkeypatch.setattr(TwoWeights, "learn", None)  # which would be an error
    assert main(["resume", str(folder), "--trust"]) == 0
    assert (folder / "report.md").is_file()


@pytest.mark.integration
def test_numbers_that_are_none_stop_it(recorded_training: Path, tmp_path: Path) -> None:
    words = [positions_of(recorded_training), "train.rate=1e5", "train.steps=400"]
    with np.errstate(all="ignore"):
        said, folder = train(tmp_path, *words, code=1)
    assert re.search(r"step \d+: weights: 2 of 2 numbers", said)
    (saved,) = folder.rglob("weights.checkpoint")
    last = TrainingContext(saved.parent).load_checkpoint("weights")
    assert last is not None and np.isfinite(last["weights"]).all()


@pytest.mark.nightly
def test_a_learning_curve_measures_every_stop(tmp_path: Path, shipped: Path) -> None:
    words = ["train.curve=[0.01,0.02]", "games=2", "train.ladder=ab_vs_minimax", "figures=files"]
    _, folder = train(tmp_path, *words)
    report = (folder / "report.md").read_text()
    assert "## Learning curve" in report and "From 0.01 to 0.02 minutes on 2 cores" in report
    for name in ("learning_curve", "opponents", "error_by_stage", "calibration", "history"):
        assert (folder / f"{name}.svg").is_file() and f"({name}.png)" in report, name
    for label in ("two_0.01min", "two_0.02min"):
        settings = load("evaluation", f"trained_{label}", [folder / "conf"])
        assert isinstance(build(settings, label, Evaluation), Composite)
    assert main(["train", "--ship", str(folder)]) == 0
    assert (shipped / "shipped" / "two.yaml").is_file()


@pytest.mark.integration
def test_time_that_learning_leaves_is_for_the_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {}

    def make_round(settings: Any, folder: Path, console: Any, minutes: Any, spent: Any) -> None:
        given[folder.name] = minutes
        rounds.make_round({**settings, "games": 20}, folder, console, None, spent)

    monkeypatch.setattr(training_session, "make_round", make_round)
    words = ["train.curve=[8,10]", "train.matches=false", "figures=false", "train.playing=0.5"]
    _, folder = train(tmp_path, *words)
    took = json.loads((folder / "minutes.json").read_text())
    before = dict(zip(took, np.cumsum([0.0, *took.values()]), strict=False))
    expected = {
        f"round-{stop}min": 0.5 * (stop - before[f"round-{stop}min"]) for stop in (1, 2, 4, 8, 10)
    }
    assert given == pytest.approx(expected) and before["round-10min"] > 0
    assert "Stops came earlier or later" in (folder / "report.md").read_text()


def test_steps_follow_from_the_settings() -> None:
    rounds = {"first": {"agent": "greedy"}, "second": {"agent": "trained"}, "third": {}}
    told = [(type(step), step.key) for step in steps_of("two", TwoWeights(rounds=rounds))]
    assert told == [
        (PlayStep, "first"),
        (LearnStep, "two_first"),
        (PlayStep, "second"),
        (PlayStep, "third"),
        (LearnStep, "two"),
        (MatchStep, "matches"),
    ]
    given = steps_of("two", TwoWeights(rounds=rounds, data=["there"], minutes=2))
    assert [step.key for step in given] == ["two", "matches"]


def test_a_learning_curve_plays_with_what_it_has_learned() -> None:
    rounds = {"first": {"agent": "greedy"}, "second": {"agent": "trained"}}
    steps = steps_of("two", TwoWeights(rounds=rounds, curve=[5, 15], playing=0.5))
    played = [step for step in steps if isinstance(step, PlayStep)]
    learned = [step for step in steps if isinstance(step, LearnStep)]
    assert [step.minutes for step in played] == [step.minutes for step in learned]
    assert {step.share for step in played} == {0.5}
    assert [step.trained for step in played] == [None, *(step.key for step in learned[:-1])]
    assert [step.mark for step in learned if step.mark is not None] == [5, 15]
    assert learned[-1].rounds == tuple(step.key for step in played)
    assert learned[-1].minutes == 15 and learned[-1].until
    last, ladder = steps[-2:]
    assert isinstance(last, MatchStep) and last.labels == ("two_15min",)
    assert isinstance(ladder, MatchStep) and ladder.labels == ("two_5min", "two_15min")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders ``evaluation`` and ``shipped`` that stand here for the lab's own."""
    (tmp_path / "evaluation").mkdir()
    (tmp_path / "evaluation" / "tuned.yaml").write_text("# Mine\n# to stay\n_target_: old\n")
    monkeypatch.setattr(shipping, "conf_folder", lambda: tmp_path)
    monkeypatch.setattr("othello_lab.agents.learned.weights.SHIPPED", tmp_path / "shipped")
    return tmp_path


@pytest.mark.integration
def test_what_ships_says_how_it_was_made(recorded_training: Path, shipped: Path) -> None:
    assert "1 training" in line_of("train", "--ship", recorded_training)
    text = (shipped / "evaluation" / "tuned.yaml").read_text()
    assert text.startswith("# Mine\n# to stay\n_target_: othello_lab.agents.evaluation.Composite\n")
    side_file = yaml.safe_load((shipped / "shipped" / "tuned.yaml").read_text())
    assert {"command", "seed", "data_hash", "scores", "versions"} <= set(side_file)


@pytest.mark.integration
def test_several_trainings_are_one_command(
    tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [str(tmp_path / "conf")]
    monkeypatch.setattr(
        "othello_lab.training.training_session.read",
        lambda name, words: read(name, COMMON, folders),
    )
    conf = tmp_path / "conf" / "train"
    conf.mkdir(parents=True)
    for name in ("one", "other"):
        (conf / f"{name}.yaml").write_text(YAML)
    (conf / "both.yaml").write_text(
        "# Both\n_target_: othello_lab.training.training_group.TrainingGroup\n"
        "trainings: {one: {steps: 5}, other: {data_of: one, steps: 6}}\nship: true\n"
    )
    _, folder = train(tmp_path, "figures=false", name="both")
    assert not (folder / "other" / "rounds").exists()
    assert {path.stem for path in (shipped / "shipped").iterdir()} >= {"one", "other"}
    report = (folder / "report.md").read_text()
    assert "2 trainings took" in report and "| other |" in report and "The agents" not in report
    assert main(["resume", str(folder)]) == 0


@pytest.mark.integration
@pytest.mark.parametrize("name", choices("train"))
def test_every_training_of_the_lab_can_be_planned(name: str) -> None:
    if name in ("network", "all"):
        pytest.importorskip("torch", exc_type=ImportError)
    plan = read(name, [])
    if isinstance(plan.study, Training):
        assert steps_of(name, plan.study)
    else:
        TRAINER.session(plan).first_look(plan, Console(quiet=True))


@pytest.mark.integration
def test_what_cannot_be_learned_from_is_told(tmp_path: Path) -> None:
    positions = taught_positions()
    positions[:20].write(tmp_path / "few.parquet", {})
    positions.write(tmp_path / "standard.parquet", {})
    for file, ruleset, named in (
        ("few", "standard", r"\d+ positions for train"),
        ("standard", "mini6", "8x8.* mini6"),
    ):
        words = [f"train.data=[{tmp_path}/{file}.parquet]", f"ruleset={ruleset}"]
        said, _ = train(tmp_path, *words, "openings=random", code=2)
        assert re.search(named, said)
    assert not (tmp_path / "results").exists()


def test_an_evaluation_of_a_match_is_named_as_in_a_run() -> None:
    plan = read("tuned", ["agents=ab_mirror", "agents.left.evaluation=iago"]).plan
    left = plan.settings.agents["left"]["evaluation"]
    assert left == {"_target_": "othello_lab.agents.evaluation.Iago"}
    assert plan.settings.agents["right"]["evaluation"] != left


def test_a_round_that_was_killed_before_it_began_is_made_in_its_place(tmp_path: Path) -> None:
    """Else a resumed training found a folder ``0-2``, and could never be resumed again."""
    (tmp_path / "0").mkdir()
    agents = {"player": {"_target_": "othello_lab.GreedyAgent"}}
    settings = {"agents": agents, "games": 4, "executor": "serial"}
    rounds.make_round(settings, tmp_path, Console(quiet=True), None, lambda: 0.0)
    assert list(tmp_path.iterdir()) == [tmp_path / "0"]
    shutil.copytree(tmp_path / "0", tmp_path / "0-2")  # of a training that was begun before
    shutil.copytree(tmp_path / "0", tmp_path / "10")
    shutil.copytree(tmp_path / "0", tmp_path / "9")
    assert [part.name for part in parts_of(tmp_path)] == ["0", "9", "10"]
