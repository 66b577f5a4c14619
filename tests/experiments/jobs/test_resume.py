"""Runs that are interrupted, by whatever, end as if nothing had happened."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from processes import Command
from records import after_games, content, games_in, query, runs_in
from runs import DUEL, QUIET, changed, line_of, played
from shared import copied

from othello_lab import AlphaBeta, GreedyAgent, Maximizer, RandomAgent, SquareWeights
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.replan import about_object
from othello_lab.experiments.jobs.run import in_order, resume, run_match
from othello_lab.experiments.pairing import RoundRobin, Schedule, SequentialMatch
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import PairQueue
from othello_lab.experiments.playing.tasks import PairResult
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.store import Record

WORDS = ["agents=classics", "games=8", "seed=3", "agents.alphabeta_5.depth=2", "figures=none"]
SLOWLY = "compiled_games=false"  # so that a run writes its games a few at a time
TOTAL = 15 * 8


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("whole"), *WORDS).folder


def fill_the_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("games", "act", "code"),
    [
        (30, partial(signal.raise_signal, signal.SIGKILL), -signal.SIGKILL),
        (1, partial(os.killpg, 0, signal.SIGINT), 130),
        (30, fill_the_disk, 1),
    ],
    ids=["killed", "Ctrl-C", "full disk"],
)
def test_a_run_that_is_interrupted_within_itself_is_resumed(
    games: int, act: Callable[[], object], code: int, tmp_path: Path, uninterrupted: Path
) -> None:
    process = Command("run", *WORDS, SLOWLY, f"results={tmp_path}", before=after_games(games, act))
    printed, _ = process.communicate()
    assert process.returncode == code and "Traceback" not in printed
    (folder,) = runs_in(tmp_path)
    assert 0 < games_in(tmp_path) < TOTAL, printed
    assert {n for (n,) in query(folder, "select count(*) from games group by pair")} <= {2}
    assert query(folder, "select complete from job") == [(0,)]
    assert (f"othello-lab resume {folder}" in printed) == (code > 0)
    if code == 130:
        assert "stopping after the pairs under way" in printed
        assert "stopped early" in (folder / "report.md").read_text(encoding="utf-8")
    line_of("resume", folder)
    assert content(folder) == content(uninterrupted)
    assert query(folder, "select complete from job") == [(1,)]
    assert len(query(folder, "select * from sessions")) == 2


@pytest.mark.integration
def test_a_disk_that_is_full_from_the_start_is_one_line(tmp_path: Path) -> None:
    process = Command("run", *WORDS, f"results={tmp_path}", before=fill_the_disk)
    printed, _ = process.communicate()
    assert process.returncode == 1 and "Traceback" not in printed
    assert "start it again" in printed


@pytest.mark.integration
def test_a_pipe_without_reader_does_not_stop_a_run(tmp_path: Path) -> None:
    process = Command("run", *DUEL, "games=4", "figures=none", f"results={tmp_path}")
    process.stop_listening()
    assert process.wait() == 0
    assert query(runs_in(tmp_path)[0], "select complete from job") == [(1,)]


@pytest.mark.integration
def test_a_run_can_be_extended(tmp_path: Path, uninterrupted: Path) -> None:
    folder = played(tmp_path, *WORDS, "games=2").folder
    line_of("extend", folder, "games=8")
    assert content(folder) == content(uninterrupted)
    assert "games: 8" in (folder / "config.yaml").read_text()


@pytest.mark.integration
def test_objects_are_resumed_from_python(tmp_path: Path) -> None:
    agents = {"a": GreedyAgent(), "b": RandomAgent()}
    first = run_match(agents, games=6, workers=0, results=tmp_path, quiet=True, figures=False)
    for given, complaint in (
        (None, "'a' was an object"),
        ({"a": GreedyAgent()}, "the run's are a, b"),
        (agents | {"a": Maximizer(SquareWeights())}, "not what the run has"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            resume(first.folder, console=QUIET, agents=given)
    more = resume(first.folder, console=QUIET, agents=agents, games=10)
    assert more.complete and len(more.games) == 10


@pytest.mark.integration
def test_changed_code_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from othello_lab.agents.evaluation import heuristic\n\n"
        "@heuristic\ndef flat(mover, opponent):\n    return 0\n"
    )
    words = ["agents=duel", "agent@first=maximizer", "agent@second=random", "games=2"]
    folder = played(tmp_path, *words, f"first.evaluation={mine}:flat").folder
    mine.write_text(mine.read_text().replace("return 0", "return 1"))
    extend = ["extend", folder, "games=4"]
    assert all(word in line_of(*extend, code=2) for word in ("mine.py", "--force"))
    assert f"{mine}, changed since the record" in line_of(*extend, "--force", code=2)
    line_of(*extend, "--force", "--trust")
    assert len(query(folder, "select * from games")) == 4


def written(file: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    """Change the content of a file of a run."""
    return lambda folder: (folder / file).write_bytes(change((folder / file).read_bytes()))


BROKEN: dict[str, tuple[Callable[[Path], object] | str, str]] = {
    "another setting": (
        written("config.yaml", lambda text: text.replace(b"seed: 1", b"seed: 2")),
        "config.yaml",
    ),
    "no YAML": (written("config.yaml", lambda _: b"{ ] :"), "config.yaml"),
    "another numba": ("update job set versions = replace(versions, 'numba', 'nimba')", "numba"),
    "another agent": ("update agents set version = 0 where agent = 0", "version 0 -> "),
    "a newer format": ("update job set format = 99", "newer version"),
    "no database": (written("record.sqlite", lambda _: b"something else " * 50), "not a database"),
    "damaged": (written("record.sqlite", lambda all: all[:8192] + b"x" * 40_000), "malformed"),
    "not begun": (written("record.sqlite", lambda _: b""), "before it had begun"),
    "no record": (lambda folder: (folder / "record.sqlite").unlink(), "is no run"),
}


@pytest.mark.parametrize("change", BROKEN)
def test_what_cannot_be_resumed_is_left_alone(
    change: str, tmp_path: Path, recorded_duel: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    apply, said = BROKEN[change]
    if isinstance(apply, str):
        changed(folder, apply)
    else:
        apply(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert said in line_of("resume", folder, code=2)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.integration
def test_a_record_in_use_is_locked(tmp_path: Path, recorded_duel: Path) -> None:
    folder = copied(recorded_duel, tmp_path)
    with locked(folder):
        assert "is locked: another process" in line_of("resume", folder, code=2)


@pytest.mark.integration
def test_an_interruption_between_record_and_config_is_no_change(
    tmp_path: Path, recorded_duel: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    before = (folder / "config.yaml").read_text()
    line_of("extend", folder, "games=10")
    (folder / "config.yaml").write_text(before)
    line_of("resume", folder)


@pytest.mark.integration
def test_a_record_that_is_being_read_is_resumed(tmp_path: Path, recorded_duel: Path) -> None:
    folder = copied(recorded_duel, tmp_path)
    with closing(sqlite3.connect(folder / "record.sqlite", isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select * from games limit 1").fetchone()
        for opened in (Record.open, Record.append):
            with opened(folder) as record:
                assert record.head()["complete"] == 1
        reader.execute("rollback")
    line_of("extend", folder, "games=10")


def test_results_come_in_the_order_of_the_schedule() -> None:
    shuffled = [[4, 0], [2], [1, 3], [7], [6], [5]]

    def recorded(schedule: Schedule) -> list[list[int]]:
        batches = ([PairResult(n, []) for n in batch] for batch in shuffled)
        draw = PairQueue(schedule, ["a", "b"], [Opening()] * 8, seed=1)
        return [[result.number for result in batch] for batch in in_order(batches, draw)]

    assert recorded(SequentialMatch()) == [[0], [1, 2, 3, 4], [5, 6, 7]]
    assert recorded(RoundRobin()) == shuffled


SPRT = [*DUEL, "schedule=sprt", "seed=2"]


@pytest.mark.integration
def test_a_sequential_test_ends_at_the_same_pair_however_it_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [
        played(tmp_path, *SPRT, "games=400", executor)
        for executor in ("executor=serial", "executor.workers=3")
    ]
    assert all(result.complete for result in results)
    one, other = (content(result.folder) for result in results)
    assert one == other
    assert 2 < len(one["games"]) < 400
    # Going on adds nothing: the test has been decided.
    again = resume(results[0].folder)
    assert again.complete and content(again.folder) == one
    assert "accepted" in capsys.readouterr().out


@pytest.mark.integration
def test_a_test_without_decision_can_be_extended(tmp_path: Path) -> None:
    words = [*SPRT, "schedule.elo1=5"]
    short = played(tmp_path, *words, "games=10")
    assert len(short.games) == 10
    longer = resume(short.folder, console=QUIET, games=30)
    whole = played(tmp_path, *words, "games=30")
    assert content(longer.folder) == content(whole.folder)


def test_a_run_can_be_watched(tmp_path: Path, recorded_duel: Path) -> None:
    assert "8 of 8 games, complete" in line_of("watch", recorded_duel)
    folder = copied(recorded_duel, tmp_path / "part")
    changed(folder, "delete from games where game > 3", "update job set complete = 0")
    shown = line_of("watch", folder, "--once")
    assert "4 of 8 games" in shown and "alphabeta" in shown and "complete" not in shown
    assert "is no run" in line_of("watch", tmp_path, code=2)


def test_agents_of_a_program_are_told_apart_by_their_settings() -> None:
    described = about_object(AlphaBeta(3, SquareWeights()))
    assert described["object"].endswith("AlphaBeta")
    assert described["depth"] == 3
    assert described["evaluation"] == about_object(SquareWeights())
    assert described["evaluation"] != about_object(SquareWeights([[1] * 4] * 4))


TIMED = [*DUEL, "ruleset=mini6", "games=4", "limits.seconds=20", "executor.workers=1"]


def starved(folder: Path, share: float, seconds: float = 10.0) -> str:
    """Write into a record that Black of game 1 waited for this share of its time, in seconds.
    Return what is then shown of it."""
    time, waited = round(seconds * 1e9), round(share * seconds * 1e9)
    changes = f"black_nanoseconds = {time}, black_waited_nanoseconds = {waited}"
    return line_of("show", changed(folder, f"update games set {changes} where game = 1"))


@pytest.mark.parametrize(
    ("limit", "share", "seconds", "named"),
    [
        ("seconds", 0.31, 10, True),
        ("seconds", 0.29, 10, False),
        ("seconds", 0.31, 9.9, False),  # less than half the limit of a single move
        ("cpu_seconds", 0.9, 10, False),
    ],
)
def test_starved_games_are_told(
    limit: str, share: float, seconds: float, named: bool, recorded_duel: Path, tmp_path: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    changed(folder, f"update job set config = json_set(config, '$.limits.{limit}', 20)")
    shown = starved(folder, share, seconds)
    assert ("70 %" in shown and "in 1; resume FOLDER --retry-starved" in shown) == named


@pytest.mark.integration
def test_starved_pairs_are_played_again(tmp_path: Path) -> None:
    folder = played(tmp_path, *TIMED).folder
    games = "select game, transcript from games order by game"
    before = query(folder, games)
    starved(folder, 0.31)
    line_of("resume", folder, "--retry-starved")
    assert query(folder, games) == before
    waited = query(folder, "select black_waited_nanoseconds from games where game = 1")
    assert waited[0][0] < 3_000_000_000


@pytest.mark.integration
def test_a_schedule_that_goes_by_results_does_not_play_them_again(tmp_path: Path) -> None:
    folder = played(tmp_path, *TIMED, "schedule=swiss").folder
    shown = starved(folder, 0.31)
    assert "in 1; this schedule goes by results" in shown
    assert "executor.workers=1" in shown
    assert "goes by results" in line_of("resume", folder, "--retry-starved", code=2)
