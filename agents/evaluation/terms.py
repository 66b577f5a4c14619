"""What a heuristic thinks of a position and of its moves, and what its values are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, Evaluation
from othello_lab.core.position import Position


@dataclass(frozen=True)
class EvaluationTerms:
    """A value to the side to move, and the terms it is the sum of.

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
        """As a search has it: a finished game counts more than any promise."""
        return self.discs * FINAL_UNIT if self.value is None else self.value


def worth(evaluation: Evaluation, position: Position) -> EvaluationTerms:
    """What a position is worth to its mover."""
    if position.is_over:
        return EvaluationTerms(None, discs=position.disc_difference)
    return EvaluationTerms(evaluation(position), evaluation.parts(position))


def worth_of_moves(evaluation: Evaluation, position: Position) -> list[tuple[int, EvaluationTerms]]:
    """The legal moves, the best first, and what the position after each is worth to the
    *opponent*, whose turn it is then."""
    found = [(move, worth(evaluation, position.play(move))) for move in position.moves]
    return sorted(found, key=lambda each: each[1].as_value)
