"""A run is told to end, its processes are killed or stopped, the power is cut, or its record is
taken away: no process is left, nobody is blamed, and the record is, in the end, that of an
undisturbed run."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from bots import bot
from chosen import mostly_nightly, rows_mostly_nightly
from processes import Command, adopted, await_, descendants, lives, parent_of
from records import after_games, content, games_in, query, runs_in
from runs import changed, line_of, played
from shared import copied

from othello_lab.__main__ import main
from othello_lab.core.system.processes import LINUX, is_stopped
from othello_lab.core.system.shared_memory import STOPPING
from othello_lab.experiments.playing import agent_proxy, fork_server
from othello_lab.experiments.record import sqlite_file

pytestmark = pytest.mark.integration
needs_proc = pytest.mark.skipif(not LINUX, reason="finds processes and files by /proc")

DUEL = ["agents=duel", "agent@first=greedy", "agent@second=random", "figures=false", "games=20"]
ENDLESS = ["agents=ab_vs_minimax", "depth=11", "figures=false"]  # its first game takes minutes
SLOWLY = ["games=2000", "compiled_games=false"]  # so that there is time to do something to a run
LONG = ["agents=ab_vs_minimax", "depth=4", "games=2000", "figures=false"]


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
    path = folder / "record.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=120)) as connection:
        connection.execute("begin exclusive")
        yield


@pytest.mark.parametrize("stopped", [False, True])
def test_a_run_waits_for_a_lock_and_goes_on_or_is_stopped(tmp_path: Path, stopped: bool) -> None:
    def prepare() -> None:
        sqlite_file.TOLD_SECONDS = 0.3
        sqlite_file.AGAIN_SECONDS = 1.0
        after_games(2, lambda: print("games", flush=True))()

    process = Command("run", *DUEL, *SLOWLY, f"results={tmp_path}", before=prepare)
    process.says("games")
    (folder,) = runs_in(tmp_path)
    with lock(folder):
        process.says("another program has locked it", times=2)
        assert process.poll() is None and games_in(tmp_path) < 2000
        if stopped:
            os.kill(process.pid, signal.SIGINT)
            process.says("Ctrl-C again")
            os.kill(process.pid, signal.SIGINT)
            process.wait()
    printed, _ = process.communicate()
    assert process.returncode == (130 if stopped else 0), printed
    assert "Traceback" not in printed
    if stopped:
        assert f"othello-lab resume {folder}" in printed
        assert main(["resume", str(folder)]) == 0
    assert games_in(tmp_path) == 2000
    assert f"waiting for {folder / 'record.sqlite'}" in printed.replace("\n", "")
    assert "another program has locked it" in (folder / "log.txt").read_text(encoding="utf-8")


def test_a_locked_record_is_told_as_such(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, connect = copied(whole, tmp_path), sqlite3.connect
    with lock(folder):
        soon = {"timeout": 0.1}
        monkeypatch.setattr(sqlite3, "connect", lambda path, **kw: connect(path, **kw | soon))
        for command in ("resume", "show"):
            assert f"record.sqlite {sqlite_file.LOCKED}" in line_of(command, folder, code=2)


# ---------------------------------------------------------------------- signals


def sent(number: int, send: Callable[[int, int], object] = os.kill) -> Callable[[], None]:
    """After two games."""
    return after_games(2, lambda: send(0 if send is os.killpg else os.getpid(), number))


def hung_up_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sent(signal.SIGHUP)()


def hung_up_by_its_terminal() -> None:
    ours, theirs = os.openpty()
    for descriptor in (1, 2):
        os.dup2(theirs, descriptor)
    os.close(theirs)
    after_games(2, lambda: (os.close(ours), os.kill(os.getpid(), signal.SIGHUP)))()


SERIAL, WORKERS = [*DUEL, "executor=serial"], [*DUEL, *SLOWLY, "executor.workers=2"]
SIGNALS: dict[str, tuple[list[str], Callable[[], None], int]] = {
    "ended": (SERIAL, sent(signal.SIGTERM), 130),
    "hung up": (SERIAL, sent(signal.SIGHUP), 130),
    "hung up, which it ignores": (SERIAL, hung_up_under_nohup, 0),
    "its terminal is closed": (SERIAL, hung_up_by_its_terminal, 130),
    # As when a terminal is closed, or a batch system ends a job.
    "the whole process group": (WORKERS, sent(signal.SIGTERM, os.killpg), 130),
}


@pytest.mark.parametrize("how", SIGNALS)
def test_a_signal_ends_a_run_in_order(tmp_path: Path, whole: Path, how: str) -> None:
    words, before, code = SIGNALS[how]
    process = Command("run", *words, f"results={tmp_path}", before=before)
    printed, _ = process.communicate()
    (folder,) = runs_in(tmp_path)
    assert process.returncode == code, printed
    if code == 0:
        assert games_in(tmp_path) == 20
        return
    if how != "its terminal is closed":
        assert STOPPING in printed
        assert f"othello-lab resume {folder}" in printed
    assert "stopped early" in (folder / "report.md").read_text(encoding="utf-8")
    assert games_in(tmp_path) in range(2, 2000, 2)  # pairs under way were played to their end
    if words is SERIAL:
        assert games_in(tmp_path) == 2
        assert main(["resume", str(folder)]) == 0
        assert content(folder) == content(whole)


# ---------------------------------------------------------------------- programs

# A bot that notes its number, leaves a daemon in a session of its own, and does not end when it is
# asked to, or when its input ends.
STUBBORN = (
    "os.path.exists({folder!r} + str(os.getpid())) or ("
    "open({folder!r} + str(os.getpid()), 'x'), "
    "__import__('subprocess').Popen([sys.executable, '-c', {child!r}], start_new_session=True))"
)
CHILD = (
    "import os, signal, time; os.fork() and os._exit(0); os.setsid(); "
    "signal.signal(15, signal.SIG_IGN); open({folder!r} + str(os.getpid()), 'x'); time.sleep(300)"
)
INTERRUPT, KILL = signal.SIGINT, signal.SIGKILL
HANGING = ["executor.workers=1", "trial=false"]
LEAVES = [
    ("Ctrl-C", "pass", 0, ["executor.workers=2"], [INTERRUPT]),
    ("two signals", "pass", 0, ["executor.workers=2"], [signal.SIGTERM, signal.SIGHUP]),
    ("Ctrl-C twice, a hang", "hang", 3, [*HANGING, "limits.hang=300"], 2 * [INTERRUPT]),
    ("a killed driver", "pass", 0, ["executor.workers=2"], [KILL]),
    # Behind a script; the bot does not answer any more, or not at all, so its trial does not end.
    ("a killed driver, a script", "hang", 3, HANGING, [KILL]),
    ("a killed driver, a trial", "hang", 0, [], [KILL]),
    ("a forfeit", "print('nonsense', flush=True)", 2, ["executor.workers=1", "games=4"], []),
]
ALWAYS = ["Ctrl-C", "Ctrl-C twice, a hang", "a killed driver, a script", "a forfeit"]


@needs_proc
@pytest.mark.parametrize(
    ("after", "trouble", "answers", "words", "signals"), rows_mostly_nightly(LEAVES, ALWAYS)
)
def test_no_program_is_left(
    after: str, trouble: str, answers: int, words: list[str], signals: list[int], tmp_path: Path
) -> None:
    """Of those that play for agents."""
    notes = tmp_path / "notes"
    notes.mkdir()
    where = f"{notes}/"
    begin = STUBBORN.format(folder=where, child=CHILD.format(folder=where))
    does, end = trouble.replace("hang", "time.sleep(300)"), "time.sleep(300)"
    command = bot(tmp_path, does, 10**6 if does == "pass" else answers, begin=begin, end=end)
    if trouble == "hang":
        script = tmp_path / "run.sh"
        script.write_text(f"#!/bin/sh\n{command}\ntrue\n")
        script.chmod(0o755)
        command = str(script)

    def living() -> list[Path]:
        return [path for path in notes.iterdir() if lives(int(path.name))]

    line_up = ["agents=duel", "agent@first=line", f"first.command='{command}'", "games=3000"]
    common = ["agent@second=random", "figures=false", "searches.positions=1"]
    run = Command("run", *line_up, *common, f"results={tmp_path}/results", *words)
    if signals:  # each worker has a bot and its child
        await_(lambda: len(living()) >= (4 if "executor.workers=2" in words else 2))
    for number in signals:
        os.kill(run.pid, number)
        if number != KILL:
            run.says(STOPPING)
    assert run.wait() == (-KILL if KILL in signals else 130 if signals else 0), run.printed
    if KILL in signals:
        await_(lambda: not living())
    elif signals:
        assert run.printed.count("othello-lab resume ") == 1, run.printed
    assert len(list(notes.iterdir())) >= (2 if signals else 4) and not living()


# ---------------------------------------------------------------------- workers, players, servers

# Agents of the lab, whose games it plays together, and one from outside.
MIXED = ["agents=duel", "agent@first=alphabeta", "agent@second=greedy", "first.depth=4", "seed=3"]
MIXED += ["games=20", "figures=false", "limits.hang=20", "trial=false"]
MIXED += ["+agents.third._target_=bystanders.Remembers"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an undisturbed run, played in one process."""
    folder = played(tmp_path_factory.mktemp("whole"), *MIXED, "isolation=none").folder
    assert query(folder, "select distinct end_reason from games") == [("finished",)]
    return folder


