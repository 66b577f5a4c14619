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
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from pathlib import Path
from typing import Any

import pytest
from chosen import mostly_nightly
from processes import adopted, await_, leads_a_session, lives, parent_of

from othello_lab.core.game import FINISHED
from othello_lab.experiments.pairing import RoundRobin
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import PairDraw, PickledPairs
from othello_lab.experiments.playing import pool as pool_module
from othello_lab.experiments.playing.match import MOST_DEATHS, WorkerSlots, play_over
from othello_lab.experiments.playing.pool import END_SECONDS, WorkerDied, WorkerPool
from othello_lab.experiments.record.store import GameRow, PlayedGame

_begun_with: list[str] = []


def begin(word: str) -> None:
    _begun_with.append(word)


def word_and_number(number: int) -> tuple[str, int, int]:
    return _begun_with[-1], number, os.getpid()


def kill_oneself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise ValueError("no such thing")


class Awkward(Exception):
    """Cannot be read back from its pickle."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")

    def __reduce__(self) -> Any:
        return Awkward, (1,)


def raise_awkwardly() -> None:
    raise Awkward(1, 2)


def give_a_function() -> object:
    return lambda: None


def speak() -> None:
    logging.getLogger("lab.test").error("from a worker")


def never_begins() -> None:
    raise RuntimeError("this worker cannot begin")


@pytest.mark.parametrize("fresh", [False, pytest.param(True, marks=pytest.mark.integration)])
def test_tasks_are_done_by_workers_that_have_begun(fresh: bool) -> None:
    with WorkerPool(2, begin, ("hello",), fresh=fresh) as pool:
        results = [pool.submit(word_and_number, n) for n in range(50)]
        found = [future.result(timeout=60) for future in results]
        with pytest.raises(ValueError, match="no such thing"):
            pool.submit(fail).result(timeout=60)
    assert [(word, n) for word, n, _ in found] == [("hello", n) for n in range(50)]
    workers = {process for _, _, process in found}
    assert 1 <= len(workers) <= 2 and os.getpid() not in workers
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(fail)


@pytest.mark.integration
@pytest.mark.parametrize("kills", mostly_nightly([10, 200], [10]))
def test_killed_workers_in_a_row(kills: int) -> None:
    """Beside a thread that never stops logging, as a driver has them."""
    done = threading.Event()

    def chatter() -> None:
        while not done.wait(0.0005):
            logging.getLogger("lab.test").debug("still here")

    thread = threading.Thread(target=chatter)
    thread.start()
    try:
        with WorkerPool(2, begin, ("x",)) as pool:
            for _ in range(kills):
                with pytest.raises(WorkerDied):
                    pool.submit(kill_oneself).result(timeout=60)
            assert pool.submit(word_and_number, 7).result(timeout=60)[:2] == ("x", 7)
    finally:
        done.set()
        thread.join()


def stop_in_the_first(flag: Path) -> None:
    """SIGSTOP, as from outside, while the worker begins."""
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGSTOP)


@pytest.mark.integration
def test_a_worker_stopped_while_it_begins_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "STOPPED_SECONDS", 1)
    with WorkerPool(1, stop_in_the_first, (tmp_path / "stopped",)) as pool:
        assert pool.submit(os.getpid).result(timeout=60)


def test_what_workers_log_is_handled_here(caplog: pytest.LogCaptureFixture) -> None:
    with WorkerPool(1, begin, ("x",)) as pool:
        pool.submit(speak).result(timeout=60)
    assert [record.message for record in caplog.records] == ["from a worker"]
    assert caplog.records[0].processName == "worker-1"


@pytest.mark.integration
def test_workers_that_can_never_begin_break_the_pool(caplog: pytest.LogCaptureFixture) -> None:
    with WorkerPool(2, never_begins) as pool, pytest.raises(BrokenExecutor):
        pool.submit(fail).result(timeout=60)
    assert "this worker cannot begin" in caplog.text


def nurseries_of(worker: int) -> tuple[int, int]:
    """The nursery of a worker, and the one above that."""
    return parent_of(worker), parent_of(parent_of(worker))


def worker_in(pool: WorkerPool) -> int:
    return int(pool.submit(os.getpid).result(timeout=60))


def hang_the_first_time(begun: Path, go_on: Path) -> int:
    """Tell that the task has begun; if it is the first time, wait for a word through a pipe."""
    with begun.open("a") as file:
        file.write("x")
    if begun.read_text() == "x":
        go_on.read_text()
    return os.getpid()


@pytest.mark.integration
@pytest.mark.parametrize("place", ["that of the workers", "the one above"])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_killed_nursery_is_replaced(tmp_path: Path, place: str, fresh: bool) -> None:
    began, go_on = tmp_path / "began", tmp_path / "go_on"
    os.mkfifo(go_on)
    with WorkerPool(2, begin, ("x",), fresh=fresh) as pool:
        first = worker_in(pool)
        nursery, above = nurseries_of(first)
        assert above != os.getpid()
        assert (parent_of(above) == os.getpid()) or fresh
        task = pool.submit(hang_the_first_time, began, go_on)
        await_(lambda: began.exists() and began.stat().st_size)
        if place == "that of the workers":  # its task is handed out again, and only then
            os.kill(nursery, signal.SIGKILL)
            assert parent_of(task.result(timeout=60)) != nursery
        else:
            os.kill(above, signal.SIGKILL)
            go_on.write_text("")
            task.result(timeout=60)
        assert len(began.read_text()) == (2 if place == "that of the workers" else 1)
        for _ in range(20):
            assert pool.submit(word_and_number, 1).result(timeout=60)[:2] == ("x", 1)
    await_end([nursery, above, first, task.result()])


@pytest.mark.integration
@pytest.mark.parametrize("kills", mostly_nightly([3, 60], [3]))
def test_nurseries_killed_in_a_row(kills: int, caplog: pytest.LogCaptureFixture) -> None:
    """The one above and that of the workers in turn; no task fails, and nobody is left."""
    with adopted() as left:
        with WorkerPool(2, begin, ("x",)) as pool:
            while (told := len(caplog.records)) < kills:
                tasks = [pool.submit(word_and_number, n) for n in range(20)]
                await_(lambda: len(leaders(left())) == 2)
                os.kill(leaders(left())[told % 2], signal.SIGKILL)
                results = [task.result(timeout=60) for task in tasks]
                assert [n for _, n, _ in results] == list(range(20))
                # One that had not begun its work is replaced without a word.
                with contextlib.suppress(AssertionError):
                    await_(lambda: len(caplog.records) > told, 10)
        await_(lambda: not left())
    assert all("another one goes on" in record.message for record in caplog.records)


def leaders(processes: Iterable[int]) -> list[int]:
    return sorted(filter(leads_a_session, processes))


@pytest.mark.integration
def test_without_any_nursery_the_pool_is_broken() -> None:
    with WorkerPool(1, begin, ("x",)) as pool:
        worker = worker_in(pool)
        nurseries = nurseries_of(worker)
        for nursery in nurseries:
            os.kill(nursery, signal.SIGSTOP)
        for nursery in nurseries:
            os.kill(nursery, signal.SIGKILL)
        with pytest.raises(BrokenExecutor):  # noqa: PT012
            while True:
                worker_in(pool)
    await_end([worker, *nurseries])


@pytest.mark.nightly
def test_fresh_nurseries_that_were_both_killed_are_started_anew() -> None:
    with WorkerPool(1, begin, ("x",), fresh=True) as pool:
        worker = worker_in(pool)
        for nursery in nurseries_of(worker):
            os.kill(nursery, signal.SIGKILL)
        await_(lambda: worker_in(pool) != worker)
        assert pool.submit(word_and_number, 7).result(timeout=60)[:2] == ("x", 7)


@pytest.mark.integration
def test_a_stopped_nursery_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "STOPPED_SECONDS", 1)
    with WorkerPool(1, begin, ("x",)) as pool:
        worker = worker_in(pool)
        nursery, _ = nurseries_of(worker)
        os.kill(nursery, signal.SIGSTOP)
        os.kill(worker, signal.SIGKILL)
        with contextlib.suppress(WorkerDied):  # its death may not have been noticed
            worker_in(pool)
        assert nurseries_of(worker_in(pool))[0] != nursery


def kill_the_nursery() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


@pytest.mark.integration
def test_a_task_that_kills_its_nursery_is_given_up() -> None:
    with WorkerPool(1, begin, ("x",)) as pool:
        with pytest.raises(WorkerDied):
            pool.submit(kill_the_nursery).result(timeout=60)
        assert pool.submit(word_and_number, 7).result(timeout=60)[1] == 7


@pytest.mark.integration
def test_what_workers_leave_ends_with_a_killed_nursery(tmp_path: Path) -> None:
    """Children of a worker that was itself killed at the same time, too."""
    with WorkerPool(1, begin, ("x",)) as pool:
        child = int(pool.submit(leave_a_child).result(timeout=60))
        worker = worker_in(pool)
        nursery, _ = nurseries_of(worker)
        os.kill(nursery, signal.SIGSTOP)  # so that it does not clean up before
        os.kill(worker, signal.SIGKILL)
        os.kill(nursery, signal.SIGKILL)
        await_end([worker])
        with contextlib.suppress(WorkerDied):  # its death may not have been noticed
            worker_in(pool)
        assert worker_in(pool) != worker
        await_end([child])


def leave_a_child() -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.pause()
        os._exit(0)
    return child


def of_pair(number: int) -> PlayedGame:
    """A game of a pair."""
    row = GameRow(0, number, 0, 1, "draw", 0.5, 0, 32, 32, FINISHED, "", 0, "")
    return PlayedGame(row, None)


class Dies(Executor):
    """An executor whose workers die of all tasks of several pairs, and of pair 3."""

    def __init__(self) -> None:
        self.tasks: list[list[int]] = []

    def submit(self, task: Any, pairs: PickledPairs) -> Future[Any]:  # type: ignore[override]
        self.tasks.append([pair[0].pair for pair in pairs])
        done: Future[Any] = Future()
        if self.tasks[-1] == [3] or len(pairs) > 1:
            done.set_exception(WorkerDied("killed from outside"))
        else:
            done.set_result(task(pairs))
        return done


def test_a_death_counts_only_for_a_pair_that_was_played_alone() -> None:
    draw = PairDraw(RoundRobin(), ["a", "b"], [Opening()] * 200, seed=1)
    dies = Dies()

    def played(pairs: PickledPairs) -> list[bytes]:
        return [pickle.dumps([[of_pair(pair[0].pair)]]) for pair in pairs]

    workers = WorkerSlots(dies, 2, played)
    results = [result.number for batch in play_over(workers, draw) for result in batch]
    assert sorted(results) == list(range(200))
    assert sum(task == [3] for task in dies.tasks) == MOST_DEATHS == 3
    shared = Counter(pair for task in dies.tasks if len(task) > 1 for pair in task)
    assert shared and set(shared.values()) == {1}, "each of them is played again by itself"


def await_end(processes: Iterable[int]) -> None:
    """Wait until these processes are gone."""
    for process in processes:
        await_(lambda: not lives(process))  # noqa: B023


def begin_and_end(folder: Path, how: str) -> Callable[[], None]:
    def end() -> None:
        logging.getLogger("lab.test").error("a worker ends")
        (folder / str(os.getpid())).touch()
        while how == "hangs":
            signal.pause()

    return end


@pytest.mark.integration
@pytest.mark.parametrize(("how", "tasks"), [("ends", 0), ("hangs", 10)])
def test_workers_end_in_order_if_they_do_so_soon(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, tasks: int
) -> None:
    begun = time.monotonic()
    with WorkerPool(2, begin_and_end, (tmp_path, how)) as pool:
        for _ in range(tasks):
            pool.submit(os.getpid).result(timeout=60)
    ended = [int(path.name) for path in tmp_path.iterdir()]
    assert len(ended) == 2
    assert [record.message for record in caplog.records] == ["a worker ends"] * 2
    await_end(ended)
    if how == "hangs":
        assert time.monotonic() - begun >= END_SECONDS


@pytest.mark.integration
def test_killing_a_pool_drops_what_is_under_way(tmp_path: Path) -> None:
    pool = WorkerPool(2, begin_and_end, (tmp_path, "ends"))
    futures = [pool.submit(os.getpid) for _ in range(20)]
    workers = {future.result(timeout=60) for future in futures}
    busy = pool.submit(signal.pause)
    await_(busy.running)
    pool.kill()
    with pytest.raises(BrokenExecutor):
        busy.result(timeout=60)
    await_end(workers)
    assert len(list(tmp_path.iterdir())) == 1  # the idle worker ended in order


@pytest.mark.integration
def test_cancelled_tasks_hold_nobody_up() -> None:
    with WorkerPool(1, begin, ("x",)) as pool:
        futures = [pool.submit(word_and_number, n) for n in range(30)]
        cancelled = [n for n in range(5, 25) if futures[n].cancel()]
        assert futures[29].result(timeout=60)[1] == 29
        assert cancelled
    with WorkerPool(1, begin, ("x",)) as pool:
        futures = [pool.submit(word_and_number, n) for n in range(30)]
        pool.shutdown(cancel_futures=True)
        assert all(future.done() for future in futures)


def test_what_cannot_be_sent_is_told_in_words() -> None:
    with WorkerPool(1, begin, ("x",)) as pool:
        with pytest.raises(RuntimeError, match="Awkward: 1 and 2"):
            pool.submit(raise_awkwardly).result(timeout=60)
        # What stands around the name differs from one version of Python to the next.
        with pytest.raises(Exception, match=r"give_a_function\.<locals>\.<lambda>"):
            pool.submit(give_a_function).result(timeout=60)
        assert pool.submit(word_and_number, 1).result(timeout=60)[1] == 1


@pytest.mark.integration
def test_idle_workers_that_die_are_replaced() -> None:
    with WorkerPool(2, begin, ("x",)) as pool:
        first = {pool.submit(word_and_number, n).result(timeout=60)[2] for n in range(20)}
        for worker in first:
            os.kill(worker, signal.SIGKILL)
        futures = [pool.submit(word_and_number, n) for n in range(20)]
        wait(futures, timeout=60)
        # A task may have been handed to a worker before its death was noticed.
        later = {f.result()[2] for f in futures if f.exception() is None}
    assert later and not later & first


@pytest.mark.integration
@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_while_its_thread_starts(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if begun:
            start(thread)
        raise KeyboardInterrupt

    pool = WorkerPool(2, begin, ("word",))
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), pool:
        pool.submit(word_and_number, 1)
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(word_and_number, 2)
    assert not any(thread.name == "pool" for thread in threading.enumerate())
