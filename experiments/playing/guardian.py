"""The supervisor of a worker: it holds the judge, and starts the processes in which agents play.

A worker of the pool never runs an agent itself. Its guardian lets the lab's own agents play whole
games in one process (:mod:`experiments.playing.house`), and asks each agent from outside in a
process of its own (:mod:`experiments.playing.stand_in`), with the judge here, out of their reach.
A process that hangs is killed, one that dies is noticed; the next is a fresh fork of the worker,
which has never run anything that could have gone wrong. So the worker itself never breaks.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from agents.external.wpi import remove_abandoned
from core.game import FINISHED
from core.processes import adopt_orphans, end_descendants, reap
from experiments.pairing.schedule import Game, Pair
from experiments.playing.conditions import STOP_AT_ONCE, Conditions
from experiments.playing.game import play
from experiments.playing.house import BrokenDown, House
from experiments.playing.stand_in import Children, StandIn
from experiments.record.log import name_game
from experiments.record.store import PlayedGame
from experiments.system import keep_from_children

log = logging.getLogger("lab.games")

MOST_SEATED = 16
"""So many agents may keep their processes, for a worker."""
CLOSE_SECONDS = 1.5
"""How long the agents of a worker may take to close, all together; then they are killed."""


class Stopped(KeyboardInterrupt):
    """The run is to end at once."""


class Guardian:
    """Plays games in processes of its own, and survives whatever happens there."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        keep_from_children(conditions.stop)
        adopt_orphans()
        children = Children()
        self._seats = {
            number: StandIn(conditions, number, children, self._check, self._end_strays)
            for number in range(len(conditions.agents))
        }
        self._house: House | None = None
        self._ending = False

    def play(self, games: Sequence[Game]) -> Iterator[bytes]:
        """Play the two games of a pair; yields each one's pickled PlayedGame as it ends."""
        waiting = list(games)
        if not self.conditions.apart & {games[0].black, games[0].white}:
            try:
                self._house = self._house or House(self.conditions, self._check)
                for played in self._house.play(games):
                    waiting.pop(0)
                    yield played
            except BrokenDown as broken:
                log.warning("%s; game %d is played again apart", broken, waiting[0].number)
                self._leave_house()
        for game in waiting:
            yield pickle.dumps(self._play_apart(game), pickle.HIGHEST_PROTOCOL)

    def _play_apart(self, game: Game) -> PlayedGame:
        self._make_room(game)
        played = play(self.conditions, game, self._seats)
        if played.game.end_reason != FINISHED:
            # Whoever lost it like that begins anew, and so do those that it may have harmed.
            loser = game.white if played.game.result == "black" else game.black
            self._seats[loser].kill()
            self._end_strays()
        return played

    def _make_room(self, game: Game) -> None:
        """Let the agents go that have not played for longest, so that no more than MOST_SEATED have
        processes."""
        for number in (game.black, game.white):  # to the end
            self._seats[number] = self._seats.pop(number)
        seated = [seat for seat in self._seats.values() if seat.number is not None]
        for seat in seated[: max(0, len(seated) - MOST_SEATED)]:
            seat.begin_to_close()
            seat.closed_within(CLOSE_SECONDS)
            seat.kill()

    def _check(self) -> None:
        if self.conditions.stop.value == STOP_AT_ONCE and not self._ending:
            raise Stopped

    def _leave_house(self) -> None:
        if self._house is not None:
            self._house.kill()
            self._house = None
        self._end_strays()

    def _end_strays(self) -> None:
        """End processes that agents have left behind."""
        known = [each.number for each in self._everybody() if each.number is not None]
        end_descendants([os.getpid()], known)
        reap(known)

    def _everybody(self) -> list[StandIn | House]:
        return [*self._seats.values(), *([self._house] if self._house else [])]

    def end(self) -> None:
        """Let the agents close, and end their processes, at the latest after CLOSE_SECONDS."""
        self._ending = True
        everybody = [each for each in self._everybody() if each.number is not None]
        until = time.monotonic() + CLOSE_SECONDS
        for each in everybody:
            each.begin_to_close()
        slow = [each for each in everybody if not each.closed_within(until - time.monotonic())]
        if slow:
            log.warning("agents were killed that had not closed after %g s", CLOSE_SECONDS)
        for each in everybody:
            each.kill()
        self._end_strays()
        remove_abandoned()


_guardian: Guardian | None = None  # one for each worker process of the pool


def start_worker(conditions: Conditions) -> Callable[[], None]:
    """Initialise a worker process; returns what is to be called at its end."""
    global _guardian
    root = logging.getLogger()
    root.setLevel(conditions.log_level)
    for handler in root.handlers:
        handler.addFilter(name_game)
    _guardian = Guardian(conditions)
    return _guardian.end


PlayedPair = tuple[int, list[bytes]]
"""A pair's number, and the pickled rows of its two games."""


def play_pairs(pairs: Iterable[Pair]) -> list[PlayedPair]:
    """Play pairs in this worker process.

    Fewer than asked for if the run is stopped meanwhile, but always whole pairs.
    """
    assert _guardian is not None
    played: list[PlayedPair] = []
    with contextlib.suppress(Stopped):
        for pair in pairs:
            if _guardian.conditions.stopping:
                break
            played.append((pair[0].pair, list(_guardian.play(pair))))
    return played
