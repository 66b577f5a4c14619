"""Whole games between two compiled players, written down in compiled code as a record keeps them.

A kernel plays a game (:mod:`core.whole_games`), sums up its turns, and writes its transcript and
its turns (:mod:`core.turn_layouts`) while these are still in the processor's cache.
"""

from __future__ import annotations

import numpy as np

from othello_lab.core.lines import follow_line
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.rules import RULESETS, Ruleset
from othello_lab.core.system.compile import Address, Announce, Array, Int, Mask, kernel, prepare
from othello_lab.core.turn_layouts import COUNTER_NAMES, DECIDED, DEEP, VALUED, WHITE, WIDTHS
from othello_lab.core.vector import load, popcount, put_word, store
from othello_lab.core.whole_games import (
    ANSWER,
    COLOR,
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
LINE, LINE_END = (np.int64(GAME + index) for index in range(2))
"""The moves of the opening, by their places among the moves of all openings. The kernel reads these
and writes the others."""
RESULT, DIFFERENCE, BLACK_DISCS, WHITE_DISCS = (np.int64(GAME + index) for index in range(2, 6))
"""RESULT: a place in RESULTS. DIFFERENCE: Black's discs less White's, empties to the winner."""
SUMS = np.int64(GAME + 6)
"""The sums of Black's turns (SUMMED), then White's."""
RESULTS = ("black", "white", "draw")
SUMMED = ("moves", "nodes", "evaluations", "nanoseconds", "cpu_nanoseconds")
_END = SUMS + 2 * len(SUMMED)
OPENING_END, TRANSCRIPT_END, TURNS_END = (np.int64(_END + index) for index in range(3))
"""Where parts of a game's bytes end: the opening in the transcript, the transcript, and the turns,
which follow it. The next game's transcript follows these."""
FIRST, LAYOUT = (np.int64(_END + index) for index in range(3, 5))
"""FIRST: the ply of the first turn, from 1. LAYOUT: that of the turns, a place in LAYOUTS."""
RECORDED = int(_END) + 5

_SIDE = np.int64(len(SUMMED))
_NODES, _EVALUATIONS = (
    ANSWER + COUNTS + np.int64(COUNTER_NAMES.index(name)) for name in ("nodes", "evaluations")
)
_SQUARES = np.frombuffer(
    "".join(f"{square_name(square):8}" for square in range(PASS + 1)).encode(), dtype=np.int64
).copy()
"""The names of the squares, each in the bytes of a number."""
_WORD = 8  # bytes that are written at a time
MOST_BYTES = 2 * MOST_TURNS + MOST_TURNS * int(WIDTHS[-1].sum()) + _WORD
"""Bytes that any game needs, and the writing of it."""


# ---------------------------------------------------------------------- a game as bytes


@kernel
def _put_move(at: Address, square: Int) -> Address:
    """Write the name of a square, nothing for a pass; return where it ends."""
    if square == PASS:
        return at
    put_word(at, _SQUARES[square])
    return at + np.intp(2)


@kernel
def _sum_up(game: Address, turns: Address, made: Int) -> None:
    """Sum up the turns of each side, and make the rows those of :mod:`core.turn_layouts`. The row
    after them gets the bits that any number of each column has, those of negative ones turned."""
    bits = turns + np.intp(8 * TURN * made)
    for index in range(TURN):
        store(bits, np.int64(index), np.int64(0))
    for index in range(2 * _SIDE):
        store(game, SUMS + index, np.int64(0))
    for turn in range(made):
        row = turns + np.intp(8 * TURN * turn)
        sums = game + np.intp(8 * (SUMS + _SIDE * load(row, COLOR)))
        flags = np.int64(WHITE) * load(row, COLOR)
        if load(row, SQUARE) == PASS:
            for index in range(WALL, TURN):
                store(row, np.int64(index), np.int64(0))  # these were of an earlier turn
        else:
            flags |= np.int64(DECIDED)
            store(sums, np.int64(0), load(sums, np.int64(0)) + np.int64(1))
            store(sums, np.int64(1), load(sums, np.int64(1)) + load(row, _NODES))
            store(sums, np.int64(2), load(sums, np.int64(2)) + load(row, _EVALUATIONS))
            store(sums, np.int64(3), load(sums, np.int64(3)) + load(row, WALL))
            store(sums, np.int64(4), load(sums, np.int64(4)) + load(row, CPU))
            valued = np.int64(load(row, ANSWER + JUDGED) != 0)
            deep = np.int64(load(row, ANSWER + DEPTH) >= 0)
            flags |= np.int64(VALUED) * valued | np.int64(DEEP) * deep
            store(row, ANSWER + VALUE, load(row, ANSWER + VALUE) * valued)
            store(row, ANSWER + DEPTH, load(row, ANSWER + DEPTH) * deep)
        store(row, COLOR, flags)
        store(row, ANSWER + JUDGED, np.int64(0))  # the time waited
        for index in range(TURN):
            number = load(row, np.int64(index))
            number ^= number >> np.int64(63)
            store(bits, np.int64(index), load(bits, np.int64(index)) | number)


@kernel
def _choose_layout(bits: Address) -> Int:
    """Return the first layout that has room for these bits of each column."""
    for layout in range(len(WIDTHS)):
        rest = np.int64(0)
        for column in range(TURN):
            width = np.int64(8) * WIDTHS[layout, column]
            rest |= load(bits, np.int64(column)) >> max(width - np.int64(1), np.int64(0))
        if rest == 0:
            return np.int64(layout)
    return np.int64(-1)  # never, as the last one has room for any


@kernel
def _put_turns(at: Address, turns: Address, made: Int, layout: Int) -> Address:
    """Write the turns of a game; return where they end."""
    for turn in range(made):
        for column in range(TURN):
            put_word(at, load(turns, np.int64(TURN * turn + column)))
            at += np.intp(WIDTHS[layout, column])
    return at


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
    text: Address,
    with_turns: Int,
) -> Int:
    """Play and write games; return the number of them. It is fewer than ``number`` if a move was
    not legal (END of the next game is then -1), or if it was asked to stop.

    lines: moves of all openings. turns: room for those of one game, and a row. text: room for
    MOST_BYTES a game.
    """
    at = text
    for played in range(number):
        if is_to_stop(watch):
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
        _sum_up(game, turns, made)
        for move in line:
            at = _put_move(at, np.int64(move))
        store(game, OPENING_END, np.int64(at - text))
        for turn in range(made):
            at = _put_move(at, load(turns, np.int64(TURN * turn) + SQUARE))
        store(game, TRANSCRIPT_END, np.int64(at - text))
        store(game, FIRST, np.int64(len(line)) + 1)
        if with_turns:
            layout = _choose_layout(turns + np.intp(8 * TURN * made))
            store(game, LAYOUT, layout)
            at = _put_turns(at, turns, made, layout)
        store(game, TURNS_END, np.int64(at - text))
    return np.int64(number)


