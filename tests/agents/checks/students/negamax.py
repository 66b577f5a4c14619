"""A student's alpha-beta, as negamax; right. The tests write mistakes into it."""

from __future__ import annotations

from othello_lab import PASS, Agent, Decision, SearchStats

INFINITY = 10**12
WON = 10**6


class Student(Agent):
    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation
        self.table = {}

    def decide(self, position, limits):
        self.nodes = 1
        self.cost = 0
        best_move, best = None, -INFINITY
        alpha, beta = -INFINITY, INFINITY
        moves = self.ordered(position)
        for move in moves:
            value = -self.search(position.play(move), self.depth - 1, -beta, -alpha)
            if value > best:
                best_move, best = move, value
            alpha = max(alpha, best)
        stats = SearchStats(nodes=self.nodes, evaluations=self.cost)
        return Decision(best_move, best, depth=self.depth, stats=stats)

    def ordered(self, position):
        return list(position.moves)

    def search(self, position, depth, alpha, beta):
        self.nodes += 1
        if position.is_over:
            return WON * position.disc_difference
        if depth == 0:
            return self.evaluate(position)
        if not position.moves:
            return -self.search(position.play(PASS), depth - 1, -beta, -alpha)
        best = -INFINITY
        for move in self.ordered(position):
            value = -self.search(position.play(move), depth - 1, -beta, -alpha)
            best = max(best, value)
            alpha = max(alpha, value)
            if alpha >= beta:
                break
        return best

    def evaluate(self, position):
        self.cost += 1
        return self.evaluation(position)
