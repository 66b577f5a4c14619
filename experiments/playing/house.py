"""The process in which the lab's own agents play whole games, the judge beside them.

They are tested, and nobody's time is limited there, so nothing is lost by it; and asking them from
another process would take longer than most of them think. Where this process breaks down after all,
its game is played again with each agent in a process of its own, which shows whose fault it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import pickle
import select
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.forked import Forked, Link
from core.game import Ply
from core.position import Position
from core.processes import die_with_parent
from core.rules import Color
from experiments.pairing.schedule import Game
from experiments.playing.conditions import Conditions
from experiments.playing.game import close_all, play
from experiments.record.log import SendRecords, log_only_to, name_game
from experiments.system import keep_from_children, shared

_POLL_SECONDS = 0.1


class BrokenDown(Exception):
    """The house hangs, or has ended."""


class House:
    """Where pairs of the lab's own agents play."""

    def __init__(self, conditions: Conditions, check: Callable[[], None]) -> None:
        """``check``: called while nothing comes; it may raise."""
        self._patience = conditions.hang_seconds
        self._patience_between = max(conditions.hang_seconds, conditions.prepare_seconds)
        self._check = check
        self._called: Any = shared(ctypes.c_double)
        self._process = Forked(_live, conditions, self._called, os.getpid())
        keep_from_children(self._called)  # those that are forked later

    @property
    def number(self) -> int:
        """Of its process."""
        return self._process.number

    def play(self, games: Sequence[Game]) -> Iterator[bytes]:
        """Play the games in order; yields each one's pickled PlayedGame as it ends. Raises
        BrokenDown."""
        try:
            self._process.send(pickle.dumps(games))
            for _ in games:
                yield self._result()
        except (EOFError, OSError):
            raise BrokenDown(f"exit code {self._process.exit_code()}") from None

    def _result(self) -> bytes:
        since = time.monotonic()
        while True:
            while (message := self._process.take()) is not None:
                kind, content = message[:1], message[1:]
                if kind == _GAME:
                    return content
                record = pickle.loads(content)
                logging.getLogger(record.name).handle(record)
            if self._process.ended:
                raise EOFError
            if select.select([self._process], [], [], _POLL_SECONDS)[0]:
                self._process.read()
                continue
            self._check()
            called = self._called.value
            # Between two games it may have been stopped.
            patience = self._patience if called else self._patience_between
            if time.monotonic() - (called or since) > patience:
                raise BrokenDown(f"no answer for {patience:g} s")

    def begin_to_close(self) -> None:
        """Let its agents close; they may take until :meth:`kill`."""
        with contextlib.suppress(OSError):
            self._process.send(_END)

    def closed_within(self, seconds: float) -> bool:
        """Whether they close in time."""
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
        """End it, whatever it does."""
        self._process.close()


_GAME, _LOG, _END = b"g", b"l", b""


def _live(link: Link, conditions: Conditions, called: Any, parent: int) -> None:
    os.setsid()
    die_with_parent(parent)
    # What was there before the fork stays: no need for the garbage collector to go through it,
    # and copy it, again and again.
    gc.freeze()
    handler = SendRecords(lambda record: link.send(_LOG + pickle.dumps(record)))
    handler.addFilter(name_game)
    log_only_to(handler)

    def before_call(position: Position, color: Color, plies: Sequence[Ply]) -> None:
        called.value = time.monotonic()

    with contextlib.suppress(EOFError):
        while message := link.receive():
            for game in pickle.loads(message):
                played = play(conditions, game, before_call=before_call)
                called.value = 0.0
                link.send(_GAME + pickle.dumps(played, pickle.HIGHEST_PROTOCOL))
    close_all({name: conditions.agents[number] for number, name in conditions.at_home.items()})
