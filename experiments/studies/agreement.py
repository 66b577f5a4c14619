"""Agreement of agents on moves, and the positions in which they differ: pure functions of
frames."""

from __future__ import annotations

import math
from itertools import combinations

import pandas as pd

from othello_lab.experiments.statistics.means import SHARE, mean_interval


def agreements(answers: pd.DataFrame, openings: pd.Series, seed: int = 0) -> pd.DataFrame:
    """Return the share of positions in which each two agents choose the same move.

    answers: one row a position, one column an agent; moves as texts, None for no move. openings: of
    the same positions.

    One row a pair of agents: first, second, positions, and agreement (0 to 1) with the ends of its
    95 % interval, low and high. Positions in which one of them has no move are left out.
    """
    rows = []
    for first, second in combinations(answers.columns, 2):
        both = answers[[first, second]].dropna()
        same = both[first] == both[second]
        mean = mean_interval(same, openings.reindex(both.index), seed, SHARE)
        rows.append((first, second, len(both), *mean))
    return pd.DataFrame(rows, columns=["first", "second", "positions", "agreement", "low", "high"])


def disagreement(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the disagreement in each position, the rows of ``answers`` (see :func:`agreements`):
    ``different``, the number of chosen moves, and ``entropy`` of the choice in bits."""
    rows = []
    for _, row in answers.iterrows():
        shares = row.value_counts(normalize=True).to_numpy()
        entropy = -sum(share * math.log2(share) for share in shares)
        rows.append((len(shares), abs(entropy)))
    return pd.DataFrame(rows, columns=["different", "entropy"], index=answers.index)


def choices_text(chosen: pd.Series, most: int) -> list[str]:
    """Return the choices in a position, a text for each move, the one of most agents first: ``c5:
    iago, mobility``; of many agents the first ``most`` and the number of the others.

    chosen: moves by agent.
    """
    texts = []
    for move, number in chosen.value_counts().items():
        names = [str(name) for name, each in chosen.items() if each == move]
        more = f" and {number - most} more" if number > most else ""
        texts.append(f"{move}: {', '.join(names[:most])}{more}")
    return texts
