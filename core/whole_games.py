"""Whole games between two players that decide in compiled code: no Python between two moves.

A kernel plays one game after another and notes every turn in a table of numbers. It knows the rules
of :mod:`core.bitboard`, and nothing else; :func:`core.game.play_game` stays the judge and the
reference. A move that is not legal ends the kernel's work: its game is the judge's to play.

A player is the address of a function and the address of its memory, see :class:`CompiledPlayer`.
All tables are arrays of int64, handed around by their addresses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from othello_lab.core.bitboard import ONE, ZERO, advance, legal_moves
from othello_lab.core.clock import WALL_CLOCK, clock_nanoseconds
from othello_lab.core.game import SearchStats
from othello_lab.core.notation import PASS
from othello_lab.core.random import WORDS, seed_generator
from othello_lab.core.system.compile import Address, Announce, Int, Mask, callback, kernel, prepare
from othello_lab.core.vector import I64, call_at, load, popcount, store

# ---------------------------------------------------------------------- the tables

COUNTERS = len(fields(SearchStats))

# A turn: a row of TURN numbers. Of a forced pass only the first two are set.
SQUARE, COLOR, WALL, CPU, ANSWER = (np.int64(index) for index in range(5))
"""COLOR: 0 for Black, 1 for White. WALL, CPU: nanoseconds. ANSWER: where the answer begins."""

# An answer: what a player says of its move.
VALUE, JUDGED, DEPTH, COUNTS = (np.int64(index) for index in range(4))
"""VALUE: meant if JUDGED is not 0. DEPTH: -1 for none. COUNTS: as SearchStats has them."""
TURN = int(ANSWER + COUNTS) + COUNTERS

# A game: a row of GAME numbers. The first six say what is to be played, the others what came of it.
MOVER, OPPONENT, TO_MOVE, BLACK, BLACK_SEED, WHITE_SEED = (np.int64(index) for index in range(6))
"""MOVER, OPPONENT, TO_MOVE: the position after the opening, TO_MOVE a colour. BLACK: which of the
two players has Black."""
END, LAST_MOVER, LAST_OPPONENT, LAST_TO_MOVE = (np.int64(index) for index in range(6, 10))
"""END: one past the number of the game's last turn. LAST_...: the position at its end."""
GAME = 10

# A watch: what others see, and say, while games are played.
CALLED, STOP = (np.int64(index) for index in range(2))
"""CALLED: when a player was called, in nanoseconds of the monotonic clock. STOP: the address of a
number that is not 0 if no further game is to be begun; 0 for none."""
WATCH = 2

MOST_TURNS = 2 * 60
"""No game has more: every move fills a square, and no two passes follow each other."""

SCRATCH = 2 + 2 * WORDS
"""Numbers that a game needs while it is played: two for the clock, and two generators."""

_PLAYER = 2  # numbers of a player: address of its function, and of its memory
_LONG = np.int64(50_000)
"""Nanoseconds. Asking for the processor's time costs 0.3 microseconds, so it is done only after
moves that took longer than this; a move that took less has had the processor all the time, as being
taken off it costs more."""


class CompiledPlayer(NamedTuple):
    """A player that decides in compiled code.

    function: the address of a C function as :func:`decision` makes them. memory: the address of
    the numbers it works with; it must live as long as the games.
    """

    function: int
    memory: int


_DECISION = types.int64(
    types.intp, types.uint64, types.uint64, types.uint64, types.intp, types.intp
)

Decide = Callable[[Address, Mask, Mask, Mask, Address, Address], Int]
"""``(memory, mover, opponent, moves, generator, answer) -> square``: chooses one of the legal moves
(a mask, not 0) and writes its answer, COUNTERS and all. generator: of random numbers, begun anew
with the player's seed for every game, see :mod:`core.random`."""


def decision(decide: Decide) -> Any:
    """Compile a decision at once; ``address`` of the result is a player's function."""
    return callback(decide, _DECISION)


# ---------------------------------------------------------------------- the kernel


@intrinsic
def call_decision(
    typingctx: Any,
    function: Any,
    memory: Any,
    mover: Any,
    opponent: Any,
    moves: Any,
    generator: Any,
    answer: Any,
) -> Any:
    """Call the decision at this address."""
    kind = types.int64(types.intp, *_DECISION.args)
    return kind, lambda ctx, b, sig, args: call_at(b, I64, args[0], args[1:])


_PROCESSOR = time.CLOCK_PROCESS_CPUTIME_ID


