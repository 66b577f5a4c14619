"""The process in which the lab's own agents play whole games, the judge beside them.

They are tested, and nobody's time is limited there, so no protection is lost; and asking them from
another process would take longer than most of them think. If this process breaks down after all,
its game is played again with each agent in a process of its own. That shows the agent at fault.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import pickle
import select
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import die_with_parent
from othello_lab.core.system.shared_memory import keep_from_children, shared
from othello_lab.experiments.pairing.schedule import PickledPairs
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.game import close_all
from othello_lab.experiments.record.log import SendRecords, log_only_to, name_game
from othello_lab.experiments.record.store import PlayedGame

_POLL_SECONDS = 0.1


class PairWorkerFailed(Exception):
    """The worker hangs, or has ended. place: the game of its task that was under way."""

    def __init__(self, why: str, place: int) -> None:
        super().__init__(why)
        self.place = place


class PairWorker:
    """A process that plays pairs of the lab's own agents."""

    def __init__(self, conditions: GameConditions, check: Callable[[], None]) -> None:
        """``check``: called while nothing comes; it may raise."""
        self._conditions = conditions
        self._patience = conditions.hang_seconds
        self._patience_between = max(conditions.hang_seconds, conditions.prepare_seconds)
        self._check = check
        self._memory: Any = shared(GameMonitor.Memory)
        self._watch = GameMonitor(self._memory)
        self._process = ForkedProcess(_live, conditions, self._memory, os.getpid())
        keep_from_children(self._memory)  # those that are forked later

    @property
    def number(self) -> int:
        """Of its process."""
        return self._process.number

    def play(self, pairs: PickledPairs) -> Iterator[tuple[int, bytes]]:
        """Play pairs in order, as long as nobody asks to stop; yields whole pairs as they end: how
        many games, and these as parts, pickled. Raises PairWorkerFailed."""
        try:
            self._process.send(pairs.content)
            while message := self._message():
                (number,) = _NUMBER.unpack_from(message)
                yield number, bytes(message[_NUMBER.size :])
        except (EOFError, OSError):
            raise PairWorkerFailed(
                f"exit code {self._process.exit_code()}", self._watch.place
            ) from None

    def _message(self) -> memoryview:
        """Return the next games, or nothing at the end of this task."""
        since = time.monotonic()
        while True:
            while (message := self._process.take()) is not None:
                kind, content = message[:1], memoryview(message)[1:]
                if kind == _GAMES:
                    return content
                record = pickle.loads(content)
                logging.getLogger(record.name).handle(record)
            if self._process.ended:
                raise EOFError
            self._check()
            if self._conditions.stopping:
                self._watch.stop()
            if select.select([self._process], [], [], _POLL_SECONDS)[0]:
                self._process.read()
                continue
            called = self._watch.called
            # Between two games it may have been stopped.
            patience = self._patience if called else self._patience_between
            if time.monotonic() - (called or since) > patience:
                raise PairWorkerFailed(f"no answer for {patience:g} s", self._watch.place)

    def begin_to_close(self) -> None:
        """Let its agents close; they may take until :meth:`kill`."""
        with contextlib.suppress(OSError):
            self._process.send(_END)

    def closed_within(self, seconds: float) -> bool:
        """Return True if the agents close in time."""
        until = time.monotonic() + seconds
        with contextlib.suppress(EOFError):
            while True:
                message = self._process.receive_within(max(0.0, until - time.monotonic()))
                if message is None:
                    return False
                if message[:1] == _LOG:
                    record = pickle.loads(message[1:])
                    logging.getLogger(record.name).handle(record)
        return True

    def kill(self) -> None:
        """End the process at once."""
        self._process.close()


_GAMES, _LOG, _END = b"g", b"l", b""
_NUMBER = struct.Struct("<I")
_SEND_SECONDS = 0.02
"""Games that were played within so short a time are sent together."""


def _live(link: Channel, conditions: GameConditions, memory: Any, parent: int) -> None:
    os.setsid()
    die_with_parent(parent)
    # What was there before the fork stays: no need for the garbage collector to go through it,
    # and copy it, again and again.
    gc.freeze()
    handler = SendRecords(lambda record: link.send(_LOG + pickle.dumps(record)))
    handler.addFilter(name_game)
    log_only_to(handler)
    watch = GameMonitor(memory)
    with contextlib.suppress(EOFError):
        while message := link.receive():
            played: list[Sequence[PlayedGame]] = []
            sent = time.monotonic()
            for pairs in play_all(conditions, pickle.loads(message), watch):
                played.append(pairs)
                if time.monotonic() - sent > _SEND_SECONDS:
                    _send(link, played)
                    played, sent = [], time.monotonic()
            _send(link, played)
            link.send(_GAMES)
    line_up = enumerate(conditions.line_up.items())
    close_all({name: agent for n, (name, agent) in line_up if n not in conditions.apart})


def _send(link: Channel, played: Sequence[Sequence[PlayedGame]]) -> None:
    if number := sum(map(len, played)):
        pickled = pickle.dumps(played, pickle.HIGHEST_PROTOCOL)
        link.send(_GAMES + _NUMBER.pack(number) + pickled)
