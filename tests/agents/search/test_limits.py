"""The timer that stops searches."""

from __future__ import annotations

import os
import threading
import time

import numpy as np

from othello_lab.agents.search.context import LIMIT, NO_LIMIT, SIZE
from othello_lab.agents.search.limits import limited


def _await_stop(context: np.ndarray) -> None:
    until = time.monotonic() + 60
    while context[LIMIT] == NO_LIMIT:
        assert time.monotonic() < until
        time.sleep(0.001)


def _timers() -> int:
    return sum(thread.name == "timer" for thread in threading.enumerate())


def test_one_thread_stops_one_search_after_another() -> None:
    first, second = np.zeros(SIZE, np.int64), np.zeros(SIZE, np.int64)
    with limited(first, None, 0.01):
        _await_stop(first)
    before = _timers()
    for _ in range(20):
        with limited(second, None, 1000.0):
            pass
        with limited(first, None, 0.001):
            _await_stop(first)
    assert _timers() == before
    assert second[LIMIT] == NO_LIMIT, "a search that was over in time is not stopped"


def test_searches_within_each_other_have_timers_of_their_own() -> None:
    outer, inner = np.zeros(SIZE, np.int64), np.zeros(SIZE, np.int64)
    with limited(outer, None, 0.05):
        with limited(inner, None, 0.001):
            _await_stop(inner)
        _await_stop(outer)


def test_a_forked_process_has_timers_of_its_own() -> None:
    context = np.zeros(SIZE, np.int64)
    with limited(context, None, 0.001):
        _await_stop(context)
    child = os.fork()
    if child == 0:
        try:
            with limited(context, None, 0.001):
                _await_stop(context)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
