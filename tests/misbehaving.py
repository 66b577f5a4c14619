"""Agents that break the contract, each in its own way, from their ``after``-th move on."""

from __future__ import annotations

import logging
import os
import signal
import time
from pathlib import Path
from typing import Any

from othello_lab import Agent, Decision, Limits, Position, RandomAgent
from othello_lab.core.game import RESIGNED, PlayerFailure


class _Trouble(RandomAgent):
    def __init__(self, after: int = 3) -> None:
        self.after = after

    def begin_game(self, *args: Any) -> None:
        super().begin_game(*args)
        self.decisions = 0

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.decisions += 1
        if self.decisions > self.after:
            return self.misbehave(position)
        return super().decide(position, limits)

    def misbehave(self, position: Position) -> Any:
        raise NotImplementedError


class Raises(_Trouble):
    def misbehave(self, position: Position) -> Any:
        raise RuntimeError("a bug in a student's agent")


class Resigns(_Trouble):
    def misbehave(self, position: Position) -> Any:
        raise PlayerFailure(RESIGNED, "")


class Exits(_Trouble):
    def misbehave(self, position: Position) -> Any:
        raise SystemExit(3)


class Illegal(_Trouble):
    def misbehave(self, position: Position) -> Any:
        occupied = position.mover | position.opponent
        return Decision(occupied.bit_length() - 1)


class Crashes(_Trouble):
    """Is killed once, as if from outside, and then dies by its own fault."""

    def __init__(self, after: int = 3, flag: str = "") -> None:
        super().__init__(after)
        self.flag = Path(flag)

    def misbehave(self, position: Position) -> Any:
        if not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(11)


class Floods(_Trouble):
    """Never answers, and never stops talking."""

    def misbehave(self, position: Position) -> Any:
        while True:
            logging.getLogger("flood").warning("still thinking")
            time.sleep(0.005)


class Garbage(_Trouble):
    def misbehave(self, position: Position) -> Any:
        return "d3, I think"


class Hangs(_Trouble):
    def misbehave(self, position: Position) -> Any:
        while True:
            signal.pause()


class Slow(_Trouble):
    def misbehave(self, position: Position) -> Any:
        time.sleep(0.2)
        return Decision(position.moves[0])


class Dies(_Trouble):
    def misbehave(self, position: Position) -> Any:
        os._exit(7)


def _misbehave(how: str) -> None:
    if how == "raises":
        raise RuntimeError("a bug in a student's agent")
    if how == "dies":
        os._exit(7)
    while how == "hangs":
        signal.pause()


class Closes(RandomAgent):
    """Writes into a folder, one file a process, that it was closed, and then may raise or hang."""

    def __init__(self, folder: str, how: str = "") -> None:
        self.folder = Path(folder)
        self.how = how

    def close(self) -> None:
        with open(self.folder / str(os.getpid()), "a") as file:
            file.write("closed\n")
        _misbehave(self.how)


class NotAnAgent:
    """Has no ``decide``."""


class Mine(Agent):
    """What a user's own agent may look like."""

    def __init__(self, favourite: str = "d3") -> None:
        self.favourite = favourite

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(position.moves[-1])
