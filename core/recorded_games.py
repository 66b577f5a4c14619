"""Whole games between two compiled players, written down in compiled code as a record keeps them.

A kernel plays a game (:mod:`core.whole_games`), sums up its turns, and writes its text while the
turns are still in the processor's cache: the transcript, and the turns as a JSON list of lists,
each with the columns ply, agent, square, value, depth, nanoseconds, processor's nanoseconds and the
counters of :class:`core.game.SearchStats`. A forced pass has the first three columns. Counters
after the first are left out where they are 0 all through the game.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from othello_lab.core.bitboard import ZERO
from othello_lab.core.game import SearchStats
from othello_lab.core.lines import follow_line
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.rules import RULESETS, Ruleset
from othello_lab.core.system.compile import Address, Announce, Array, Int, Mask, kernel, prepare
from othello_lab.core.vector import load, popcount, put_byte, put_word, store
from othello_lab.core.whole_games import (
    ANSWER,
    COLOR,
    COUNTERS,
    COUNTS,
    CPU,
    DEPTH,
    END,
    GAME,
    JUDGED,
    LAST_MOVER,
    LAST_OPPONENT,
    LAST_TO_MOVE,
    MOST_TURNS,
    MOVER,
    OPPONENT,
    SCRATCH,
    SQUARE,
    TO_MOVE,
    TURN,
    VALUE,
    WALL,
    WATCH,
    CompiledPlayer,
    is_to_stop,
    play_game,
)

# ---------------------------------------------------------------------- the table

# A recorded game: a row of RECORDED numbers, the first GAME as core.whole_games has them. MOVER,
# OPPONENT and TO_MOVE are the position before the opening; the kernel makes the opening's moves.
BLACK_AGENT, WHITE_AGENT, LINE, LINE_END = (np.int64(GAME + place) for place in range(4))
"""BLACK_AGENT, WHITE_AGENT: their numbers in the text. LINE, LINE_END: the moves of the opening, by
their places among the moves of all openings. The kernel reads these and writes the others."""
RESULT, DIFFERENCE, BLACK_DISCS, WHITE_DISCS = (np.int64(GAME + place) for place in range(4, 8))
"""RESULT: a place in RESULTS. DIFFERENCE: Black's discs less White's, empties to the winner."""
OPENING_END, TRANSCRIPT_END, TURNS_END = (np.int64(GAME + place) for place in range(8, 11))
"""Where parts of the text end: the opening in the transcript, the transcript, and the turns, which
follow it. The next game's transcript follows these."""
SUMS = np.int64(GAME + 11)
"""The sums of Black's turns (SUMMED), then White's."""
RESULTS = ("black", "white", "draw")
SUMMED = ("moves", "nodes", "evaluations", "nanoseconds", "cpu_nanoseconds")
RECORDED = int(SUMS) + 2 * len(SUMMED)

_SIDE = np.int64(len(SUMMED))
_COUNTER_NAMES = [field.name for field in fields(SearchStats)]
_NODES, _EVALUATIONS = (
    ANSWER + COUNTS + np.int64(_COUNTER_NAMES.index(name)) for name in ("nodes", "evaluations")
)
_FIRST_COUNTER = ANSWER + COUNTS

# ---------------------------------------------------------------------- numbers as text

_GROUP = np.uint64(1000)
_WORD = 8  # bytes that are written at a time


def _words(texts: list[str]) -> np.ndarray:
    """Return texts of up to 8 letters as numbers with these bytes."""
    return np.frombuffer("".join(f"{text:8}" for text in texts).encode(), dtype=np.int64).copy()


_GROUPS = range(1000)
_NUMBERS = _words(
    [f",{n}" for n in _GROUPS] + [str(n) for n in _GROUPS] + [f"{n:03}" for n in _GROUPS]
)
_DIGITS, _PADDED = np.int64(1000), np.int64(2000)
"""Where the words without a comma begin, and those of three digits."""
_SQUARES = _words([square_name(square) for square in range(PASS + 1)])
_COMMA, _OPEN, _CLOSE, _MINUS, _NULL = _words([",", "[", "]", ",-", ",null"])

_LONGEST_NUMBER = 21  # characters, with the comma
_TURN_WIDTH = 7 + COUNTERS  # columns
MOST_TEXT = MOST_TURNS * (_TURN_WIDTH * _LONGEST_NUMBER + 5) + _WORD
"""Bytes that the text of any game needs, and the writing of it."""


