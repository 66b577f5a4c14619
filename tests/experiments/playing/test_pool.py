"""Workers may be killed at any moment."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chosen import mostly_nightly
from processes import adopted, await_, descendants, leads_a_session, lives, parent_of

from othello_lab.core.game import FINISHED
from othello_lab.experiments.pairing import RoundRobin
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import PairQueue, PickledPairs
from othello_lab.experiments.playing import fork_server as fork_server_module
from othello_lab.experiments.playing.fork_server import END_SECONDS, fork_server, start_fork_server
from othello_lab.experiments.playing.pool import WorkerPool
from othello_lab.experiments.playing.tasks import (
    MOST_DEATHS,
    Answer,
    TaskRunner,
    WorkerDied,
    Workers,
)
from othello_lab.experiments.record.store import GameRow, PlayedGame


class Place:
    """Where the workers of these tests work. at_end: called at its orderly end."""

    def __init__(self, word: str, at_end: Callable[[], object] = lambda: None) -> None:
        self.word, self.end = word, at_end


def begin(word: str, monitor: object) -> Place:
    return Place(word)


def pool_of(workers: int, start: Callable[..., Any] = begin, *arguments: Any) -> WorkerPool:
    return WorkerPool(fork_server(workers, partial(start, *(arguments or ("x",)))))


def answers(pool: WorkerPool, tasks: int, timeout: float = 60) -> list[Answer]:
    """The answers to so many tasks, in order."""
    received, until = list[Answer](), time.monotonic() + timeout
    while len(received) < tasks:
        assert time.monotonic() < until
        received += pool.answers()
    return sorted(received)


def done(pool: WorkerPool, function: Callable[..., Any], argument: Any = None) -> Any:
    """The result of a task; raises its exception."""
    pool.give(function, argument)
    (answer,) = answers(pool, 1)
    if answer.error:
        raise answer.error
    return answer.value


def word_and_number(context: Place, number: int) -> tuple[str, int, int]:
    return context.word, number, os.getpid()


def process_number(context: Place, argument: object) -> int:
    return os.getpid()


def kill_oneself(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(*_: object) -> None:
    raise ValueError("no such thing")


class Awkward(Exception):
    """Cannot be read back from its pickle."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")

    def __reduce__(self) -> Any:
        return Awkward, (1,)


def raise_awkwardly(*_: object) -> None:
    raise Awkward(1, 2)


def give_a_function(*_: object) -> object:
    return lambda: None


def speak(*_: object) -> None:
    logging.getLogger("lab.test").error("from a worker")


def never_begins(*_: object) -> None:
    raise RuntimeError("this worker cannot begin")


def test_tasks_are_done_by_workers_that_have_begun() -> None:
    with pool_of(2, begin, "hello") as pool:
        assert pool.room == 4
        numbers = [pool.give(word_and_number, n) for n in range(50)]
        received = answers(pool, 50)
        with pytest.raises(ValueError, match="no such thing"):
            done(pool, fail)
    assert [answer.number for answer in received] == numbers
    assert [answer.value[:2] for answer in received] == [("hello", n) for n in range(50)]
    workers = {process for _, _, process in (answer.value for answer in received)}
    assert 1 <= len(workers) <= 2 and os.getpid() not in workers


@pytest.mark.integration
@pytest.mark.parametrize("kills", mostly_nightly([10, 200], [10]))
def test_killed_workers_in_a_row(kills: int) -> None:
    """Beside a thread that never stops logging, as a driver has them. A task behind the deadly one
    has not begun; another worker does it."""
    over = threading.Event()

    def chatter() -> None:
        while not over.wait(0.0005):
            logging.getLogger("lab.test").debug("still here")

    thread = threading.Thread(target=chatter)
    thread.start()
    try:
        with pool_of(1) as pool:
            for _ in range(kills):
                pool.give(kill_oneself, None)
                pool.give(word_and_number, 7)
                deadly, other = answers(pool, 2)
                assert isinstance(deadly.error, WorkerDied)
                assert other.value[:2] == ("x", 7)
    finally:
        over.set()
        thread.join()


def stop_in_the_first(flag: Path, monitor: object) -> Place:
    """SIGSTOP, as from outside, while the worker begins."""
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGSTOP)
    return Place("")


@pytest.mark.integration
def test_a_worker_stopped_while_it_begins_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server_module, "STOPPED_SECONDS", 1)
    with pool_of(1, stop_in_the_first, tmp_path / "stopped") as pool:
        assert done(pool, process_number)


def test_what_workers_log_is_handled_here(caplog: pytest.LogCaptureFixture) -> None:
    with pool_of(1) as pool:
        done(pool, speak)
    assert [record.message for record in caplog.records] == ["from a worker"]
    assert caplog.records[0].processName == "worker-1"


@pytest.mark.integration
def test_workers_that_can_never_begin_break_the_pool(caplog: pytest.LogCaptureFixture) -> None:
    with pool_of(2, never_begins) as pool, pytest.raises(BrokenExecutor):
        done(pool, process_number)
    assert "this worker cannot begin" in caplog.text


