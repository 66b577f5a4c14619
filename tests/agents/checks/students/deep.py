"""A student's search on a board of its own, with what a strong program has: iterative deepening,
aspiration windows, principal variation search, killers and a table; right. The tests write mistakes
into it."""

from __future__ import annotations

from othello_lab import Agent, Decision, Position

INFINITY = 10**12
WON = 10**6
WIDTH = 40
EXACT, LOWER, UPPER = range(3)
STEPS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def flips(mover, opponent, square):
    turned = 0
    for across, down in STEPS:
        x, y, line = square % 8 + across, square // 8 + down, 0
        while 0 <= x < 8 and 0 <= y < 8 and opponent >> 8 * y + x & 1:
            line |= 1 << 8 * y + x
            x, y = x + across, y + down
        if 0 <= x < 8 and 0 <= y < 8 and mover >> 8 * y + x & 1:
            turned |= line
    return turned


def is_legal(mover, opponent, square):
    return not (mover | opponent) >> square & 1 and flips(mover, opponent, square) > 0


def legal(mover, opponent):
    return [square for square in range(64) if is_legal(mover, opponent, square)]


def play(mover, opponent, square):
    turned = flips(mover, opponent, square)
    return opponent & ~turned, mover | turned | 1 << square


class Student(Agent):
    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation

    def decide(self, position, limits):
        self.table, self.killers, self.nodes = {}, {}, 0
        self.sides = position.to_move, position.to_move.other
        board = position.mover, position.opponent
        best = 0
        for depth in range(1, self.depth + 1):
            alpha, beta = -INFINITY, INFINITY
            if depth > 1:
                alpha, beta = best - WIDTH, best + WIDTH
            best = self.search(board, depth, 0, alpha, beta)
            if best <= alpha or best >= beta:
                best = self.search(board, depth, 0, -INFINITY, INFINITY)
        return Decision(self.move, best)

    def search(self, board, depth, ply, alpha, beta):
        self.nodes += 1
        mover, opponent = board
        moves = legal(mover, opponent)
        if not moves and not legal(opponent, mover):
            difference = mover.bit_count() - opponent.bit_count()
            return WON * difference
        if depth == 0:
            return self.evaluate(board, ply)
        key = mover, opponent
        stored = self.table.get(key)
        if stored and stored[0] == depth and ply:
            _, kind, value, _ = stored
            if kind == EXACT or (kind == LOWER and value >= beta):
                return value
            if kind == UPPER and value <= alpha:
                return value
        if not moves:
            value = -self.search((opponent, mover), depth - 1, ply + 1, -beta, -alpha)
            kind = UPPER if value <= alpha else LOWER if value >= beta else EXACT
            self.table[key] = depth, kind, value, None
            return value
        first = [stored[3]] if stored and stored[3] in moves else []
        killer = self.killers.get(ply)
        if killer is not None and is_legal(mover, opponent, killer):
            first.append(killer)
        moves = list(dict.fromkeys(first + moves))
        best, best_move, low = -INFINITY, None, alpha
        for number, move in enumerate(moves):
            child = play(mover, opponent, move)
            if number == 0:
                value = -self.search(child, depth - 1, ply + 1, -beta, -alpha)
            else:
                value = -self.search(child, depth - 1, ply + 1, -alpha - 1, -alpha)
                if alpha < value < beta:
                    value = -self.search(child, depth - 1, ply + 1, -beta, -value)
            if value > best:
                best, best_move = value, move
            alpha = max(alpha, value)
            if alpha >= beta:
                self.killers[ply] = move
                break
        kind = UPPER if best <= low else LOWER if best >= beta else EXACT
        self.table[key] = depth, kind, best, best_move
        if ply == 0:
            self.move = best_move
        return best

    def evaluate(self, board, ply):
        return self.evaluation(Position(*board, self.sides[ply % 2]))
