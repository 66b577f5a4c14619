"""Whatever is killed or stopped from outside, and whenever, or if the power is cut: the record is
that of an undisturbed run, nobody is blamed, and no process is left."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chosen import mostly_nightly
from processes import Command, adopted, await_, descendants, leads_a_session, lives, parent_of
from records import after_games, content, games_in, query, runs_in
from runs import played

from othello_lab.__main__ import main
from othello_lab.core.system.processes import LINUX, is_stopped
from othello_lab.experiments.playing import agent_proxy, pool
from othello_lab.experiments.record.log import entries

pytestmark = pytest.mark.skipif(not LINUX, reason="finds processes by /proc")

COMMON = ["agents=duel", "seed=3", "figures=false", "limits.hang=20", "trial=false"]
# Agents of the lab, whose games it plays together, and one from outside.
MIXED = [*COMMON, "agent@first=alphabeta", "agent@second=greedy", "first.depth=4"]
MIXED += ["+agents.third._target_=bystanders.Remembers"]
GAMES = 60
"""Of a run that two signals disturb."""

Undisturbed = Callable[[int], Path]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The folder of an undisturbed run of so many games, played in one process."""

    @functools.cache
    def play(games: int) -> Path:
        words = [*MIXED, f"games={games // 3}", "isolation=none"]
        folder = played(tmp_path_factory.mktemp("whole"), *words).folder
        assert query(folder, "select distinct end_reason from games") == [("finished",)]
        return folder

    return play


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    with adopted() as left:
        yield
        await_(lambda: not left())


def begin(games: int, folder: Path, *said: int) -> Command:
    """Begin a run; it says ``games`` when so many more are being written."""

    def prepare() -> None:
        pool.STOPPED_SECONDS = 2
        agent_proxy.STOPPED_SECONDS = 1.0
        for least in said:
            after_games(least, lambda: print("games", flush=True))()

    words = [*MIXED, f"games={games // 3}", f"results={folder}", "executor.workers=2"]
    return Command("run", *words, before=prepare)


def ends_well(process: Command, folder: Path, whole: Path) -> None:
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    (run,) = runs_in(folder)
    assert content(run) == content(whole), (run / "log.txt").read_text(encoding="utf-8")


@pytest.mark.integration
def test_what_an_agent_left_behind_ends_with_a_killed_driver(tmp_path: Path) -> None:
    """``nothing_left`` sees to it that the test fails otherwise."""
    (tmp_path / "daemons").mkdir()
    words = ["agent@first=random", "first._target_=bystanders.Daemonises", "agent@second=greedy"]
    words += [f"+first.folder={tmp_path / 'daemons'}", f"results={tmp_path}", "games=3000"]
    process = Command("run", *COMMON, *words, "executor.workers=2")
    await_(lambda: len(list((tmp_path / "daemons").iterdir())) == 2)
    daemons = {int(path.name) for path in (tmp_path / "daemons").iterdir()}
    assert daemons <= set(descendants(process.pid))
    process.kill()


# ------------------------------------------------------------------ workers, players, nurseries


def _send(process: Command, number: signal.Signals, chance: random.Random) -> bool:
    """Send a signal to a random worker or player; False if the run has ended. One that is stopped
    is awaited until it is replaced."""
    while process.poll() is None:
        with contextlib.suppress(IndexError, ProcessLookupError):
            nurseries = [n for n in descendants(process.pid) if parent_of(n) == process.pid]
            victim = chance.choice([n for nursery in nurseries for n in descendants(nursery)])
            os.kill(victim, number)
            if number == signal.SIGSTOP:  # the system may take a moment to stop it
                await_(lambda: is_stopped(victim) or not lives(victim))  # noqa: B023
            await_(lambda: process.poll() is not None or not is_stopped(victim))  # noqa: B023
            return True
    return False


SIGNALS = [signal.SIGKILL, signal.SIGTERM]
STOPS = [signal.SIGSTOP] * 2
NIGHTLY = [pytest.param(*row, marks=pytest.mark.nightly) for row in ((SIGNALS, 20), (STOPS, 4))]


