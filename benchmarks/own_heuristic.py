"""A user's heuristic with the body of a built-in one, to compare their costs."""

from othello_lab.agents.evaluation import heuristic
from othello_lab.agents.evaluation.helpers import count, moves


@heuristic
def freedom(mover, opponent):  # type: ignore[no-untyped-def]
    """Return my legal moves minus the opponent's, as othello_lab.agents.evaluation.Mobility."""
    return count(moves(mover, opponent)) - count(moves(opponent, mover))
