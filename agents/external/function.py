"""Strategies written in Python for PAIP's Othello, ``strategy(player, board)``, used unchanged."""

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
from othello_lab.agents.loading import find, python2_hint
from othello_lab.core.game import GARBAGE, PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Switch, checked


class FunctionAgent(Agent):
    """A function of a player and a board that returns its square, 11 to 88.

    The player is ``@`` or ``o``. The board is a fresh list of 100 squares (see
    :mod:`agents.evaluation.board_list`). The game's seed determines the numbers that the function
    draws from ``random`` and ``numpy.random``.
    """

    from_outside = True

    @checked
    def __init__(self, target: str, reproducible: Annotated[bool, Switch()] = True) -> None:
        """
        target: ``path/to/file.py:strategy``, or a call that makes one,
        ``file.py:alphabeta_searcher(3, weighted_score)``. reproducible: false for a function that
        reads the clock or another source of random numbers.

        Raises ValueError, one line, if the target cannot be found or called.
        """
        self.target, self.reproducible = target, reproducible
        self.strategy = self._load()
        self._chance = _seeded(0)

    def boards(self) -> frozenset[int]:
        return frozenset({8})

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self._chance = _seeded(seed)
        with self._own_generators():
            self.strategy = self._load()  # a fresh one remembers nothing

    def decide(self, position: Position, limits: Limits) -> Decision:
        board = board_list(position.black, position.white)
        with self._own_generators():
            try:
                answer = self.strategy(PIECES[position.to_move], board)
            except TypeError as error:
                error.args = (f"{error}{python2_hint(error)}",)
                raise
        try:
            return Decision(square_at(operator.index(answer)))
        except (TypeError, ValueError):
            detail = f"{self.target} returned {answer!r:.200}; a square from 11 to 88 is needed"
            raise PlayerFailure(GARBAGE, detail) from None

    def _load(self) -> Any:
        """Return the strategy; raises ValueError."""
        strategy = find(self.target)
        try:
            signature = inspect.signature(strategy)
        except ValueError:
            return strategy  # some functions written in C have no signature
        except TypeError:
            raise ValueError(f"target '{self.target}': {strategy!r:.80} is no function") from None
        try:
            signature.bind("@", [])
        except TypeError:
            raise ValueError(
                f"target '{self.target}': it takes {signature}; (player, board) is needed. A "
                "function that makes a strategy has to be called: maximizer(score)"
            ) from None
        return strategy

    @contextmanager
    def _own_generators(self) -> Iterator[None]:
        """Give the process's random generators this agent's state for a while."""
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