@pytest.mark.integration
@pytest.mark.parametrize(("signals", "runs"), [(SIGNALS, 1), (STOPS, 1), *NIGHTLY])
def test_killed_and_stopped_workers_and_players_are_replaced(
    tmp_path: Path, undisturbed: Undisturbed, signals: list[signal.Signals], runs: int
) -> None:
    """Two in a run: whoever is hit three times in the same game, or a worker with the same pair, is
    to blame."""
    for number in range(runs):
        chance, folder = random.Random(number), tmp_path / str(number)
        process = begin(GAMES, folder, 1, chance.randrange(4, GAMES // 2))
        sent = 0
        for times, which in enumerate(signals, start=1):
            process.says("games", times, timeout=300)
            sent += _send(process, which, chance)
        ends_well(process, folder, undisturbed(GAMES))
        assert sent


@pytest.mark.integration
@pytest.mark.parametrize("kills", mostly_nightly([1, 13], [1]))
def test_killed_nurseries(tmp_path: Path, undisturbed: Undisturbed, kills: int) -> None:
    """Kill the driver's child or the one below it, which starts the workers."""
    chance, games = random.Random(kills), GAMES * (1 if kills == 1 else 60)
    process = begin(games, tmp_path, 1)
    process.says("games", timeout=300)

    def replaced() -> int:
        log = entries(runs_in(tmp_path)[0] / "log.txt")
        return sum("another one goes on" in text for _, text in log)

    def ended() -> bool:
        return process.poll() is not None

    above = 0  # after its death the one below has another parent
    while (before := replaced()) < kills:
        await_(lambda: _child(above or _child(process.pid)) or ended())  # noqa: B023
        if ended():
            break
        upper = above or _child(process.pid)
        above, victim = chance.choice([(_child(upper), upper), (upper, _child(upper))])
        os.kill(victim, signal.SIGKILL)
        # Two kills before the driver looks would be told as one. A kill of a process that has not
        # begun its work is not told at all.
        with contextlib.suppress(AssertionError):
            await_(lambda: replaced() > before or ended(), 10)
        # If none of many in a row lived until a worker played, the pool would give up.
        done = games_in(tmp_path)
        await_(lambda: games_in(tmp_path) > done or ended())  # noqa: B023
    ends_well(process, tmp_path, undisturbed(games))
    assert replaced() >= kills - 1  # the last may come after the last game


def _child(process: int) -> int:
    """The child of a process that leads a session, which workers do not; 0 for none."""
    children = [n for n in descendants(process) if parent_of(n) == process and leads_a_session(n)]
    return children[0] if process and children else 0


# ------------------------------------------------------------------ the power is cut


def check_resumed(results: Path, images: Path, image: Callable[[Path], object], cuts: int) -> None:
    """Play a run, which at random moments keeps what is on disk then; resume, without --force, what
    was kept: every game that was recorded is there, and the record becomes the same."""

    def prepare() -> None:
        moments = sorted(random.Random(cuts).sample(range(1, 36), cuts))
        for number, games in enumerate(moments):
            kept = images / str(number)
            after_games(games, lambda to=kept: image(to / str(games_in(results)) / "results"))()

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


@pytest.mark.integration
@pytest.mark.parametrize("cuts", mostly_nightly([2, 10], [2]))
def test_files_copied_in_mid_run_are_resumed(tmp_path: Path, cuts: int) -> None:
    results = tmp_path / "results"
    check_resumed(results, tmp_path / "images", lambda kept: shutil.copytree(results, kept), cuts)


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

    def image(kept: Path) -> None:
        shutil.copyfile(disk, cut)
        with mounted(cut, tmp_path / "found") as found:
            shutil.copytree(found, kept, ignore=shutil.ignore_patterns("lost+found"))

    try:
        make = ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", disk]
        subprocess.run(make, check=True, capture_output=True)
        with mounted(disk, tmp_path / "results"):
            pass
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a file system")
    with mounted(disk, tmp_path / "results") as results:
        check_resumed(results, tmp_path / "images", image, 10)
