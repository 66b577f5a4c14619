"""Time that others take is not the player's; and no trick makes its own time look like theirs."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from attacks.supervised import START, conditions, supervisor
from chosen import mostly_nightly
from processes import await_

from othello_lab import Decision, Limits, RandomAgent
from othello_lab.core.game import HUNG, TimeSpent
from othello_lab.core.position import Position
from othello_lab.core.system.forked import Channel
from othello_lab.core.system.processes import LINUX
from othello_lab.core.system.shared_memory import shared
from othello_lab.experiments.playing import agent_proxy
from othello_lab.experiments.playing.agent_proxy import AgentProxy

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not LINUX, reason="reads processor times from /proc"),
]

LIMITS = Limits(seconds=20.0)


def _compute(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class Does(RandomAgent):
    """Does something before each move."""

    def __init__(self, what: Callable[[], object]) -> None:
        self._what = what
        self.begun = shared(ctypes.c_int)

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.begun.value = 1
        self._what()
        return super().decide(position, limits)


def spent_by(
    what: Callable[[], object], meanwhile: Callable[[int, int], None] = lambda *_: None
) -> tuple[float, float]:
    """Seconds that an agent spends on a move by the wall clock, and as it is charged.

    meanwhile: called, when it has been asked, with the numbers of its and its supervisor's process.
    """
    return spent_on(Does(what), LIMITS, meanwhile)


def spent_on(
    agent: Any, limits: Limits = LIMITS, meanwhile: Callable[[int, int], None] = lambda *_: None
) -> tuple[float, float]:
    """The same for an agent that says when it has ``begun``."""

    def ask(proxy: AgentProxy, link: Channel) -> list[int]:
        link.send(str(proxy.number).encode())
        link.receive()
        proxy.start()
        proxy.decide(START, limits)
        return [*proxy.stop()]

    with closing(supervisor(conditions(agent, limits), ask)) as process:
        player = int(process.receive())
        process.send(b"ask")
        await_(lambda: agent.begun.value)
        meanwhile(player, process.number)
        spent = TimeSpent(*json.loads(process.receive()))
    return spent.wall / 1e9, (spent.wall - spent.waited) / 1e9


# ------------------------------------------------------------------ what others do


def stop_for(seconds: float, *which: int) -> Callable[[int, int], None]:
    """Stops the player (0), the supervisor (1) or both."""

    def stop(*numbers: int) -> None:
        for number in which:
            os.kill(numbers[number], signal.SIGSTOP)
        time.sleep(seconds)
        for number in which:
            os.kill(numbers[number], signal.SIGCONT)

    return stop


@pytest.mark.parametrize("which", mostly_nightly([(0,), (0, 1), (1, 0)], [(0, 1)]))
def test_a_stopped_player_is_not_charged(which: tuple[int, ...]) -> None:
    wall, own = spent_by(lambda: time.sleep(0.1), stop_for(1.0, *which))
    assert wall >= 1.0
    assert own <= wall - 0.9


@pytest.mark.nightly
def test_an_answer_is_as_late_as_it_was_sent() -> None:
    """The supervisor is stopped, and sees it only later."""
    for _ in range(5):
        wall, own = spent_by(lambda: time.sleep(0.3), stop_for(1.5, 1))
        assert wall >= 1.0
        assert own <= wall - 0.5  # a virtual machine may have slept some of it
        if own >= 0.05:
            return
        # It was stopped before it had looked at all: as if everything had been, nothing is charged.
    pytest.fail(f"of 0.3 seconds {own:.3f} were charged, five times")


def test_a_supervisor_that_is_stopped_while_it_asks_has_not_asked() -> None:
    """It is stopped for half a second."""

    def ask(proxy: AgentProxy, _: Channel) -> list[int]:
        send, me = Channel.send, os.getpid()

        def send_late(channel: Channel, message: bytes, wait: bool = True) -> None:
            if os.fork() == 0:
                time.sleep(0.5)
                os.kill(me, signal.SIGCONT)
                os._exit(0)
            os.kill(me, signal.SIGSTOP)
            send(channel, message, wait)

        proxy.start()
        Channel.send = send_late  # type: ignore[method-assign]
        proxy.decide(START, LIMITS)
        Channel.send = send  # type: ignore[method-assign]
        return [*proxy.stop()]

    with closing(supervisor(conditions(Does(lambda: None), LIMITS), ask)) as process:
        spent = TimeSpent(*json.loads(process.receive()))
    assert spent.wall >= 0.4e9
    assert spent.wall - spent.waited <= 0.2e9


# ------------------------------------------------------------------ tricks


class DiesThinking(RandomAgent):
    """Thinks, and kills itself: all its processes but the last do, so each is replaced."""

    def __init__(self, processes: int) -> None:
        self.left = shared(ctypes.c_int)
        self.left.value = processes
        self.begun = shared(ctypes.c_int)
        self.had = shared(ctypes.c_double)

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.begun.value = 1
        self.left.value -= 1
        if self.left.value:
            _compute(1.0)  # of which a supervisor that is kept waiting sees a part
            os.kill(os.getpid(), signal.SIGKILL)
        self.had.value = limits.seconds or 0.0
        return super().decide(position, limits)


@pytest.mark.parametrize(
    ("limit", "charged", "left"),
    [(20.0, 0.6, (0.0, 19.41)), (0.4, 0.36, (0.04, 0.04))],  # of a late one a tenth is left
)
def test_who_kills_himself_wins_no_time(
    limit: float, charged: float, left: tuple[float, float]
) -> None:
    agent = DiesThinking(3)
    _, own = spent_on(agent, Limits(seconds=limit))
    assert own >= charged
    assert left[0] <= agent.had.value <= left[1] + 1e-9


def _think_with_threads() -> None:
    """In more of them than there are processors, so that some always wait."""
    end = time.process_time() + 0.4

    def think() -> None:
        while time.process_time() < end:
            hashlib.pbkdf2_hmac("sha256", b"x", b"y", 5000)

    threads = [threading.Thread(target=think) for _ in range(4 * (os.cpu_count() or 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_that_wait_for_one_another_are_charged() -> None:
    wall, own = spent_by(_think_with_threads)
    assert own >= min(0.35, 0.9 * wall)


@pytest.mark.parametrize("limits", [Limits(), Limits(seconds=20.0)])
def test_who_stops_itself_is_not_waited_for_longer_than_for_others(limits: Limits) -> None:
    """Nor is its process replaced again and again."""
    stops = Does(lambda: os.kill(os.getpid(), signal.SIGSTOP))
    chosen = replace(conditions(stops, limits), hang_seconds=0.5)
    begun = time.monotonic()
    with closing(supervisor(chosen, lambda proxy, _: proxy.decide(START, limits))) as process:
        told = process.receive().decode()
    assert told.startswith(f"{HUNG}: no answer for 0.5 s") and "stopped" in told
    assert time.monotonic() - begun < 0.9 * agent_proxy.STOPPED_SECONDS
