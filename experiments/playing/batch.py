"""Games of agents that share a process.

Games of two agents that can are played in compiled code, many at a time, the others one after
another by :func:`experiments.playing.game.play`. Both ways give the same record, times aside; a
test holds them equal. If a move of compiled code is not legal, its game is played again the other
way, for the judge.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from othello_lab.agents.agent import compiled_player
from othello_lab.core import whole_games as layout
from othello_lab.core.game import FINISHED, BeforeCall, leader
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.json_tables import NULL, json_rows
from othello_lab.core.whole_games import CompiledPlayer
from othello_lab.experiments.pairing.schedule import ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.game import note_finished, play
from othello_lab.experiments.record.store import (
    COUNTS,
    FIRST_COUNT,
    PASS_WIDTH,
    TOTALS,
    TURN,
    GameRow,
    PlayedGame,
)

_MOST = 256
"""Games that the kernel plays at a time; their turns take two megabytes."""
_MOST_SEED = (1 << 63) - 1
_COLORS = (Color.BLACK, Color.WHITE)
_NAMES = [square_name(square) for square in range(64)]

# Where the columns of a turn, as records have them, stand in the kernel's table.
_ANSWERED = {"value": layout.VALUE, "depth": layout.DEPTH} | {
    name: layout.COUNTS + place for place, name in enumerate(COUNTS)
}
_KERNEL = {
    "square": layout.SQUARE,
    "nanoseconds": layout.WALL,
    "cpu_nanoseconds": layout.CPU,
} | {name: layout.ANSWER + place for name, place in _ANSWERED.items()}
_SOURCES = [(TURN.index(name), int(place)) for name, place in _KERNEL.items()]


class GameMonitor:
    """Progress of the games that a process plays, and signals to it.

    memory: numbers of 64 bits that it may share with others: those of
    :data:`core.whole_games.WATCH`, and the number of the task's game before the kernel's first one.
    """

    Memory = ctypes.c_int64 * (layout.WATCH + 1)

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self.address = ctypes.addressof(memory)

    def begin(self, place: int) -> None:
        """Note that the next calls belong to this game of the task, or a later one."""
        self._memory[layout.WATCH], self._memory[layout.NUMBER] = place, 0

    def call(self, *_: object) -> None:
        """A player is called now."""
        self._memory[layout.CALLED] = time.monotonic_ns()

    def rest(self) -> None:
        """Nobody is called for a while."""
        self._memory[layout.CALLED] = 0

    @property
    def called(self) -> float:
        """When a player was called last, by ``time.monotonic()``; 0 if none is under way."""
        return float(self._memory[layout.CALLED]) / 1e9

    @property
    def place(self) -> int:
        """The game of the task that is under way."""
        return int(self._memory[layout.WATCH] + self._memory[layout.NUMBER])

    @property
    def stopping(self) -> bool:
        """True if no further pair is to be begun."""
        return bool(self._memory[layout.STOP])

    def stop(self) -> None:
        """Begin no further pair."""
        self._memory[layout.STOP] = 1


def play_all(
    conditions: GameConditions, games: Sequence[ScheduledGame], watch: GameMonitor
) -> Iterator[list[PlayedGame]]:
    """Play games in order, until ``watch`` says to stop; yields whole pairs as they end.

    games: the two of a pair one after the other. Those of the same two agents are played the faster
    the more of them stand together.
    """
    place = 0
    for _, together in groupby(games, key=lambda game: {game.black, game.white}):
        group = list(together)
        players = _compiled_players(conditions, group) if conditions.compiled_games else None
        for pairs in _chunks(group, _MOST if players else 1):
            if watch.stopping:
                return
            played = _play(conditions, pairs, players, group[0].black, watch, place)
            watch.rest()
            place += len(pairs)
            if played:
                yield played


def _compiled_players(
    conditions: GameConditions, games: Sequence[ScheduledGame]
) -> tuple[CompiledPlayer, CompiledPlayer] | None:
    """Return the agents of games as compiled players, the first game's Black first; None if they
    are not, or if a record has an impossible seed, a case for the judge."""
    if not all(0 <= game.seed < _MOST_SEED for game in games):
        return None
    black, white = (
        compiled_player(conditions.agents[number], conditions.rules, conditions.limits)
        for number in (games[0].black, games[0].white)
    )
    return None if black is None or white is None else (black, white)


def _chunks(games: Sequence[ScheduledGame], most: int) -> Iterator[list[ScheduledGame]]:
    """Yield whole pairs, together at most this many games, but at least one pair."""
    chunk: list[ScheduledGame] = []
    for _, pair in groupby(games, key=lambda game: game.pair):
        both = list(pair)
        if chunk and len(chunk) + len(both) > most:
            yield chunk
            chunk = []
        chunk += both
    yield chunk


def _play(
    conditions: GameConditions,
    games: Sequence[ScheduledGame],
    players: tuple[CompiledPlayer, CompiledPlayer] | None,
    first: int,
    watch: GameMonitor,
    place: int,
) -> list[PlayedGame]:
    """Play games of the same two agents; whole pairs, fewer if it was told to stop.

    first: the agent of the first player, by number.
    """
    played: list[PlayedGame] = []
    before_call: BeforeCall = watch.call
    pairs = [game.pair for game in games]
    while (done := len(played)) < len(games):
        # Who is told to stop ends the pair under way.
        if watch.stopping and (not done or pairs[done - 1] != pairs[done]):
            break
        watch.begin(place + done)
        doubted = True
        if players is not None and not watch.stopping:
            found, doubted = _in_compiled_code(conditions, games[done:], players, first, watch)
            played += found
        if doubted:
            watch.begin(place + len(played))
            played.append(play(conditions, games[len(played)], before_call=before_call))
    return played


def _in_compiled_code(
    conditions: GameConditions,
    games: Sequence[ScheduledGame],
    players: tuple[CompiledPlayer, CompiledPlayer],
    first: int,
    watch: GameMonitor,
) -> tuple[list[PlayedGame], bool]:
    """Return as many games as the kernel plays, and True if it doubts a move of the next one.

    first: the agent of the first player, by number.
    """
    table = np.zeros((len(games), layout.GAME), dtype=np.int64)
    reached: dict[int, list[int]] = {}
    for row, game in zip(table, games, strict=True):
        opening = reached.get(id(game.opening))
        if opening is None:
            position = game.opening.reach(conditions.rules)
            masks = np.array([position.mover, position.opponent], dtype=np.uint64)
            opening = [*masks.view(np.int64).tolist(), _COLORS.index(position.to_move)]
            reached[id(game.opening)] = opening
        row[:6] = (*opening, game.black != first, game.seed, game.seed + 1)
    number, turns = layout.play(players, table, conditions.rules.board, watch.address)
    watch.rest()
    doubted = number < len(games) and table[number, layout.END] < 0
    return list(_as_recorded(conditions, games[:number], table[:number], turns)), bool(doubted)


def _as_recorded(
    conditions: GameConditions, games: Sequence[ScheduledGame], table: np.ndarray, turns: np.ndarray
) -> Iterator[PlayedGame]:
    """Games as the record has them.

    table, turns: the kernel's, shapes (games, GAME) and (turns, TURN).
    """
    ends = table[:, layout.END]
    begins = np.concatenate([[0], ends[:-1]])[: len(games)]
    of = np.repeat(np.arange(len(games)), ends - begins)  # each turn's game
    texts = _texts(games, turns, begins, ends, of) if conditions.record_moves else None
    totals = _totals(len(games), turns, of).tolist()
    squares = turns[:, layout.SQUARE].tolist()
    lasts = np.ascontiguousarray(table[:, layout.LAST_MOVER :])
    masks = lasts[:, :2].copy().view(np.uint64).tolist()
    opening = None
    for number, game in enumerate(games):
        if game.opening is not opening:
            opening, text = game.opening, game.opening.text
        mover, opponent = masks[number]
        color = _COLORS[lasts[number, 2]]
        last = Position(mover, opponent, color, conditions.rules)
        moves = (*game.opening.moves, *squares[begins[number] : ends[number]])
        difference = last.disc_difference
        winner = leader(last)
        black, white = totals[number]
        row = GameRow(
            game.number,
            game.pair,
            game.black,
            game.white,
            winner.value if winner else "draw",
            0.5 if winner is None else float(winner is Color.BLACK),
            difference if color is Color.BLACK else -difference,
            last.black.bit_count(),
            last.white.bit_count(),
            FINISHED,
            text,
            game.seed,
            "".join([_NAMES[move] for move in moves if move != PASS]),
            "",
            *black,
            *white,
        )
        note_finished(conditions, row)
        yield PlayedGame(row, None if texts is None else texts[number])


def _texts(
    games: Sequence[ScheduledGame],
    turns: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    of: np.ndarray,
) -> list[str]:
    """The turns of each game as records keep them."""
    columns = np.zeros((len(turns), len(TURN)), dtype=np.int64)
    for column, place in _SOURCES:
        columns[:, column] = turns[:, place]
    seats = np.array([(game.black, game.white) for game in games]).reshape(-1, 2)
    firsts = np.array([len(game.opening.moves) + 1 for game in games], dtype=np.int64)
    columns[:, TURN.index("ply")] = np.arange(len(turns)) - begins[of] + firsts[of]
    columns[:, TURN.index("agent")] = seats[of, turns[:, layout.COLOR]]
    used = columns != 0
    columns[turns[:, layout.ANSWER + layout.JUDGED] == 0, TURN.index("value")] = NULL
    columns[turns[:, layout.ANSWER + layout.DEPTH] < 0, TURN.index("depth")] = NULL
    # Up to the last column that is not 0 all through the game, at least up to the first count.
    last = np.where(used, np.arange(len(TURN)), FIRST_COUNT).max(axis=1, initial=FIRST_COUNT)
    widest = np.full(len(games), FIRST_COUNT)
    np.maximum.at(widest, of, last)
    widths = widest[of] + 1
    widths[turns[:, layout.SQUARE] == PASS] = PASS_WIDTH
    return json_rows(columns, widths, begins, ends)


def _totals(games: int, turns: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return the totals of each side's decisions in ``games``, shape (games, 2, TOTALS)."""
    totals = np.zeros((games, 2, len(TOTALS)), dtype=np.int64)
    decided = turns[:, layout.SQUARE] != PASS
    about = np.zeros((int(decided.sum()), len(TOTALS)), dtype=np.int64)
    for column, name in enumerate(TOTALS):
        if name in _KERNEL:
            about[:, column] = turns[decided, _KERNEL[name]]
    about[:, TOTALS.index("moves")] = 1
    np.add.at(totals, (of[decided], turns[decided, layout.COLOR]), about)
    return totals
