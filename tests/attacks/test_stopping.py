"""A run is told to end, or its record is taken away; and what is half there afterwards."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from processes import Command, await_, descendants
from records import content, edit, games_in, query, runs_in
from rich.console import Console

from othello_lab.__main__ import main
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.record import sqlite_file
from othello_lab.experiments.record.store import PlayedGame, Record

DUEL = ["agents=duel", "agent@first=greedy", "agent@second=random", "figures=false", "games=20"]
ENDLESS = ["agents=ab_vs_minimax", "depth=11", "figures=false"]  # its first game takes minutes
SLOWLY = ["games=2000", "compiled_games=false"]  # so that there is time to do something to a run
LONG = ["agents=ab_vs_minimax", "depth=4", "games=2000", "figures=false"]
QUIET = Console(quiet=True)
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    return run(read([*DUEL, f"results={folder}", "executor=serial"]), "test", QUIET).folder


def edited(run: Path, copy: Path, *statements: str) -> Path:
    """A copy of a run after SQL on its record."""
    shutil.copytree(run, copy)
    with closing(sqlite3.connect(copy / "games.sqlite", isolation_level=None)) as connection:
        edit(connection, *statements)
    return copy


def after_the_first_games(act: Callable[[], None]) -> Callable[[], None]:
    """What makes a run do something within itself once it has written games."""

    def prepare() -> None:
        write = Record.write_games

        def written(record: Record, games: Iterable[PlayedGame]) -> None:
            write(record, games)
            Record.write_games = write  # type: ignore[method-assign]
            act()

        Record.write_games = written  # type: ignore[method-assign]

    return prepare


# ---------------------------------------------------------------------- locks


class Lock:
    """A process that locks the record of the only run below a folder, as soon as it has games.

    file: what it locks itself; empty to let SQLite lock the record.
    """

    def __init__(self, results: Path, file: str = "") -> None:
        self._file = file
        self._told, tell = os.pipe()
        self._number = os.fork()
        if self._number == 0:
            try:
                self._lock(results, tell)
            finally:
                os._exit(1)

    def _lock(self, results: Path, tell: int) -> None:
        await_(lambda: games_in(results) > 0)
        (run,) = runs_in(results)
        with closing(sqlite3.connect(run / "games.sqlite", isolation_level=None)) as connection:
            if self._file:
                held = (run / self._file).open("r+b")
                fcntl.lockf(held, fcntl.LOCK_EX, 8, 120)  # www.sqlite.org/walformat.html
            else:
                connection.execute("begin exclusive")
            os.write(tell, b"!")
            signal.pause()

    def wait(self) -> None:
        """Wait until it is locked."""
        os.read(self._told, 1)

    def release(self) -> None:
        os.kill(self._number, signal.SIGKILL)
        os.waitpid(self._number, 0)


def tell_soon() -> None:
    sqlite_file.TOLD_SECONDS = 0.3
    sqlite_file.AGAIN_SECONDS = 1.0


@pytest.mark.parametrize(
    "file", ["", pytest.param("games.sqlite-shm", marks=pytest.mark.integration)]
)
def test_a_run_waits_for_a_lock_and_goes_on(tmp_path: Path, whole: Path, file: str) -> None:
    words = [*DUEL, *SLOWLY]
    lock = Lock(tmp_path, file)
    process = Command("run", *words, f"results={tmp_path}", before=tell_soon)
    try:
        times = 1 if file else 2  # SQLite itself waits for ten seconds there
        await_(lambda: process.printed.count("another program has locked it") == times)
        recorded = games_in(tmp_path)
        assert process.poll() is None
    finally:
        lock.release()
    printed, _ = process.communicate()
    assert process.returncode == 0, printed
    (folder,) = runs_in(tmp_path)
    assert recorded < games_in(tmp_path) == 2000
    assert f"waiting for {folder / 'games.sqlite'}" in printed.replace("\n", "")
    assert "another program has locked it" in (folder / "log.txt").read_text(encoding="utf-8")


@pytest.mark.integration
def test_a_run_that_waits_for_a_lock_can_be_stopped(tmp_path: Path, whole: Path) -> None:
    lock = Lock(tmp_path)
    process = Command("run", *DUEL, *SLOWLY, f"results={tmp_path}", before=tell_soon)
    try:
        await_(lambda: "another program has locked it" in process.printed)
        os.kill(process.pid, signal.SIGINT)
        await_(lambda: "Ctrl-C again to stop at once" in process.printed)
        os.kill(process.pid, signal.SIGINT)
        printed, _ = process.communicate(timeout=120)
        assert process.returncode == 130, printed
        (folder,) = runs_in(tmp_path)
        assert f"othello-lab resume {folder}" in printed
        assert "Traceback" not in printed
    finally:
        lock.release()
    assert main(["resume", str(folder)]) == 0
    assert games_in(tmp_path) == 2000


def test_a_locked_record_is_told_as_such(
    tmp_path: Path, whole: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_READ_SECONDS", 0.1)
    shutil.copytree(whole, tmp_path / "run")
    lock = Lock(tmp_path)
    try:
        lock.wait()
        for words in (["resume", str(tmp_path / "run")], ["show", str(tmp_path / "run")]):
            assert main(words) == 2
            message = capsys.readouterr().err
            assert "is locked by another program; wait for its end, and try again" in message
            assert "damaged" not in message
    finally:
        lock.release()


# ---------------------------------------------------------------------- signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_in_order(tmp_path: Path, whole: Path, number: signal.Signals) -> None:
    before = after_the_first_games(lambda: os.kill(os.getpid(), number))
    words = ["run", *DUEL, f"results={tmp_path}", "executor=serial"]
    process = Command(*words, before=before)
    printed, _ = process.communicate()
    (folder,) = runs_in(tmp_path)
    assert process.returncode == 130, printed
    assert "stopping after the pairs under way" in printed
    assert f"othello-lab resume {folder}" in printed
    assert "stopped early" in (folder / "report.md").read_text(encoding="utf-8")
    assert games_in(tmp_path) == 2
    assert main(["resume", str(folder)]) == 0
    assert content(folder) == content(whole)


def test_a_signal_to_the_whole_process_group_ends_a_run_in_order(tmp_path: Path) -> None:
    """As when a terminal is closed, or a batch system ends a job."""

    before = after_the_first_games(lambda: os.killpg(0, signal.SIGTERM))
    words = ["run", *DUEL, *SLOWLY, f"results={tmp_path}", "executor.workers=2"]
    process = Command(*words, before=before)
    printed, _ = process.communicate()
    assert process.returncode == 130, printed
    (folder,) = runs_in(tmp_path)
    assert "stopped early" in (folder / "report.md").read_text(encoding="utf-8")
    assert games_in(tmp_path) in range(2, 2000, 2)  # pairs under way were played to their end


def test_two_signals_of_any_kind_stop_at_once(tmp_path: Path) -> None:
    process = Command("run", *ENDLESS, f"results={tmp_path}", "executor.workers=1")
    await_(lambda: runs_in(tmp_path) and list(tmp_path.rglob("log.txt")))
    await_(lambda: "begins" in next(tmp_path.rglob("log.txt")).read_text())
    os.kill(process.pid, signal.SIGTERM)
    await_(lambda: "stopping after" in process.printed)
    os.kill(process.pid, signal.SIGHUP)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 130, printed
    assert "Traceback" not in printed
    assert games_in(tmp_path) == 0
    (folder,) = runs_in(tmp_path)
    assert printed.count(f"go on with  othello-lab resume {folder}\n") == 1


def test_a_hangup_that_is_ignored_stays_so(tmp_path: Path) -> None:
    def nohup() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        after_the_first_games(lambda: os.kill(os.getpid(), signal.SIGHUP))()

    process = Command("run", *DUEL, f"results={tmp_path}", "executor=serial", before=nohup)
    assert process.wait() == 0
    assert games_in(tmp_path) == 20


def test_a_terminal_that_is_closed_gets_no_more_and_the_run_ends_in_order(tmp_path: Path) -> None:
    ours, theirs = os.openpty()

    def close_it() -> None:
        os.close(ours)
        os.kill(os.getpid(), signal.SIGHUP)

    def on_a_terminal() -> None:
        for descriptor in (1, 2):
            os.dup2(theirs, descriptor)
        os.close(theirs)
        after_the_first_games(close_it)()

    words = ["run", *DUEL, f"results={tmp_path}", "executor=serial"]
    process = Command(*words, before=on_a_terminal)
    os.close(ours)
    os.close(theirs)
    assert process.wait() == 130
    assert "stopped early" in (runs_in(tmp_path)[0] / "report.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------------- the record is gone


def _delete_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def _delete_record(folder: Path) -> None:
    (folder / "games.sqlite").unlink()


def _move_folder(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def _put_another_in_its_place(folder: Path) -> None:
    (folder / "copy").write_bytes((folder / "games.sqlite").read_bytes())
    (folder / "copy").replace(folder / "games.sqlite")


@pytest.mark.parametrize(
    ("take_away", "words"),
    [
        (_delete_folder, [*ENDLESS, "executor.workers=1"]),
        (_delete_record, [*LONG, "executor=serial"]),
        pytest.param(_move_folder, [*ENDLESS, "executor.workers=1"], marks=pytest.mark.integration),
        pytest.param(
            _put_another_in_its_place, [*LONG, "executor=serial"], marks=pytest.mark.integration
        ),
    ],
)
def test_a_record_that_is_taken_away_stops_the_run(
    tmp_path: Path, take_away: Callable[[Path], None], words: list[str]
) -> None:
    process = Command("run", *words, f"results={tmp_path}")
    await_(lambda: list(tmp_path.rglob("log.txt")))
    await_(lambda: "begins" in next(tmp_path.rglob("log.txt")).read_text())
    (folder,) = runs_in(tmp_path)
    take_away(folder)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 1, printed
    assert "Traceback" not in printed
    (said,) = (line for line in printed.splitlines() if "othello-lab:" in line)
    assert f"{folder}/games.sqlite was deleted, or moved, in mid-run" in said


# ---------------------------------------------------------------------- what is half there


def test_half_a_pair_is_played_again(tmp_path: Path, whole: Path) -> None:
    folder = edited(
        whole,
        tmp_path / "run",
        "delete from moves where game in (5, 8)",
        "delete from games where game in (5, 8)",
        "update games set transcript = 'd3' where game = 4",
        "update run set complete = 0",
    )
    assert main(["resume", str(folder)]) == 0
    assert content(folder) == content(whole)


SKIP = ["delete from moves where game in (4, 5)", "delete from games where pair = 2"]
SKIP += ["insert into skipped values (2, 'the worker died')"]


def test_skipped_pairs_are_played_when_that_is_asked_for(tmp_path: Path, whole: Path) -> None:
    folder = edited(whole, tmp_path / "run", *SKIP)
    assert main(["resume", str(folder)]) == 0
    assert query(folder, "select pair from skipped") == [(2,)]
    assert main(["resume", str(folder), "--retry-skipped"]) == 0
    assert content(folder) == content(whole)


def test_a_schedule_that_goes_by_results_does_not_play_skipped_pairs_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*DUEL, "schedule=sprt", f"results={tmp_path}", "executor=serial"]
    folder = edited(run(read(words), "test", QUIET).folder, tmp_path / "run", *SKIP)
    assert main(["resume", str(folder), "--retry-skipped"]) == 2
    assert "decided without" in capsys.readouterr().err


# ---------------------------------------------------------------------- who has the record open


@needs_proc
def test_nobody_but_the_driver_has_the_record_open(tmp_path: Path, whole: Path) -> None:
    def with_it_open(process: int) -> bool:
        for path in Path(f"/proc/{process}/fd").iterdir():
            try:
                if "games.sqlite" in os.readlink(path):
                    return True
            except OSError:  # closed meanwhile
                continue
        return False

    def check(process: Command, log: Callable[[], Path]) -> None:
        try:
            await_(lambda: list(tmp_path.rglob("log.txt")))
            await_(lambda: "begins" in log().read_text())
            await_(lambda: len(list(descendants(process.pid))) >= 2)
            others = list(descendants(process.pid))
            assert with_it_open(process.pid)
            # A process just forked has all open files until it runs its own program.
            await_(lambda: not any(with_it_open(other) for other in others))
        finally:
            process.kill()
            process.communicate()

    words = [*ENDLESS, f"results={tmp_path}", "executor.workers=2"]
    check(Command("run", *words), lambda: next(tmp_path.rglob("log.txt")))
    (folder,) = runs_in(tmp_path)
    (folder / "log.txt").unlink()
    check(Command("resume", str(folder)), lambda: folder / "log.txt")


# ---------------------------------------------------------------------- while it loads


def heed_ctrl_c() -> None:
    """What a shell has in the background ignores it, and so would what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("words", ["experiments run", "agents list", "play terminal", "core perft"])
def test_ctrl_c_while_a_command_loads_ends_it_with_a_word(words: str, tmp_path: Path) -> None:
    """It comes as soon as numpy is looked for, which takes most of the time."""
    root = str(Path(__file__).parents[2])
    (tmp_path / "numpy.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", *words.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=heed_ctrl_c,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


@pytest.mark.integration
def test_a_program_that_uses_the_lab_keeps_its_handler() -> None:
    asked = (
        "import signal, othello_lab.experiments.jobs.run; print(signal.getsignal(signal.SIGINT))"
    )
    command = [sys.executable, "-c", asked]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, preexec_fn=heed_ctrl_c
    )
    assert "default_int_handler" in done.stdout
