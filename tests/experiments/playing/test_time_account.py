"""What of a move's time is the player's own, by clocks that tests set; milliseconds."""

from __future__ import annotations

from typing import Any

import pytest

from othello_lab.core.game import TimeSpent
from othello_lab.experiments.playing.time_account import (
    CONTINUED,
    FOUND_STOPPED,
    STOPPED,
    Observation,
    TimeAccount,
)

MS = 1_000_000


def asked(at: int = 1000) -> TimeAccount:
    account = TimeAccount()
    account.ask(at * MS)
    return account


def see(account: TimeAccount, now: int, **what: Any) -> None:
    for name in ("ready", "worked"):
        what[name] = what.get(name, 0) * MS
    account.see(Observation(now * MS, 10 * MS, **what))


def own(account: TimeAccount, answered: int, received: int, cpu: int = 0, ready: int = 0) -> int:
    spent = account.spent(answered * MS, received * MS, cpu * MS, ready * MS)
    assert spent.wall == (received - 1000) * MS and spent.cpu == cpu * MS
    return (spent.wall - spent.waited) // MS


def test_time_is_wall_time_where_nothing_happened() -> None:
    assert own(asked(), 1030, 1030, cpu=5) == 30
    account = asked()
    for now in (1010, 1021, 1031):
        see(account, now)
    assert own(account, 1035, 1035) == 35
    assert account.patience_used(1035 * MS) == 35 * MS


def test_waiting_for_a_processor_is_not_the_players() -> None:
    assert own(asked(), 1100, 1100, cpu=12, ready=85) == 15


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
    account = asked()
    account.send(1070 * MS, idle * MS, used * MS)
    assert own(account, 1100, 1100) == charged


def test_what_happens_after_the_answer_is_not_the_players() -> None:
    assert own(asked(), 1030, 1900) == 30


def test_processor_time_is_charged_in_any_case() -> None:
    assert own(asked(), 1100, 1100, cpu=60, ready=85) == 60
    assert own(asked(), 1100, 1900, cpu=800, ready=85) == 100, "but no more than wall time"


@pytest.mark.parametrize("cpu", [0, 40, 150])
@pytest.mark.parametrize(
    ("found", "since"), [((STOPPED,), 1015), ((FOUND_STOPPED,), 1010), ((), 1025)]
)
def test_a_stopped_player(cpu: int, found: tuple[int, ...], since: int) -> None:
    """It is found stopped before the system says so: it may be so since the last look."""
    account = asked()
    see(account, 1010)
    see(account, 1015, player=found)
    see(account, 1025, player=(STOPPED,))
    for now in range(1035, 1210, 10):
        see(account, now)
    assert account.stopped_since == since * MS
    assert account.patience_used(1205 * MS) == (since - 1000) * MS
    see(account, 1215, player=(CONTINUED,))
    assert account.stopped_since is None
    # What it and its children computed meanwhile is charged.
    assert own(account, 1220, 1220, cpu) == max(since - 1000 + 5, cpu)


def test_a_stop_that_is_heard_of_late_began_earlier() -> None:
    account = asked()
    see(account, 1010)
    see(account, 1060, ready=42, player=(STOPPED,))
    see(account, 1070, player=(CONTINUED,))
    assert own(account, 1070, 1070) == 18


def test_a_stop_and_its_end_that_come_together() -> None:
    account = asked()
    see(account, 1010)
    see(account, 1019, player=(CONTINUED,))
    assert own(account, 1030, 1030) == 21


def test_a_player_that_was_stopped_before_it_was_asked() -> None:
    account = TimeAccount()
    see(account, 900, player=(STOPPED,))
    account.ask(1000 * MS)
    see(account, 1300, player=(CONTINUED,))
    assert own(account, 1310, 1310) == 10


def test_a_stop_of_the_supervisor_alone_hides_no_lateness() -> None:
    """And costs an answer in time nothing."""
    account = asked()
    see(account, 1500, continued=True)
    assert own(account, 1120, 1500) == 120
    assert own(account, 1015, 1500) == 15
    # Whether it hangs is asked more kindly.
    assert account.patience_used(1500 * MS) == 0


@pytest.mark.parametrize("player", [(CONTINUED,), (STOPPED, CONTINUED)])
def test_both_are_stopped(player: tuple[int, ...]) -> None:
    account = asked()
    see(account, 1010)
    see(account, 1510, continued=True, player=player)
    assert own(account, 1515, 1515) == 15


def test_the_player_goes_on_later_than_the_supervisor() -> None:
    account = asked()
    see(account, 1010)
    see(account, 1510, continued=True, player=(STOPPED,))
    see(account, 1700, player=(CONTINUED,))
    assert own(account, 1705, 1705) == 15


def test_a_pause_of_everything() -> None:
    """Nobody has told of a signal: a container or the machine was paused."""
    account = asked()
    see(account, 1010)
    see(account, 1520)
    assert own(account, 1530, 1530) == 20
    assert own(account, 1530, 1530, cpu=300) == 300


def test_a_supervisor_that_waits_or_works_is_no_pause() -> None:
    account = asked()
    see(account, 1010)
    see(account, 1100, ready=79)
    see(account, 1200, worked=89)
    assert own(account, 1200, 1200) == 200


def test_spans_that_overlap_count_once() -> None:
    account = asked()
    see(account, 1010)
    see(account, 1015, player=(STOPPED,))
    see(account, 1500)  # everything is paused meanwhile
    see(account, 1510, player=(CONTINUED,))
    assert own(account, 1515, 1515) == 20


def test_every_question_has_an_account_of_its_own() -> None:
    account = asked(500)
    see(account, 900, player=(CONTINUED,))
    account.ask(1000 * MS)
    assert account.spent(1100 * MS, 1100 * MS, 0, 0) == TimeSpent(100 * MS, 0, 0)
