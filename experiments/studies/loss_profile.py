"""Losses of two agents by ply and result: pure functions of frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from othello_lab.experiments.report.late_moves import ALL, mean_columns
from othello_lab.experiments.statistics.means import mean_interval

if TYPE_CHECKING:
    import pandas as pd

RESULTS = ("won", "drawn", "lost")
"""Results of a game for an agent."""
_NOT_NEGATIVE = (0.0, np.inf)


def result_for(points: float) -> str:
    """Return the result of a game with these points (1, 0.5 or 0)."""
    return RESULTS[round(2 - 2 * points)]


def band_of(ply: int, plies: int) -> str:
    """Return the name of the band of ``plies`` plies that holds a ply: its first and last one.

    >>> band_of(3, 8), band_of(8, 8), band_of(5, 1)
    ('1-7', '8-15', '5')
    """
    last = ply // plies * plies + plies - 1
    first = max(1, last - plies + 1)
    return f"{first}-{last}" if last > first else f"{last}"


def loss_profile(
    moves: pd.DataFrame, agents: Sequence[str], band: int, seed: int = 0
) -> pd.DataFrame:
    """Return the losses and costs of two agents by result and band of plies.

    moves: one row a move; columns ``game``, ``opening``, ``agent``, ``result`` (for the agent),
    ``ply``, ``loss``, ``microseconds`` and ``depth``. band: plies of a band.

    One row an agent, result (or ALL) and band (``plies``, or ALL at the end). Columns: moves, games
    (all with this result); ``loss_move`` and ``loss_game``, the mean discs lost a move and a game,
    each with the ends of its 95 % interval, ``_low`` and ``_high``; means of ``microseconds`` and
    ``depth``.
    """
    import pandas as pd

    rows = []
    for agent in agents:
        games = _games_of(moves, agent)
        for result in (ALL, *RESULTS):
            played = games if result == ALL else games[games["result"] == result]
            if played.empty:
                continue
            chosen = (moves["agent"] == agent) & moves["game"].isin(played["game"])
            for plies, within in _bands(moves, band):
                part = moves[chosen & within]
                a_move = mean_interval(part["loss"], part["opening"], seed, _NOT_NEGATIVE)
                lost = _lost_by_game(part, played)
                a_game = mean_interval(lost, played["opening"], seed, _NOT_NEGATIVE)
                rows.append(
                    {
                        **{"agent": agent, "result": result, "plies": plies},
                        **{"moves": len(part), "games": len(played)},
                        **mean_columns("loss_move", a_move),
                        **mean_columns("loss_game", a_game),
                        "microseconds": part["microseconds"].astype(float).mean(),
                        "depth": part["depth"].astype(float).mean(),
                    }
                )
    return pd.DataFrame(rows)


def difference_profile(
    moves: pd.DataFrame, agents: Sequence[str], band: int, seed: int = 0
) -> pd.DataFrame:
    """Return how many more discs a game the first of two agents gives away than the second.

    moves, band: as for :func:`loss_profile`. One row a band (``plies``, or ALL at the end); column
    difference, with the ends of its 95 % interval, ``_low`` and ``_high``.
    """
    import pandas as pd

    games = moves[["game", "opening"]].drop_duplicates("game")
    rows = []
    for plies, within in _bands(moves, band):
        first, second = (
            _lost_by_game(moves[within & (moves["agent"] == agent)], games) for agent in agents
        )
        mean = mean_interval(first - second, games["opening"], seed)
        rows.append({"plies": plies, **mean_columns("difference", mean)})
    return pd.DataFrame(rows)


def _games_of(moves: pd.DataFrame, agent: str) -> pd.DataFrame:
    """Return all games, with their results for an agent, also those without a choice of its own."""
    games = moves.drop_duplicates("game")[["game", "opening", "agent", "result"]]
    opposite = dict(zip(RESULTS, reversed(RESULTS), strict=True))
    theirs = games["result"].where(games["agent"] == agent, games["result"].map(opposite))
    return games.assign(result=theirs).drop(columns="agent")


def _bands(moves: pd.DataFrame, plies: int) -> Iterator[tuple[str, pd.Series[bool]]]:
    """Yield the name of each band with moves, and at the end ALL, with a mask of its moves."""
    for number in sorted(set(moves["ply"] // plies)):
        yield band_of(int(number) * plies, plies), moves["ply"] // plies == number
    yield ALL, moves["ply"].notna()


def _lost_by_game(moves: pd.DataFrame, games: pd.DataFrame) -> pd.Series[float]:
    """Return the discs that moves lose in each game, 0 in games without any."""
    return moves.groupby("game")["loss"].sum().reindex(games["game"], fill_value=0.0)
