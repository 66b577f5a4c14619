"""The supervisor of a worker: it holds the judge, and starts the processes in which agents play.

A worker of the pool never runs an agent itself. Its supervisor lets the lab's own agents play whole
games in one process (:mod:`experiments.playing.pair_worker`), and asks each agent from outside in a
process of its own (:mod:`experiments.playing.agent_proxy`), with the judge here, out of their
reach. A process that hangs is killed, and a dead one is noticed. The next is a fresh fork of the
worker, and the worker has never run any agent. So the worker itself never breaks.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import pickle
import time
from collections.abc import Callable, Generator, Iterator

from othello_lab.core.game import FAIR_ENDS, Decision
from othello_lab.core.position import Position
from othello_lab.core.system.processes import adopt_orphans, end_descendants, reap
from othello_lab.core.system.scratch import remove_abandoned
from othello_lab.core.system.shared_memory import STOP_AT_ONCE, keep_from_children
from othello_lab.experiments.pairing.schedule import Pair, PickledPairs, ScheduledGame
from othello_lab.experiments.playing.agent_proxy import AgentProxy, ChildSignals
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.game import play
from othello_lab.experiments.playing.pair_worker import PairWorker, PairWorkerFailed
from othello_lab.experiments.playing.tasks import Job, LocalContext, Task, TaskResult, worked_on
from othello_lab.experiments.record.log import name_game
from othello_lab.experiments.record.store import PlayedGame

log = logging.getLogger("lab.games")

MOST_SEATED = 16
"""So many agents may keep their processes, for a worker."""
CLOSE_SECONDS = 1.5
"""How long the agents of a worker may take to close, all together; then they are killed."""


class RunInterrupted(KeyboardInterrupt):
    """The run is to end at once."""


class GameSupervisor:
    """Plays games in processes of its own, and survives their failures."""

    def __init__(self, conditions: GameConditions) -> None:
        self.conditions = conditions
        keep_from_children(conditions.stop)
        adopt_orphans()
        children = ChildSignals()
        self._seats = {
            number: AgentProxy(conditions, number, children, self._check, self._end_strays)
            for number in range(len(conditions.agents))
        }
        self._house: PairWorker | None = None
        self._ending = False

    def play(self, pairs: PickledPairs) -> Iterator[bytes]:
        """Play pairs until somebody asks to stop. Yields whole pairs as they end: sequences of
        PlayedGames, pickled together."""
        together, apart = pairs, list[Pair]()
        if self.conditions.apart & pairs.agents:
            apart = [pair for pair in pairs if self._apart(pair)]
            together = PickledPairs(pair for pair in pairs if not self._apart(pair))
        while together and not self.conditions.stopping:
            together, broken = yield from self._play_together(together)
            apart += broken
        while apart and not self.conditions.stopping:
            games = [self._play_apart(game) for game in apart.pop()]
            yield pickle.dumps([games], pickle.HIGHEST_PROTOCOL)

    def _apart(self, pair: Pair) -> bool:
        return bool(self.conditions.apart & {pair[0].black, pair[0].white})

    def _play_together(
        self, pairs: PickledPairs
    ) -> Generator[bytes, None, tuple[PickledPairs, list[Pair]]]:
        """Let the pair worker play. Returns the pairs that it has not played and, apart from these,
        the pair that it broke down with."""
        done, failed = 0, None
        try:
            self._house = self._house or PairWorker(self.conditions, self._check)
            for number, played in self._house.play(pairs):
                done += number
                yield played
        except PairWorkerFailed as error:
            failed = error
            assert self._house is not None
            self._house.kill()
            self._house = None
            self._end_strays()
        if done >= pairs.games:
            return PickledPairs([]), []
        games = [game for pair in pairs for game in pair]
        left = {game.pair for game in games[done:]}
        broken = []
        if failed:
            # The first that is not there if it was between two games, or says what cannot be.
            place = failed.place if done <= failed.place < len(games) else done
            broken = [pair for pair in pairs if pair[0].pair == games[place].pair]
            left.discard(games[place].pair)
            log.warning("%s; pair %d is played again apart", failed, games[place].pair)
        return PickledPairs(pair for pair in pairs if pair[0].pair in left), broken

    def _play_apart(self, game: ScheduledGame) -> PlayedGame:
        self._make_room(game.black, game.white)
        played = play(self.conditions, game, self._seats)
        if played.game.end_reason not in FAIR_ENDS:
            # Whoever lost it like that begins anew, and so do those that it may have harmed.
            loser = game.white if played.game.result == "black" else game.black
            self._seats[loser].kill()
            self._end_strays()
        return played

    def decide(self, number: int, position: Position, seed: int) -> Decision:
        """See :class:`experiments.playing.tasks.WorkerContext`."""
        if number not in self.conditions.apart:
            return LocalContext(self.conditions).decide(number, position, seed)
        self._make_room(number)
        seat = self._seats[number]
        seat.begin_game(position.to_move, position, seed)
        return seat.decide(position, self.conditions.limits)

    def _make_room(self, *players: int) -> None:
        """Let the agents go that have not played for longest, so that no more than MOST_SEATED have
        processes."""
        for number in players:  # to the end
            self._seats[number] = self._seats.pop(number)
        seated = [seat for seat in self._seats.values() if seat.number is not None]
        for seat in seated[: max(0, len(seated) - MOST_SEATED)]:
            seat.begin_to_close()
            seat.closed_within(CLOSE_SECONDS)
            seat.kill()

    def _check(self) -> None:
        if self.conditions.stop.value == STOP_AT_ONCE and not self._ending:
            raise RunInterrupted

    def _end_strays(self) -> None:
        """End processes that agents have left behind."""
        known = [each.number for each in self._everybody() if each.number is not None]
        end_descendants([os.getpid()], known)
        reap(known)

    def _everybody(self) -> list[AgentProxy | PairWorker]:
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


_guardian: GameSupervisor | None = None  # one for each worker process of the pool


def start_worker(conditions: GameConditions) -> Callable[[], None]:
    """Initialise a worker process; return a function for its end."""
    global _guardian
    gc.freeze()  # as in experiments.playing.pair_worker: tasks are many objects
    root = logging.getLogger()
    root.setLevel(conditions.log_level)
    for handler in root.handlers:
        handler.addFilter(name_game)
    _guardian = GameSupervisor(conditions)
    return _guardian.end


def play_pairs(pairs: PickledPairs) -> list[bytes]:
    """Play pairs in this worker process; what :meth:`GameSupervisor.play` yields.

    Fewer than asked for if the run is stopped meanwhile, but always whole pairs.
    """
    assert _guardian is not None
    played: list[bytes] = []
    with contextlib.suppress(RunInterrupted):
        played.extend(_guardian.play(pairs))
    return played


def work_on(job: Job, pieces: list[Task]) -> list[TaskResult]:
    """Work on pieces of a study in this worker process; see
    :func:`experiments.playing.tasks.worked_on`."""
    assert _guardian is not None
    return worked_on(job, _guardian, pieces)
