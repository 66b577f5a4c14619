"""A run is told to end, or its record is taken away; and what is half there afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from chosen import mostly_nightly
from processes import Command, await_, descendants
from records import after_games, content, games_in, query, runs_in
from rich.console import Console
from runs import changed, played, told
from shared import copied

from othello_lab.__main__ import main
from othello_lab.core.system.shared_memory import STOPPING
from othello_lab.experiments.record import sqlite_file

DUEL = ["agents=duel", "agent@first=greedy", "agent@second=random", "figures=false", "games=20"]
ENDLESS = ["agents=ab_vs_minimax", "depth=11", "figures=false"]  # its first game takes minutes
SLOWLY = ["games=2000", "compiled_games=false"]  # so that there is time to do something to a run
LONG = ["agents=ab_vs_minimax", "depth=4", "games=2000", "figures=false"]
QUIET = Console(quiet=True)
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("whole"), *DUEL).folder


def await_begun(results: Path) -> Path:
    """The folder of a run that has begun to play."""
    await_(lambda: list(results.rglob("log.txt")))
    await_(lambda: "begins" in next(results.rglob("log.txt")).read_text())
    return runs_in(results)[0]


# ---------------------------------------------------------------------- locks


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock the record of a run."""
    path = folder / "games.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=120)) as connection:
        connection.execute("begin exclusive")
        yield


def begin_and_await_games(results: Path) -> tuple[Command, Path]:
    """A run that tells of locks soon, and its folder."""

    def prepare() -> None:
        sqlite_file.TOLD_SECONDS = 0.3
        sqlite_file.AGAIN_SECONDS = 1.0
        after_games(2, lambda: print("games", flush=True))()

    process = Command("run", *DUEL, *SLOWLY, f"results={results}", before=prepare)
    process.says("games")
    return process, runs_in(results)[0]


@pytest.mark.integration
def test_a_run_waits_for_a_lock_and_goes_on(tmp_path: Path) -> None:
    process, folder = begin_and_await_games(tmp_path)
    with lock(folder):
        process.says("another program has locked it", times=2)
        recorded = games_in(tmp_path)
        assert process.poll() is None
    printed, _ = process.communicate()
    assert process.returncode == 0, printed
    assert recorded < games_in(tmp_path) == 2000
    assert f"waiting for {folder / 'games.sqlite'}" in printed.replace("\n", "")
    assert "another program has locked it" in (folder / "log.txt").read_text(encoding="utf-8")


@pytest.mark.integration
def test_a_run_that_waits_for_a_lock_can_be_stopped(tmp_path: Path) -> None:
    process, folder = begin_and_await_games(tmp_path)
    with lock(folder):
        process.says("another program has locked it")
        os.kill(process.pid, signal.SIGINT)
        process.says("Ctrl-C again")
        os.kill(process.pid, signal.SIGINT)
        printed, _ = process.communicate()
    assert process.returncode == 130, printed
    assert f"othello-lab resume {folder}" in printed
    assert "Traceback" not in printed
    assert main(["resume", str(folder)]) == 0
    assert games_in(tmp_path) == 2000


@pytest.mark.integration
def test_a_locked_record_is_told_as_such(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, connect = copied(whole, tmp_path), sqlite3.connect
    with lock(folder):
        soon = {"timeout": 0.1}
        monkeypatch.setattr(sqlite3, "connect", lambda path, **kw: connect(path, **kw | soon))
        for command in ("resume", "show"):
            assert f"games.sqlite {sqlite_file.LOCKED}" in told(command, folder, code=2)


# ---------------------------------------------------------------------- signals


TERM, HANGUP = signal.SIGTERM, signal.SIGHUP
SERIAL, WORKERS = [*DUEL, "executor=serial"], [*DUEL, *SLOWLY, "executor.workers=2"]
ENDED = {
    "ended": (SERIAL, lambda: os.kill(os.getpid(), TERM)),
    "hung up": (SERIAL, lambda: os.kill(os.getpid(), HANGUP)),
    # As when a terminal is closed, or a batch system ends a job.
    "the whole process group": (WORKERS, lambda: os.killpg(0, TERM)),
}


@pytest.mark.integration
@pytest.mark.parametrize("how", ENDED)
def test_a_signal_ends_a_run_in_order(tmp_path: Path, whole: Path, how: str) -> None:
    words, act = ENDED[how]
    process = Command("run", *words, f"results={tmp_path}", before=after_games(2, act))
    printed, _ = process.communicate()
    (folder,) = runs_in(tmp_path)
    assert process.returncode == 130, printed
    assert STOPPING in printed
    assert f"othello-lab resume {folder}" in printed
    assert "stopped early" in (folder / "report.md").read_text(encoding="utf-8")
    assert games_in(tmp_path) in range(2, 2000, 2)  # pairs under way were played to their end
    if words is SERIAL:
        assert games_in(tmp_path) == 2
        assert main(["resume", str(folder)]) == 0
        assert content(folder) == content(whole)


@pytest.mark.integration
def test_two_signals_of_any_kind_stop_at_once(tmp_path: Path) -> None:
    process = Command("run", *ENDLESS, f"results={tmp_path}", "executor.workers=1")
    folder = await_begun(tmp_path)
    os.kill(process.pid, signal.SIGTERM)
    process.says(STOPPING)
    os.kill(process.pid, signal.SIGHUP)
    printed, _ = process.communicate()
    assert process.returncode == 130, printed
    assert "Traceback" not in printed
    assert games_in(tmp_path) == 0
    assert printed.count(f"othello-lab resume {folder}\n") == 1


@pytest.mark.integration
def test_a_hangup_that_is_ignored_stays_so(tmp_path: Path) -> None:
    def nohup() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        after_games(2, lambda: os.kill(os.getpid(), signal.SIGHUP))()

    process = Command("run", *DUEL, f"results={tmp_path}", "executor=serial", before=nohup)
    assert process.wait() == 0
    assert games_in(tmp_path) == 20


@pytest.mark.integration
def test_a_terminal_that_is_closed_gets_no_more_and_the_run_ends_in_order(tmp_path: Path) -> None:
    ours, theirs = os.openpty()

    def close_it() -> None:
        os.close(ours)
        os.kill(os.getpid(), signal.SIGHUP)

    def on_a_terminal() -> None:
        for descriptor in (1, 2):
            os.dup2(theirs, descriptor)
        os.close(theirs)
        after_games(2, close_it)()

    words = ["run", *DUEL, f"results={tmp_path}", "executor=serial"]
    process = Command(*words, before=on_a_terminal)
    os.close(ours)
    os.close(theirs)
    assert process.wait() == 130
    assert "stopped early" in (runs_in(tmp_path)[0] / "report.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------------- the record is gone


def _put_another_in_its_place(folder: Path) -> None:
    (folder / "copy").write_bytes((folder / "games.sqlite").read_bytes())
    (folder / "copy").replace(folder / "games.sqlite")


ENDS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "folder deleted": (shutil.rmtree, [*ENDLESS, "executor.workers=1"]),
    "record deleted": (lambda f: (f / "games.sqlite").unlink(), [*LONG, "executor=serial"]),
    "folder moved": (lambda f: f.rename(f.with_name("x")), [*ENDLESS, "executor.workers=1"]),
    "another put in its place": (_put_another_in_its_place, [*LONG, "executor=serial"]),
}


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(ENDS, ["folder deleted", "record deleted"]))
def test_a_record_that_is_taken_away_stops_the_run(tmp_path: Path, name: str) -> None:
    take_away, words = ENDS[name]
    process = Command("run", *words, f"results={tmp_path}")
    folder = await_begun(tmp_path)
    take_away(folder)
    printed, _ = process.communicate()
    assert process.returncode == 1, printed
    assert "Traceback" not in printed
    (said,) = (line for line in printed.splitlines() if "othello-lab:" in line)
    assert f"{folder}/games.sqlite" in said and "in mid-run" in said


