"""Checks of recorded games by the rules alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from othello_lab.core import notation
from othello_lab.core.game import (
    DIED,
    END_REASONS,
    FINISHED,
    GARBAGE,
    HUNG,
    ILLEGAL,
    IN_TIME,
    LATE,
    LATE_BY_WALL,
    TOO_LATE,
)
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.experiments.record.store import TOTALS, GameRow, seat_totals
from othello_lab.experiments.record.turns import COUNTS, TIMES

TRANSCRIPTS, RESULTS, MOVES, COUNTED = "transcripts", "results", "moves", "counts"
Kind = type[Position]
_POINTS = {"black": 1.0, "white": 0.0, "draw": 0.5}


def flaws(
    game: GameRow, rows: Sequence[Any] | None, rules: Ruleset, kind: type[Position] = Position
) -> Iterator[tuple[str, str]]:
    """Yield the errors in a game and its moves: which check found it, and a line.

    rows: its MoveRows in order; None if moves are not recorded. kind: knows the rules.
    """
    try:
        position, moves = _after_opening(game.opening, rules, kind)
        position, turns = _played(position, moves, game.transcript)
    except ValueError as error:
        yield TRANSCRIPTS, str(error)
        return
    made = [row for row in rows or () if row.late != TOO_LATE]
    if position.must_pass and len(made) > len(turns) and made[len(turns)].square == notation.PASS:
        # The transcript leaves passes out; this one was the last turn before a forfeit.
        turns.append((notation.PASS, position.to_move))
        position = position.play(notation.PASS)
    for name, due in _due_result(game, position).items():
        if getattr(game, name) != due:
            yield RESULTS, f"{name} is {getattr(game, name)!r}; by the last board: {due!r}"
    if rows is None:
        return
    seats = {Color.BLACK: game.black, Color.WHITE: game.white}
    first = len(moves) + 1
    wanted = [(ply, seats[color], square) for ply, (square, color) in enumerate(turns, first)]
    for row, move in zip_longest([(row.ply, row.agent, row.square) for row in made], wanted):
        if row != move:
            yield MOVES, f"ply, agent, square: {row} is recorded; by the transcript it is {move}"
            break
    late = [(row.ply, row.agent) for row in rows if row.late == TOO_LATE]
    last = [(first + len(turns), seats[position.to_move])]
    if late and (game.end_reason != LATE or late != last):
        yield MOVES, "a move that came too late is not the last, of a game lost by it"
    for row in rows:
        for said in _wrong_counts(row, game.end_reason in (HUNG, DIED)):
            yield COUNTED, f"ply {row.ply}: {said}"
    for color, totals in zip(seats, seat_totals(rows, tuple(seats.values())), strict=True):
        for name, total in zip(TOTALS, totals, strict=True):
            said = getattr(game, f"{color.value}_{name}")
            if said != total:
                yield COUNTED, f"{color.value}_{name} is {said}, {total} added up"


def _after_opening(text: str, rules: Ruleset, kind: Kind) -> tuple[Position, Sequence[int]]:
    """Return the position after an opening in the record, and the opening's moves; ValueError."""
    if notation.is_obf(text):
        return kind.from_obf(text, rules), ()
    return kind.start(rules).follow(notation.split_transcript(text))


def _played(
    position: Position, opening: Sequence[int], transcript: str
) -> tuple[Position, list[tuple[int, Color]]]:
    """Return the last position of a game, and the turns after its opening; ValueError."""
    words = notation.split_transcript(transcript)
    opened = [notation.square_name(move) for move in opening if move != notation.PASS]
    if [word.lower() for word in words[: len(opened)]] != opened:
        raise notation.NotationError("the transcript does not begin with the opening")
    turns: list[tuple[int, Color]] = []
    for number, word in enumerate(words[len(opened) :], start=len(opened) + 1):
        try:
            move = notation.parse_square(word, position.ruleset.side)
            passes = position.must_pass and move != notation.PASS
            for square in (notation.PASS, move) if passes else (move,):
                turns.append((square, position.to_move))
                position = position.play(square)
        except ValueError as error:
            raise notation.NotationError(f"move {number} of the transcript: {error}") from None
    return position, turns


def _due_result(game: GameRow, position: Position) -> dict[str, Any]:
    """Return what the columns of a game's result have to be, by its last position."""
    to_move = position.to_move
    due: dict[str, Any] = {
        "black_discs": position.black.bit_count(),
        "white_discs": position.white.bit_count(),
        "black_points": _POINTS.get(game.result, "of black, white or draw"),
    }
    if game.end_reason == FINISHED and position.is_over:
        discs = position.disc_difference * (1 if to_move is Color.BLACK else -1)
        result = "black" if discs > 0 else "white" if discs < 0 else "draw"
        return due | {"result": result, "disc_difference": discs, "detail": ""}
    if game.end_reason not in END_REASONS[1:]:
        return due | {"end_reason": "finished" if position.is_over else f"{to_move.value} to move"}
    if game.end_reason in (ILLEGAL, GARBAGE, LATE):  # only who is to move can lose by these
        due["result"] = "as if played to the end" if position.is_over else to_move.other.value
    elif game.result == "draw":
        due["result"] = "no draw, as it was forfeited"
    return due | {"disc_difference": None}


def _wrong_counts(row: Any, cut_short: bool) -> Iterator[str]:
    """Yield errors in the costs of a move; cut_short: an agent hung or died in its game."""
    if row.nodes is None:
        if row.square != notation.PASS and not cut_short:
            yield "a move without counts"
        return
    amounts = {name: getattr(row, name) for name in (*COUNTS, *TIMES)}
    if row.square == notation.PASS:
        yield "a forced pass, which is nobody's decision, with counts"
    yield from (f"{name} is {value}" for name, value in amounts.items() if value < 0)
    if row.late not in (IN_TIME, LATE_BY_WALL, TOO_LATE):
        yield f"late is {row.late}; 0, 1 or 2 is needed"
    bounds = [("waited_nanoseconds", "nanoseconds")]
    if row.nodes:  # agents that count no nodes are free
        bounds += [("leaves", "nodes"), ("cutoffs", "nodes"), ("first_move_cutoffs", "cutoffs")]
    for less, more in bounds:
        if amounts[less] > amounts[more]:
            yield f"{amounts[less]} {less}, but {amounts[more]} {more}"
