"""A student's alpha-beta on one board that each move changes and takes back, without negamax;
right. It draws among equal moves. The tests write mistakes into it."""

from __future__ import annotations

from othello_lab import Agent, Color, Decision, Position

INFINITY = 10**12
WON = 10**6
LINES = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


class Board:
    def __init__(self, position):
        self.squares = [None] * 64
        for square in range(64):
            if position.black >> square & 1:
                self.squares[square] = Color.BLACK
            if position.white >> square & 1:
                self.squares[square] = Color.WHITE

    def turned(self, square, side):
        found = []
        if self.squares[square]:
            return found
        for x, y in LINES:
            column, row, line = square % 8 + x, square // 8 + y, []
            while 0 <= column < 8 and 0 <= row < 8:
                there = self.squares[8 * row + column]
                if there is side:
                    found += line
                if there is not side.other:
                    break
                line.append(8 * row + column)
                column, row = column + x, row + y
        return found

    def moves(self, side):
        return [square for square in range(64) if self.turned(square, side)]

    def put(self, square, side):
        turned = self.turned(square, side)
        for each in [square, *turned]:
            self.squares[each] = side
        return turned

    def take_back(self, square, turned, side):
        self.squares[square] = None
        for each in turned:
            self.squares[each] = side.other

    def count(self, side):
        return sum(1 << square for square in range(64) if self.squares[square] is side)


class Student(Agent):
    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation

    def decide(self, position, limits):
        self.board, self.me = Board(position), position.to_move
        values = {}
        for move in self.board.moves(self.me):
            turned = self.board.put(move, self.me)
            values[move] = self.value(self.me.other, self.depth - 1, -INFINITY, INFINITY)
            self.board.take_back(move, turned, self.me)
        best = max(values.values())
        equal = [move for move in values if values[move] == best]
        return Decision(int(self.rng.choice(equal)), best)

    def value(self, side, depth, alpha, beta):
        moves = self.board.moves(side)
        if not moves and not self.board.moves(side.other):
            mine = sum(square is self.me for square in self.board.squares)
            others = sum(square is self.me.other for square in self.board.squares)
            return WON * (mine - others)
        if depth == 0:
            return self.leaf(side)
        if not moves:
            return self.value(side.other, depth - 1, alpha, beta)
        for move in moves:
            turned = self.board.put(move, side)
            value = self.value(side.other, depth - 1, alpha, beta)
            self.board.take_back(move, turned, side)
            if side is self.me:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            if alpha >= beta:
                break
        return alpha if side is self.me else beta

    def leaf(self, side):
        mine, others = self.board.count(self.me), self.board.count(self.me.other)
        return self.evaluation(Position(mine, others, self.me))
