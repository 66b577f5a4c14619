"""The games that positions are made of, in a worker: played in compiled code where both sides can,
otherwise move by move."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
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
from othello_lab.training.data_plan import DataConfig
from othello_lab.training.labels import LabelledGames, labelled

COUNTS, POSITIONS = "counts", "positions"
"""The tables of what came of a piece, with one row: ``games``, ``left_out`` (numbers by reason) and
``positions``; and ``rows`` (of labels.ROW, in base 64)."""
FORFEITED = "forfeited or resigned"
_PURPOSE = 2  # keeps these random numbers apart from those of openings and games
_COLORS = (Color.BLACK, Color.WHITE)

Line = tuple[np.ndarray, np.ndarray]
"""The moves of a game, uint8, passes among them, and what was expected of each, float32, in
discs."""
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


def made_of(content: GameBatch | LabelledGames, place: WorkerContext, data: DataConfig) -> Tables:
    """The positions of a piece: of games that are played now, or were read."""
    left_out: dict[str, int] = {}
    if isinstance(content, GameBatch):
        games, forfeited = _played(content, place, data)
        left_out |= {FORFEITED: forfeited} if forfeited else {}
    else:
        games = content
    rows, others = labelled(games, place.conditions.rules, data)
    number = len(games) + sum(left_out.values())
    counts = {"games": number, "left_out": {**left_out, **others}, "positions": len(rows)}
    return {COUNTS: [counts], POSITIONS: [{"rows": b64encode(rows.tobytes()).decode()}]}


def _played(batch: GameBatch, place: WorkerContext, data: DataConfig) -> tuple[LabelledGames, int]:
    """Return the games of a piece after their openings, and the number of forfeited ones, left out
    here."""
    conditions, number = place.conditions, len(batch.mover)
    rng = np.random.default_rng(np.random.SeedSequence([batch.seed, _PURPOSE, batch.number]))
    low, high = data.random_plies
    plies = rng.integers(low, high + 1, number)
    seeds = 2 * rng.integers(1 << 61, size=number)
    masks = np.stack([batch.mover, batch.opponent], axis=1)
    masks, turns = draw_on(rng, masks, plies, conditions.rules.board)
    colors = batch.color ^ turns
    lines: list[Line | None] = [None] * number
    for black, white in _pairings(len(conditions.agents) // 2):
        met = _met(batch.first, number, black, white, len(conditions.agents) // 2)
        seats = black, white + len(conditions.agents) // 2
        _play(place, seats, met, masks, colors, seeds, data, lines)
    kept = np.array([line is not None for line in lines])
    played = [_NO_MOVES, *(line for line in lines if line is not None)]
    ends = np.cumsum([len(squares) for squares, _ in played[1:]], dtype=np.int64)
    squares, values = (np.concatenate(parts) for parts in zip(*played, strict=True))
    games = LabelledGames(masks[kept, 0], masks[kept, 1], squares, ends, values)
    return games, int((~kept).sum())


def _pairings(agents: int) -> list[tuple[int, int]]:
    """Return all pairings, Black first: everybody meets everybody, also itself."""
    return [(black, white) for black in range(agents) for white in range(agents)]


def _met(first: int, number: int, black: int, white: int, agents: int) -> np.ndarray:
    """Return the games of a piece that belong to a pairing; pairings take turns."""
    return np.flatnonzero(
        np.arange(first, first + number) % (agents * agents) == black * agents + white
    )


def _play(
    place: WorkerContext,
    seats: tuple[int, int],
    games: np.ndarray,
    masks: np.ndarray,
    colors: np.ndarray,
    seeds: np.ndarray,
    data: DataConfig,
    lines: list[Line | None],
) -> None:
    """Play these games, and write their moves into ``lines``; None for a game that was forfeited.

    seats: numbers of the agents, Black's first.
    """
    conditions = place.conditions
    players = None
    if conditions.compiled_games and not conditions.apart & set(seats):
        black, white = (
            compiled_player(conditions.agents[seat], conditions.rules, conditions.limits)
            for seat in seats
        )
        players = None if black is None or white is None else (black, white)
    memory = GameMonitor.Memory()
    watch = GameMonitor(memory)
    done = 0
    while done < len(games):
        left = games[done:]
        if players is not None:
            table = np.zeros((len(left), layout.GAME), dtype=np.int64)
            table[:, layout.MOVER : layout.OPPONENT + 1] = masks[left].view(np.int64)
            table[:, layout.TO_MOVE] = colors[left]
            table[:, layout.BLACK_SEED] = seeds[left]
            table[:, layout.WHITE_SEED] = seeds[left] + 1
            board, until = conditions.rules.board, data.exact or -1
            played, turns = layout.play(players, table, board, watch.address, until)
            ends = table[:played, layout.END]
            for game, line in zip(left, _lines(turns, ends, data.unit), strict=False):
                lines[game] = line
            done += played
        if done < len(games):  # and a game of which compiled code doubts a move is for the judge
            game = games[done]
            mover, opponent = (int(mask) for mask in masks[game])
            start = Position(mover, opponent, _COLORS[colors[game]], conditions.rules)
            lines[game] = _by_the_judge(place, seats, start, int(seeds[game]), data.unit)
            done += 1


def _lines(turns: np.ndarray, ends: np.ndarray, unit: int) -> Iterator[Line]:
    """The games of the kernel's table of turns; ends: one past the last turn of each."""
    judged = turns[:, layout.ANSWER + layout.JUDGED] != 0
    values = _in_discs(turns[:, layout.ANSWER + layout.VALUE], judged, unit)
    squares = turns[:, layout.SQUARE].astype(np.uint8)
    yield from zip(np.split(squares, ends), np.split(values, ends), strict=True)


def _in_discs(values: np.ndarray, judged: np.ndarray, unit: int) -> np.ndarray:
    """Return the values of searches, float32, in discs; NaN if there are none. A finished game's
    value is its disc difference."""
    finished = np.abs(values) >= FINAL_UNIT
    discs = values / np.where(finished, FINAL_UNIT, unit)
    return np.where(judged, discs, np.nan).astype(np.float32)


def _by_the_judge(
    place: WorkerContext, seats: tuple[int, int], start: Position, seed: int, unit: int
) -> Line | None:
    """Return the moves of a game, and their values; None if it was forfeited."""
    conditions = place.conditions
    if conditions.apart & set(seats):
        return _asked(place, seats, start, seed, unit)
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
    squares = np.array([ply.move for ply in played.plies], dtype=np.uint8)
    said = [None if ply.decision is None else ply.decision.value for ply in played.plies]
    return squares, _as_said(said, unit)


def _as_said(values: Sequence[int | float | None], unit: int) -> np.ndarray:
    judged = np.array([value is not None for value in values], dtype=bool)
    return _in_discs(np.array([value or 0 for value in values], dtype=float), judged, unit)


def _asked(
    place: WorkerContext, seats: tuple[int, int], position: Position, seed: int, unit: int
) -> Line | None:
    """The same with agents in processes of their own, asked for every move anew."""
    moves: list[int] = []
    values: list[int | float | None] = []
    while not position.is_over:
        if position.moves:
            seat = seats[_COLORS.index(position.to_move)]
            try:
                decision = place.decide(seat, position, seed + len(moves))
                moves.append(decision.move)
                values.append(decision.value)
                position = position.play(moves[-1])
            except (PlayerFailure, ValueError):
                return None
        else:
            position = position.play("--")
    return np.array(moves, dtype=np.uint8), _as_said(values, unit)
