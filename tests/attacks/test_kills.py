"""Whatever is killed or stopped from outside, and whenever: the record is that of an undisturbed
run, nobody is blamed, and no process is left."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chosen import chosen_of
from processes import Command, await_
from records import content, games_in, query, runs_in
from rich.console import Console

from othello_lab.core.system.processes import LINUX, adopt_orphans, descendants, is_stopped
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.playing import agent_proxy, pool
from othello_lab.experiments.record.log import entries

pytestmark = pytest.mark.skipif(not LINUX, reason="finds processes by /proc")

COMMON = ["agents=duel", "seed=3", "figures=false", "limits.hang=20", "trial=false"]
LINE_UPS = {
    "the lab's own": ["agent@first=alphabeta", "agent@second=greedy", "first.depth=6"],
    "from outside": [
        *("agent@first=random", "first._target_=bystanders.Remembers"),
        *("agent@second=random", "second._target_=bystanders.Plain"),
    ],
    "mixed": [
        *("agent@first=alphabeta", "agent@second=greedy", "first.depth=4"),
        "+agents.third._target_=bystanders.Remembers",
    ],
}
KILLED = chosen_of(LINE_UPS, ["mixed"])  # which has agents of both other kinds
_PR_SET_CHILD_SUBREAPER = 36


FEW, MANY = 60, 600
"""Games."""


def words_of(name: str, games: int) -> list[str]:
    pairings = 3 if name == "mixed" else 1
    return [*COMMON, *LINE_UPS[name], f"games={games // pairings}"]


Undisturbed = Callable[[str, int], Path]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The folder of an undisturbed run, played in one process."""

    @functools.cache
    def play(name: str, games: int) -> Path:
        more = [f"results={tmp_path_factory.mktemp('whole')}", "executor=serial", "isolation=none"]
        folder = run(read([*words_of(name, games), *more]), "test", Console(quiet=True)).folder
        assert query(folder, "select distinct end_reason from games") == [("finished",)]
        return folder

    return play


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """All that a run leaves behind becomes a child of this process, where it is found."""
    before = set(descendants([os.getpid()]))
    adopt_orphans()
    try:
        yield
        await_(lambda: not set(descendants([os.getpid()])) - before)
    finally:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def begin(name: str, games: int, folder: Path) -> Command:
    def soon() -> None:
        pool.STOPPED_SECONDS = 2
        agent_proxy.STOPPED_SECONDS = 1.0

    words = [*words_of(name, games), f"results={folder}", "executor.workers=2"]
    return Command("run", *words, before=soon)


def await_games(folder: Path, games: int, process: Command) -> None:
    await_(lambda: games_in(folder) >= games or process.poll() is not None, timeout=300)


def ends_well(process: Command, folder: Path, whole: Path) -> None:
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    ends = "select game, end_reason, detail from games where end_reason != 'finished'"
    log = (runs_in(folder)[0] / "log.txt").read_text(encoding="utf-8")
    assert query(runs_in(folder)[0], ends) == [], log
    assert query(runs_in(folder)[0], "select * from skipped") == [], log
    assert content(runs_in(folder)[0]) == content(whole)


# ------------------------------------------------------------------ the driver