def _send(process: Command, number: signal.Signals, chance: random.Random) -> bool:
    """Send a signal to a random worker or player, or kill a fork server of theirs; False if the
    run has ended. One that is stopped is awaited until it is replaced."""
    while process.poll() is None:
        with contextlib.suppress(IndexError, ProcessLookupError):
            below = descendants(process.pid)
            if number != signal.SIGKILL:
                servers = [n for n in below if parent_of(n) == process.pid]
                below = [n for server in servers for n in descendants(server)]
            os.kill(victim := chance.choice(below), number)
            if number == signal.SIGSTOP:  # the system may take a moment to stop it
                await_(lambda: is_stopped(victim) or not lives(victim))
            await_(lambda: process.poll() is not None or not is_stopped(victim))
            return True
    return False


@needs_proc
@pytest.mark.parametrize("seed", mostly_nightly(range(12), [0]))
@pytest.mark.parametrize("signals", ["SIGKILL SIGTERM", "SIGSTOP SIGSTOP"])
def test_killed_and_stopped_processes_are_replaced(
    tmp_path: Path, undisturbed: Path, signals: str, seed: int
) -> None:
    """Two in a run: whoever is hit three times in the same game, or a worker with the same pair, is
    to blame."""
    chance = random.Random(seed)

    def prepare() -> None:
        fork_server.STOPPED_SECONDS = 2
        agent_proxy.STOPPED_SECONDS = 1.0
        for least in (1, chance.randrange(4, 30)):
            after_games(least, lambda: print("games", flush=True))()

    with adopted() as left:
        process = Command(
            "run", *MIXED, f"results={tmp_path}", "executor.workers=2", before=prepare
        )
        sent = 0
        for times, which in enumerate(signals.split(), start=1):
            process.says("games", times, timeout=300)
            sent += _send(process, signal.Signals[which], chance)
        printed, _ = process.communicate(timeout=300)
        await_(lambda: not left())
    assert process.returncode == 0, printed
    (run,) = runs_in(tmp_path)
    assert content(run) == content(undisturbed), (run / "log.txt").read_text("utf-8")
    assert sent