# ---------------------------------------------------------------------- from Python


def play_recorded(
    players: tuple[CompiledPlayer, CompiledPlayer],
    games: np.ndarray,
    lines: bytes,
    rules: Ruleset,
    watch: int,
    with_turns: bool,
) -> tuple[int, bytes]:
    """Play games between two players; return how many were played, and the bytes of these: of each
    its transcript in ASCII, then its turns.

    games: int64, shape (games, RECORDED), filled in up to LINE_END without END and what follows it
    (see there); the others are written. lines: moves of all openings. watch: address of
    :data:`core.whole_games.WATCH` numbers. with_turns: True if the turns are written too.

    They may be fewer than there are, see :data:`core.whole_games.END`.
    """
    table = np.array(players, dtype=np.int64)
    turns = np.zeros((MOST_TURNS + 1) * TURN, dtype=np.int64)
    scratch = np.zeros(SCRATCH, dtype=np.int64)
    text = np.empty(len(games) * MOST_BYTES, dtype=np.uint8)  # most of it is never touched
    # Of memory that cannot be written to, Numba would compile another kernel in every process.
    moves = np.frombuffer(bytearray(lines), dtype=np.uint8)
    of_turns, of_scratch, of_text = (np.intp(array.ctypes.data) for array in (turns, scratch, text))
    played = _play_and_write(
        np.intp(table.ctypes.data),
        np.intp(games.ctypes.data),
        np.int64(len(games)),
        moves,
        of_turns,
        np.intp(watch),
        np.uint64(rules.board),
        of_scratch,
        of_text,
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