@kernel
def put_number(numbers: Address, at: Address, number: Int) -> Address:
    """Write a comma and a number; return where it ends. Up to seven bytes behind are changed too.

    numbers: the words of numbers.
    """
    if 0 <= number < 1000:
        put_word(at, load(numbers, number))
        return at + np.intp(2) + np.intp(number > 9) + np.intp(number > 99)
    rest = np.uint64(number)
    put_word(at, _MINUS)
    at += np.intp(1)
    if number < 0:
        at += np.intp(1)  # otherwise the sign is overwritten
        rest = ZERO - rest
    scale = np.uint64(1)
    while rest // scale >= _GROUP:
        scale *= _GROUP
    group = np.int64(rest // scale)
    put_word(at, load(numbers, _DIGITS + group))
    at += np.intp(1) + np.intp(group > 9) + np.intp(group > 99)
    while scale > np.uint64(1):
        scale //= _GROUP
        put_word(at, load(numbers, _PADDED + np.int64(rest // scale % _GROUP)))
        at += np.intp(3)
    return at


@kernel
def _put_known(numbers: Address, at: Address, number: Int, known: Int) -> Address:
    """Write a comma and a number, or null if it is not known; return where it ends."""
    if known:
        return put_number(numbers, at, number)
    put_word(at, _NULL)
    return at + np.intp(5)


# ---------------------------------------------------------------------- a game as text


@kernel
def _put_turn(
    numbers: Address, at: Address, row: Address, ply: Int, agent: Int, used: Int
) -> Address:
    """Write a turn; return where it ends. used: number of its counters that are written."""
    begin = at
    at = put_number(numbers, put_number(numbers, at, ply), agent)
    at = put_number(numbers, at, load(row, SQUARE))
    if load(row, SQUARE) != PASS:
        at = _put_known(numbers, at, load(row, ANSWER + VALUE), load(row, ANSWER + JUDGED))
        depth = load(row, ANSWER + DEPTH)
        at = _put_known(numbers, at, depth, np.int64(depth >= 0))
        at = put_number(numbers, put_number(numbers, at, load(row, WALL)), load(row, CPU))
        for counter in range(used):
            at = put_number(numbers, at, load(row, _FIRST_COUNTER + counter))
    put_byte(begin, _OPEN)  # in the place of a comma
    put_word(at, _CLOSE)
    return at + np.intp(1)


@kernel
def _put_turns(
    numbers: Address, at: Address, turns: Address, made: Int, ply: Int, game: Address, used: Int
) -> Address:
    """Write the turns of a game; return where they end. ply: of the first one."""
    put_word(at, _OPEN)
    at += np.intp(1)
    for turn in range(made):
        if turn > 0:
            put_word(at, _COMMA)
            at += np.intp(1)
        row = turns + np.intp(8 * TURN * turn)
        agent = load(game, BLACK_AGENT + load(row, COLOR))
        at = _put_turn(numbers, at, row, ply + turn, agent, used)
    put_word(at, _CLOSE)
    return at + np.intp(1)


@kernel
def _put_moves(squares: Address, at: Address, turns: Address, made: Int) -> Address:
    """Write the moves of a game without its passes; return where they end."""
    for turn in range(made):
        square = load(turns + np.intp(8 * TURN * turn), SQUARE)
        if square != PASS:
            put_word(at, load(squares, square))
            at += np.intp(2)
    return at


@kernel
def _sum_up(game: Address, turns: Address, made: Int) -> Int:
    """Sum up the turns of each side; return the number of counters up to the last one that is not
    0 in every turn, at least 1."""
    for place in range(2 * _SIDE):
        store(game, SUMS + place, np.int64(0))
    used = np.int64(1)
    for turn in range(made):
        row = turns + np.intp(8 * TURN * turn)
        if load(row, SQUARE) == PASS:
            continue  # the other numbers are those of an earlier turn
        sums = game + np.intp(8 * (SUMS + _SIDE * load(row, COLOR)))
        store(sums, np.int64(0), load(sums, np.int64(0)) + np.int64(1))
        store(sums, np.int64(1), load(sums, np.int64(1)) + load(row, _NODES))
        store(sums, np.int64(2), load(sums, np.int64(2)) + load(row, _EVALUATIONS))
        store(sums, np.int64(3), load(sums, np.int64(3)) + load(row, WALL))
        store(sums, np.int64(4), load(sums, np.int64(4)) + load(row, CPU))
        for counter in range(COUNTERS - 1, used - 1, -1):
            if load(row, _FIRST_COUNTER + counter) != 0:
                used = np.int64(counter + 1)
                break
    return used


@kernel
def _note_result(game: Address, squares: Int) -> None:
    """Fill in the result of a game. squares: number of squares of the board."""
    black = np.int64(popcount(np.uint64(load(game, LAST_MOVER))))
    white = np.int64(popcount(np.uint64(load(game, LAST_OPPONENT))))
    if load(game, LAST_TO_MOVE) != 0:
        black, white = white, black
    result, difference = np.int64(2), np.int64(0)
    if black > white:
        result, difference = np.int64(0), squares - 2 * white
    elif black < white:
        result, difference = np.int64(1), 2 * black - squares
    store(game, RESULT, result)
    store(game, DIFFERENCE, difference)
    store(game, BLACK_DISCS, black)
    store(game, WHITE_DISCS, white)


@kernel
def _make_opening(game: Address, line: Array, board: Mask) -> bool:
    """Make the moves of a game's opening; return False if one is not legal."""
    mover, opponent = np.uint64(load(game, MOVER)), np.uint64(load(game, OPPONENT))
    mover, opponent, made = follow_line(mover, opponent, board, line)
    store(game, MOVER, np.int64(mover))
    store(game, OPPONENT, np.int64(opponent))
    store(game, TO_MOVE, load(game, TO_MOVE) ^ (made & np.int64(1)))
    return made == len(line)


@kernel
def _play_and_write(
    players: Address,
    games: Address,
    number: Int,
    lines: Array,
    turns: Address,
    watch: Address,
    board: Mask,
    scratch: Address,
    numbers: Address,
    names: Address,
    text: Address,
    room: Int,
    with_turns: Int,
) -> Int:
    """Play and write games; return the number of them. It is fewer than ``number`` if a move was
    not legal (END of the next game is then -1), if there was no more room for text, or if it was
    asked to stop.

    lines: moves of all openings. turns: room for those of one game. numbers, names: words of
    numbers and squares. room: bytes at ``text``.
    """
    at = text
    for played in range(number):
        if is_to_stop(watch) or text + room - at < MOST_TEXT:
            return np.int64(played)
        game = games + np.intp(8 * RECORDED * played)
        line = lines[load(game, LINE) : load(game, LINE_END)]
        made = np.int64(-1)
        if _make_opening(game, line, board):
            made = play_game(players, game, turns, watch, board, np.int64(-1), scratch)
        store(game, END, made)
        if made < 0:
            return np.int64(played)
        _note_result(game, popcount(board))
        used = _sum_up(game, turns, made)
        for move in line:
            if move != PASS:
                put_word(at, load(names, np.int64(move)))
                at += np.intp(2)
        store(game, OPENING_END, np.int64(at - text))
        at = _put_moves(names, at, turns, made)
        store(game, TRANSCRIPT_END, np.int64(at - text))
        if with_turns:
            at = _put_turns(numbers, at, turns, made, np.int64(len(line)) + 1, game, used)
        store(game, TURNS_END, np.int64(at - text))
    return np.int64(number)


# ---------------------------------------------------------------------- from Python

_TYPICAL_TEXT = 1 << 13  # bytes of a game


def play_recorded(
    players: tuple[CompiledPlayer, CompiledPlayer],
    games: np.ndarray,
    lines: bytes,
    rules: Ruleset,
    watch: int,
    with_turns: bool,
) -> tuple[int, bytes]:
    """Play games between two players; return how many were played, and the text of these.

    games: int64, shape (games, RECORDED), filled in up to LINE_END without END and what follows it
    (see there); the others are written. lines: moves of all openings. watch: address of
    :data:`core.whole_games.WATCH` numbers. with_turns: True if the turns are written too.

    They may be fewer than there are, see :data:`core.whole_games.END`, also for want of room.
    """
    table = np.array(players, dtype=np.int64)
    turns = np.zeros(MOST_TURNS * TURN, dtype=np.int64)
    scratch = np.zeros(SCRATCH, dtype=np.int64)
    text = np.empty(len(games) * _TYPICAL_TEXT + MOST_TEXT, dtype=np.uint8)
    # Of memory that cannot be written to, Numba would compile another kernel in every process.
    moves = np.frombuffer(bytearray(lines), dtype=np.uint8)
    of_turns, of_scratch, of_numbers, of_names, of_text = (
        np.intp(array.ctypes.data) for array in (turns, scratch, _NUMBERS, _SQUARES, text)
    )
    played = _play_and_write(
        np.intp(table.ctypes.data),
        np.intp(games.ctypes.data),
        np.int64(len(games)),
        moves,
        of_turns,
        np.intp(watch),
        np.uint64(rules.board),
        of_scratch,
        of_numbers,
        of_names,
        of_text,
        np.int64(len(text)),
        np.int64(with_turns),
    )
    return int(played), text[: games[played - 1, TURNS_END] if played else 0].tobytes()


def prepare_recorded_games(announce: Announce | None = None) -> None:
    """Load or compile the kernel."""
    nobody, rules = CompiledPlayer(0, 0), RULESETS["standard"]
    watch = np.zeros(WATCH, dtype=np.int64)
    none = np.zeros((0, RECORDED), dtype=np.int64)

    def load_kernel() -> None:
        play_recorded((nobody, nobody), none, b"", rules, watch.ctypes.data, True)

    prepare("recorded games", load_kernel, announce)