# ---------------------------------------------------------------------- the power is cut


def check_resumed(results: Path, images: Path, image: Callable[[Path], object], cuts: int) -> None:
    """Play a run, which at random moments keeps what is on disk then; resume, without --force, what
    was kept: every game that was recorded is there, and the record becomes the same."""

    def prepare() -> None:
        moments = sorted(random.Random(cuts).sample(range(1, 36), cuts))
        for number, games in enumerate(moments):
            folder = images / str(number)
            after_games(games, lambda to=folder: image(to / str(games_in(results)) / "results"))()

    words = ["agents=classics", "games=40", "seed=3", "agents.alphabeta_5.depth=4"]
    words += ["figures=false", "executor.workers=2", "compiled_games=false", f"results={results}"]
    assert Command("run", *words, before=prepare).wait(300) == 0
    (whole,) = runs_in(results)
    kept = sorted(images.iterdir())
    assert len(kept) == cuts
    for number, folder in enumerate(kept):
        (run,) = runs_in(folder)
        (recorded,) = folder.iterdir()
        assert games_in(folder) >= int(recorded.name), "recorded games were lost"
        config = run / "config.yaml"
        size = config.stat().st_size
        assert size > 0
        config.write_bytes([config.read_bytes(), b"\0" * size, b""][number % 3])
        assert main(["resume", str(run)]) == 0
        assert content(run) == content(whole)
        assert config.read_bytes() == (whole / "config.yaml").read_bytes()


