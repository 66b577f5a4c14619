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
from operator import attrgetter
from typing import Any

import numpy as np

from othello_lab.agents.agent import compiled_player
from othello_lab.core import recorded_games
from othello_lab.core import whole_games as layout
from othello_lab.core.game import BeforeCall
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.whole_games import CompiledPlayer
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.game import note_finished, play
from othello_lab.experiments.record.game_block import GameBlock
from othello_lab.experiments.record.store import PlayedGame

_MOST = 256
"""Games that the kernel plays at a time; their bytes take up to two megabytes."""
_MOST_SEED = (1 << 63) - 1
_COLORS = (Color.BLACK, Color.WHITE)
_SCHEDULED = attrgetter("number", "pair", "black", "white", "seed")


class GameMonitor:
    """Tells others that a player was called in this process.

    memory: the numbers of :data:`core.whole_games.WATCH`, of 64 bits, that it may share with
    others.
    """

    Memory = ctypes.c_int64 * layout.WATCH

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self.address = ctypes.addressof(memory)

    def heed(self, stop: Any) -> None:
        """Let kernels begin no further game once this number is not 0."""
        self._memory[layout.STOP] = ctypes.addressof(stop)

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


def play_all(
    conditions: GameConditions, games: Sequence[ScheduledGame], watch: GameMonitor
) -> Iterator[Sequence[PlayedGame]]:
    """Play games in order, until the run is to stop; yields whole pairs as they end.

    games: the two of a pair one after the other. Those of the same two agents are played the faster
    the more of them stand together.
    """
    for _, together in groupby(games, key=lambda game: {game.black, game.white}):
        group = list(together)
        players = _compiled_players(conditions, group) if conditions.compiled_games else None
        for pairs in _chunks(group, _MOST if players else 1):
            if conditions.stopping:
                return
            played = _play(conditions, pairs, players, group[0].black, watch)
            watch.rest()
            if played:
                yield played


def _compiled_players(
    conditions: GameConditions, games: Sequence[ScheduledGame]
) -> tuple[CompiledPlayer, CompiledPlayer] | None:
    """Return the compiled players of games, the first game's Black first, if they are."""
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
) -> Sequence[PlayedGame]:
    """Play games of the same two agents, whole pairs; first: the agent of the first player."""
    played: Sequence[PlayedGame] = []
    before_call: BeforeCall = watch.call
    pairs = [game.pair for game in games]
    while (done := len(played)) < len(games):
        # Who is told to stop ends the pair under way.
        if conditions.stopping and (not done or pairs[done - 1] != pairs[done]):
            break
        doubted = True
        if players is not None and not conditions.stopping:
            block, doubted = _in_compiled_code(conditions, games[done:], players, first, watch)
            # Nearly always all of them: what the kernel leaves is the exception.
            played = [*played, *block] if done else block
        if doubted:
            game = play(conditions, games[len(played)], before_call=before_call)
            played = [*played, game]
    return played


def _in_compiled_code(
    conditions: GameConditions,
    games: Sequence[ScheduledGame],
    players: tuple[CompiledPlayer, CompiledPlayer],
    first: int,
    watch: GameMonitor,
) -> tuple[GameBlock, bool]:
    """Return as many games as the kernel plays, and True if it doubts a move of the next one."""
    scheduled = np.array([_SCHEDULED(game) for game in games], dtype=np.int64).T.copy()
    table = np.zeros((len(games), recorded_games.RECORDED), dtype=np.int64)
    _, _, black, _, seeds = scheduled
    table[:, layout.BLACK] = black != first
    table[:, layout.BLACK_SEED], table[:, layout.WHITE_SEED] = seeds, seeds + 1
    lines = _set_up([game.opening for game in games], conditions.rules, table)
    settings = lines, conditions.rules, watch.address, conditions.record_moves
    number, content = recorded_games.play_recorded(players, table, *settings)
    watch.rest()
    doubted = number < len(games) and table[number, layout.END] < 0
    numbers = np.concatenate([scheduled[:, :number], table[:number, recorded_games.RESULT :].T])
    openings = {
        number_of_game: game.opening.text
        for number_of_game, game in enumerate(games[:number])
        if not game.opening.begins_transcript
    }
    block = GameBlock(numbers, content, openings, conditions.record_moves)
    note_finished(conditions, block)
    return block, bool(doubted)


def _set_up(openings: Sequence[Opening], rules: Ruleset, table: np.ndarray) -> bytes:
    """Write the openings of games into the kernel's table; return the moves of all of them."""
    begin = _as_numbers(Position.start(rules))
    lines, rows, end = [], [], 0
    # The two games of a pair have the same one.
    for opening, games in groupby(openings):
        position = begin if opening.start is None else _as_numbers(opening.start)
        row = (*position, end, end := end + len(opening.moves))
        lines.append(opening.moves)
        rows += [row for _ in games]
    columns = [layout.MOVER, layout.OPPONENT, layout.TO_MOVE]
    columns += [recorded_games.LINE, recorded_games.LINE_END]
    table[:, columns] = np.array(rows, dtype=np.uint64).view(np.int64)
    return b"".join(lines)


def _as_numbers(position: Position) -> tuple[int, int, int]:
    return position.mover, position.opponent, _COLORS.index(position.to_move)
