"""Checks of a recorded game by the rules alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
    RESIGNED,
    TOO_LATE,
)
from othello_lab.core.notation import (
    PASS,
    NotationError,
    is_obf,
    parse_square,
    split_transcript,
    square_name,
)
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.experiments.record.store import COUNTS, TIMES, TOTALS, GameRow, seat_totals

TRANSCRIPTS, RESULTS, MOVES, COUNTED = "transcripts", "results", "moves", "counts"

Finding = tuple[str, str]
"""Which check found it, and what is wrong, in a line."""

_BY_THE_MOVER = (RESIGNED, ILLEGAL, GARBAGE, LATE)  # only who is to move can lose by these


def flaws(
    game: GameRow,
    rows: Sequence[Any] | None,
    rules: Ruleset,
    kind: type[Position] = Position,
) -> Iterator[Finding]:
    """Yield the errors in a game and its moves.

    rows: its MoveRows in order; None if moves are not recorded. kind: knows the rules.
    """
    try:
        opened, moves = after_opening(game.opening, rules, kind)
        position, turns = _played(opened, moves, game.transcript)
    except ValueError as error:
        yield TRANSCRIPTS, f"game {game.game}: {error}"
        return
    made = [row for row in rows or () if row.late != TOO_LATE]
    if position.must_pass and len(made) > len(turns) and made[len(turns)].square == PASS:
        # The transcript leaves passes out; this one was the last turn before a forfeit.
        turns.append((PASS, position.to_move))
        position = position.play(PASS)
    for said in _wrong_result(game, position):
        yield RESULTS, f"game {game.game}: {said}"
    if rows is None:
        return
    seats = {Color.BLACK: game.black, Color.WHITE: game.white}
    first = len(moves) + 1
    wanted = [(ply, seats[color], square) for ply, (square, color) in enumerate(turns, start=first)]
    for said in _wrong_moves(made, wanted):
        yield MOVES, f"game {game.game}: {said}"
    for row in rows:
        for said in _wrong_counts(row, game.end_reason in (HUNG, DIED)):
            yield COUNTED, f"game {game.game}, ply {row.ply}: {said}"
    for color, totals in zip(seats, seat_totals(rows, tuple(seats.values())), strict=True):
        for name, total in zip(TOTALS, totals, strict=True):
            said = getattr(game, f"{color.value}_{name}")
            if said != total:
                yield (
                    COUNTED,
                    f"game {game.game}: {color.value}_{name} is {said}, {total} added up",
                )
    late = [(row.ply, row.agent) for row in rows if row.late == TOO_LATE]
    if late and (
        game.end_reason != LATE or late != [(first + len(turns), seats[position.to_move])]
    ):
        yield (
            MOVES,
            f"game {game.game}: a move that came too late is not the last, of a game lost by it",
        )


def after_opening(
    text: str, rules: Ruleset, kind: type[Position]
) -> tuple[Position, Sequence[int]]:
    """Return the position after an opening in the record, and the opening's moves; ValueError."""
    if is_obf(text):
        return kind.from_obf(text, rules), ()
    return kind.start(rules).follow(split_transcript(text))


def _played(
    position: Position, opening: Sequence[int], transcript: str
) -> tuple[Position, list[tuple[int, Color]]]:
    """Return the last position of a game, and the turns after its opening; ValueError.

    position: that after the opening.
    """
    words = split_transcript(transcript)
    opened = [square_name(move) for move in opening if move != PASS]
    if [word.lower() for word in words[: len(opened)]] != opened:
        raise NotationError("the transcript does not begin with the opening")
    turns: list[tuple[int, Color]] = []
    for number, word in enumerate(words[len(opened) :], start=len(opened) + 1):
        try:
            move = parse_square(word, position.ruleset.side)
            if position.must_pass and move != PASS:
                turns.append((PASS, position.to_move))
                position = position.play(PASS)
            turns.append((move, position.to_move))
            position = position.play(move)
        except ValueError as error:
            raise NotationError(f"move {number} of the transcript: {error}") from None
    return position, turns