def kill_driver(folder: Path, name: str, undisturbed: Undisturbed, kills: int) -> None:
    chance = random.Random(kills)
    games = FEW if kills < 10 else MANY
    whole = undisturbed(name, games)
    before = set(descendants([os.getpid()]))  # which other tests may have left
    process = begin(name, games, folder)
    for _ in range(kills):
        moment = games_in(folder) + chance.randrange(1, max(2, 2 * games // kills))
        await_games(folder, min(moment, games - 1), process)
        time.sleep(chance.random() * 0.03)
        process.kill()
        process.communicate()
        await_(lambda: not set(descendants([os.getpid()])) - before)
        assert not runs_in(folder) or {
            count
            for (count,) in query(runs_in(folder)[0], "select count(*) from games group by pair")
        } <= {2}
        process = Command("resume", str(runs_in(folder)[0]), "--trust")
    ends_well(process, folder, whole)


@pytest.mark.integration
@pytest.mark.parametrize("name", KILLED)
def test_often_killed_drivers(tmp_path: Path, name: str, undisturbed: Undisturbed) -> None:
    kill_driver(tmp_path, name, undisturbed, kills=10)


def test_what_an_agent_left_behind_ends_with_a_killed_driver(tmp_path: Path) -> None:
    """``nothing_left`` sees to it that the test fails otherwise."""
    (tmp_path / "daemons").mkdir()
    words = ["agent@first=random", "first._target_=bystanders.Daemonises", "agent@second=greedy"]
    words += [f"+first.folder={tmp_path / 'daemons'}", f"results={tmp_path}", "games=3000"]
    process = Command("run", *COMMON, *words, "executor.workers=2")
    await_(lambda: len(list((tmp_path / "daemons").iterdir())) == 2)
    below = set(descendants([process.pid]))
    assert {int(path.name) for path in (tmp_path / "daemons").iterdir()} <= below
    process.kill()
    process.communicate()


# ------------------------------------------------------------------ workers, house and players


def below_the_nursery(process: Command) -> list[int]:
    nursery = [number for number in descendants([process.pid]) if _parent(number) == process.pid]
    return descendants(nursery)


def _lives(number: int) -> bool:
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def _parent(number: int) -> int:
    try:
        return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def send_signals(
    tmp_path: Path, name: str, undisturbed: Undisturbed, signals: list[signal.Signals]
) -> None:
    """Send each to a random process, in as many runs as it takes; not so often that one is hit
    three times in the same game, or workers three times with the same pair, which would be its own
    fault: a stopped process has to be replaced before the next one is stopped."""
    chance = random.Random(len(signals))
    games = FEW if len(signals) < 10 else MANY
    whole = undisturbed(name, games)
    waiting, runs = list(signals), 0
    while waiting:
        folder, runs = tmp_path / str(runs), runs + 1
        process, recorded = begin(name, games, folder), 0
        while waiting and process.poll() is None:
            await_games(folder, min(recorded + 2, games - 2), process)
            time.sleep(0.3 + 0.4 * chance.random() if recorded else 0.0)
            recorded = games_in(folder)
            if process.poll() is None and (found := below_the_nursery(process)):
                with contextlib.suppress(ProcessLookupError):
                    chosen = chance.choice(found)
                    os.kill(chosen, waiting[-1])
                    if waiting.pop() == signal.SIGSTOP:
                        # The system may take a moment to stop it.
                        await_(
                            lambda: is_stopped(chosen) or not _lives(chosen)  # noqa: B023
                        )
                        await_(
                            lambda: not is_stopped(chosen) or process.poll() is not None  # noqa: B023
                        )
        ends_well(process, folder, whole)
    print(f"{len(signals)} signals were sent in {runs} runs")


@pytest.mark.integration
@pytest.mark.parametrize("name", KILLED)
def test_often_killed_workers_and_players(
    tmp_path: Path, name: str, undisturbed: Undisturbed
) -> None:
    send_signals(tmp_path, name, undisturbed, [signal.SIGKILL, signal.SIGTERM] * 8)


@pytest.mark.integration
@pytest.mark.parametrize("name", KILLED)
def test_stopped_workers_and_players_are_replaced(
    tmp_path: Path, name: str, undisturbed: Undisturbed
) -> None:
    send_signals(tmp_path, name, undisturbed, [signal.SIGSTOP] * 4)


# ------------------------------------------------------------------ what starts the workers


def kill_nurseries(
    tmp_path: Path, name: str, undisturbed: Undisturbed, kills: int, games: int
) -> None:
    """Kill the driver's child or the one below it, which starts the workers."""
    chance = random.Random(kills)
    whole = undisturbed(name, games)
    process = begin(name, games, tmp_path)

    def told() -> int:
        log = entries(runs_in(tmp_path)[0] / "log.txt")
        line = "the process that starts workers was killed; another one goes on"
        return sum(line in text for _, text in log)

    await_games(tmp_path, 1, process)
    above = _child(process.pid)  # after its death the one below has another parent
    sent = 0
    while told() < kills and process.poll() is None:
        below = _child(above)
        if not below:  # the next one is not there yet
            time.sleep(0.01)
            continue
        before = told()
        if chance.random() < 0.5:
            os.kill(below, signal.SIGKILL)
        else:
            os.kill(above, signal.SIGKILL)
            above = below
        sent += 1
        # Two kills before the driver looks would be told as one. A kill of a process that has not
        # begun its work is not told at all.
        deadline = time.monotonic() + 5
        while told() == before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1 + 0.2 * chance.random())
    ends_well(process, tmp_path, whole)
    assert sent >= kills
    assert told() >= kills - 1  # the last may come after the last game


def _child(process: int) -> int:
    """The child of a process that leads a session, which workers do not; 0 for none."""
    for number in descendants([process]):
        if _parent(number) == process and _session(number) == number:
            return number
    return 0


def _session(number: int) -> int:
    try:
        return os.getsid(number)
    except ProcessLookupError:
        return 0


@pytest.mark.integration
@pytest.mark.parametrize("name", ["mixed"])
def test_a_killed_nursery(tmp_path: Path, name: str, undisturbed: Undisturbed) -> None:
    kill_nurseries(tmp_path, name, undisturbed, kills=1, games=FEW)


@pytest.mark.integration
@pytest.mark.parametrize("name", KILLED)
def test_often_killed_nurseries(tmp_path: Path, name: str, undisturbed: Undisturbed) -> None:
    kill_nurseries(tmp_path, name, undisturbed, kills=13, games=MANY)