def fork_servers_of(worker: int) -> tuple[int, int]:
    """The fork server of a worker, and the one above that."""
    return parent_of(worker), parent_of(parent_of(worker))


@pytest.mark.integration
@pytest.mark.parametrize("lower", [True, False])
def test_a_killed_fork_server_is_replaced(lower: bool) -> None:
    """Workers end with theirs; the death of the one above that is not even noticed."""
    with pool_of(2) as pool:
        first = done(pool, process_number)
        lower_one, above = fork_servers_of(first)
        assert parent_of(above) == os.getpid()
        pool.give(wait_for_a_signal, None)
        await_(lambda: pool.answers() or True)
        os.kill(lower_one if lower else above, signal.SIGKILL)
        if lower:
            (answer,) = answers(pool, 1)
            assert isinstance(answer.error, WorkerDied)
        else:
            await_(lambda: parent_of(lower_one) != above and len(descendants(lower_one)) == 3)
        for _ in range(20):
            with contextlib.suppress(WorkerDied):  # the other worker's death may not be noticed yet
                assert done(pool, word_and_number, 1)[:2] == ("x", 1)
        assert lower or fork_servers_of(done(pool, process_number))[0] == lower_one
    await_end([lower_one, above, first])


def wait_for_a_signal(*_: object) -> None:
    signal.pause()


@pytest.mark.integration
@pytest.mark.parametrize("kills", mostly_nightly([3, 60], [3]))
def test_fork_servers_killed_in_a_row(kills: int) -> None:
    """The one above and that of the workers in turn; all tasks are done, and nobody is left."""
    with adopted() as left:
        with pool_of(2) as pool:
            for kill in range(kills):
                await_(lambda: len(leaders(left())) == 2)
                os.kill(victim := leaders(left())[kill % 2], signal.SIGKILL)
                await_(lambda: not lives(victim))
                numbers = set[int]()
                while len(numbers) < 20:
                    with contextlib.suppress(WorkerDied):
                        numbers.add(done(pool, word_and_number, len(numbers))[1])
        await_(lambda: not left())


def leaders(processes: Iterable[int]) -> list[int]:
    return sorted(filter(leads_a_session, processes))


@pytest.mark.integration
def test_without_any_fork_server_the_pool_is_broken() -> None:
    with pool_of(1) as pool:
        worker = done(pool, process_number)
        servers = fork_servers_of(worker)
        for which in (signal.SIGSTOP, signal.SIGKILL):
            for server in servers:
                os.kill(server, which)
        with pytest.raises(BrokenExecutor):  # noqa: PT012
            while True:
                pool.answers()
    await_end([worker, *servers])


@pytest.mark.integration
@pytest.mark.parametrize("lower", [True, False])
def test_a_stopped_fork_server_is_replaced(monkeypatch: pytest.MonkeyPatch, lower: bool) -> None:
    monkeypatch.setattr(fork_server_module, "STOPPED_SECONDS", 1)
    with pool_of(1) as pool:
        lower_one, above = fork_servers_of(done(pool, process_number))
        os.kill(stopped := lower_one if lower else above, signal.SIGSTOP)
        await_(lambda: not lives(stopped))
        with contextlib.suppress(WorkerDied):
            done(pool, process_number)
        assert fork_servers_of(done(pool, process_number))[not lower] != stopped


