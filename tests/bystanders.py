"""Agents from outside the lab that keep the contract, to whom something happens."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from othello_lab import Decision, Limits, Position, RandomAgent


class Remembers(RandomAgent):
    """Its moves depend on all that it was told of the game, and on how often it was asked."""

    def begin_game(self, *args: Any) -> None:
        super().begin_game(*args)
        self.told: list[tuple[int, int]] = []

    def observe(self, move: int, position: Position) -> None:
        self.told.append((move, position.mover))

    def decide(self, position: Position, limits: Limits) -> Decision:
        lot = int(self.rng.integers(1 << 30))
        moves = position.moves
        return Decision(moves[hash((lot, *self.told)) % len(moves)])


class Daemonises(RandomAgent):
    """Leaves a daemon behind in each process, which wants to live for ever; it writes its number
    into a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.left_by = 0

    def begin_game(self, *args: Any) -> None:
        super().begin_game(*args)
        if self.left_by == os.getpid():
            return
        self.left_by = os.getpid()
        if (child := os.fork()) == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                (self.folder / str(os.getpid())).touch()
                while True:
                    signal.pause()
            os._exit(0)
        os.waitpid(child, 0)
