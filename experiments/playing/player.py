"""The process in which agents play, and the one that watches over it.

A worker of the pool never runs an agent itself: it forks a *player*, hands it games through a
pipe and reads the results. A player that hangs is killed, one that dies is noticed, and either
is replaced by a fresh fork of the worker, which has never run anything that could have gone
wrong. So the pool itself never breaks, and a misbehaving agent costs one game.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from operator import attrgetter
from typing import Any

from agents.base import Agent
from core.game import DIED, FINISHED, HUNG, BeforeCall, GameRecord, Ply, play_game
from core.position import Position
from core.rules import Color
from experiments.pairing.schedule import Game, Pair
from experiments.playing.conditions import STOP_AT_ONCE, Conditions
from experiments.playing.pool import SendRecords, log_only_to
from experiments.record.log import logging_game, name_game
from experiments.record.store import COUNTS, GameRow, MoveRow, PlayedGame
from experiments.system import die_with_parent, shared

log = logging.getLogger("lab.games")

_KILLED = (-signal.SIGKILL, -signal.SIGTERM)
_MOST_KILLS = 3
"""A game whose player was killed so often is lost; until then it is played again."""

_POLL_SECONDS = 0.1
CLOSE_SECONDS = 1.5
"""How long the agents of a process may take to close, all together; then they are killed."""


def close_all(agents: Mapping[str, Agent]) -> None:
    """Close agents, each once; one that raises is logged and holds nobody up."""
    closed: list[Agent] = []
    for name, agent in agents.items():
        if any(agent is other for other in closed):
            continue
        closed.append(agent)
        try:
            agent.close()
        except (Exception, SystemExit):
            log.exception("'%s' raised an exception when it was closed", name)


def play(conditions: Conditions, game: Game, before_call: BeforeCall | None = None) -> PlayedGame:
    """Play one game in this process and turn it into rows of the record."""
    with logging_game(game.number):
        started = time.perf_counter()
        played = play_game(
            {
                Color.BLACK: conditions.agents[game.black],
                Color.WHITE: conditions.agents[game.white],
            },
            game.opening.begin(conditions.rules),
            game.opening.moves,
            conditions.limits,
            conditions.grace,
            {Color.BLACK: game.seed, Color.WHITE: game.seed + 1},
            before_call,
        )
        _note(conditions, game, played, time.perf_counter() - started)
    return to_row(game, played)


def _note(conditions: Conditions, game: Game, played: GameRecord, seconds: float) -> None:
    result = f"{played.winner.value} wins" if played.winner else "draw"
    if played.end_reason == FINISHED:
        if log.isEnabledFor(logging.DEBUG):
            names = conditions.names[game.black], conditions.names[game.white]
            log.debug(
                "%s - %s: %s (%+d) in %.3f s", *names, result, played.disc_difference, seconds
            )
    else:
        loser = conditions.names[game.black if played.winner is Color.WHITE else game.white]
        log.warning("'%s' loses: %s. %s", loser, played.end_reason, played.detail)


def to_row(game: Game, played: GameRecord) -> PlayedGame:
    """The rows of the record for a game that was played."""
    moves: list[tuple[Any, ...]] = []
    for ply, turn in enumerate(played.plies, start=len(played.opening) + 1):
        agent = game.black if turn.color is Color.BLACK else game.white
        about: tuple[Any, ...] = ()
        if (decision := turn.decision) is not None:
            counts = _counts(decision.stats)
            times = turn.microseconds, turn.cpu_microseconds
            about = (decision.value, decision.depth, *counts, *times)
        moves.append(MoveRow(game.number, ply, agent, turn.move, *about))
    return PlayedGame(
        GameRow(
            game=game.number,
            pair=game.pair,
            black=game.black,
            white=game.white,
            result=played.winner.value if played.winner else "draw",
            black_points=0.5 if played.winner is None else float(played.winner is Color.BLACK),
            disc_difference=played.disc_difference,
            black_discs=played.final.black.bit_count(),
            white_discs=played.final.white.bit_count(),
            end_reason=played.end_reason,
            opening=game.opening.text,
            seed=game.seed,
            transcript=played.transcript,
        ),
        moves,
    )


_counts = attrgetter(*COUNTS)


# ---------------------------------------------------------------------- player and watcher


class _Pulse(ctypes.Structure):
    """What a player shares with its watcher: since when an agent has been thinking, and which, and
    the game so far, so that a game cut short can still be recorded."""

    _fields_ = (
        ("since", ctypes.c_double),  # time.monotonic() when the agent was called; 0 while idle
        ("white", ctypes.c_bool),  # whether the agent that was called last is White's
        ("plies", ctypes.c_int32),
        ("moves", ctypes.c_uint8 * 256),
    )


def _player_main(
    conditions: Conditions, watchers_end: Connection, pipe: Connection, pulse: _Pulse, parent: int
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watchers_end.close()  # or the pipe would not end with the watcher
    die_with_parent(parent)
    if sys.platform != "linux":
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    # What was there before the fork stays: no need for the garbage collector to go through it,
    # and copy it, again and again.
    gc.freeze()
    lock = threading.Lock()

    def send(message: Any) -> None:
        with lock:
            pipe.send(message)

    handler = SendRecords(send)
    handler.addFilter(name_game)
    log_only_to(handler)

    def before_call(position: Position, color: Color, plies: Sequence[Ply]) -> None:
        for number in range(pulse.plies, len(plies)):
            pulse.moves[number] = plies[number].move
        pulse.plies = len(plies)
        pulse.white = color is Color.WHITE
        pulse.since = time.monotonic()

    with contextlib.suppress(EOFError):
        while (games := pipe.recv()) is not None:
            for game in games:
                played = play(conditions, game, before_call)
                pulse.since = 0.0
                pulse.plies = 0
                send(pickle.dumps(played, pickle.HIGHEST_PROTOCOL))
    close_all(conditions.line_up)


def _end_with(parent: int) -> None:
    """End this process, whatever its agent does, once it has lost its parent."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


