"""An agent that now and then moves at random, so that its games differ."""

from __future__ import annotations

from functools import cache
from typing import Annotated

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits, Wrapped, compiled_player
from othello_lab.agents.simple import draw_move
from othello_lab.core.bitboard import popcount
from othello_lab.core.position import Position
from othello_lab.core.random import draw_below
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.compile import Address, Int, Mask
from othello_lab.core.system.settings import Number, Whole, checked
from othello_lab.core.vector import load
from othello_lab.core.whole_games import CompiledPlayer, call_decision, decision

_PARTS = 1_000_000  # resolution of the share
_FUNCTION, _MEMORY, _SHARE, _DISCS = (np.int64(index) for index in range(4))
_DISCS_AT_START = 4


def _decide(
    memory: Address, mover: Mask, opponent: Mask, moves: Mask, generator: Address, answer: Address
) -> Int:
    """Decide as :data:`core.whole_games.Decide` does."""
    if popcount(mover | opponent) < load(memory, _DISCS) and draw_below(
        generator, np.int64(_PARTS)
    ) < load(memory, _SHARE):
        return draw_move(moves, generator, answer)
    return call_decision(
        np.intp(load(memory, _FUNCTION)),
        np.intp(load(memory, _MEMORY)),
        mover,
        opponent,
        moves,
        generator,
        answer,
    )


_compile_decision = cache(lambda: decision(_decide))


class Noisy(Wrapped):
    """Another agent with a share of random legal moves, drawn with the game's seed."""

    @checked
    def __init__(
        self,
        agent: Agent,
        share: Annotated[float, Number(0, 1)],
        plies: Annotated[int | None, Whole(0)] = None,
    ) -> None:
        """
        agent: the agent for all other moves. share: the share of random moves. plies: the plies of
        the game with random moves; None for all of them.
        """
        super().__init__(agent)
        self.share, self.plies = share, plies
        discs = 64 if plies is None else _DISCS_AT_START + plies
        self._memory = np.array([0, 0, round(share * _PARTS), discs], dtype=np.int64)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        Agent.begin_game(self, color, start, seed)
        self.agent.rng = self.rng  # one generator for both, as in compiled code

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
        player = compiled_player(self.agent, rules, limits)
        if player is None:
            return None
        self._memory[:2] = player
        return CompiledPlayer(_compile_decision().address, self._memory.ctypes.data)

    def decide(self, position: Position, limits: Limits) -> Decision:
        if position.discs < self._memory[_DISCS] and (
            self.rng.integers(_PARTS) < self._memory[_SHARE]
        ):
            moves = position.moves
            return Decision(moves[int(self.rng.integers(len(moves)))])
        return self.agent.decide(position, limits)
