"""The compiled kernels against the oracle's slow rules, and the small functions on masks."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import oracle
import pytest
from boards import masks, seeds
from hypothesis import given, settings

from othello_lab import PASS, RULESETS, Color, IllegalMove, Position
from othello_lab.core import bitboard, vector
from othello_lab.core.plain_position import PlainPosition

U = np.uint64
COLORS = {oracle.BLACK: Color.BLACK, oracle.WHITE: Color.WHITE}
FORMS: dict[str, tuple[Any, Any]] = {
    "plain": (bitboard.plain_legal_moves, bitboard.plain_flips),
}
ADVANCES: dict[str, Any] = {"plain": bitboard.plain_advance}
SHORT_MOVES: dict[str, Any] = {"plain": bitboard.plain_has_short_move}
NTH_BITS: dict[str, Any] = {"plain": bitboard.plain_nth_bit, "chosen": bitboard.nth_bit}
if bitboard.VECTORISED:
    FORMS["vector"] = (bitboard.vector_legal_moves, bitboard.vector_flips)
    ADVANCES["vector"] = bitboard.vector_advance
    SHORT_MOVES["vector"] = bitboard.vector_has_short_move


def seen(board: oracle.Board, colour: str) -> str:
    """The position, for the message of a failed assertion."""
    return f"{colour} to move on\n{oracle.draw(board)}"


def check_kernels(board: oracle.Board, colour: str) -> list[int]:
    """Every form gives the oracle's legal moves, and its flips on every empty square (0 where
    the move is illegal). Returns the legal moves."""
    mover, opponent = oracle.masks(board, colour)
    whole_board = oracle.mask(oracle.squares(board))
    turned = {
        square: oracle.mask(oracle.flips(board, colour, square))
        for square in oracle.squares(board)
        if oracle.at(board, square) == oracle.EMPTY
    }
    legal = [square for square, discs in turned.items() if discs]
    for form, (legal_moves, flips) in FORMS.items():
        result = int(legal_moves(U(mover), U(opponent))) & whole_board
        assert result == oracle.mask(legal), f"{form} legal_moves, {seen(board, colour)}"
        for square, discs in turned.items():
            result = int(flips(U(mover), U(opponent), U(square)))
            assert result == discs, f"{form} flips, {oracle.name(square)}, {seen(board, colour)}"
    return legal


def check_score(board: oracle.Board, colour: str) -> None:
    """The kernel gives the empty squares to the winner, as the oracle does."""
    mover, opponent = oracle.masks(board, colour)
    result = bitboard.disc_difference(U(mover), U(opponent), np.int64(len(board) ** 2))
    assert result == oracle.score(board, colour), seen(board, colour)


def check_game(name: str, seed: int) -> None:
    """Kernels, Position, and the one by plain rules agree with the oracle on every position of one
    random game."""
    rules = RULESETS[name]
    position = Position.start(name)
    for board, colour, move in oracle.random_game(name, seed):
        expected = Position(*oracle.masks(board, colour), COLORS[colour], rules)
        assert position == expected, f"{seen(board, colour)}\nnot\n{position}"
        legal = check_kernels(board, colour)
        over = not legal and oracle.is_over(board)
        assert position.moves == tuple(legal), seen(board, colour)
        assert position.is_over == over, seen(board, colour)
        assert position.must_pass == (not legal and not over), seen(board, colour)
        assert position.disc_difference == oracle.score(board, colour), seen(board, colour)
        check_score(board, colour)
        assert position.empties == oracle.count(board, oracle.EMPTY), seen(board, colour)
        assert position.discs == rules.squares - position.empties, seen(board, colour)
        plain = PlainPosition.of(position)
        assert (plain.must_pass, plain.is_over) == (position.must_pass, over), position
        for side, other in ((plain, position), (plain.other_side(), position.other_side())):
            assert side.legal_mask == other.legal_mask, position
        for square in {*range(PASS + 1)} - {*position.moves, *[PASS] * position.must_pass}:
            with pytest.raises(IllegalMove):
                plain.play(square)
        if not over:
            square = PASS if move is None else move
            position = position.play(square)
            assert PlainPosition.of(position) == plain.play(square)


@pytest.mark.parametrize("name", RULESETS)
@settings(max_examples=6)
@given(seed=seeds)
def test_every_position_of_random_games_agrees_with_the_oracle(name: str, seed: int) -> None:
    check_game(name, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("name", RULESETS)
@settings(max_examples=100)
@given(seed=seeds)
def test_hundreds_of_random_games_agree_with_the_oracle(name: str, seed: int) -> None:
    check_game(name, seed)


@pytest.mark.parametrize("side", [4, 6, 8])
@settings(max_examples=15)
@given(seed=seeds)
def test_boards_that_no_game_reaches_agree_with_the_oracle(side: int, seed: int) -> None:
    board = oracle.random_board(side, seed)
    for colour in (oracle.BLACK, oracle.WHITE):
        check_kernels(board, colour)
        check_score(board, colour)


@pytest.mark.skipif(not bitboard.VECTORISED, reason="this process has no vector kernels")
@settings(max_examples=250)
@given(filled=masks, mine=masks)
def test_vector_and_plain_kernels_agree_on_any_masks(filled: int, mine: int) -> None:
    mover, opponent = U(filled & mine), U(filled & ~mine)
    pair = f"mover {mover:#x}, opponent {opponent:#x}"
    moves = bitboard.plain_legal_moves(mover, opponent)
    assert bitboard.vector_legal_moves(mover, opponent) == moves, pair
    for square in bitboard.bits(~filled & 2**64 - 1):
        plain = bitboard.plain_flips(mover, opponent, U(square))
        vectorised = bitboard.vector_flips(mover, opponent, U(square))
        assert vectorised == plain, f"{oracle.name(square)}, {pair}"


@settings(max_examples=100)
@given(filled=masks, mine=masks)
def test_advancing_is_a_move_and_a_look_at_the_next_moves(filled: int, mine: int) -> None:
    mover, opponent = U(filled & mine), U(filled & ~mine)
    for square in bitboard.bits(int(bitboard.plain_legal_moves(mover, opponent))):
        expected = bitboard.after(mover, opponent, U(square))
        moves = bitboard.plain_legal_moves(*map(U, expected))
        for form, advance in ADVANCES.items():
            result = advance(mover, opponent, U(1 << square))
            pair = f"mover {mover:#x}, opponent {opponent:#x}"
            assert result == (*expected, moves), f"{form}, {oracle.name(square)}, {pair}"


@settings(max_examples=100)
@given(filled=masks, mine=masks, board=masks)
def test_a_short_move_turns_one_disc_alone_in_a_direction(
    filled: int, mine: int, board: int
) -> None:
    mover, opponent = filled & mine, filled & ~mine
    expected = any(
        opponent >> between & 1 and mover >> end & 1
        for square in bitboard.bits(board & ~filled)
        for between in bitboard.around(square)
        for end in bitboard.around(between)
        if end - between == between - square
    )
    for form, has_short_move in SHORT_MOVES.items():
        result = has_short_move(U(mover), U(opponent), U(board))
        assert result == expected, f"{form}, mover {mover:#x}, opponent {opponent:#x}"


def test_the_chosen_kernels_are_vector_code_exactly_where_that_is_said() -> None:
    kind = "vector" if bitboard.VECTORISED else "plain"
    for name in ("legal_moves", "has_short_move", "flips", "advance"):
        assert getattr(bitboard, name) is getattr(bitboard, f"{kind}_{name}")


@numba.njit
def counts(mask: Any) -> tuple[int, int, int]:
    lowest = vector.lowest_square(mask)
    return vector.popcount(mask), lowest, vector.highest_bit(mask)


@given(mask=masks.filter(bool))
def test_bit_counting_is_what_python_counts(mask: int) -> None:
    squares = [square for square in range(64) if mask >> square & 1]
    assert bitboard.bits(mask) == squares
    result = [int(count) for count in counts(U(mask))]
    assert result == [len(squares), squares[0], 1 << squares[-1]]
    assert bitboard.bits(0) == []
    assert counts(U(0))[::2] == (0, 0)


@pytest.mark.parametrize("form", NTH_BITS)
@given(mask=masks.filter(bool))
def test_the_nth_bit_of_a_mask(form: str, mask: int) -> None:
    result = [int(NTH_BITS[form](U(mask), U(n))) for n in range(mask.bit_count())]
    assert result == [1 << square for square in bitboard.bits(mask)]


@given(mask=masks)
def test_symmetries_move_every_square_where_they_say(mask: int) -> None:
    def moved(new_place: Any) -> int:
        return oracle.mask({new_place(square % 8, square // 8) for square in bitboard.bits(mask)})

    assert bitboard.mirror(mask) == moved(lambda column, row: 8 * row + 7 - column)
    assert bitboard.transpose(mask) == moved(lambda column, row: 8 * column + row)


# ------------------------------------------------------------------ positions by plain rules


def test_transcripts_and_lines_make_positions_by_plain_rules() -> None:
    position = PlainPosition.from_transcript("f5d6c3")
    assert isinstance(position, PlainPosition)
    assert isinstance(position.play("d3"), PlainPosition)
    line = position.to_obf()
    assert PlainPosition.from_obf(line) == position != Position.from_obf(line)