class Stopped(Exception):
    """The run is to end at once."""


class Watcher:
    """Plays games in a child process, and survives whatever happens there."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        self._parent = os.getppid()
        self._start_player()

    def _start_player(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pulse: Any = shared(_Pulse)
        self._pipe, theirs = context.Pipe()
        self._player = context.Process(
            target=_player_main,
            args=(self.conditions, self._pipe, theirs, self._pulse, os.getpid()),
            name=multiprocessing.current_process().name,
            daemon=True,
        )
        self._player.start()
        theirs.close()

    def play(self, games: Sequence[Game]) -> Iterator[bytes]:
        """Play the games in order; yields each one's pickled PlayedGame as it ends."""
        waiting = list(games)
        kills = 0
        while waiting:
            with contextlib.suppress(OSError):  # that it is dead is noticed below
                self._pipe.send(waiting)
            while waiting:
                end_reason = self._wait()
                if end_reason is None:
                    message = self._pipe_message()
                    if isinstance(message, bytes):
                        waiting.pop(0)
                        kills = 0
                        yield message
                        continue
                    if isinstance(message, logging.LogRecord):
                        logging.getLogger(message.name).handle(message)
                        continue
                    end_reason = DIED  # the pipe ended: there is nobody at the other end
                self._player.kill()
                self._player.join()
                self._pipe.close()
                killed = end_reason == DIED and self._player.exitcode in _KILLED
                kills += killed  # most likely from outside, which is not the agent's fault
                if killed and kills < _MOST_KILLS:
                    self._start_player()
                    break
                kills = 0
                row = self._lost_game(waiting.pop(0), end_reason)
                self._start_player()
                yield pickle.dumps(row, pickle.HIGHEST_PROTOCOL)
                break

    def end(self) -> None:
        """Let the player close its agents, and end it, at the latest after CLOSE_SECONDS."""
        with contextlib.suppress(OSError):  # it may be dead already
            self._pipe.send(None)
        until = time.monotonic() + CLOSE_SECONDS
        while (left := until - time.monotonic()) > 0 and self._pipe.poll(left):
            message = self._pipe_message()
            if message is None:
                break
            if isinstance(message, logging.LogRecord):
                logging.getLogger(message.name).handle(message)
        else:
            log.warning("agents were killed that had not closed after %g s", CLOSE_SECONDS)
        self._player.kill()
        self._player.join()

    def _wait(self) -> str | None:
        """Wait until there is something to read (None), or the player is hung.

        Raises Stopped where everything is to be dropped.
        """
        while True:
            if self.conditions.stop.value == STOP_AT_ONCE:
                self._player.kill()
                raise Stopped
            since = self._pulse.since
            if since and time.monotonic() - since > self.conditions.patience:
                return HUNG
            if os.getppid() != self._parent:
                self._player.kill()
                os._exit(1)  # the driver is gone; nobody wants these games
            if self._pipe.poll(_POLL_SECONDS):
                return None

    def _pipe_message(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            return None

    def _lost_game(self, game: Game, reason: str) -> PlayedGame:
        """The game as far as it got, lost by the agent that was called last."""
        position = game.opening.reach(self.conditions.rules)
        plies = []
        for move in self._pulse.moves[: self._pulse.plies]:
            plies.append(Ply(move, position.to_move))
            position = position.play(move)
        detail = f"exit code {self._player.exitcode}"
        if reason == HUNG:
            detail = f"no answer for {self.conditions.patience:g} s at {position.to_obf()}"
        winner = Color.BLACK if self._pulse.white else Color.WHITE
        opening = tuple(game.opening.moves)
        played = GameRecord(opening, tuple(plies), position, winner, reason, detail)
        with logging_game(game.number):
            _note(self.conditions, game, played, 0.0)
        return to_row(game, played)


_watcher: Watcher | None = None  # one for each worker process of the pool


def start_worker(conditions: Conditions) -> Callable[[], None]:
    """Initialise a worker process; returns what is to be called at its end."""
    global _watcher
    root = logging.getLogger()
    root.setLevel(conditions.log_level)
    for handler in root.handlers:
        handler.addFilter(name_game)
    _watcher = Watcher(conditions)
    return _watcher.end


PlayedPair = tuple[int, list[bytes]]
"""A pair's number, and the pickled rows of its two games."""


def play_pairs(pairs: Iterable[Pair]) -> list[PlayedPair]:
    """Play pairs in this worker process.

    Fewer than asked for if the run is stopped meanwhile, but always whole pairs.
    """
    assert _watcher is not None
    played: list[PlayedPair] = []
    with contextlib.suppress(Stopped):
        for pair in pairs:
            if _watcher.conditions.stopping:
                break
            played.append((pair[0].pair, list(_watcher.play(pair))))
    return played