def _wrong_result(game: GameRow, position: Position) -> Iterator[str]:
    """Yield the errors in a game's result, given its last position."""
    black, white = position.black.bit_count(), position.white.bit_count()
    if (game.black_discs, game.white_discs) != (black, white):
        said = f"{game.black_discs}-{game.white_discs}"
        yield f"{said} discs are recorded, {black}-{white} are on the last board"
    points = {"black": 1.0, "white": 0.0, "draw": 0.5}.get(game.result)
    if points is None:
        yield f"result {game.result!r}: black, white or draw is needed"
    elif game.black_points != points:
        yield f"{game.black_points:g} points for Black, whose result is {points:g}"
    if game.end_reason == FINISHED:
        if game.detail:
            yield "it was finished, but has a forfeit's reason"
        yield from _wrong_end(game, position)
    elif game.end_reason not in END_REASONS:
        yield f"end reason {game.end_reason!r}: one of {', '.join(END_REASONS)} is needed"
    else:
        if game.result == "draw" or game.disc_difference is not None:
            yield f"unfinished ({game.end_reason}), and yet a draw or with a disc difference"
        if game.end_reason in _BY_THE_MOVER:
            winner = position.to_move.other.value
            if position.is_over or game.result != winner:
                yield f"{game.end_reason}: only {winner} can have won here, not {game.result}"


def _wrong_end(game: GameRow, position: Position) -> Iterator[str]:
    if not position.is_over:
        yield f"finished, but {position.to_move.value} is to move after the last move"
        return
    difference = position.disc_difference * (1 if position.to_move is Color.BLACK else -1)
    result = "black" if difference > 0 else "white" if difference < 0 else "draw"
    if game.result != result or game.disc_difference != difference:
        said = f"{game.result} by {game.disc_difference}"
        yield f"{said} is recorded; on the last board it is {result} by {difference}"


def _wrong_moves(rows: Sequence[Any], wanted: Sequence[tuple[int, int, int]]) -> Iterator[str]:
    """Yield differences of moves from the transcript: ply, agent and square of each."""
    found = [(row.ply, row.agent, row.square) for row in rows]
    if found == wanted:
        return
    if len(found) != len(wanted):
        yield f"{len(found)} moves are recorded, {len(wanted)} are in the transcript"
        return
    for (ply, agent, square), (due, mover, played) in zip(found, wanted, strict=True):
        if (ply, agent, square) != (due, mover, played):
            yield (
                f"ply {ply}: agent {agent} on square {square} is recorded; in the transcript ply "
                f"{due} is agent {mover} on {played}"
            )
            return


_AT_MOST = {
    "leaves": "nodes",
    "cutoffs": "nodes",
    "first_move_cutoffs": "cutoffs",
}
"""Of what an agent counts, what cannot be more than what. Agents that count no nodes are free."""


def _wrong_counts(row: Any, cut_short: bool) -> Iterator[str]:
    """Yield the errors in the costs of a move. cut_short: True if an agent hung or died in its
    game."""
    about: Mapping[str, Any] = row._asdict()
    unsaid = [name for name in (*COUNTS, *TIMES) if about[name] is None]
    if unsaid and len(unsaid) < len(COUNTS) + len(TIMES):
        yield f"{', '.join(unsaid)} missing"
    elif unsaid and row.square != PASS and not cut_short:
        yield "a move without counts"
    elif not unsaid and row.square == PASS:
        yield "a forced pass, which is nobody's decision, with counts"
    if unsaid:
        return
    for name in (*COUNTS, *TIMES):
        if about[name] < 0:
            yield f"{name} is {about[name]}"
    if row.late not in (IN_TIME, LATE_BY_WALL, TOO_LATE):
        yield f"late is {row.late}; 0, 1 or 2 is needed"
    if row.waited_nanoseconds > row.nanoseconds:
        yield f"of {row.nanoseconds} nanoseconds, {row.waited_nanoseconds} were waited"
    for less, more in _AT_MOST.items():
        if about["nodes"] and about[less] > about[more]:
            yield f"{about[less]} {less}, but {about[more]} {more}"
