"""Searches stop at their limit on time by the clock that the kernel reads."""

from __future__ import annotations

import time

import numpy as np
import pytest

from othello_lab import (
    MCTS,
    PVS,
    AlphaBeta,
    Color,
    Decision,
    Limits,
    Position,
    RandomAgent,
    SquareWeights,
)
from othello_lab.agents.limited import Limited
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.limits import deadline, limit
from othello_lab.core.clock import PROCESSOR_CLOCK, WALL_CLOCK, clock_nanoseconds


def test_the_clock_is_that_of_the_system() -> None:
    words = np.zeros(2, np.int64)
    before = time.clock_gettime_ns(WALL_CLOCK)
    read = clock_nanoseconds(np.int64(WALL_CLOCK), np.intp(words.ctypes.data))
    assert before <= read <= time.clock_gettime_ns(WALL_CLOCK)


def looked(context: np.ndarray, nodes: int) -> bool:
    """Return True if a search that enters so many nodes, one after another, is stopped."""
    for _ in range(nodes):
        context[layout.NODES] += 1
        if layout.out_of_budget(np.intp(context.ctypes.data)):
            return True
    return False


def test_a_limit_on_nodes_stops_at_that_node() -> None:
    context = layout.new()
    limit(context, 100, None)
    assert not looked(context, 99) and looked(context, 1) and looked(context, 1)
    limit(context, 100, 1000.0)
    assert not looked(context, 99) and looked(context, 1)
    assert layout.stopped(context)
    limit(context, None, None)
    assert not looked(context, 1000) and not layout.stopped(context)


def test_time_stops_and_stays_over() -> None:
    context = layout.new()
    limit(context, None, 0.0)
    assert looked(context, 1) and looked(context, 1) and layout.stopped(context)
    limit(context, None, 1000.0)
    assert not looked(context, 5000) and not layout.stopped(context)
    layout.stop(context)
    assert looked(context, 1)


def test_a_look_is_followed_by_one_after_a_short_time() -> None:
    """However slow nodes are: each takes 0.3 ms here, and the time of 5 ms is exceeded by few."""
    context = layout.new()
    limit(context, None, 0.005)
    until, nodes = deadline(0.005), 0
    while not looked(context, 1):
        nodes += 1
        time.sleep(0.0003)
        assert nodes < 1000
    assert nodes < 20
    assert time.clock_gettime_ns(WALL_CLOCK) >= until - 1_000_000


def test_processor_time_stands_still_while_a_thread_sleeps() -> None:
    context = layout.new()
    looked(context, 1)  # which may have to load the kernel
    limit(context, None, 0.05, PROCESSOR_CLOCK)
    time.sleep(0.1)
    assert not looked(context, 1)
    limit(context, None, 0.05)
    time.sleep(0.1)
    assert looked(context, 1)


@pytest.mark.parametrize("limits", [Limits(cpu_seconds=0.01), Limits(seconds=0.01)])
def test_searches_keep_processor_time(limits: Limits) -> None:
    for agent in (AlphaBeta(30, SquareWeights()), PVS(30, SquareWeights()), MCTS()):
        agent.prepare()
        began = time.thread_time()
        agent.decide(Position.start(), limits)
        spent = time.thread_time() - began
        assert limits.cpu_seconds is None or spent > 0.005
        assert spent < 1.0


@pytest.mark.parametrize(
    ("settings", "given", "within"),
    [
        ({"cpu_seconds": 0.1}, {}, {"cpu_seconds": 0.1}),
        ({"cpu_seconds": 0.1}, {"seconds": 0.05}, {"cpu_seconds": 0.05}),
        ({"cpu_seconds": 0.1}, {"clock": 9.0}, {"cpu_seconds": 0.1}),
        ({"seconds": 0.1}, {"cpu_seconds": 0.2}, {"cpu_seconds": 0.1}),
        ({"seconds": 0.1}, {"clock": 0.05}, {"seconds": 0.05}),
        ({"nodes": 5}, {"cpu_seconds": 0.2}, {"nodes": 5, "cpu_seconds": 0.2}),
    ],
)
def test_limits_of_ones_own_may_be_of_processor_time(
    settings: dict[str, float], given: dict[str, float], within: dict[str, float]
) -> None:
    seen: list[Limits] = []

    class Told(RandomAgent):
        def decide(self, position: Position, limits: Limits) -> Decision:
            seen.append(limits)
            return super().decide(position, limits)

    agent = Limited(Told(), **settings)  # type: ignore[arg-type]
    agent.begin_game(Color.BLACK, Position.start(), 1)
    agent.decide(Position.start(), Limits(**given))  # type: ignore[arg-type]
    assert seen == [Limits(**within)]  # type: ignore[arg-type]
