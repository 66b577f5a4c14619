"""How trainings are made: by name, step by step, measured, resumed, shipped."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml
from rich.console import Console
from scipy.stats import binomtest
from trained import TwoWeights

from othello_lab import run_match
from othello_lab.__main__ import main
from othello_lab.agents.config import build, choices, load
from othello_lab.agents.evaluation import Composite, Evaluation
from othello_lab.agents.learned.patterns import VERSION
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.experiments.config import RunConfig
from othello_lab.experiments.studies.record import TRAINING, StudyRecord
from othello_lab.training import rounds, shipping, training_session
from othello_lab.training.data import Positions
from othello_lab.training.learned_files import StepResult, player
from othello_lab.training.reporting import _about_calibration, about_guessing, about_matches
from othello_lab.training.rounds import parts_of
from othello_lab.training.steps import LearnStep, MatchStep, PlayStep, read, steps_of
from othello_lab.training.train_command import train_help
from othello_lab.training.training import Training
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


STOPS = (1, 2, 4, 8, 10)
"""Where rounds end on the way to 8 and 10 minutes."""
Settings = Mapping[str, Any]


class Made(NamedTuple):
    code: int
    folder: Path


def train(where: Path, *words: str, name: str = "two") -> Made:
    """Train what YAML describes; the exit code, and the folder."""
    conf = where / "conf" / "train"
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "two.yaml").write_text(YAML)
    before = set(where.glob("results/*/*"))
    common = [*COMMON, "games=4", "depth=1", f"results={where}/results"]
    code = main(["train", name, *common, f"--config-dir={where}/conf", *words])
    (new,) = set(where.glob("results/*/*")) - before or {where}
    return Made(code, new)


def positions_of(made: Made) -> str:
    """The setting by which a training learns from the positions of another one."""
    (part,) = parts_of(made.folder / "rounds" / "first")
    return f"train.data=[{part}]"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A training from nothing."""
    return train(tmp_path_factory.mktemp("made"), "figures=false")


def learned(folder: Path, label: str = "two") -> Evaluation:
    settings = load("evaluation", f"trained_{label}", [folder / "conf"])
    evaluation: Evaluation = build(settings, "evaluation", Evaluation)
    return evaluation


def test_what_was_learned_can_be_used_by_a_run(made: Made) -> None:
    assert made.code == 0
    evaluation = learned(made.folder)
    assert isinstance(evaluation, Composite)
    assert evaluation.stages[0]["corners"] > 100  # hundredths of a disc
    assert learned(made.folder, "two_first").stages != evaluation.stages  # type: ignore[attr-defined]
    words = ["agents=duel", "agent@first=alphabeta", "agent@second=random", "games=2", "depth=1"]
    words += [f"--config-dir={made.folder}/conf", "evaluation=trained_two", "figures=false"]
    assert main(["run", *words, "executor=serial", f"results={made.folder}/again"]) == 0


def by_chance(settings: Settings, drawn: Iterable[Settings], results: Path) -> float:
    """How likely it is that an evaluation does so well only by chance against others, in games of
    one ply from 20 openings against each: the p-value of a sign test over the openings."""
    learned, won, lost = build(player("alphabeta", settings, 1), "learned"), 0, 0
    for seed, other in enumerate(drawn):
        agents = {"learned": learned, "drawn": build(player("alphabeta", other, 1), "drawn")}
        result = run_match(
            agents, 40, seed=seed, workers=0, results=results, figures=False, quiet=True
        )
        (row,) = result.matches.to_dict("records")
        won += row["WD"] + row["WW"]
        lost += row["LL"] + row["LD"]
    return float(binomtest(int(won), int(won + lost), alternative="greater").pvalue)


@pytest.mark.integration
def test_what_was_learned_beats_weights_drawn_by_chance(made: Made, tmp_path: Path) -> None:
    settings = load("evaluation", "trained_two", [made.folder / "conf"])
    rng = np.random.default_rng(3)
    names = list(settings["weights"])
    drawn = (dict(zip(names, 100 * rng.normal(size=2), strict=True)) for _ in range(3))
    others = [settings | {"weights": {n: float(w) for n, w in each.items()}} for each in drawn]
    assert by_chance(settings, others, tmp_path) < 0.001


