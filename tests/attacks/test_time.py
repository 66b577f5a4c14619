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
from contextlib import suppress
from typing import Any

import pytest
from attacks.supervised import ALONE, OPEN, START, Tries, conditions, judged
from attacks.test_isolation import OTHERS
from chosen import rows_mostly_nightly
from processes import await_

from othello_lab import Decision, Limits
from othello_lab.core.game import HUNG, TimeSpent
from othello_lab.core.position import Position
from othello_lab.core.system import call_filter, landlock
from othello_lab.core.system.processes import LINUX
from othello_lab.core.system.shared_memory import shared
from othello_lab.experiments.playing import agent_proxy
from othello_lab.experiments.playing.agent_proxy import AgentProxy

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not LINUX, reason="reads processor times from /proc"),
]
can_close = landlock.version() >= 3 and call_filter.available()
MODES = [OPEN, pytest.param(ALONE, marks=pytest.mark.skipif(not can_close, reason="old kernel"))]
LIMITS = Limits(seconds=20.0)


def spent_on(
    agent: Tries, limits: Limits = LIMITS, meanwhile: Any = None, mode: str = OPEN
) -> tuple[float, float]:
    """Seconds that an agent spends on a move by the wall clock, and as it is charged."""

    def ask(proxy: AgentProxy) -> list[int]:
        proxy.start()
        proxy.decide(START, limits)
        return [*proxy.stop()]

    spent = TimeSpent(*json.loads(judged(conditions(agent, mode, limits=limits), ask, meanwhile)))
    return spent.wall / 1e9, (spent.wall - spent.waited) / 1e9


# ------------------------------------------------------------------ what others do


# Who is stopped (0: the player, 1: the supervisor) after it was asked; how much of a second is at
# least not charged (a virtual machine may have slept some of it), and how much is.
STOPPED = [((0, 1), 0.9, 0.0), ((0,), 0.9, 0.0), ((1, 0), 0.9, 0.0), ((1,), 0.5, 0.05)]


@pytest.mark.parametrize(("which", "free", "charged"), rows_mostly_nightly(STOPPED, [(0, 1)]))
def test_a_stopped_player_is_not_charged(
    which: tuple[int, ...], free: float, charged: float
) -> None:
    """An answer is as late as it was sent, though the supervisor sees it later."""

    def stop(*numbers: int) -> None:
        for signal_number in (signal.SIGSTOP, signal.SIGCONT):
            for number in which:
                os.kill(numbers[number], signal_number)
            time.sleep(1.2)

    for _ in range(5):
        wall, charged_seconds = spent_on(Tries(lambda: time.sleep(0.3)), meanwhile=stop)
        assert wall >= 1.0
        assert charged_seconds <= wall - free
        if charged_seconds >= charged:
            return
        # It was stopped before it had looked at all: as if everything had been, nothing is charged.
    pytest.fail(f"of 0.3 seconds {charged_seconds:.3f} were charged, five times")


# ------------------------------------------------------------------ tricks


class DiesThinking(Tries):
    """Thinks, and kills itself: all its processes but the last do, so each is replaced."""

    def __init__(self, processes: int) -> None:
        super().__init__(lambda: None)
        self.left, self.had = shared(ctypes.c_int), shared(ctypes.c_double)
        self.left.value = processes

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.left.value -= 1
        if self.left.value:
            _think(1.0)  # a supervisor kept waiting sees a part of it
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
    _, seconds = spent_on(agent, Limits(seconds=limit))
    assert seconds >= charged
    assert left[0] <= agent.had.value <= left[1] + 1e-9


def _think(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def _burn() -> None:
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    while True:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 5000)


@pytest.mark.parametrize("mode", MODES)
def test_threads_that_wait_win_no_time(mode: str) -> None:
    """More of them than processors, of the lowest priority, while another one thinks."""
    lasted = shared(ctypes.c_double)  # its supervisor may see the answer later

    def think() -> None:
        begun = time.monotonic()
        for _ in range(4 * (os.cpu_count() or 1)):
            threading.Thread(target=_burn, daemon=True).start()
        _think(0.4)  # of all of them together
        lasted.value = time.monotonic() - begun

    assert spent_on(Tries(think), mode=mode)[1] >= 0.9 * min(0.4, lasted.value)


class Thinks(Tries):
    """Lets threads think on between its moves."""

    def __init__(self) -> None:
        super().__init__(self._begin)
        self.thoughts = shared(ctypes.c_longlong)

    def _begin(self) -> None:
        threading.Thread(target=self._think, daemon=True).start()
        # What could wake a process that is stopped.
        for wake in ("sets a timer that wakes", "is woken by a pipe"):
            with suppress(OSError):
                OTHERS[wake](0)
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        await_(lambda: self.thoughts.value > 1000)

    def _think(self) -> None:
        while True:
            self.thoughts.value += 1


@pytest.mark.parametrize("ponder", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_nobody_thinks_in_the_opponents_time(mode: str, ponder: bool) -> None:
    """Unless it is allowed; then what was used is told."""
    agent = Thinks()

    def ask(proxy: AgentProxy) -> float:
        proxy.start()
        proxy.decide(START, LIMITS)
        before = agent.thoughts.value
        proxy.stop()
        if ponder:
            await_(lambda: agent.thoughts.value > before + 1_000_000)
        else:  # on a busy machine the last thread may stop later
            await_(lambda: _stands_still(agent.thoughts))
        return proxy.outside / 1e9

    seconds = float(judged(conditions(agent, mode, limits=LIMITS, ponder=ponder), ask))
    assert seconds > 0.05 if ponder else seconds < 2.0
    assert _stands_still(agent.thoughts)  # it was ended


def _stands_still(thoughts: Any) -> bool:
    before = thoughts.value
    time.sleep(0.3)
    return bool(thoughts.value == before)


# ------------------------------------------------------------------ ends


def _stop_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _hear_nothing() -> None:
    for number in signal.valid_signals():
        with suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


ENDS = [
    ("hears nothing", _hear_nothing, Limits()),
    ("stops itself", _stop_itself, Limits()),
    ("stops itself on a clock", _stop_itself, LIMITS),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("does", "what", "limits"), rows_mostly_nightly(ENDS, ["stops itself"]))
def test_who_never_answers_ends_in_time(
    does: str, what: Callable[[], None], limits: Limits, mode: str
) -> None:
    """One that stops itself is not waited for longer than others, nor replaced again and again."""
    agent, alive = Tries(what), shared(ctypes.c_int)
    agent.begin_game = lambda *_: setattr(alive, "value", os.getpid())  # type: ignore[method-assign]
    begun = time.monotonic()
    chosen = conditions(agent, mode, limits=limits, hang=0.5)
    said = judged(chosen, lambda proxy: proxy.decide(START, limits))
    assert said.startswith(f"{HUNG}: no answer for 0.5 s") and ("stopped" in said) == (
        what is _stop_itself
    )
    assert time.monotonic() - begun < 0.9 * agent_proxy.STOPPED_SECONDS
    await_(lambda: not os.path.exists(f"/proc/{alive.value}"))
