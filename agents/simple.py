"""Agents that look at most one move ahead."""

from __future__ import annotations

from agents.base import Agent, Decision, Limits
from agents.evaluation import DiscCount, Evaluation
from agents.search.window.minimax import Minimax
from core.position import Position


class RandomAgent(Agent):
    """Any legal move, all equally likely: the floor that every strategy must beat."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        moves = position.moves
        return Decision(moves[int(self.rng.integers(len(moves)))])


class Maximizer(Minimax):
    """The move after which the heuristic is highest: minimax one ply deep, so a move that ends the
    game counts by its result; among equal moves the first from a1 to h8."""

    def __init__(self, evaluation: Evaluation, compiled: bool = True) -> None:
        super().__init__(1, evaluation, compiled)


class GreedyAgent(Maximizer):
    """Most discs now: how beginners play."""

    def __init__(self) -> None:
        super().__init__(DiscCount())