# ---------------------------------------------------------------------- what is half there


@pytest.mark.integration
def test_half_a_pair_is_played_again(tmp_path: Path, whole: Path) -> None:
    folder = changed(
        copied(whole, tmp_path),
        "delete from moves where game in (5, 8)",
        "delete from games where game in (5, 8)",
        "update games set transcript = 'd3' where game = 4",
        "update run set complete = 0",
    )
    assert main(["resume", str(folder)]) == 0
    assert content(folder) == content(whole)


SKIP = ["delete from moves where game in (4, 5)", "delete from games where pair = 2"]
SKIP += ["insert into skipped values (2, 'the worker died')"]


@pytest.mark.integration
def test_skipped_pairs_are_played_when_that_is_asked_for(tmp_path: Path, whole: Path) -> None:
    folder = changed(copied(whole, tmp_path), *SKIP)
    assert main(["resume", str(folder)]) == 0
    assert query(folder, "select pair from skipped") == [(2,)]
    assert main(["resume", str(folder), "--retry-skipped"]) == 0
    assert content(folder) == content(whole)


@pytest.mark.integration
def test_a_schedule_that_goes_by_results_does_not_play_skipped_pairs_later(tmp_path: Path) -> None:
    folder = changed(played(tmp_path, *DUEL, "schedule=sprt").folder, *SKIP)
    assert "pair" in told("resume", folder, "--retry-skipped", code=2)


# ---------------------------------------------------------------------- who has the record open


@needs_proc
@pytest.mark.integration
def test_nobody_but_the_driver_has_the_record_open(tmp_path: Path) -> None:
    def with_it_open(process: int) -> bool:
        for path in Path(f"/proc/{process}/fd").iterdir():
            try:
                if "games.sqlite" in os.readlink(path):
                    return True
            except OSError:  # closed meanwhile
                continue
        return False

    words = ["run", *ENDLESS, f"results={tmp_path}", "executor.workers=2"]
    for _ in range(2):
        process = Command(*words)
        try:
            folder = await_begun(tmp_path)
            await_(lambda: len(descendants(process.pid)) >= 2)  # noqa: B023
            others = descendants(process.pid)
            assert with_it_open(process.pid)
            # A process just forked has all open files until it runs its own program.
            await_(lambda: not any(map(with_it_open, others)))  # noqa: B023
        finally:
            process.kill()
        (folder / "log.txt").unlink()
        words = ["resume", str(folder)]


# ---------------------------------------------------------------------- while it loads


def heed_ctrl_c() -> None:
    """What a shell has in the background ignores it, and so would what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


LOADING = ["experiments run", "agents list", "play terminal", "core perft"]


@pytest.mark.integration
@pytest.mark.parametrize("words", mostly_nightly(LOADING, ["agents list"]))
def test_ctrl_c_while_a_command_loads_ends_it_with_a_word(words: str, tmp_path: Path) -> None:
    """It comes as soon as numpy is looked for, which takes most of the time."""
    root = str(Path(__file__).parents[2])
    (tmp_path / "numpy.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nsignal.pause()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", *words.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=heed_ctrl_c,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


@pytest.mark.nightly
def test_a_program_that_uses_the_lab_keeps_its_handler() -> None:
    asked = (
        "import signal, othello_lab.experiments.jobs.run; print(signal.getsignal(signal.SIGINT))"
    )
    command = [sys.executable, "-c", asked]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, preexec_fn=heed_ctrl_c
    )
    assert "default_int_handler" in done.stdout
