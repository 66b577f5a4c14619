"""A search over settings: what it chooses from, what it gives up, and that it can be repeated."""

from __future__ import annotations

import shutil
from pathlib import Path

import optuna
import pytest
from rich.console import Console

from othello_lab.__main__ import main
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.pairing.schedule import PairOutcomes
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.sweep import load
from othello_lab.experiments.sweep.folder import CONFIRMATION, State, Sweep, write_note
from othello_lab.experiments.sweep.results import best_of
from othello_lab.experiments.sweep.search import (
    STUDY,
    SettingsSearch,
    distribution_of,
    examples_of,
    space_of,
)

QUIET = Console(quiet=True)
SEARCH = [
    *("run", "-m", "agents=duel", "agent@first=weighted", "agent@second=greedy", "name=found"),
    *("first.evaluation=composite", "tuning.agent=weighted", "executor=serial", "figures=false"),
    "first.evaluation.weights.corners=range(1,21)",
    "first.evaluation.weights.disc_count=range(-9,10)",
    *("tuning.trials=9", "tuning.games=4", "games=8"),
]


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("a=interval(0,1)", optuna.distributions.FloatDistribution(0, 1)),
        ("a=int(interval(0,20))", optuna.distributions.IntDistribution(0, 20)),
        ("a=tag(log,interval(1,9))", optuna.distributions.FloatDistribution(1, 9, log=True)),
        ("a=range(0,10,4)", optuna.distributions.IntDistribution(0, 8, step=4)),
        ("a=range(0.5,2.0,0.5)", optuna.distributions.FloatDistribution(0.5, 1.5, step=0.5)),
        ("a=x,null,[1,2]", optuna.distributions.CategoricalDistribution(("x", "null", "[1,2]"))),
        ("+a=choice(1,2)", optuna.distributions.CategoricalDistribution(("1", "2"))),
    ],
)
def test_values_to_choose_from(word: str, values: optuna.distributions.BaseDistribution) -> None:
    assert distribution_of(word) == values
    assert space_of(["fixed=3", word, "other=[1,2]"]) == {word.partition("=")[0]: values}


def test_each_choice_is_checked_with_the_highest_numbers() -> None:
    space = space_of(["a=range(0,4)", "b=x,y", "c=interval(0,2)"])
    assert examples_of(space) == [["a=3", "b=x", "c=2.0"], ["a=3", "b=y", "c=2.0"]]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("hydra/launcher=basic", "one trial after the other"),
        ("tuning.seed=1", "fresh openings"),
        ("first.evaluation.weights.corners=zip(1,2)", "zip"),
        ("first.evaluation.weights.corners=interval(3,1)", "interval"),
        ("agent@second=greedy,nobody", "nobody"),
        ("hydra/sweeper=other", "hydra/sweeper"),
        ("tuning.agent=nobody", "nobody"),
    ],
)
def test_a_search_that_cannot_begin(
    word: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*SEARCH, word]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_settings_below_the_median_of_five_trials_are_given_up(tmp_path: Path) -> None:
    search = SettingsSearch(tmp_path, space_of(["a=range(0,100)"]), seed=1)
    for elo in (0.0, 10.0, 20.0, 30.0, 40.0):
        trial = search.suggest()
        trial.look(5, elo)
        assert not trial.hopeless
        search.tell(trial, elo)
    better, worse = search.suggest(), search.suggest()
    better.look(5, 21.0)
    worse.look(5, 19.0)
    assert (better.hopeless, worse.hopeless) == (False, True)
    search.tell(better, 50.0)
    search.tell(worse, 19.0)
    search.tell(search.suggest(), None)
    storage = optuna.storages.JournalStorage(
        optuna.storages.journal.JournalFileBackend(str(search.file))
    )
    (study,) = (optuna.load_study(study_name=None, storage=storage),)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * 6 + ["PRUNED", "FAIL"]
    assert study.best_value == 50.0


@pytest.mark.integration
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_run_that_is_given_up_has_exactly_the_pairs_so_far(executor: str, tmp_path: Path) -> None:
    plan = read(
        [
            *("agents=duel", "agent@first=greedy", "agent@second=random", "games=40"),
            *(f"executor={executor}", f"results={tmp_path}", "figures=false"),
        ]
    )

    def give_up(results: PairOutcomes) -> bool:
        return len(results) == 3

    given_up = runs.run(plan, "test", QUIET, give_up=give_up)
    whole = runs.run(plan, "test", QUIET)
    assert not given_up.complete and not given_up.interrupted and whole.complete
    assert given_up.games["pair"].tolist() == [0, 0, 1, 1, 2, 2]
    runs.resume(given_up.folder, console=QUIET)
    transcripts = []
    for result in (given_up, whole):
        with Record.open(result.folder) as record:
            transcripts.append(record.games().sort_values("game")["transcript"].tolist())
    assert transcripts[0] == transcripts[1]


@pytest.mark.integration
def test_a_search_is_resumed_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(SEARCH) == 0
    assert "given up early" in " ".join(capsys.readouterr().out.split())
    (folder,) = Path("results/found").iterdir()
    before = Sweep.read(folder).combinations()
    states = [trial.state for trial in before]
    assert set(states) == {State.FINISHED, State.GIVEN_UP} and len(states) == 9
    best = best_of(before)
    assert best is not None and best.state is State.FINISHED
    study = (folder / STUDY).read_bytes()
    table = load(folder)
    number = states.index(State.GIVEN_UP)
    shutil.rmtree(folder / str(number))
    shutil.rmtree(folder / CONFIRMATION)
    write_note(folder / "8", before[8].settings)  # it was killed before the rest was written
    assert main(["resume", str(folder)]) == 0
    after = Sweep.read(folder).combinations()
    assert after == before
    assert load(folder)["objective"].tolist() == table["objective"].tolist()
    assert (folder / STUDY).read_bytes() != study  # made anew, as times say
    assert (folder / CONFIRMATION / "report.html").exists()
