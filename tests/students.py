"""Agents as students write them, which tests name by the path of this file: one that looks a move
ahead, whatever depth is asked for, and two with a bug."""

from __future__ import annotations

from pathlib import Path

from othello_lab import Agent, Decision, Evaluation, Limits, Position

HERE = Path(__file__)


class Student(Agent):
    """Looks one ply ahead."""

    def __init__(self, depth: int, evaluation: Evaluation) -> None:
        self.depth, self.evaluation = depth, evaluation

    def decide(self, position: Position, limits: Limits) -> Decision:
        worst = min(position.moves, key=lambda move: self.evaluation.plain(position.play(move)))
        return Decision(worst)


class Cheats(Student):
    """Plays on a1, come what may."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(0)


class Broken(Student):
    """Raises."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        raise TypeError("it is broken")
