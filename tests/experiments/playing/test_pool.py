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
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from othello_lab.core.game import FINISHED
from othello_lab.experiments.pairing import RoundRobin
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import Pair, PairDraw
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


def raise_awkwardly() -> None:
    raise Awkward(1, 2)


def give_a_function() -> object:
    return lambda: None


def speak() -> None:
    logging.getLogger("lab.test").error("from a worker")


def never_begins() -> None:
    raise RuntimeError("this worker cannot begin")


@pytest.mark.parametrize("fresh", [False, True])
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


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_workers_in_a_row(kills: int) -> None:
    """Beside a thread that never stops logging and printing, as a driver has them."""
    done = threading.Event()

    def chatter() -> None:
        while not done.is_set():
            logging.getLogger("lab.test").debug("still here")
            time.sleep(0.0005)

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


@pytest.mark.slow
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


def test_workers_that_can_never_begin_break_the_pool(caplog: pytest.LogCaptureFixture) -> None:
    with WorkerPool(2, never_begins) as pool, pytest.raises(BrokenExecutor):
        pool.submit(fail).result(timeout=60)
    assert "this worker cannot begin" in caplog.text


def test_without_its_nursery_the_pool_is_broken() -> None:
    with WorkerPool(1, begin, ("x",)) as pool:
        _, _, worker = pool.submit(word_and_number, 1).result(timeout=60)
        with open(f"/proc/{worker}/stat") as stat:
            nursery = int(stat.read().split()[3])
        os.kill(nursery, signal.SIGKILL)
        with pytest.raises(BrokenExecutor):  # noqa: PT012
            while True:
                with contextlib.suppress(WorkerDied):
                    pool.submit(time.sleep, 0.01).result(timeout=60)


def of_pair(number: int) -> PlayedGame:
    """A game of a pair."""
    row = GameRow(0, number, 0, 1, "draw", 0.5, 0, 32, 32, FINISHED, "", 0, "")
    return PlayedGame(row, None)


def die_of_pair_3(tried: Path, pairs: list[Pair]) -> list[bytes]:
    """Every pair that is begun is written into the file."""
    for pair in pairs:
        with tried.open("a") as file:
            file.write(f"{pair[0].pair}\n")
        if pair[0].pair == 3:
            kill_oneself()
    return [pickle.dumps([of_pair(pair[0].pair)]) for pair in pairs]


def test_a_pair_that_kills_three_workers_is_skipped(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    draw = PairDraw(RoundRobin(), ["a", "b"], [Opening()] * 40, seed=1)
    with WorkerPool(2, begin, ("x",)) as pool:
        workers = WorkerSlots(pool, 2, partial(die_of_pair_3, tried))
        results = [result for batch in play_over(workers, draw) for result in batch]
    assert Counter(result.number for result in results) == Counter(range(40))
    # Only the pair that workers die of is given up, and not before the third one did.
    games = {result.number: result.games for result in results}
    assert games == {number: [] if number == 3 else [of_pair(number)] for number in range(40)}
    # Once more if it was among others the first time, which counts for none of them.
    assert tried.read_text().split().count("3") in (MOST_DEATHS, MOST_DEATHS + 1)


class Dies(Executor):
    """An executor whose workers die of all tasks of several pairs, and of pair 3."""

    def __init__(self) -> None:
        self.tasks: list[list[int]] = []

    def submit(self, task: Any, pairs: list[Pair]) -> Future[Any]:  # type: ignore[override]
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

    def played(pairs: list[Pair]) -> list[bytes]:
        return [pickle.dumps([of_pair(pair[0].pair)]) for pair in pairs]

    workers = WorkerSlots(dies, 2, played)
    results = [result.number for batch in play_over(workers, draw) for result in batch]
    assert sorted(results) == list(range(200))
    assert sum(task == [3] for task in dies.tasks) == MOST_DEATHS == 3
    shared = Counter(pair for task in dies.tasks if len(task) > 1 for pair in task)
    assert shared and set(shared.values()) == {1}, "each of them is played again by itself"


def await_end(processes: Iterable[int]) -> None:
    """Wait until these processes are gone."""
    deadline = time.monotonic() + 60
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            while True:
                os.kill(process, 0)
                assert time.monotonic() < deadline, f"process {process} goes on"
                time.sleep(0.01)


def begin_and_end(folder: Path, how: str) -> Callable[[], None]:
    def end() -> None:
        logging.getLogger("lab.test").error("a worker ends")
        (folder / str(os.getpid())).touch()
        while how == "hangs":
            time.sleep(1)

    return end


@pytest.mark.parametrize(("how", "tasks"), [("ends", 0), ("ends", 10), ("hangs", 10)])
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


@pytest.mark.slow
def test_killing_a_pool_drops_what_is_under_way(tmp_path: Path) -> None:
    pool = WorkerPool(2, begin_and_end, (tmp_path, "ends"))
    futures = [pool.submit(os.getpid) for _ in range(20)]
    workers = {future.result(timeout=60) for future in futures}
    busy = pool.submit(time.sleep, 300)
    while not busy.running():
        time.sleep(0.01)
    pool.kill()
    with pytest.raises(BrokenExecutor):
        busy.result(timeout=60)
    await_end(workers)
    assert len(list(tmp_path.iterdir())) == 1  # the idle worker ended in order


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
