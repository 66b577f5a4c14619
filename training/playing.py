"""The games that positions are made of, in a worker: played in compiled code where both sides can,
otherwise move by move."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from othello_lab.agents.agent import compiled_player
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.core import whole_games as layout
from othello_lab.core.game import FINISHED, PlayerFailure, play_game
from othello_lab.core.lines import draw_on
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.experiments.playing.batch import GameMonitor
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.training.labels import DataConfig, LabelledGames, labelled

COUNTS, POSITIONS = "counts", "positions"
"""The tables of what came of a piece, with one row: ``games``, ``left_out`` (numbers by reason) and
``positions``; and ``rows`` (of labels.ROW, in base 64)."""
FORFEITED = "forfeited or resigned"
_PURPOSE = 2  # keeps these random numbers apart from those of openings and games
_COLORS = (Color.BLACK, Color.WHITE)

Line = tuple[np.ndarray, np.ndarray]
"""The moves of a game, uint8, passes among them, and what was expected of each, float32, in
discs."""
Move = tuple[int, int | float | None]
"""The square of a move, or PASS, and what was expected of it."""
_NO_MOVES: Line = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.float32)


@dataclass(frozen=True)
class GameBatch:
    """Games to be played: the numbers of a piece.

    number: of the piece; with ``seed`` the source of all its random numbers. first: number of the
    first game. mover, opponent: uint64 masks of each game's opening. color: 0 if Black is to move
    there, 1 for White.
    """

    number: int
    seed: int
    first: int
    mover: np.ndarray
    opponent: np.ndarray
    color: np.ndarray


def made_of(piece: GameBatch | LabelledGames, context: WorkerContext, data: DataConfig) -> Tables:
    """The positions of a piece: of games that are played now, or were read."""
    left_out: dict[str, int] = {}
    if isinstance(piece, GameBatch):
        games, forfeited = _played(piece, context, data)
        left_out |= {FORFEITED: forfeited} if forfeited else {}
    else:
        games = piece
    rows, others = labelled(games, context.conditions.rules, data)
    number = len(games) + sum(left_out.values())
    counts = {"games": number, "left_out": {**left_out, **others}, "positions": len(rows)}
    return {COUNTS: [counts], POSITIONS: [{"rows": b64encode(rows.tobytes()).decode()}]}


def _played(
    batch: GameBatch, context: WorkerContext, data: DataConfig
) -> tuple[LabelledGames, int]:
    """Return the games of a piece after their openings, and the number of forfeited ones, left out
    here."""
    conditions, number = context.conditions, len(batch.mover)
    rng = np.random.default_rng(np.random.SeedSequence([batch.seed, _PURPOSE, batch.number]))
    low, high = data.random_plies
    plies = rng.integers(low, high + 1, number)
    seeds = 2 * rng.integers(1 << 61, size=number)
    masks = np.stack([batch.mover, batch.opponent], axis=1)
    masks, turns = draw_on(rng, masks, plies, conditions.rules.board)
    starts = Starts(masks, batch.color ^ turns, seeds)
    lines: list[Line | None] = [None] * number
    # Everybody meets everybody, also itself; pairings take turns.
    agents = len(conditions.agents) // 2
    for pairing in range(agents * agents):
        first = (pairing - batch.first) % (agents * agents)
        numbers = np.arange(first, number, agents * agents)
        seats = pairing // agents, pairing % agents + agents
        _play(context, seats, numbers, starts, data, lines)
    finished = np.array([line is not None for line in lines])
    played = [_NO_MOVES, *(line for line in lines if line is not None)]
    ends = np.cumsum([len(squares) for squares, _ in played[1:]], dtype=np.int64)
    squares, values = (np.concatenate(parts) for parts in zip(*played, strict=True))
    games = LabelledGames(masks[finished, 0], masks[finished, 1], squares, ends, values)
    return games, int((~finished).sum())


@dataclass(frozen=True)
class Starts:
    """Where games begin: masks of mover and opponent, uint64; 0 where Black is to move, 1 for
    White; and the seed of Black's player, one less than White's."""

    masks: np.ndarray
    colors: np.ndarray
    seeds: np.ndarray


def _play(
    context: WorkerContext,
    seats: tuple[int, int],
    games: np.ndarray,
    starts: Starts,
    data: DataConfig,
    lines: list[Line | None],
) -> None:
    """Play these games, and write their moves into ``lines``; None for a game that was forfeited.

    seats: numbers of the agents, Black's first.
    """
    conditions = context.conditions
    players = None
    if conditions.compiled_games and not conditions.apart & set(seats):
        black, white = (
            compiled_player(conditions.agents[seat], conditions.rules, conditions.limits)
            for seat in seats
        )
        players = None if black is None or white is None else (black, white)
    watch = GameMonitor(GameMonitor.Memory())
    done = 0
    while done < len(games):
        left = games[done:]
        if players is not None:
            table = np.zeros((len(left), layout.GAME), dtype=np.int64)
            table[:, layout.MOVER : layout.OPPONENT + 1] = starts.masks[left].view(np.int64)
            table[:, layout.TO_MOVE] = starts.colors[left]
            table[:, layout.BLACK_SEED] = starts.seeds[left]
            table[:, layout.WHITE_SEED] = starts.seeds[left] + 1
            board, until = conditions.rules.board, data.exact or -1
            played, turns = layout.play(players, table, board, watch.address, until)
            judged = turns[:, layout.ANSWER + layout.JUDGED] != 0
            values = _in_discs(turns[:, layout.ANSWER + layout.VALUE], judged, data.unit)
            squares = turns[:, layout.SQUARE].astype(np.uint8)
            ends = table[:played, layout.END]
            parts = zip(np.split(squares, ends), np.split(values, ends), strict=True)
            for game, line in zip(left[:played], parts, strict=False):
                lines[game] = line
            done += played
        if done < len(games):  # and a game of which compiled code doubts a move is for the judge
            game = games[done]
            mover, opponent = (int(mask) for mask in starts.masks[game])
            start = Position(mover, opponent, _COLORS[starts.colors[game]], conditions.rules)
            play = _with_processes if conditions.apart & set(seats) else _by_the_judge
            moves = play(context, seats, start, int(starts.seeds[game]))
            lines[game] = None if moves is None else _line(moves, data.unit)
            done += 1


def _in_discs(values: np.ndarray, judged: np.ndarray, unit: int) -> np.ndarray:
    """Return the values of searches, float32, in discs; NaN if there are none. A finished game's
    value is its disc difference."""
    finished = np.abs(values) >= FINAL_UNIT
    discs = values / np.where(finished, FINAL_UNIT, unit)
    return np.where(judged, discs, np.nan).astype(np.float32)


def _line(moves: Sequence[Move], unit: int) -> Line:
    judged = np.array([value is not None for _, value in moves], dtype=bool)
    values = np.array([value or 0 for _, value in moves], dtype=float)
    return np.array([move for move, _ in moves], dtype=np.uint8), _in_discs(values, judged, unit)


def _by_the_judge(
    context: WorkerContext, seats: tuple[int, int], start: Position, seed: int
) -> list[Move] | None:
    """Return the moves of a game; None if it was forfeited."""
    conditions = context.conditions
    black, white = (conditions.agents[seat] for seat in seats)
    played = play_game(
        {Color.BLACK: black, Color.WHITE: white},
        start,
        (),
        conditions.limits,
        conditions.grace,
        {Color.BLACK: seed, Color.WHITE: seed + 1},
    )
    if played.end_reason != FINISHED:
        return None
    return [
        (ply.move, None if ply.decision is None else ply.decision.value) for ply in played.plies
    ]


def _with_processes(
    context: WorkerContext, seats: tuple[int, int], position: Position, seed: int
) -> list[Move] | None:
    """The same with agents in processes of their own, asked for every move anew."""
    moves: list[Move] = []
    while not position.is_over:
        if position.moves:
            seat = seats[_COLORS.index(position.to_move)]
            try:
                decision = context.decide(seat, position, seed + len(moves))
                moves.append((decision.move, decision.value))
                position = position.play(decision.move)
            except (PlayerFailure, ValueError):
                return None
        else:
            position = position.play("--")
    return moves
