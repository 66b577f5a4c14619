"""Whatever is killed or stopped from outside, and whenever, or if the power is cut: the record is
that of an undisturbed run, nobody is blamed, and no process is left."""

from __future__ import annotations

import contextlib
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
from processes import Command, adopted, await_, descendants, lives, parent_of
from records import after_games, content, games_in, query, runs_in
from runs import played

from othello_lab.__main__ import main
from othello_lab.core.system.processes import LINUX, is_stopped
from othello_lab.experiments.playing import agent_proxy, nursery

pytestmark = pytest.mark.skipif(not LINUX, reason="finds processes by /proc")

COMMON = ["agents=duel", "seed=3", "figures=false", "limits.hang=20", "trial=false"]
# Agents of the lab, whose games it plays together, and one from outside.
MIXED = [*COMMON, "agent@first=alphabeta", "agent@second=greedy", "first.depth=4"]
MIXED += ["+agents.third._target_=bystanders.Remembers", "games=20"]
GAMES = 60


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an undisturbed run, played in one process."""
    folder = played(tmp_path_factory.mktemp("whole"), *MIXED, "isolation=none").folder
    assert query(folder, "select distinct end_reason from games") == [("finished",)]
    return folder


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    with adopted() as left:
        yield
        await_(lambda: not left())


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
    """Send a signal to a random worker or player, or kill a nursery of theirs; False if the run has
    ended. One that is stopped is awaited until it is replaced."""
    while process.poll() is None:
        with contextlib.suppress(IndexError, ProcessLookupError):
            below = descendants(process.pid)
            if number != signal.SIGKILL:
                nurseries = [n for n in below if parent_of(n) == process.pid]
                below = [n for nursery in nurseries for n in descendants(nursery)]
            os.kill(victim := chance.choice(below), number)
            if number == signal.SIGSTOP:  # the system may take a moment to stop it
                await_(lambda: is_stopped(victim) or not lives(victim))
            await_(lambda: process.poll() is not None or not is_stopped(victim))
            return True
    return False


SIGNALS = [signal.SIGKILL, signal.SIGTERM]
STOPS = [signal.SIGSTOP] * 2
NIGHTLY = [pytest.param(*row, marks=pytest.mark.nightly) for row in ((SIGNALS, 20), (STOPS, 4))]


@pytest.mark.integration
@pytest.mark.parametrize(("signals", "runs"), [(SIGNALS, 1), (STOPS, 1), *NIGHTLY])
def test_killed_and_stopped_processes_are_replaced(
    tmp_path: Path, undisturbed: Path, signals: list[signal.Signals], runs: int
) -> None:
    """Two in a run: whoever is hit three times in the same game, or a worker with the same pair, is
    to blame."""
    for number in range(runs):
        chance, folder = random.Random(number), tmp_path / str(number)

        def prepare() -> None:
            nursery.STOPPED_SECONDS = 2
            agent_proxy.STOPPED_SECONDS = 1.0
            for least in (1, chance.randrange(4, GAMES // 2)):  # noqa: B023
                after_games(least, lambda: print("games", flush=True))()

        process = Command("run", *MIXED, f"results={folder}", "executor.workers=2", before=prepare)
        sent = 0
        for times, which in enumerate(signals, start=1):
            process.says("games", times, timeout=300)
            sent += _send(process, which, chance)
        printed, _ = process.communicate(timeout=300)
        assert process.returncode == 0, printed
        (run,) = runs_in(folder)
        assert content(run) == content(undisturbed), (run / "log.txt").read_text("utf-8")
        assert sent


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
