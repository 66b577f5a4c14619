"""The player's part of the time from question to answer.

A player is charged wall time, less the time that its answering thread stood ready while others had
the processor, or the machine did not run it, and less the time that it was stopped. It is charged
at least the processor time that all its threads have really had. So threads that wait, and a player
that stops itself, win nothing.

The supervisor looks from time to time, and may be stopped or kept waiting itself. The system says
when the answer was sent, so delays of the supervisor after that do not matter. A delay of the
supervisor before that counts as the player's too only if the system says so, or if nothing else
explains it: then everything was stopped (a paused container or machine). A supervisor that has to
wait for a processor while it asks, or is stopped then, has not asked yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from othello_lab.core.game import TimeSpent

STALL = 2_000_000
"""Nanoseconds that a look may come too late, or a question take to be sent, before that needs an
explanation."""
_MOST_UNSEEN = 10_000_000
"""Nanoseconds that a player is given for a pause whose beginning nobody saw."""


STOPPED, FOUND_STOPPED, CONTINUED = range(3)
"""Events of a player. The system reports STOPPED when the last of its threads is stopped."""


class TimeAccount:
    """Keeps the account of one question after another to one player; times in nanoseconds."""

    def __init__(self) -> None:
        self.stopped_since: int | None = None
        self.ask(0)

    def ask(self, now: int) -> None:
        """Note the beginning of a question."""
        self.question_begun = self._last = now
        self._pauses: list[tuple[int, int]] = []
        self._stalls: list[tuple[int, int]] = []

    def send(self, sent: int, idle: int, used: int) -> None:
        """Note that the question has been sent. Sending took until now (``sent``) because the
        supervisor was not run meanwhile: it stood ready, or was stopped, for the time ``idle``.

        used: the player's part of that time, as it had the question already: processor time, and
        time it stood ready itself. The rest is not charged.
        """
        unsent = min(sent - self.question_begun, idle) - used
        if unsent > 0:
            self._pauses.append((self.question_begun, self.question_begun + unsent))

    def see(
        self,
        now: int,
        tick: int,
        ready: int = 0,
        worked: int = 0,
        continued: bool = False,
        player: Sequence[int] = (),
    ) -> None:
        """Note what the supervisor sees after it has waited for an answer.

        tick: planned time since the last look. ready, worked: time since then during which the
        supervisor itself stood ready but was not run, and was run. continued: True if it was
        stopped itself. player: events of the player, in order; FOUND_STOPPED if no report of the
        system has come yet.
        """
        busy = ready + worked
        late = now - self._last - tick - busy > STALL
        if late or continued:
            # It began before the look was due.
            span = self._last + max(0, tick - _MOST_UNSEEN), now
            self._stalls.append(span)
            if not continued:
                self._pauses.append(span)
        for happened in player:
            if happened != CONTINUED and self.stopped_since is None:
                exact = happened == STOPPED and not (late or continued)
                self.stopped_since = max(self._last, now - busy) if exact else self._last
            elif happened == CONTINUED:
                begun = self._last if self.stopped_since is None else self.stopped_since
                self._pauses.append((begun, now))
                self.stopped_since = None
        self._last = now

    def patience_used(self, now: int, stops: bool = False) -> int:
        """Return the time waited for the player, without the supervisor's stops. stops: with those
        of the player."""
        spans = self._stalls if stops else self._stalls + self._stops(now)
        return now - self.question_begun - _covered(spans, self.question_begun, now)

    def spent(self, answered: int, received: int, cpu: int, ready: int) -> TimeSpent:
        """Return the time that the answer took. answered: the time it was sent. cpu: the processor
        time of the player's processes since the question. ready: the time they stood ready but were
        not run."""
        wall = received - self.question_begun
        lasted = answered - self.question_begun
        charged = lasted - ready - _covered(self._stops(received), self.question_begun, answered)
        return TimeSpent(wall, cpu, wall - max(charged, min(lasted, cpu), 0))

    def _stops(self, now: int) -> list[tuple[int, int]]:
        if self.stopped_since is None:
            return self._pauses
        return [*self._pauses, (self.stopped_since, now)]


def _covered(spans: list[tuple[int, int]], begin: int, end: int) -> int:
    """Return the part of the time from begin to end that lies in any of these spans."""
    covered = 0
    for first, last in sorted(spans):
        first, last = max(first, begin), min(last, end)
        if first < last:
            covered += last - first
            begin = last
    return covered
