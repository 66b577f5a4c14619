"""Figures of learned weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import TwoSlopeNorm

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.learned.geometry import board_of
from othello_lab.core.bitboard import bits, symmetric_forms
from othello_lab.experiments.report.figures.drawing import ReportFigure, blank, heat, signed
from othello_lab.experiments.report.figures.palette import DIVERGING
from othello_lab.experiments.studies.positions import PHASES
from othello_lab.training.data import Positions
from othello_lab.training.measuring import phase_numbers

_SAMPLE = 5000
"""Positions a phase at most."""
_SQUARES = 64


def disc_worth_figure(evaluation: Evaluation, positions: Positions, unit: float) -> ReportFigure:
    """Return a figure of a disc's worth on each square, by phase of the game: half of the value's
    change if it changes its colour, on average over positions with a disc there.

    unit: the value of one disc.
    """
    side = positions.side
    worth = {
        phase: disc_worth(evaluation, sample, unit)
        for phase, sample in _by_phase(positions).items()
        if len(sample)
    }
    most = max([0.5, *(float(np.nanmax(np.abs(discs))) for discs in worth.values())])
    with blank(4.2 * len(worth), 3.9) as figure:
        grid = figure.subplots(1, len(worth), squeeze=False).flatten()
        for axes, (phase, discs) in zip(grid, worth.items(), strict=True):
            texts = np.vectorize(lambda value: "" if np.isnan(value) else signed(value, 1))(discs)
            norm = TwoSlopeNorm(0, -most, most)
            heat(figure, axes, discs, DIVERGING, "discs", norm, texts)
            axes.set_title(phase)
            axes.set_aspect("equal")
            axes.set_xticks(range(side), "abcdefgh"[:side])
            axes.set_yticks(range(side), [f"{row + 1}" for row in range(side)])
    rows = [
        {"phase": phase, "square": f"{'abcdefgh'[column]}{row + 1}", "discs": discs}
        for phase, squares in worth.items()
        for (row, column), discs in np.ndenumerate(squares)
    ]
    return ReportFigure(
        name="disc_worth",
        title="What a disc is worth, by square",
        caption="Discs of the final result: half of what the evaluation changes by where a disc "
        f"changes its colour, on average over up to {_SAMPLE:,} positions of each third of the "
        "game. Blue squares are good to own, red ones bad.",
        chart=figure,
        data=pd.DataFrame(rows),
    )


def disc_worth(evaluation: Evaluation, positions: Positions, unit: float) -> np.ndarray:
    """For each square of the board, in discs, shape (side, side); NaN where there never is one."""
    side = positions.side
    mover, opponent = positions.mover, positions.opponent
    before = evaluation.values(mover, opponent).astype(float)
    total, number = np.zeros(_SQUARES), np.zeros(_SQUARES)
    squares = bits(board_of(side))
    for square in squares:
        disc = np.uint64(1 << square)
        for owned, sign in ((mover, 1), (opponent, -1)):
            there = (owned & disc) != 0
            if there.any():
                turned = evaluation.values(mover[there] ^ disc, opponent[there] ^ disc)
                total[square] += sign * (before[there] - turned).sum() / 2
                number[square] += there.sum()
    # Squares that a symmetry brings to each other share what was seen of them.
    worth = np.full(_SQUARES, np.nan)
    for square in squares:
        alike = [bits(int(mask))[0] for mask, _ in symmetric_forms(1 << square, 0, side)]
        if (seen := number[alike].sum()) > 0:
            worth[square] = total[alike].sum() / seen / unit
    return worth.reshape(8, 8)[:side, :side]


def _by_phase(positions: Positions) -> dict[str, Positions]:
    phases = phase_numbers(positions)
    rng = np.random.default_rng(0)  # which positions are looked at is no part of the training
    return {
        phase: positions[phases == number].sample(_SAMPLE, rng)
        for number, phase in enumerate(PHASES)
    }
