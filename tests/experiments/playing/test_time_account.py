"""What of a move's time is the player's own, by clocks that tests set; milliseconds."""

from __future__ import annotations

from typing import Any

import pytest

from othello_lab.core.game import TimeSpent
from othello_lab.experiments.playing.time_account import (
    CONTINUED,
    FOUND_STOPPED,
    STOPPED,
    TimeAccount,
)

MS = 1_000_000


def begun(at: int = 1000) -> TimeAccount:
    account = TimeAccount()
    account.ask(at * MS)
    return account


def see(account: TimeAccount, now: int, **what: Any) -> None:
    for name in ("ready", "worked"):
        what[name] = what.get(name, 0) * MS
    account.see(now * MS, 10 * MS, **what)


def charge(account: TimeAccount, answered: int, received: int, cpu: int = 0, ready: int = 0) -> int:
    spent = account.spent(answered * MS, received * MS, cpu * MS, ready * MS)
    assert spent.wall == (received - 1000) * MS and spent.cpu == cpu * MS
    return (spent.wall - spent.waited) // MS


STOP, GO = {"player": (STOPPED,)}, {"player": (CONTINUED,)}
SELF: dict[str, Any] = {"continued": True}  # the supervisor was stopped, too
# What is seen after the question, which is asked at 1000: the time, and what; the times when the
# answer is sent and received, and what of it is charged.
Seen = list[tuple[int, dict[str, Any]]]
ROWS: dict[str, tuple[Seen, tuple[int, int], int]] = {
    "nothing happens": ([], (1030, 1030), 30),
    "nothing is seen": ([(1010, {}), (1021, {}), (1031, {})], (1035, 1035), 35),
    "the answer is read late": ([], (1030, 1900), 30),
    "heard late": ([(1010, {}), (1060, {"ready": 42, **STOP}), (1070, GO)], (1070, 1070), 18),
    "a stop and its end come together": ([(1010, {}), (1019, GO)], (1030, 1030), 21),
    "the supervisor alone is stopped": ([(1500, SELF)], (1120, 1500), 120),
    "it is stopped, and the answer in time": ([(1500, SELF)], (1015, 1500), 15),
    "both are stopped": ([(1010, {}), (1510, {**SELF, **GO})], (1515, 1515), 15),
    "both, and the player is seen so": (
        [(1010, {}), (1510, {**SELF, "player": (STOPPED, CONTINUED)})],
        (1515, 1515),
        15,
    ),
    "the player goes on later": (
        [(1010, {}), (1510, {**SELF, **STOP}), (1700, GO)],
        (1705, 1705),
        15,
    ),
    # Nobody has told of a signal: a container or the machine was paused.
    "all is paused": ([(1010, {}), (1520, {})], (1530, 1530), 20),
    "the supervisor waits or works": (
        [(1010, {}), (1100, {"ready": 79}), (1200, {"worked": 89})],
        (1200, 1200),
        200,
    ),
    # Everything is paused while the player is stopped.
    "overlap": ([(1010, {}), (1015, STOP), (1500, {}), (1510, GO)], (1515, 1515), 20),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_charged(name: str) -> None:
    seen, (answered, received), charged = ROWS[name]
    account = begun()
    for now, what in seen:
        see(account, now, **what)
    assert charge(account, answered, received) == charged


@pytest.mark.parametrize(
    ("received", "cpu", "ready", "charged"),
    [(1100, 12, 85, 15), (1100, 60, 85, 60), (1900, 800, 85, 100), (1100, 60, 0, 100)],
)
def test_processor_time_is_charged_and_waiting_for_a_processor_is_not(
    received: int, cpu: int, ready: int, charged: int
) -> None:
    """But never more than the wall time of its answer at 1100."""
    assert charge(begun(), 1100, received, cpu=cpu, ready=ready) == charged


def test_patience_is_kind_to_who_was_stopped() -> None:
    account = begun()
    see(account, 1010)
    assert account.patience_used(1035 * MS) == 35 * MS
    account = begun()
    see(account, 1500, continued=True)
    assert account.patience_used(1500 * MS) == 0


@pytest.mark.parametrize(
    ("idle", "used", "charged"),
    [
        (70, 0, 30),  # the supervisor was not run before it had asked
        (70, 20, 50),  # and again, when the player had begun
        (70, 70, 100),  # the player took the supervisor's processor: it had the question
        (70, 200, 100),  # in several threads
        (30, 0, 70),  # something else took long
        (90, 0, 30),  # nor before that
    ],
)
def test_a_supervisor_that_is_not_run_while_it_asks(idle: int, used: int, charged: int) -> None:
    account = begun()
    account.send(1070 * MS, idle * MS, used * MS)
    assert charge(account, 1100, 1100) == charged


@pytest.mark.parametrize("cpu", [0, 40, 150])
@pytest.mark.parametrize(
    ("events", "since"), [((STOPPED,), 1015), ((FOUND_STOPPED,), 1010), ((), 1025)]
)
def test_a_stopped_player(cpu: int, events: tuple[int, ...], since: int) -> None:
    """It is found stopped before the system says so: it may be so since the last look."""
    account = begun()
    see(account, 1010)
    see(account, 1015, player=events)
    see(account, 1025, player=(STOPPED,))
    for now in range(1035, 1210, 10):
        see(account, now)
    assert account.stopped_since == since * MS
    assert account.patience_used(1205 * MS) == (since - 1000) * MS
    see(account, 1215, player=(CONTINUED,))
    assert account.stopped_since is None
    # What it and its children computed meanwhile is charged.
    assert charge(account, 1220, 1220, cpu) == max(since - 1000 + 5, cpu)


def test_a_player_that_was_stopped_before_it_was_asked() -> None:
    account = TimeAccount()
    see(account, 900, player=(STOPPED,))
    account.ask(1000 * MS)
    see(account, 1300, player=(CONTINUED,))
    assert charge(account, 1310, 1310) == 10


def test_every_question_has_an_account_of_its_own() -> None:
    account = begun(500)
    see(account, 900, player=(CONTINUED,))
    account.ask(1000 * MS)
    assert account.spent(1100 * MS, 1100 * MS, 0, 0) == TimeSpent(100 * MS, 0, 0)
