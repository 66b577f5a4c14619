"""An agent of the lab: alpha-beta, two plies deep, over the number of moves and the corners."""

from othello_lab import PASS, Agent, Decision
from othello_lab.agents.evaluation.helpers import CORNERS, count

INFINITY = 10**9


def freedom(position):
    """Return the worth of a position to its mover."""
    corners = count(position.mover & CORNERS) - count(position.opponent & CORNERS)
    return 10 * corners + len(position.moves)


class Carla(Agent):
    """Alpha-beta search."""

    def __init__(self, depth=2, evaluation=freedom):
        self.depth, self.evaluation = depth, evaluation

    def decide(self, position, limits):
        best, alpha = None, -INFINITY
        for move in position.moves:
            value = -self.value(position.play(move), self.depth - 1, -INFINITY, -alpha)
            if value > alpha:
                best, alpha = move, value
        return Decision(best, alpha)

    def value(self, position, depth, alpha, beta):
        """Return the worth of a position to its mover, exact between alpha and beta."""
        if position.is_over:
            return 10**7 * position.disc_difference
        if depth == 0:
            return self.evaluation(position)
        for move in position.moves or [PASS]:
            alpha = max(alpha, -self.value(position.play(move), depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha
