"""Matches with results alone: played whole in compiled code, without a record.

A training plays thousands of games a minute to measure its progress.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from othello_lab.agents.agent import Agent, Limits, compiled_player
from othello_lab.core import whole_games as layout
from othello_lab.core.bitboard import disc_differences
from othello_lab.core.rules import Color, Ruleset
from othello_lab.experiments.pairing.openings import Opening

_MOST = 256
"""Games at a time, whose turns the kernel writes down; they take two megabytes."""

Starts = np.ndarray
"""Where games begin, int64, shape (openings, 3): masks of mover and opponent, and 0 where Black is
to move, 1 where White is."""


def starts_of(openings: Sequence[Opening], rules: Ruleset) -> Starts:
    """The positions that openings lead to."""
    starts = np.zeros((len(openings), 3), dtype=np.int64)
    for row, opening in zip(starts, openings, strict=True):
        position = opening.reach(rules)
        row[:2] = np.array([position.mover, position.opponent], dtype=np.uint64).view(np.int64)
        row[2] = position.to_move is Color.WHITE
    return starts


def duel(one: Agent, other: Agent, starts: Starts, rules: Ruleset, seed: int = 0) -> np.ndarray:
    """Return the results of ``one`` in the two games of each opening, begun once with Black and
    once with White: the disc difference at the end, empty squares to the winner, int64, shape
    (openings, 2).

    seed: of the agents' own random numbers. Both must be prepared. Raises ValueError for an agent
    that cannot play in compiled code.
    """
    players = []
    for agent in (one, other):
        player = compiled_player(agent, rules, Limits())
        if player is None:
            raise ValueError(f"{agent!r} does not play in compiled code")
        players.append(player)
    games = np.zeros((2 * len(starts), layout.GAME), dtype=np.int64)
    games[:, : layout.BLACK] = np.repeat(starts, 2, axis=0)
    games[1::2, layout.BLACK] = 1
    seeds = np.random.default_rng(seed).integers(1 << 62, size=(len(starts), 2))
    games[:, layout.BLACK_SEED : layout.WHITE_SEED + 1] = np.repeat(seeds, 2, axis=0)
    watch = np.zeros(layout.WATCH, dtype=np.int64)
    for begin in range(0, len(games), _MOST):
        chunk = games[begin : begin + _MOST]
        played, _ = layout.play((players[0], players[1]), chunk, rules.board, watch.ctypes.data)
        if played < len(chunk):
            raise ValueError(f"{one!r} against {other!r}: a move that is not legal")
    mover, opponent = games[:, [layout.LAST_MOVER, layout.LAST_OPPONENT]].view(np.uint64).T
    difference = disc_differences(mover, opponent, rules.squares)
    # The first player has the colour that the game's BLACK says: 0 for Black.
    first_to_move = games[:, layout.LAST_TO_MOVE] == games[:, layout.BLACK]
    return np.where(first_to_move, difference, -difference).reshape(-1, 2)


def points(differences: np.ndarray) -> np.ndarray:
    """Points of games, a win 1 and a draw one half, averaged over the two of each opening: shape
    (openings,)."""
    return (0.5 + np.sign(differences) / 2).mean(axis=1)
