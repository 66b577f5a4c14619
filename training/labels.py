"""Scores of the positions in a game: its final score, or that of perfect play.

The score of a position before the endgame is the game's final disc difference, or, once the exact
solver takes over, the solver's score there, as if both had played perfectly from then on. So a
blunder late in the game does not spoil the scores of its opening.

Many things happen between an opening and the end of its game, and only some are due to the opening.
``trace`` mixes in the values of the players' searches on the way: a position's score is (1 - trace)
x the search's value there + trace x the score of the position after it. With 1 only the end counts.
That is the lambda-return of temporal-difference learning (R. Sutton, *Learning to Predict by the
Methods of Temporal Differences*, 1988).

Errors that all searches share, such as on the last move, would be passed on from round to round. So
the mean score at each number of empty squares is that of the games' results (:func:`levelled`); the
searches' values only distinguish positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated

import numpy as np

from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.agents.search.endgame.sorting import ROUGH
from othello_lab.core.bitboard import disc_differences
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import (
    Choice,
    Each,
    Nameable,
    Number,
    Switch,
    Text,
    Whole,
    check_settings,
)
from othello_lab.training.replay import LEGAL, ReplayedGames, prepare_replay, replay

ENDGAMES = PERFECT, PLAYED = "perfect", "played"
"""What follows once the exact solver gives the scores: perfect play, or the game's own moves."""
MOST_EXACT = 24
"""Empty squares; beyond these solving a position takes seconds."""


@dataclass(frozen=True, kw_only=True)
class DataConfig(Nameable):
    """The way from games to positions."""

    random_plies: Annotated[list[int], Each(Whole(0, 60))] = field(default_factory=lambda: [4, 24])
    """Each game begins with so many random plies after its opening, drawn for each game from this
    range, the least and the most."""
    exact: Annotated[int, Whole(0, MOST_EXACT)] = 10
    """From so many empty squares on the exact solver gives the scores; 0: the games' ends do."""
    trace: Annotated[float, Number(0, 1)] = 1.0
    """The weight of the end of the game against the values that the players' searches expected on
    the way: a score is (1 - trace) x the value expected there + trace x the score one move later.
    Below 1 the players' values must be in discs."""
    unit: Annotated[int, Whole(1)] = 100
    """The value of one disc in the players' searches (100 for evaluations that learned)."""
    endgames: Annotated[str, Choice(*ENDGAMES)] = PERFECT
    """The scores of solved endings: perfect (of perfect play), or played (of the game's own moves,
    each position solved)."""
    validation: Annotated[float, Number(0, 0.5)] = 0.1
    """The share of games kept for validation."""
    test: Annotated[float, Number(0, 0.5)] = 0.1
    """The share of games kept for the test."""
    read: Annotated[list[str], Each(Text(r".+", "a file"))] = field(default_factory=list)
    """Files to read games from, instead of playing: WTHOR (.wtb), GGF, transcripts, folders of
    runs."""
    partly: Annotated[bool, Switch()] = False
    """Use the rest of a file of which a part cannot be read."""

    def __post_init__(self) -> None:
        check_settings(self)
        if len(self.random_plies) != 2 or self.random_plies[0] > self.random_plies[1]:
            raise ValueError(
                f"random_plies={list(self.random_plies)}: the least and the most are needed, such "
                "as [4,24]"
            )


ROW = np.dtype(
    [
        ("mover", np.uint64),
        ("opponent", np.uint64),
        ("score", np.float32),
        ("end", np.float32),
        ("exact", np.bool_),
        ("game", np.uint32),
    ]
)
"""A position of a game. score: to the mover. end: the same by how its game ended alone. exact:
whether of perfect play. game: its number among the games that were asked for."""

_TABLE_MB = 16
_UNSURE = 100  # games that are as much evidence as what is believed without any
ILLEGAL, UNFINISHED = "with an illegal move", "unfinished"
"""Games of which nothing can be told."""


@dataclass(frozen=True)
class LabelledGames:
    """Games, with the values of their moves.

    mover, opponent: uint64 masks of each one's first position. squares: uint8, the moves of all,
    one game after the other. ends: int64, one past each game's last. values: float32, the value of
    each move by the mover's search, in discs, NaN for none; None if no search has stated any.
    """

    mover: np.ndarray
    opponent: np.ndarray
    squares: np.ndarray
    ends: np.ndarray
    values: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ends)

    def pieces(self, most: int) -> Iterator[LabelledGames]:
        """Yield the same games, at most this many at a time."""
        for begin in range(0, len(self), most):
            part = slice(begin, begin + most)
            first = int(self.ends[begin - 1]) if begin else 0
            ends = self.ends[part] - first
            moves = slice(first, first + int(ends[-1]))
            values = None if self.values is None else self.values[moves]
            yield LabelledGames(
                self.mover[part], self.opponent[part], self.squares[moves], ends, values
            )


@cache
def _solver() -> EndgameSolver:
    """Return this process's own solver; each solving begins afresh. It sorts without learned
    weights: the order of two equal moves must not depend on them."""
    return EndgameSolver(table_mb=_TABLE_MB, sorting=ROUGH)


def prepare_labels(data: DataConfig, announce: Announce | None = None) -> None:
    """Load or compile all kernels, before workers fork."""
    prepare_replay(announce)
    if data.exact:
        _solver().prepare_many(announce)


def labelled(
    games: LabelledGames, rules: Ruleset, data: DataConfig
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the positions of games with their scores (:data:`ROW`), those of a game together; and
    the number of games left out, by reason."""
    until = data.exact or -1
    whole = replay(games.mover, games.opponent, games.squares, games.ends, rules.board, until)
    squares = rules.squares
    empties = squares - np.bitwise_count(whole.last_mover | whole.last_opponent).astype(int)
    legal = whole.fault == LEGAL
    usable = legal & (whole.over | (empties <= until))
    left_out = {ILLEGAL: int((~legal).sum()), UNFINISHED: int((legal & ~usable).sum())}
    final = disc_differences(whole.last_mover, whole.last_opponent, squares)
    solved = np.flatnonzero(usable & ~whole.over)
    parts = []
    if len(solved):
        mover, opponent = whole.last_mover[solved], whole.last_opponent[solved]
        perfect = data.endgames != PLAYED
        final[solved], lines = _solver().scores(mover, opponent, rules, perfect)
        if perfect:
            parts.append(_rows(lines.mover, lines.opponent, solved[lines.line], lines.score))
        else:
            parts.append(_played(games, usable, rules, until))
    used = usable[whole.game]
    before = _rows(whole.mover[used], whole.opponent[used], whole.game[used])
    for name, values in (("score", games.values), ("end", None)):
        before[name] = _scores(whole, final, values, data.trace, squares)[used]
    rows = np.concatenate([before, *parts])
    order = np.argsort(rows["game"], kind="stable")
    return rows[order], {why: number for why, number in left_out.items() if number}


def levelled(rows: np.ndarray, squares: int) -> np.ndarray:
    """The scores of positions (:data:`ROW`), float32, so that their mean at each number of empty
    squares is that of how their games ended; of few games only a part of the way. Exact scores stay
    as they are. squares: of the board; no score is more.

    >>> rows = np.zeros(300, dtype=ROW)
    >>> rows["score"], rows["end"] = 1, 5
    >>> float(levelled(rows, 64)[0])
    4.0
    """
    score = rows["score"].copy()
    empties = squares - np.bitwise_count(rows["mover"] | rows["opponent"]).astype(int)
    for number in np.unique(empties[~rows["exact"]]):
        level = (empties == number) & ~rows["exact"]
        missing = (rows["end"][level] - score[level]).sum() / (level.sum() + _UNSURE)
        score[level] = np.clip(score[level] + missing, -squares, squares)
    return score


def _scores(
    whole: ReplayedGames, final: np.ndarray, values: np.ndarray | None, trace: float, squares: int
) -> np.ndarray:
    """Return the score of each position, to its mover. final: of each game, to its side to move at
    the end. squares: of the board; the largest score."""
    sign = np.where(whole.turn == 0, 1.0, -1.0)
    ended = np.where(whole.last_turn == 0, final, -final).astype(float)
    score = ended[whole.game]
    if trace < 1 and values is not None:
        expected = np.full(len(sign), np.nan)
        moved = whole.move >= 0
        expected[moved] = values[whole.move[moved]]
        expected *= sign
        # All games at once, from their ends backwards.
        begins = np.searchsorted(whole.game, np.arange(len(ended)), side="left")
        ends = np.searchsorted(whole.game, np.arange(len(ended)), side="right")
        for back in range(1, int((ends - begins).max(initial=0)) + 1):
            games = np.flatnonzero(ends - begins >= back)
            rows = ends[games] - back
            mixed = (1 - trace) * expected[rows] + trace * ended[games]
            score[rows] = np.where(np.isnan(mixed), ended[games], mixed)
            ended[games] = score[rows]
    return np.clip(score * sign, -squares, squares).astype(np.float32)


def _rows(
    mover: np.ndarray, opponent: np.ndarray, game: np.ndarray, exact: np.ndarray | None = None
) -> np.ndarray:
    """Return rows of these positions. exact: their scores by perfect play; None for no scores."""
    rows = np.zeros(len(mover), dtype=ROW)
    rows["mover"], rows["opponent"], rows["game"] = mover, opponent, game
    if exact is not None:
        rows["score"] = rows["end"] = exact
        rows["exact"] = True
    return rows


def _played(games: LabelledGames, usable: np.ndarray, rules: Ruleset, until: int) -> np.ndarray:
    """The positions of the games' own endgames, each with its exact score."""
    whole = replay(games.mover, games.opponent, games.squares, games.ends, rules.board)
    empties = rules.squares - np.bitwise_count(whole.mover | whole.opponent).astype(int)
    late = usable[whole.game] & (empties <= until)
    mover, opponent = whole.mover[late], whole.opponent[late]
    scores, _ = _solver().scores(mover, opponent, rules)
    return _rows(mover, opponent, whole.game[late], scores)
