"""Agents that look at most one move ahead."""

from __future__ import annotations

from functools import cache

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.evaluation import DiscCount, Evaluation
from othello_lab.agents.search.window.minimax import Minimax
from othello_lab.core.bitboard import lowest_square
from othello_lab.core.position import Position
from othello_lab.core.random import draw_bit
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.vector import store
from othello_lab.core.whole_games import COUNTERS, COUNTS, DEPTH, JUDGED, CompiledPlayer, decision


@kernel
def draw_move(moves: Mask, generator: Address, answer: Address) -> Int:
    """Draw a move, all equally likely, and write an answer without a value."""
    store(answer, JUDGED, np.int64(0))
    store(answer, DEPTH, np.int64(-1))
    for index in range(COUNTERS):
        store(answer, COUNTS + index, np.int64(0))
    return np.int64(lowest_square(draw_bit(generator, moves)))


def _draw(
    memory: Address, mover: Mask, opponent: Mask, moves: Mask, generator: Address, answer: Address
) -> Int:
    """Decide for a random agent, see :data:`core.whole_games.Decide`."""
    return draw_move(moves, generator, answer)


_compile_draw = cache(lambda: decision(_draw))


class RandomAgent(Agent):
    """Any legal move, all equally likely, in no time: the floor for every strategy."""

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer:
        return CompiledPlayer(_compile_draw().address, 0)

    def decide(self, position: Position, limits: Limits) -> Decision:
        moves = position.moves
        return Decision(moves[int(self.rng.integers(len(moves)))])


class Maximizer(Minimax):
    """The move with the highest heuristic after it: minimax one ply deep.

    It takes a few microseconds, so it never reaches a limit. A move that ends the game counts by
    its result, unless ``final`` is ``win``. Among equal moves it is the first from a1 to h8.
    """

    def __init__(self, evaluation: Evaluation, compiled: bool = True, final: str = "discs") -> None:
        super().__init__(1, evaluation, compiled, final)


class GreedyAgent(Maximizer):
    """The move that leaves most discs now, as beginners play.

    It looks one ply ahead and takes a microsecond or two.
    """

    def __init__(self) -> None:
        super().__init__(DiscCount())
