"""A user's heuristic with the body of a built-in one, to compare what they cost."""

from agents.evaluation import heuristic
from agents.evaluation.helpers import count, moves


@heuristic
def freedom(mover, opponent):  # type: ignore[no-untyped-def]
    """As agents.evaluation.Mobility: my legal moves minus the opponent's."""
    return count(moves(mover, opponent)) - count(moves(opponent, mover))