@kernel
def play_game(
    players: Address,
    game: Address,
    turns: Address,
    watch: Address,
    board: Mask,
    until: Int,
    scratch: Address,
) -> Int:
    """Play one game and fill its row; return the number of its turns, -1 if a move was not legal.

    turns: room for MOST_TURNS rows of TURN numbers. until: number of empty squares at which the
    game is left. scratch: room for SCRATCH numbers.
    """
    generators = scratch + np.intp(16)
    seed_generator(generators, np.uint64(load(game, BLACK_SEED)))
    seed_generator(generators + np.intp(8 * WORDS), np.uint64(load(game, WHITE_SEED)))
    mover, opponent = np.uint64(load(game, MOVER)), np.uint64(load(game, OPPONENT))
    color, row = load(game, TO_MOVE), turns
    cpu, short = clock_nanoseconds(np.int64(_PROCESSOR), scratch), np.int64(0)
    moves = legal_moves(mover, opponent) & board
    began = clock_nanoseconds(np.int64(WALL_CLOCK), scratch)
    while popcount(board & ~(mover | opponent)) > until:
        if moves == ZERO:
            moves = legal_moves(opponent, mover) & board
            if moves == ZERO:
                break
            store(row, SQUARE, np.int64(PASS))
            store(row, COLOR, color)
            row += np.intp(8 * TURN)
            mover, opponent = opponent, mover
            color = np.int64(1) - color
            continue
        player = players + np.intp(8 * _PLAYER * (color ^ load(game, BLACK)))
        generator = generators + np.intp(8 * WORDS * color)
        store(watch, CALLED, began)
        square = call_decision(
            np.intp(load(player, np.int64(0))),
            np.intp(load(player, np.int64(1))),
            mover,
            opponent,
            moves,
            generator,
            row + np.intp(8 * ANSWER),
        )
        # The next turn begins where this one ends: a second look at the clock would take longer
        # than making the move, which is some 15 ns of the next turn's time.
        ended = clock_nanoseconds(np.int64(WALL_CLOCK), scratch)
        took, began = ended - began, ended
        if not 0 <= square < 64 or (moves >> np.uint64(square)) & ONE == ZERO:
            return np.int64(-1)
        store(row, SQUARE, square)
        store(row, COLOR, color)
        store(row, WALL, took)
        used = took
        if took < _LONG:
            short += took
        else:
            now = clock_nanoseconds(np.int64(_PROCESSOR), scratch)
            used = min(took, max(np.int64(0), now - cpu - short))
            cpu, short = now, np.int64(0)
        store(row, CPU, used)
        row += np.intp(8 * TURN)
        mover, opponent, moves = advance(mover, opponent, ONE << np.uint64(square))
        moves &= board
        color = np.int64(1) - color
    store(game, LAST_MOVER, np.int64(mover))
    store(game, LAST_OPPONENT, np.int64(opponent))
    store(game, LAST_TO_MOVE, color)
    return (row - turns) // np.int64(8 * TURN)


@kernel
def is_to_stop(watch: Address) -> bool:
    """Return True if no further game is to be begun."""
    return load(watch, STOP) != 0 and load(np.intp(load(watch, STOP)), np.int64(0)) != 0


@kernel
def _play(
    players: Address,
    games: Address,
    number: Int,
    turns: Address,
    room: Int,
    watch: Address,
    board: Mask,
    until: Int,
    scratch: Address,
) -> Int:
    """Play games as :func:`play` says; return their number. turns: rows of TURN numbers."""
    turn = np.int64(0)
    for played in range(number):
        if is_to_stop(watch) or room - turn < MOST_TURNS:
            return np.int64(played)
        game, row = games + np.intp(8 * GAME * played), turns + np.intp(8 * TURN * turn)
        made = play_game(players, game, row, watch, board, until, scratch)
        turn += made
        store(game, END, turn if made >= 0 else np.int64(-1))
        if made < 0:
            return np.int64(played)
    return np.int64(number)


def play(
    players: tuple[CompiledPlayer, CompiledPlayer],
    games: np.ndarray,
    board: int,
    watch: int,
    until: int = -1,
) -> tuple[int, np.ndarray]:
    """Play games between two players. Return the number of games played, from the first on (see
    :data:`END` where it is fewer than there are), and their turns, shape (turns, TURN).

    games: int64, shape (games, GAME), the first six columns filled in; the others are written.
    board: mask of the squares there are. watch: address of WATCH numbers. until: a game is left as
    soon as no more squares than that are empty; -1 to play all to their end.
    """
    table = np.array(players, dtype=np.int64)
    room = len(games) * 64 + MOST_TURNS
    turns = np.zeros((room, TURN), dtype=np.int64)
    scratch = np.zeros(SCRATCH, dtype=np.int64)
    addresses = (np.intp(array.ctypes.data) for array in (table, games, turns, scratch))
    of_players, of_games, of_turns, of_scratch = addresses
    played = _play(
        of_players,
        of_games,
        np.int64(len(games)),
        of_turns,
        np.int64(room),
        np.intp(watch),
        np.uint64(board),
        np.int64(until),
        of_scratch,
    )
    end = int(games[played - 1, END]) if played else 0
    return int(played), turns[:end]


def prepare_games(announce: Announce | None = None) -> None:
    """Load or compile the kernel."""
    nobody = CompiledPlayer(0, 0)
    watch = np.zeros(WATCH, dtype=np.int64)
    none = np.zeros((0, GAME), dtype=np.int64)
    prepare("whole games", lambda: play((nobody, nobody), none, 0, watch.ctypes.data), announce)
