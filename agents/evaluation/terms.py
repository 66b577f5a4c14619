"""A heuristic's values of a position and of its moves, with their terms."""

from __future__ import annotations

from dataclasses import dataclass, field

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, Evaluation
from othello_lab.core.position import Position


@dataclass(frozen=True)
class EvaluationTerms:
    """A value to the side to move, and the terms of its sum.

    value: None once the game is over. discs: then the disc difference, empties to the winner.
    """

    value: int | None
    parts: dict[str, int | float] = field(default_factory=dict)
    discs: int = 0

    @property
    def made_of(self) -> str:
        """The terms in a line."""
        return "; ".join(f"{name} = {term:+g}" for name, term in self.parts.items())

    @property
    def as_value(self) -> int:
        """Value as in a search: a finished game counts more than any evaluation."""
        return self.discs * FINAL_UNIT if self.value is None else self.value


def worth(evaluation: Evaluation, position: Position) -> EvaluationTerms:
    """Return the value of a position for its mover."""
    if position.is_over:
        return EvaluationTerms(None, discs=position.disc_difference)
    return EvaluationTerms(evaluation(position), evaluation.parts(position))


def worth_of_moves(evaluation: Evaluation, position: Position) -> list[tuple[int, EvaluationTerms]]:
    """Return the legal moves, best first, with the value after each for the *opponent*.

    After a move the opponent has the turn.
    """
    moves = [(move, worth(evaluation, position.play(move))) for move in position.moves]
    return sorted(moves, key=lambda move: move[1].as_value)
