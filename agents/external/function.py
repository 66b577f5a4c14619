"""Strategies written for PAIP's Othello, in Python: ``strategy(player, board)``, unchanged."""

from __future__ import annotations

import inspect
import operator
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.evaluation.board_list import PIECES, board_list, square_at
from othello_lab.agents.loading import find
from othello_lab.core.game import GARBAGE, PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Switch, checked


class FunctionAgent(Agent):
    """A function that is given a player, ``@`` or ``o``, and the board as a fresh list of 100
    squares (see :mod:`agents.evaluation.board_list`), and returns the square it plays on, 11 to 88.

    What it draws from ``random`` and ``numpy.random`` follows from the game's seed.
    """

    from_outside = True

    @checked
    def __init__(self, target: str, reproducible: Annotated[bool, Switch()] = True) -> None:
        """
        target: ``path/to/file.py:strategy``, or a call that makes one,
        ``file.py:alphabeta_searcher(3, weighted_score)``. reproducible: false for one that looks
        at the clock, or draws from elsewhere.

        Raises ValueError, one line, for what cannot be found or called.
        """
        self.target, self.reproducible = target, reproducible
        self._strategy = self._made()
        self._chance = _seeded(0)

    def boards(self) -> frozenset[int]:
        return frozenset({8})

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self._chance = _seeded(seed)
        with self._own_chance():
            self._strategy = self._made()  # which remembers nothing

    def decide(self, position: Position, limits: Limits) -> Decision:
        board = board_list(position.black, position.white)
        with self._own_chance():
            answer = self._strategy(PIECES[position.to_move], board)
        try:
            return Decision(square_at(operator.index(answer)))
        except (TypeError, ValueError):
            told = f"{self.target} returned {answer!r:.200}; a square from 11 to 88 is needed"
            raise PlayerFailure(GARBAGE, told) from None

    def _made(self) -> Any:
        """The strategy; raises ValueError."""
        strategy = find(self.target)
        try:
            signature = inspect.signature(strategy)
        except ValueError:
            return strategy  # not all that is written in C tells
        except TypeError:
            raise ValueError(f"target '{self.target}': {strategy!r:.80} is no function") from None
        try:
            signature.bind("@", [])
        except TypeError:
            raise ValueError(
                f"target '{self.target}': it takes {signature}; (player, board) is needed. A "
                "function that makes a strategy is called: maximizer(score)"
            ) from None
        return strategy

    @contextmanager
    def _own_chance(self) -> Iterator[None]:
        """The generators that all share have this agent's state."""
        before = _state()
        _set_state(self._chance)
        try:
            yield
        finally:
            self._chance = _state()
            _set_state(before)


def _seeded(seed: int) -> tuple[Any, Any]:
    legacy = np.random.RandomState(seed % (1 << 32))
    return random.Random(seed).getstate(), legacy.get_state()


def _state() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state()  # noqa: NPY002


def _set_state(state: tuple[Any, Any]) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002
