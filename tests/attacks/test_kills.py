"""Whatever is killed or stopped from outside, and whenever: the record is that of an undisturbed
run, nobody is blamed, and no process is left."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from chosen import mostly_nightly
from processes import Command, adopted, await_, descendants, leads_a_session, lives, parent_of
from records import after_games, content, games_in, query, runs_in
from runs import played

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


def words_of(games: int) -> list[str]:
    return [*MIXED, f"games={games // 3}"]


Undisturbed = Callable[[int], Path]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The folder of an undisturbed run of so many games, played in one process."""

    @functools.cache
    def play(games: int) -> Path:
        whole = tmp_path_factory.mktemp("whole")
        folder = played(whole, *words_of(games), "isolation=none").folder
        assert query(folder, "select distinct end_reason from games") == [("finished",)]
        return folder

    return play


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    with adopted() as left:
        yield
        await_(lambda: not left())


def begin(games: int, folder: Path, said: Sequence[int]) -> Command:
    """Begin a run; it says ``games`` when so many more are being written."""

    def prepare() -> None:
        pool.STOPPED_SECONDS = 2
        agent_proxy.STOPPED_SECONDS = 1.0
        for least in said:
            after_games(least, lambda: print("games", flush=True))()

    words = [*words_of(games), f"results={folder}", "executor.workers=2"]
    return Command("run", *words, before=prepare)


def ends_well(process: Command, folder: Path, whole: Path) -> None:
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    ends = "select game, end_reason, detail from games where end_reason != 'finished'"
    log = (runs_in(folder)[0] / "log.txt").read_text(encoding="utf-8")
    assert query(runs_in(folder)[0], ends) == [], log
    assert query(runs_in(folder)[0], "select * from skipped") == [], log
    assert content(runs_in(folder)[0]) == content(whole)


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


def below_the_nursery(process: Command) -> list[int]:
    """The workers and players of a run."""
    nurseries = [n for n in descendants(process.pid) if parent_of(n) == process.pid]
    return [number for nursery in nurseries for number in descendants(nursery)]


def _send(process: Command, number: signal.Signals, chance: random.Random) -> bool:
    """Send a signal to a random worker or player; False if the run has ended. One that is stopped
    is awaited until it is replaced."""
    while process.poll() is None:
        with contextlib.suppress(IndexError, ProcessLookupError):
            victim = chance.choice(below_the_nursery(process))
            os.kill(victim, number)
            await_(partial(_has_stopped, victim, number))
            await_(lambda: process.poll() is not None or not is_stopped(victim))  # noqa: B023
            return True
    return False


def _has_stopped(victim: int, number: signal.Signals) -> bool:
    """The system may take a moment to stop it."""
    return number != signal.SIGSTOP or is_stopped(victim) or not lives(victim)


SIGNALS = [signal.SIGKILL, signal.SIGTERM]
STOPS = [signal.SIGSTOP] * 2


@pytest.mark.integration
@pytest.mark.parametrize(
    ("signals", "runs"),
    [(SIGNALS, 1), (STOPS, 1)]
    + [pytest.param(*row, marks=pytest.mark.nightly) for row in ((SIGNALS, 20), (STOPS, 4))],
)
def test_killed_and_stopped_workers_and_players_are_replaced(
    tmp_path: Path, undisturbed: Undisturbed, signals: list[signal.Signals], runs: int
) -> None:
    """Two in a run: whoever is hit three times in the same game, or a worker with the same pair, is
    to blame."""
    whole = undisturbed(GAMES)
    for number in range(runs):
        chance, folder = random.Random(number), tmp_path / str(number)
        process = begin(GAMES, folder, [1, chance.randrange(4, GAMES // 2)])
        sent = 0
        for times, which in enumerate(signals, start=1):
            process.says("games", times, timeout=300)
            sent += _send(process, which, chance)
        ends_well(process, folder, whole)
        assert sent


@pytest.mark.integration
@pytest.mark.parametrize("kills", mostly_nightly([1, 13], [1]))
def test_killed_nurseries(tmp_path: Path, undisturbed: Undisturbed, kills: int) -> None:
    """Kill the driver's child or the one below it, which starts the workers."""
    chance, games = random.Random(kills), GAMES * (1 if kills == 1 else 60)
    whole = undisturbed(games)
    process = begin(games, tmp_path, [1])
    process.says("games", timeout=300)

    def replaced() -> int:
        log = entries(runs_in(tmp_path)[0] / "log.txt")
        return sum("another one goes on" in text for _, text in log)

    def both() -> tuple[int, int]:
        upper = _child(process.pid, above)
        return upper, upper and _child(upper)

    above = 0  # after its death the one below has another parent
    while (before := replaced()) < kills:
        await_(lambda: all(both()) or process.poll() is not None)
        if process.poll() is not None:
            break
        upper, below = both()
        above, victim = chance.choice([(below, upper), (upper, below)])
        os.kill(victim, signal.SIGKILL)
        # Two kills before the driver looks would be told as one. A kill of a process that has not
        # begun its work is not told at all.
        with contextlib.suppress(AssertionError):
            await_(lambda: replaced() > before or process.poll() is not None, 10)
        # If none of many in a row lived until a worker played, the pool would give up.
        done = games_in(tmp_path)
        await_(lambda: games_in(tmp_path) > done or process.poll() is not None)  # noqa: B023
    ends_well(process, tmp_path, whole)
    assert replaced() >= kills - 1  # the last may come after the last game


def _child(process: int, known: int = 0) -> int:
    """The child of a process that leads a session, which workers do not; 0 for none. known: that
    child, if it is known, though its parent may be another one by now."""
    if known:
        return known
    children = [n for n in descendants(process) if parent_of(n) == process and leads_a_session(n)]
    return children[0] if children else 0