@pytest.mark.integration
def test_patterns_are_learned_in_less_than_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From nothing, by the training of the weights that ship, only shorter; and shipped."""
    rounds = "{outcomes: {depth: 1, evaluation: iago, games: 1500, exact: 6}}"
    words = [f"train.rounds={rounds}", "figures=false", "train.matches=false"]
    code, folder = train(tmp_path, *words, name="patterns")
    assert code == 0
    settings = load("evaluation", "trained_patterns", [folder / "conf"])
    learned = LearnedWeights.read(settings["weights"], "patterns", VERSION)
    monkeypatch.setattr(shipping, "conf_folder", lambda: tmp_path / "conf")
    monkeypatch.setattr("othello_lab.agents.learned.weights.SHIPPED", tmp_path / "shipped")
    (tmp_path / "conf" / "evaluation").mkdir()
    assert main(["train", "--ship", str(folder)]) == 0
    shipped = LearnedWeights.read("patterns", "patterns", VERSION)
    assert {"training", "command", "seed", "data_hash", "scores"} <= set(shipped.about)
    assert "weights: patterns" in (tmp_path / "conf" / "evaluation" / "patterns.yaml").read_text()
    others, rng = [], np.random.default_rng(4)
    for number in range(3):
        arrays = {
            name: rng.permuted(array) if array.dtype.kind == "i" else array
            for name, array in learned.arrays.items()
        }
        path = tmp_path / f"drawn{number}.npz"
        dataclasses.replace(learned, arrays=arrays).write(path)
        others.append(settings | {"weights": str(path)})
    assert by_chance(settings, others, tmp_path) < 0.001


def test_the_report_says_how_good_it_is(made: Made) -> None:
    report = (made.folder / "report.md").read_text()
    assert "Training two, 20" in report
    for title in ("Matches", "Error by stage (test)", "Loss", "Steps", "Weights"):
        assert f"## {title}" in report
    assert "othello-lab train two" in report
    assert "> As the evaluation of alphabeta at depth 1, two beats" in report
    assert "misses the score by" in report and "Where it predicts 10 discs" in report
    kept = StepResult.read(made.folder, "two")
    assert kept.about["data_hash"] and kept.about["seed"] == 1
    assert set(kept.about["scores"]["elo"]) == {"random", "greedy"}


def test_what_is_no_better_than_guessing_is_called_so() -> None:
    stages = pd.DataFrame(
        {"fewest": [0, 5, 10, 15], "most": [4, 9, 14, 19], "error": [4.0, 9, 9, 4], "guessing": 5.0}
    )
    parts = pd.DataFrame({"part": ["train", "test"], "error": [9.0, 4.0], "guessing": 5.0})
    assert list(about_guessing(parts, "test", stages)) == [
        "With 5 to 14 empty squares it is no better than guessing: always saying the mean score "
        "misses by less."
    ]
    (told,) = about_guessing(parts, "train", stages)
    assert "always saying the mean score misses by 5.0 discs, this by 9.0" in told
    assert not list(about_guessing(parts, "test", stages.iloc[[0, 3]]))


def test_only_what_is_certain_is_said_of_matches() -> None:
    rows = [
        ("lost", 0.2, -240.0, -300.0, -180.0, ""),
        ("open", 0.5, 0.0, -80.0, 80.0, ""),
        ("bound", 0.9, -20.0, np.nan, np.nan, ">"),
        ("beaten", 0.9, 380.0, 300.0, 500.0, ""),
    ]
    columns = ["second", "score", "elo", "elo_low", "elo_high", "bound"]
    matches = pd.DataFrame(rows, columns=columns).assign(games=100)
    training, settings = TwoWeights(), RunConfig(depth=4)
    assert about_matches("two", training, settings, matches) == (
        "As the evaluation of alphabeta at depth 4, two beats 1 of 4 opponents, and loses to lost; "
        "against open and bound nothing is certain. Its result against lost: -240 [-300, -180] Elo "
        "in 100 games."
    )
    assert "two beats all 2 opponents: the strongest, beaten, by +380 [300, 500]" in about_matches(
        "two", training, settings, matches.iloc[[3, 3]].reset_index(drop=True)
    )


def test_other_commands_know_what_it_is(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(made.folder), "--once"]) == 0
    assert "training two: 5 of 5 steps, complete" in capsys.readouterr().out
    assert main(["list", str(made.folder.parent)]) == 0
    assert "training two, complete" in capsys.readouterr().out
    assert main(["show", str(made.folder)]) == 2
    assert "is a training: its findings are in" in capsys.readouterr().err
    assert main(["extend", str(made.folder), "games=8"]) == 2
    assert "is a training, which is not extended" in capsys.readouterr().err


@pytest.mark.integration
def test_after_ctrl_c_the_rest_is_learned_by_resume(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "life").touch()
    words = [
        positions_of(made),
        "figures=false",
        "train.stopping=12",
        f"train.life={tmp_path}/life",
    ]
    code, folder = train(tmp_path, *words)
    assert code == 130
    printed = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert f"go on with othello-lab resume {folder} --trust" in printed
    with StudyRecord.open(folder) as record:
        assert record.kind == TRAINING and not record.done()
    assert main(["resume", str(folder)]) == 2  # its code is not the lab's
    assert main(["resume", str(folder), "--trust"]) == 0
    code, whole = train(tmp_path, *words)
    assert code == 0
    found, wanted = StepResult.read(folder, "two"), StepResult.read(whole, "two")
    assert found.evaluation == wanted.evaluation
    steps = [[row["step"] for row in each.history] for each in (found, wanted)]
    assert steps[0] == steps[1] == list(range(30))
    assert main(["resume", str(folder), "--trust"]) == 0  # there is nothing left to do


@pytest.mark.integration
def test_after_ctrl_c_in_a_match_nothing_is_learned_again(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("othello_lab.training.training_session.play_part", lambda *_: False)
        code, folder = train(tmp_path, positions_of(made), "figures=false")
    assert code == 130
    with StudyRecord.open(folder) as record:
        assert len(record.done()) == 1 and not record.study()["complete"]
    monkeypatch.setattr(TwoWeights, "learn", None)  # which would be an error
    assert main(["resume", str(folder), "--trust"]) == 0
    assert (folder / "report.md").is_file()


def test_numbers_that_are_none_stop_it(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with np.errstate(all="ignore"):
        code, folder = train(tmp_path, positions_of(made), "train.rate=1e5", "train.steps=400")
    assert code == 1
    said = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert re.search(r"step \d+: weights: 2 of 2 numbers are no longer finite; stopped, and", said)
    assert "what was learned before that is in" in said
    assert list(folder.rglob("weights.checkpoint"))


def test_positions_that_are_there_need_no_rounds(made: Made, tmp_path: Path) -> None:
    code, folder = train(tmp_path, positions_of(made), "train.matches=false", "figures=false")
    assert code == 0 and not (folder / "rounds").exists() and not (folder / "matches").exists()
    read = Positions.read(parts_of(made.folder / "rounds" / "first"))
    assert StepResult.read(folder, "two").about["data_hash"] == read.data_hash


@pytest.mark.integration
def test_a_learning_curve_measures_every_stop(tmp_path: Path) -> None:
    words = ["train.curve=[0.01,0.02]", "agents=duel", "train.ladder=duel", "games=2"]
    code, folder = train(tmp_path, *words, "train.ladder=classics", "figures=files")
    assert code == 0
    report = (folder / "report.md").read_text()
    assert "## Learning curve" in report and "From 0.01 to 0.02 minutes on 2 cores" in report
    names = ("learning_curve", "opponents", "error_by_stage", "calibration", "history", "weights")
    for name in names:
        assert (folder / f"{name}.svg").is_file() and f"({name}.png)" in report, name
    for label in ("two_0.01min", "two_0.02min"):
        assert isinstance(learned(folder, label), Composite)


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
    code, folder = train(tmp_path, *words)
    took = json.loads((folder / "minutes.json").read_text())
    before = dict(zip(took, np.cumsum([0.0, *took.values()]), strict=False))
    expected = {f"round-{stop}min": 0.5 * (stop - before[f"round-{stop}min"]) for stop in STOPS}
    assert code == 0 and given == pytest.approx(expected) and before["round-10min"] > 0
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


def test_what_ships_says_how_it_was_made(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evaluation").mkdir()
    (tmp_path / "evaluation" / "two.yaml").write_text("# Mine\n# to stay\n_target_: old\n")
    monkeypatch.setattr(shipping, "conf_folder", lambda: tmp_path)
    monkeypatch.setattr("othello_lab.agents.learned.weights.SHIPPED", tmp_path / "shipped")
    assert main(["train", "--ship", str(made.folder)]) == 0
    text = (tmp_path / "evaluation" / "two.yaml").read_text()
    assert text.startswith("# Mine\n# to stay\n_target_: othello_lab.agents.evaluation.Composite\n")
    about = yaml.safe_load((tmp_path / "shipped" / "two.yaml").read_text())
    assert {"command", "seed", "data_hash", "scores", "versions"} <= set(about)


@pytest.mark.integration
def test_several_trainings_are_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(tmp_path / "conf")]
    monkeypatch.setattr(
        "othello_lab.training.part.read", lambda name, words: read(name, COMMON, folders)
    )
    conf = tmp_path / "conf" / "train"
    conf.mkdir(parents=True)
    for name in ("one", "other"):
        (conf / f"{name}.yaml").write_text(YAML)
    (conf / "both.yaml").write_text(
        "# Both\n_target_: othello_lab.training.training_group.TrainingGroup\n"
        "trainings: {one: {steps: 5}, other: {data_of: one, steps: 6}}\nship: false\n"
    )
    code, folder = train(tmp_path, "figures=false", name="both")
    assert code == 0
    assert not (folder / "other" / "rounds").exists()
    report = (folder / "report.md").read_text()
    assert "2 trainings took" in report and "| other |" in report and "The agents" not in report
    capsys.readouterr()
    assert main(["resume", str(folder)]) == 0


@pytest.mark.parametrize("name", choices("train"))
def test_every_training_of_the_lab_can_be_planned(name: str) -> None:
    if name in ("network", "all"):
        pytest.importorskip("torch", exc_type=ImportError)
    plan = read(name, [])
    if isinstance(plan.study, Training):
        assert steps_of(name, plan.study)
    else:
        TRAINER.session(plan).first_look(plan, Console(quiet=True))


def test_help_tells_of_every_training() -> None:
    told = train_help()
    for name, about in choices("train").items():
        assert about and name in told
        assert f"train {name}" in train_help(name)
        common = "minutes: a number of more than 0, or None" in train_help(name)
        assert common == (name not in ("all", "champion", "champion_tiny"))


def test_what_cannot_be_learned_from_is_told(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = Positions.read(parts_of(made.folder / "rounds" / "first"))[:20]
    few.write(tmp_path / "few.parquet", {})
    for words, refusal in (
        ([f"train.data=[{tmp_path}/few.parquet]"], r"\d+ positions for train, where 100 or more"),
        ([positions_of(made), "ruleset=mini6"], "are of a board of 8x8; ruleset mini6 is 6x6"),
    ):
        assert train(tmp_path, *words, "openings=random")[0] == 2
        assert re.search(refusal, capsys.readouterr().err)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["train.nothing=1"], "trained.TwoWeights has no setting 'nothing'"),
        (["matches=false"], "unknown setting 'matches'. Did you mean 'train.matches'?"),
        (["train.steps=0"], "train.steps=0: a whole number of 1 or more"),
        (["train.curve=[5,3]"], "train.curve=[5, 3]: ascending minutes are needed"),
        (["train.rounds={}"], "train.data=[...] or train.rounds is needed"),
        (["train.rounds.first.agent=trained"], "in the first one nothing is trained yet"),
        (["train.rounds.first.gmaes=5"], "unknown setting of train.rounds.first 'gmaes'"),
        (["train.rounds.frist.games=5"], "unknown round of two 'frist'; choose from first"),
        (["train.rounds.first.exact=99"], "exact=99: a whole number from 0 to"),
        (["train.rounds.first.agent=nobody"], "unknown agent 'nobody'"),
        (["train.player=nobody"], "unknown agent 'nobody'"),
        (["train.player=greedy"], "agent greedy has no evaluation"),
        (["train.data=[/nowhere.parquet]"], "/nowhere.parquet: cannot be read"),
        (["train.curve=[1]", "train.ladder=nobody"], "unknown line-up 'nobody'"),
    ],
)
def test_bad_input_gets_one_line_and_nothing_is_written(
    words: list[str], refusal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = train(tmp_path, *words)
    said = capsys.readouterr().err
    assert code == 2 and refusal in said and said.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_a_training_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "nothing"]) == 2
    assert "unknown training 'nothing'" in capsys.readouterr().err
    assert main(["run", "train=two"]) == 2
    assert "it has a command, othello-lab train two" in capsys.readouterr().err


def test_an_evaluation_of_a_match_is_named_as_in_a_run() -> None:
    plan = read("tuned", ["agents=ab_mirror", "agents.left.evaluation=iago"]).plan
    left = plan.settings.agents["left"]["evaluation"]
    assert left == {"_target_": "othello_lab.agents.evaluation.Iago"}
    assert plan.settings.agents["right"]["evaluation"] != left


def test_a_round_that_was_killed_before_it_began_is_made_in_its_place(tmp_path: Path) -> None:
    """Else a resumed training found a folder ``0-2``, and could never be resumed again."""
    (tmp_path / "0").mkdir()
    settings = {"agents": {"player": {"_target_": "othello_lab.GreedyAgent"}}, "games": 4}
    rounds.make_round(settings, tmp_path, Console(quiet=True), None, lambda: 0.0)
    assert list(tmp_path.iterdir()) == [tmp_path / "0"]
    shutil.copytree(tmp_path / "0", tmp_path / "0-2")  # of a training that was begun before
    shutil.copytree(tmp_path / "0", tmp_path / "10")
    shutil.copytree(tmp_path / "0", tmp_path / "9")
    assert [part.name for part in parts_of(tmp_path)] == ["0", "9", "10"]


@pytest.mark.parametrize(
    ("slope", "sense"),
    [
        (0.949, "too large"),
        (0.95, "right size"),
        (1.05, "right size"),
        (1.051, "too small"),
    ],
)
def test_calibration_is_right_within_a_twentieth(slope: float, sense: str) -> None:
    measured: Any = SimpleNamespace(slope=slope)
    assert sense in _about_calibration(measured)
