"""A position: the discs of both sides, the side to move, and the rules.

>>> position = Position.start()
>>> position.legal_moves()
('d3', 'c4', 'f5', 'e6')
>>> print(position.play("d3"))
  a b c d e f g h
1 . . . . . . . .
2 . . . . . . . .
3 . . * X * . . .
4 . . . X X . . .
5 . . * X O . . .
6 . . . . . . . .
7 . . . . . . . .
8 . . . . . . . .
White (O) to move, X 4, O 1
>>> Position.from_transcript("f5d6c3").to_obf()
'------------------X--------XX------OXX-----O-------------------- O'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Self

import numpy as np

from othello_lab.core import bitboard
from othello_lab.core.drawing import svg
from othello_lab.core.notation import (
    PASS,
    IllegalMove,
    NotationError,
    parse_obf,
    parse_square,
    split_transcript,
    square_name,
)
from othello_lab.core.rules import RULESETS, Color, Ruleset, ruleset
from othello_lab.core.system.compile import Announce, prepare

STANDARD = RULESETS["standard"]
_U = np.uint64


@dataclass(frozen=True, slots=True, repr=False)
class Position:
    """An immutable position; equal positions hash equally.

    mover, opponent: masks of the discs of the side to move and of the other (a1 = bit 0).
    to_move: the colour of the side to move.
    ruleset: the rules it is played by.
    """

    mover: int
    opponent: int
    to_move: Color = Color.BLACK
    ruleset: Ruleset = STANDARD
    _moves: int = field(default=-1, init=False, repr=False, compare=False)  # filled when asked for

    def __post_init__(self) -> None:
        if self.mover & self.opponent:
            both = square_name(bitboard.bits(self.mover & self.opponent)[0])
            raise ValueError(f"{both} has a disc of both colours")
        if (self.mover | self.opponent) & ~self.ruleset.board:
            raise ValueError(f"a disc outside the board of ruleset {self.ruleset.name}")

    # ------------------------------------------------------------------ ways in

    @classmethod
    def start(cls, rules: str | Ruleset = STANDARD) -> Self:
        """The starting position of a ruleset, given by name or as such."""
        rules = ruleset(rules)
        mover, opponent = rules.start
        return cls(mover, opponent, rules.begins, rules)

    @classmethod
    def from_obf(cls, line: str, rules: str | Ruleset = STANDARD) -> Self:
        """Read an OBF line, e.g. ``"---...XO... X"``; raises NotationError naming the bad part."""
        rules = ruleset(rules)
        black, white, black_to_move = parse_obf(line, rules.squares)
        if black_to_move:
            return cls(black, white, Color.BLACK, rules)
        return cls(white, black, Color.WHITE, rules)

    @classmethod
    def from_transcript(cls, text: str, rules: str | Ruleset = STANDARD) -> Self:
        """Return the position after a transcript (``"f5d6c3"``); passes may be left out.

        Raises NotationError with the number of the bad move, the move, and the reason.
        """
        return cls.start(rules).follow(split_transcript(text))[0]

    # ------------------------------------------------------------------ what can be done

    @property
    def legal_mask(self) -> int:
        """Mask of the squares the side to move may play on."""
        if self._moves < 0:
            _set_moves(self, self._moves_of(self.mover, self.opponent))
        return self._moves

    @property
    def moves(self) -> tuple[int, ...]:
        """The legal moves as numbers in the order a1, b1, ... h8; empty where a pass is due."""
        return tuple(bitboard.bits(self.legal_mask))

    def legal_moves(self) -> tuple[str, ...]:
        """The legal moves by name, in the order a1, b1, ... h8."""
        return tuple(square_name(move) for move in self.moves)

    @property
    def must_pass(self) -> bool:
        """True if the side to move has no move but the other side has one."""
        return not self.legal_mask and bool(self._replies())

    @property
    def is_over(self) -> bool:
        """True if neither side can move."""
        return not self.legal_mask and not self._replies()

    def _replies(self) -> int:
        return self._moves_of(self.opponent, self.mover)

    def _moves_of(self, mover: int, opponent: int) -> int:
        return bitboard.LEGAL_MOVES.open(mover, opponent) & self.ruleset.board

    def _flips(self, square: int) -> int:
        return bitboard.FLIPS.open(self.mover, self.opponent, square)

    def other_side(self) -> Self:
        """Return the same discs with the other side to move."""
        return self._after(self.opponent, self.mover)

    def play(self, move: str | int) -> Self:
        """The position after a move, given as a square's name, its number, or a pass.

        Raises IllegalMove saying why: *square occupied*, *traps nothing*, *not a square*, *pass
        while moves exist*, *game over*.
        """
        square = parse_square(move, self.ruleset.side) if isinstance(move, str) else move
        if square == PASS:
            if self.legal_mask:
                raise IllegalMove(f"pass while moves exist ({', '.join(self.legal_moves())})")
            if not self._replies():
                raise IllegalMove("pass: game over")
            return self.other_side()
        if not (0 <= square < 64 and self.legal_mask >> square & 1):
            raise self._refusal(square)
        flipped = self._flips(square)
        return self._after(self.opponent ^ flipped, self.mover | flipped | 1 << square)

    def follow(
        self, words: Iterable[str], colors: Iterable[Color] = ()
    ) -> tuple[Self, tuple[int, ...]]:
        """The position after moves given by name, and the plies that led there: the moves'
        numbers, with the forced passes that were left out.

        colors: who makes each of the moves, where the notation says so.

        Raises NotationError with the number of the bad move, the move, and what is wrong with it.
        """
        position, plies = self, []
        for number, (word, color) in enumerate(zip_longest(words, colors), start=1):
            try:
                move = parse_square(word, self.ruleset.side)
                if move != PASS and position.must_pass:
                    position = position.play(PASS)
                    plies.append(PASS)
                if color not in (None, position.to_move):
                    raise IllegalMove(f"{word}: {position.to_move.value} is to move")
                position = position.play(move)
                plies.append(move)
            except IllegalMove as error:
                raise NotationError(f"move {number} of the transcript: {error}") from None
        return position, tuple(plies)

    def _after(self, mover: int, opponent: int) -> Self:
        """The other side's turn, without a new position's checks, which are half of its cost."""
        position = object.__new__(type(self))
        _set_mover(position, mover)
        _set_opponent(position, opponent)
        _set_to_move(position, self.to_move.other)
        _set_ruleset(position, self.ruleset)
        _set_moves(position, -1)
        return position

    def _refusal(self, square: int) -> IllegalMove:
        if not 0 <= square < 64 or not self.ruleset.board >> square & 1:
            last = square_name(9 * (self.ruleset.side - 1))
            return IllegalMove(f"{square}: not a square (squares are a1 = 0 to {last})")
        name = square_name(square)
        if self.is_over:
            return IllegalMove(f"{name}: game over")
        if (self.mover | self.opponent) >> square & 1:
            return IllegalMove(f"{name}: square occupied")
        return IllegalMove(f"{name}: traps nothing")

    # ------------------------------------------------------------------ what there is to see

    @property
    def black(self) -> int:
        """Mask of the black discs."""
        return self.mover if self.to_move is Color.BLACK else self.opponent

    @property
    def white(self) -> int:
        """Mask of the white discs."""
        return self.opponent if self.to_move is Color.BLACK else self.mover

    @property
    def masks(self) -> tuple[np.uint64, np.uint64]:
        """The discs of mover and opponent as kernels take them."""
        return _U(self.mover), _U(self.opponent)

    @property
    def discs(self) -> int:
        """Number of discs on the board."""
        return (self.mover | self.opponent).bit_count()

    @property
    def empties(self) -> int:
        """Number of empty squares."""
        return self.ruleset.squares - self.discs

    @property
    def disc_difference(self) -> int:
        """Mover's discs minus opponent's, the empty squares going to the winner."""
        mine, theirs = self.mover.bit_count(), self.opponent.bit_count()
        if mine == theirs:
            return 0
        squares = self.ruleset.squares
        return squares - 2 * theirs if mine > theirs else 2 * mine - squares

    def canonical(self) -> Position:
        """The same representative for all positions that differ by a symmetry of the board."""
        forms = bitboard.symmetric_forms(self.mover, self.opponent, self.ruleset.side)
        return Position(*min(forms), self.to_move, self.ruleset)

    def to_obf(self) -> str:
        """The position as an OBF line."""
        black, white, board = self.black, self.white, bitboard.bits(self.ruleset.board)
        letters = ["X" if black >> s & 1 else "O" if white >> s & 1 else "-" for s in board]
        return f"{''.join(letters)} {'X' if self.to_move is Color.BLACK else 'O'}"

    def __repr__(self) -> str:
        rules = "" if self.ruleset is STANDARD else f", {self.ruleset.name!r}"
        return f"Position.from_obf({self.to_obf()!r}{rules})"

    def __str__(self) -> str:
        side, marks = self.ruleset.side, self._marks()
        lines = ["  " + " ".join("abcdefgh"[:side])]
        for row in self._rows():
            lines.append(f"{row + 1} " + " ".join(marks[8 * row + c] for c in range(side)))
        return "\n".join([*lines, self._caption()])

    def _repr_svg_(self) -> str:
        """The board as a notebook shows it."""
        return svg(self.ruleset.side, self._rows(), self._marks(), self._caption())

    def _rows(self) -> Iterable[int]:
        """The rows from the top."""
        rows = range(self.ruleset.side)
        return rows if self.ruleset.first_row_on_top else reversed(rows)

    def _marks(self) -> dict[int, str]:
        """Return the sign of each square: X, O, a legal move ``*``, or a dot."""
        marks = {s: "." for s in bitboard.bits(self.ruleset.board)}
        marks |= dict.fromkeys(bitboard.bits(self.black), "X")
        marks |= dict.fromkeys(bitboard.bits(self.white), "O")
        return marks | dict.fromkeys(bitboard.bits(self.legal_mask), "*")

    def _caption(self) -> str:
        """Return the side to move, and the score, in words."""
        name, letter = ("Black", "X") if self.to_move is Color.BLACK else ("White", "O")
        if self.is_over:
            turn = "game over"
        elif self.must_pass:
            turn = f"{name} ({letter}) must pass"
        else:
            turn = f"{name} ({letter}) to move"
        return f"{turn}, X {self.black.bit_count()}, O {self.white.bit_count()}"


# Slots can be written directly; object.__setattr__, the usual way around a frozen dataclass, looks
# each one up by name.
_set_mover, _set_opponent, _set_to_move, _set_ruleset, _set_moves = (
    Position.__dict__[name].__set__ for name in Position.__slots__
)


def prepare_rules(announce: Announce | None = None) -> None:
    """Compile the rules before they are timed, or before workers fork."""
    prepare("rules", lambda: Position.start().play("d3").moves, announce)