@pytest.mark.parametrize("cuts", mostly_nightly([2, 10], [2]))
def test_files_copied_in_mid_run_are_resumed(tmp_path: Path, cuts: int) -> None:
    results = tmp_path / "results"
    check_resumed(results, tmp_path / "images", lambda to: shutil.copytree(results, to), cuts)


@contextmanager
def mounted(disk: Path, folder: Path) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", disk, folder], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.nightly
def test_a_disk_cut_off_in_mid_run_is_resumed(tmp_path: Path) -> None:
    """What is not synced to a file system in a file is not in that file."""
    disk, cut = tmp_path / "disk", tmp_path / "cut"
    with disk.open("wb") as file:
        file.truncate(48 << 20)

    def image(target: Path) -> None:
        shutil.copyfile(disk, cut)
        with mounted(cut, tmp_path / "found") as mounted_folder:
            shutil.copytree(mounted_folder, target, ignore=shutil.ignore_patterns("lost+found"))

    try:
        make = ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", disk]
        subprocess.run(make, check=True, capture_output=True)
        with mounted(disk, tmp_path / "results"):
            pass
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a file system")
    with mounted(disk, tmp_path / "results") as results:
        check_resumed(results, tmp_path / "images", image, 10)


# ---------------------------------------------------------------------- the record is gone


def _put_another_in_its_place(folder: Path) -> None:
    (folder / "copy").write_bytes((folder / "record.sqlite").read_bytes())
    (folder / "copy").replace(folder / "record.sqlite")


ENDS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "folder deleted": (shutil.rmtree, [*ENDLESS, "executor.workers=1"]),
    "record deleted": (lambda f: (f / "record.sqlite").unlink(), [*LONG, "executor=serial"]),
    "folder moved": (lambda f: f.rename(f.with_name("x")), [*ENDLESS, "executor.workers=1"]),
    "another put in its place": (_put_another_in_its_place, [*LONG, "executor=serial"]),
}


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
    assert f"{folder}/record.sqlite" in said and "in mid-run" in said


# ---------------------------------------------------------------------- what is half there

HALF = ["delete from moves where game in (5, 8)", "delete from games where game in (5, 8)"]
HALF += ["update games set transcript = 'd3' where game = 4", "update job set complete = 0"]
SKIP = ["delete from moves where game in (4, 5)", "delete from games where pair = 2"]
SKIP += ["insert into pieces values (2, 'the worker died')"]


def test_half_a_pair_is_played_again_and_a_skipped_one_when_asked_for(
    tmp_path: Path, whole: Path
) -> None:
    folder = changed(copied(whole, tmp_path), *HALF)
    assert main(["resume", str(folder)]) == 0
    assert content(folder) == content(whole)
    changed(folder, *SKIP)
    assert main(["resume", str(folder)]) == 0
    assert query(folder, "select piece from pieces") == [(2,)]
    assert main(["resume", str(folder), "--retry-skipped"]) == 0
    assert content(folder) == content(whole)


def test_a_schedule_that_goes_by_results_does_not_play_skipped_pairs_later(tmp_path: Path) -> None:
    folder = changed(played(tmp_path, *DUEL, "schedule=sprt").folder, *SKIP)
    assert "pair" in line_of("resume", folder, "--retry-skipped", code=2)


# ---------------------------------------------------------------------- while it loads


def python(*words: str, **options: Any) -> tuple[int, str, str]:
    """Run Python; it heeds Ctrl-C even if the tests, in the background of a shell, ignore it."""
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, preexec_fn=heed, **options
    )
    return done.returncode, done.stdout, done.stderr


LOADING = ["experiments run", "agents list", "play terminal", "core perft"]


@pytest.mark.parametrize("words", mostly_nightly(LOADING, ["agents list"]))
def test_ctrl_c_while_a_command_loads_ends_it_with_a_word(words: str, tmp_path: Path) -> None:
    """It comes as soon as numpy is looked for, which takes most of the time."""
    text = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nsignal.pause()\n"
    (tmp_path / "numpy.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = python("-m", *words.split(), cwd=tmp_path, env=environment, timeout=300)
    assert done == (130, "", "stopped\n")


@pytest.mark.nightly
def test_a_program_that_uses_the_lab_keeps_its_handler() -> None:
    code = "import othello_lab.experiments.jobs.run, signal; print(signal.getsignal(2))"
    assert "default_int_handler" in python("-c", code)[1]
