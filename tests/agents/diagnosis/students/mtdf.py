"""A student's MTD(f), with a table of two bounds; right. The tests write mistakes into it."""

from __future__ import annotations

from othello_lab import PASS, Agent, Decision

INFINITY = 10**12
WON = 10**6


class Student(Agent):
    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation

    def decide(self, position, limits):
        guess = 0
        self.table = {}
        for depth in range(1, self.depth + 1):
            lower, upper = -INFINITY, INFINITY
            while lower < upper:
                beta = max(guess, lower + 1)
                guess, move = self.search(position, depth, beta - 1, beta)
                if guess < beta:
                    upper = guess
                else:
                    lower, best = guess, move
        return Decision(best, guess)

    def search(self, position, depth, alpha, beta):
        if position.is_over:
            return WON * position.disc_difference, None
        if depth == 0:
            return self.evaluation(position), None
        key = position, depth
        lower, upper, first = self.table.get(key, (-INFINITY, INFINITY, None))
        if lower >= beta or lower == upper:
            return lower, first
        if upper <= alpha:
            return upper, first
        best, best_move = -INFINITY, None
        for move in sorted(position.moves or (PASS,), key=lambda move: move != first):
            value = -self.search(position.play(move), depth - 1, -beta, -max(alpha, best))[0]
            if value > best:
                best, best_move = value, move
            if best >= beta:
                break
        if best >= beta:
            lower = best
        else:
            upper = best
        self.table[key] = lower, upper, best_move
        return best, best_move