@pytest.mark.integration
def test_what_workers_leave_ends_with_a_killed_fork_server() -> None:
    """Children of a worker that was itself killed at the same time, too."""
    with pool_of(1) as pool:
        child = int(done(pool, leave_a_child))
        worker = done(pool, process_number)
        server, _ = fork_servers_of(worker)
        os.kill(server, signal.SIGSTOP)  # so that it does not clean up before
        os.kill(worker, signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
        await_end([worker, child])
        with contextlib.suppress(WorkerDied):  # its death may not have been noticed
            done(pool, process_number)
        assert done(pool, process_number) != worker


def leave_a_child(*_: object) -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.pause()
        os._exit(0)
    return child


def prepared(word: str) -> tuple[Callable[..., Any], float]:
    if word == "fails":
        raise Awkward(1, 2)
    return partial(begin, word), 60.0


@pytest.mark.integration
def test_a_fork_server_may_be_a_python_of_its_own() -> None:
    with pytest.raises(RuntimeError, match="Awkward: 1 and 2"):
        start_fork_server(partial(prepared, "fails"))
    with pytest.raises(EOFError):
        start_fork_server(kill_oneself)  # type: ignore[arg-type]
    server = start_fork_server(partial(prepared, "hello"))
    server.add_worker()
    with WorkerPool(server) as pool:
        assert done(pool, word_and_number, 7)[:2] == ("hello", 7)


def of_pair(number: int) -> PlayedGame:
    """A game of a pair."""
    row = GameRow(0, number, 0, 1, "draw", 0.5, 0, 32, 32, FINISHED, "", 0, "")
    return PlayedGame(row, None)


class Dies(Workers):
    """Workers that die of all tasks of several pairs, and of pair 3."""

    number, room = 2, 1

    def __init__(self) -> None:
        self.tasks: list[tuple[list[int], bool]] = []

    def give(self, function: Callable[..., Any], argument: PickledPairs) -> int:
        self._pairs = [pair[0].pair for pair in argument]
        self.tasks.append((self._pairs, isinstance(function, partial)))
        self._function, self._argument, self.room = function, argument, 0
        return 1

    def answers(self) -> list[Answer]:
        self.room = 1
        if self._pairs == [3] or len(self._pairs) > 1:
            return [Answer(1, error=WorkerDied("killed from outside"))]
        return [Answer(1, self._function(None, self._argument))]

    def close(self) -> None:
        pass


def test_a_death_counts_only_for_a_pair_that_was_played_alone() -> None:
    draw = PairQueue(RoundRobin(), ["a", "b"], [Opening()] * 200, seed=1)
    dies = Dies()

    def played(context: object, pairs: PickledPairs, apart: bool = False) -> bytes:
        return pickle.dumps([[of_pair(pair[0].pair)] for pair in pairs])

    runner = TaskRunner(dies, lambda: False, played)
    results = [result.number for batch in runner(draw) for result in batch]
    assert sorted(results) == list(range(200))
    assert [apart for pairs, apart in dies.tasks if pairs == [3]] == [False, True, True]
    assert MOST_DEATHS == 3
    shared = Counter(pair for pairs, _ in dies.tasks if len(pairs) > 1 for pair in pairs)
    assert shared and set(shared.values()) == {1}, "each of them is played again by itself"


def await_end(processes: Iterable[int]) -> None:
    """Wait until these processes are gone."""
    for process in processes:
        await_(lambda: not lives(process))  # noqa: B023


def begin_and_end(folder: Path, how: str, monitor: object) -> Place:
    def end() -> None:
        logging.getLogger("lab.test").error("a worker ends")
        (folder / str(os.getpid())).touch()
        while how == "hangs":
            signal.pause()

    return Place("", end)


@pytest.mark.integration
@pytest.mark.parametrize(("how", "tasks"), [("ends", 0), ("hangs", 10)])
def test_workers_end_in_order_if_they_do_so_soon(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, tasks: int
) -> None:
    begun = time.monotonic()
    with pool_of(2, begin_and_end, tmp_path, how) as pool:
        for _ in range(tasks):
            done(pool, process_number)
    ended = [int(path.name) for path in tmp_path.iterdir()]
    assert len(ended) == 2
    assert [record.message for record in caplog.records] == ["a worker ends"] * 2
    await_end(ended)
    if how == "hangs":
        assert time.monotonic() - begun >= END_SECONDS


@pytest.mark.integration
def test_the_end_of_a_pool_drops_what_is_under_way(tmp_path: Path) -> None:
    with pool_of(2, begin_and_end, tmp_path, "ends") as pool:
        workers = {done(pool, process_number) for _ in range(20)}
        pool.give(wait_for_a_signal, None)
    await_end(workers)
    assert len(list(tmp_path.iterdir())) == 1  # the idle worker ended in order


def test_what_cannot_be_sent_is_told_in_words() -> None:
    with pool_of(1) as pool:
        with pytest.raises(RuntimeError, match="Awkward: 1 and 2"):
            done(pool, raise_awkwardly)
        # What stands around the name differs from one version of Python to the next.
        with pytest.raises(Exception, match=r"give_a_function\.<locals>\.<lambda>"):
            done(pool, give_a_function)
        assert done(pool, word_and_number, 1)[1] == 1


@pytest.mark.integration
def test_large_tasks_and_results_hold_nobody_up() -> None:
    """The driver does not listen while it sends."""
    with pool_of(1) as pool:
        for _ in range(6):
            pool.give(give_back, bytes(1 << 22))
        assert {len(answer.value) for answer in answers(pool, 6)} == {1 << 22}


def give_back(context: object, content: bytes) -> bytes:
    return content


@pytest.mark.integration
def test_idle_workers_that_die_are_replaced() -> None:
    with pool_of(2) as pool:
        first = {done(pool, process_number) for _ in range(20)}
        for worker in first:
            os.kill(worker, signal.SIGKILL)
        for _ in range(20):
            pool.give(process_number, None)
        # A task may have been handed to a worker before its death was noticed.
        later = {answer.value for answer in answers(pool, 20) if not answer.error}
    assert later and not later & first


@pytest.mark.parametrize(
    ("function", "begin_server"),
    [
        ("os.fork", lambda: fork_server(1, partial(begin, "x"))),
        ("subprocess.Popen", lambda: start_fork_server(partial(prepared, "hello"))),
    ],
    ids=["forked", "started"],
)
def test_a_start_that_is_interrupted_leaves_nothing_open(
    function: str, begin_server: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    before = os.listdir("/proc/self/fd")
    monkeypatch.setattr(function, interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin_server()
    assert len(os.listdir("/proc/self/fd")) == len(before)
