"""A student's alpha-beta with a function for each side, which states no counts; right. The tests
write mistakes into it."""

from __future__ import annotations

from othello_lab import PASS, Agent, Decision

INFINITY = 10**12


class Student(Agent):
    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation

    def decide(self, position, limits):
        self.me = position.to_move
        best_move, best = None, -INFINITY
        for move in position.moves:
            value = self.worst(position.play(move), self.depth - 1, best, INFINITY)
            if value > best:
                best_move, best = move, value
        return Decision(best_move, best)

    def best(self, position, depth, alpha, beta):
        if position.is_over or depth == 0:
            return self.leaf(position)
        if position.must_pass:
            return self.worst(position.play(PASS), depth - 1, alpha, beta)
        for move in position.moves:
            alpha = max(alpha, self.worst(position.play(move), depth - 1, alpha, beta))
            if alpha >= beta:
                return beta
        return alpha

    def worst(self, position, depth, alpha, beta):
        if position.is_over or depth == 0:
            return self.leaf(position)
        if position.must_pass:
            return self.best(position.play(PASS), depth - 1, alpha, beta)
        for move in position.moves:
            beta = min(beta, self.best(position.play(move), depth - 1, alpha, beta))
            if alpha >= beta:
                return alpha
        return beta

    def leaf(self, position):
        sign = 1 if position.to_move is self.me else -1
        if position.is_over:
            difference = position.disc_difference
            return sign * 10**6 * ((difference > 0) - (difference < 0))
        return sign * self.evaluation(position)
