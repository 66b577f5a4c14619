"""Runs that are interrupted, by whatever, end as if nothing had happened."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from processes import Command, await_, descendants
from records import content, games_in, query, runs_in
from rich.console import Console

from othello_lab import AlphaBeta, GreedyAgent, Maximizer, RandomAgent, SquareWeights
from othello_lab.__main__ import main
from othello_lab.agents.config import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.replan import about_object
from othello_lab.experiments.jobs.run import in_order, resume, run, run_match
from othello_lab.experiments.pairing import RoundRobin, Schedule, SequentialMatch
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import PairDraw
from othello_lab.experiments.playing.match import PairResult
from othello_lab.experiments.record.store import PlayedGame, Record

WORDS = ["agents=classics", "games=20", "seed=3", "agents.alphabeta_5.depth=4", "figures=false"]
SLOWLY = "compiled_games=false"  # so that there is time to do something to a run
TOTAL = 15 * 20
QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    return run(read([*WORDS, f"results={folder}", "executor.workers=2"]), "test", QUIET).folder


def await_games(folder: Path, games: int, process: Command) -> None:
    await_(lambda: games_in(folder) >= games or process.poll() is not None)


def kill_driver_at_random_moments(tmp_path: Path, uninterrupted: Path, kills: int) -> None:
    chance = random.Random(kills)
    words = ["run", *WORDS, SLOWLY, f"results={tmp_path}"]
    process = Command(*words)
    for number in range(kills):
        moment = games_in(tmp_path) + chance.randrange(1, max(2, TOTAL // kills))
        await_games(tmp_path, min(moment, TOTAL - 1), process)
        time.sleep(chance.random() * 0.02)
        process.kill()
        process.communicate()
        (folder,) = runs_in(tmp_path)
        games = query(folder, "select count(*) from games group by pair")
        assert all(count == 2 for (count,) in games), f"half a pair after {number} kills"
        process = Command("resume", str(folder))
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0, printed
    assert content(folder) == content(uninterrupted)


def test_a_killed_driver_is_resumed(tmp_path: Path, uninterrupted: Path) -> None:
    kill_driver_at_random_moments(tmp_path, uninterrupted, 1)
    (folder,) = runs_in(tmp_path)
    assert query(folder, "select complete from run") == [(1,)]
    assert len(query(folder, "select * from sessions")) == 2


@pytest.mark.integration
def test_the_driver_is_killed_at_twenty_random_moments(tmp_path: Path, uninterrupted: Path) -> None:
    kill_driver_at_random_moments(tmp_path, uninterrupted, 20)


@pytest.mark.integration
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_killed_workers_and_players_are_replaced(tmp_path: Path, uninterrupted: Path) -> None:
    process = Command("run", *WORDS, SLOWLY, f"results={tmp_path}", "executor.workers=2")
    chance = random.Random(1)
    killed = 0
    # A pair that is hit three times is given up, as it should be; so no more than twice.
    while (games := games_in(tmp_path)) < TOTAL - 60 and process.poll() is None and killed < 2:
        await_games(tmp_path, games + 20, process)
        _, *others = descendants(process.pid)
        if others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(others), signal.SIGKILL)
                killed += 1
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0, printed
    assert killed > 0
    assert content(runs_in(tmp_path)[0]) == content(uninterrupted)


@pytest.mark.integration
def test_ctrl_c_names_the_way_on(tmp_path: Path, uninterrupted: Path) -> None:
    def interrupt_after_the_first_games() -> None:  # in the run, however busy this machine is
        write = Record.write_games

        def written(record: Record, games: Iterable[PlayedGame]) -> None:
            write(record, games)
            Record.write_games = write  # type: ignore[method-assign]
            os.killpg(0, signal.SIGINT)

        Record.write_games = written  # type: ignore[method-assign]

    before = interrupt_after_the_first_games
    process = Command("run", *WORDS, SLOWLY, f"results={tmp_path}", before=before)
    printed, _ = process.communicate(timeout=60)
    (folder,) = runs_in(tmp_path)
    assert process.returncode == 130, printed
    assert "stopping after the pairs under way" in printed
    assert f"othello-lab resume {folder}" in printed
    assert "stopped early" in (folder / "report.md").read_text(encoding="utf-8")
    assert query(folder, "select complete from run") == [(0,)]
    assert {n for (n,) in query(folder, "select count(*) from games group by pair")} == {2}
    assert main(["resume", str(folder)]) == 0
    assert content(folder) == content(uninterrupted)


@pytest.mark.integration
def test_a_full_disk_loses_nothing(tmp_path: Path, uninterrupted: Path) -> None:
    import resource

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    process = Command("run", *WORDS, SLOWLY, f"results={tmp_path}", before=small_disk)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 1, printed
    assert "Traceback" not in printed
    (folder,) = runs_in(tmp_path)
    assert f"othello-lab resume {folder}" in printed
    assert 0 < games_in(tmp_path) < TOTAL
    resume(folder, console=QUIET)
    assert content(folder) == content(uninterrupted)


def test_a_disk_that_is_full_from_the_start_is_one_line(tmp_path: Path) -> None:
    import resource

    def no_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    process = Command("run", *WORDS, SLOWLY, f"results={tmp_path}", before=no_disk)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 1, printed
    assert "Nothing was done; start it again" in printed
    assert "Traceback" not in printed


# ---------------------------------------------------------------------- extending


@pytest.mark.integration
def test_a_run_can_be_extended(tmp_path: Path, uninterrupted: Path) -> None:
    words = [word for word in WORDS if not word.startswith("games=")]
    result = run(read([*words, "games=6", f"results={tmp_path}"]), "test", QUIET)
    assert main(["extend", str(result.folder), "games=20"]) == 0
    assert content(result.folder) == content(uninterrupted)
    assert "games: 20" in (result.folder / "config.yaml").read_text()


def test_objects_are_resumed_from_python(tmp_path: Path) -> None:
    agents = {"a": GreedyAgent(), "b": RandomAgent()}
    first = run_match(agents, games=6, workers=0, results=tmp_path, quiet=True, figures=False)
    with pytest.raises(ConfigError, match="'a' was an object of a Python program"):
        resume(first.folder, console=QUIET)
    with pytest.raises(ConfigError, match="the run's are a, b"):
        resume(first.folder, console=QUIET, agents={"a": GreedyAgent()})
    with pytest.raises(ConfigError, match="is not what the run has"):
        resume(first.folder, console=QUIET, agents=agents | {"a": Maximizer(SquareWeights())})
    more = resume(first.folder, console=QUIET, agents=agents, games=10)
    assert more.complete and len(more.games) == 10


@pytest.mark.integration
def test_changed_code_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "mine.py"
    own.write_text(
        "from othello_lab.agents.evaluation import heuristic\n\n"
        "@heuristic\ndef flat(mover, opponent):\n    return 0\n"
    )
    words = ["agents=duel", "agent@first=maximizer", "agent@second=random", "games=2"]
    words += ["figures=false"]
    words += ["evaluation=function", f"evaluation.target={own}:flat", f"results={tmp_path}"]
    folder = run(read(words), "test", QUIET).folder
    own.write_text(own.read_text().replace("return 0", "return 1"))
    assert main(["extend", str(folder), "games=4"]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "mine.py" in printed and "--force" in printed
    assert main(["extend", str(folder), "games=4", "--force"]) == 2
    assert f"{own}, changed since the record" in capsys.readouterr().err
    assert main(["extend", str(folder), "games=4", "--force", "--trust"]) == 0
    assert len(query(folder, "select * from games")) == 4


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=2", "figures=false"]
    return run(read([*words, f"results={folder}", "executor=serial"]), "test", QUIET).folder


def _edit_config(folder: Path) -> None:
    path = folder / "config.yaml"
    path.write_text(path.read_text().replace("seed: 1", "seed: 2"))


def _other_version(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as connection:
        connection.execute("update run set versions = replace(versions, 'numba', 'nimba')")


def _newer_format(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as connection:
        connection.execute("update run set format = 99")


def _older_agent(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as connection:
        connection.execute("update agents set version = 0 where name = 'greedy'")


def _no_database(folder: Path) -> None:
    (folder / "games.sqlite").write_text("something else, longer than a header " * 20)


def _damaged(folder: Path) -> None:
    path = folder / "games.sqlite"
    path.write_bytes(path.read_bytes()[:8192] + b"x" * 40_000)


def _config_of_nonsense(folder: Path) -> None:
    (folder / "config.yaml").write_text("{ ] :")


def _nothing_begun(folder: Path) -> None:
    (folder / "games.sqlite").write_bytes(b"")


def _no_record(folder: Path) -> None:
    (folder / "games.sqlite").unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_edit_config, "config.yaml"),
        (_other_version, "numba none -> "),
        (_older_agent, "agent 'greedy' version 0 -> 1"),
        (_newer_format, "newer version of the lab"),
        (_no_database, "not a database"),
        (_damaged, "malformed"),
        (_config_of_nonsense, "config.yaml"),
        (_nothing_begun, "stopped before it had begun"),
        (_no_record, "is no run"),
    ],
)
def test_what_cannot_be_resumed_gets_one_line(
    tmp_path: Path,
    small_run: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], None],
    said: str,
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(small_run, folder)
    change(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert main(["resume", str(folder)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert said in printed
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.integration
def test_a_record_in_use_is_locked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    process = Command("run", "agents=ab_vs_minimax", "depth=9", f"results={tmp_path}")
    await_(lambda: runs_in(tmp_path) and query(runs_in(tmp_path)[0], "select 1 from sqlite_master"))
    try:
        assert main(["resume", str(runs_in(tmp_path)[0])]) == 2
        assert "is locked: another process" in capsys.readouterr().err
    finally:
        process.kill()
        process.communicate()


def test_an_interruption_between_record_and_config_is_no_change(
    tmp_path: Path, small_run: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(small_run, folder)
    before = (folder / "config.yaml").read_text()
    assert main(["extend", str(folder), "games=4"]) == 0
    (folder / "config.yaml").write_text(before)
    assert main(["resume", str(folder)]) == 0


def test_a_record_that_is_being_read_is_resumed(tmp_path: Path, small_run: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(small_run, folder)
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select * from games limit 1").fetchone()
        with Record.open(folder) as record:
            assert record.run()["complete"] == 1
        with Record.append(folder) as record:
            record.run()
        reader.execute("rollback")
    assert main(["extend", str(folder), "games=4"]) == 0


def test_a_pipe_without_reader_does_not_stop_a_run(tmp_path: Path) -> None:
    words = ["run", "agents=ab_vs_minimax", "depth=1", "games=4", "figures=false"]
    process = Command(*words, f"results={tmp_path}")
    process.stop_listening()
    assert process.wait() == 0
    assert query(runs_in(tmp_path)[0], "select complete from run") == [(1,)]


# ---------------------------------------------------------------------- sequential tests


def test_results_come_in_the_order_of_the_schedule() -> None:
    shuffled = [[4, 0], [2], [1, 3], [7], [6], [5]]

    def recorded(schedule: Schedule) -> list[list[int]]:
        batches = ([PairResult(n, []) for n in batch] for batch in shuffled)
        draw = PairDraw(schedule, ["a", "b"], [Opening()] * 8, seed=1)
        return [[result.number for result in batch] for batch in in_order(batches, draw)]

    assert recorded(SequentialMatch()) == [[0], [1, 2, 3, 4], [5, 6, 7]]
    assert recorded(RoundRobin()) == shuffled


SPRT = ["agents=duel", "agent@first=greedy", "agent@second=random", "schedule=sprt", "seed=2"]
SPRT += ["figures=false"]


@pytest.mark.integration
def test_a_sequential_test_ends_at_the_same_pair_however_it_is_played(tmp_path: Path) -> None:
    results = [
        run(read([*SPRT, "games=400", f"results={tmp_path}", *more]), "test", QUIET)
        for more in (["executor=serial"], ["executor.workers=3"])
    ]
    assert all(result.complete for result in results)
    one, other = (content(result.folder) for result in results)
    assert one == other
    assert 2 < len(one["games"]) < 400
    # Going on adds nothing: the test has been decided.
    again = resume(results[0].folder, console=QUIET)
    assert again.complete and content(again.folder) == one


@pytest.mark.integration
def test_a_test_without_decision_can_be_extended(tmp_path: Path) -> None:
    words = [*SPRT, "schedule.elo1=5", f"results={tmp_path}", "executor=serial"]
    short = run(read([*words, "games=10"]), "test", QUIET)
    assert len(short.games) == 10
    longer = resume(short.folder, console=QUIET, games=30)
    whole = run(read([*words, "games=30"]), "test", QUIET)
    assert content(longer.folder) == content(whole.folder)


# ---------------------------------------------------------------------- watching


def test_a_run_can_be_watched(
    tmp_path: Path, uninterrupted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = Command("run", *WORDS, SLOWLY, f"results={tmp_path}")
    await_games(tmp_path, 20, process)
    assert main(["watch", str(runs_in(tmp_path)[0]), "--once"]) == 0
    printed = capsys.readouterr().out
    assert f"of {TOTAL} games" in printed and "alphabeta_5" in printed
    process.kill()
    process.communicate()
    assert main(["watch", str(uninterrupted)]) == 0
    assert f"{TOTAL} of {TOTAL} games, complete" in capsys.readouterr().out
    assert main(["watch", str(tmp_path)]) == 2
    assert "is no run" in capsys.readouterr().err


def test_agents_of_a_program_are_told_apart_by_their_settings() -> None:
    about = about_object(AlphaBeta(3, SquareWeights()))
    assert about["object"].endswith("AlphaBeta")
    assert about["depth"] == 3
    assert about["evaluation"] == about_object(SquareWeights())
    assert about["evaluation"] != about_object(SquareWeights([[1] * 4] * 4))
