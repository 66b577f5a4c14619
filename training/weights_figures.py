"""Figures of learned weights: the worth of a disc, a composite's weights, and decision trees."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, TwoSlopeNorm
from matplotlib.figure import Figure

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.learned.features import NAMES
from othello_lab.agents.learned.geometry import board_of
from othello_lab.agents.learned.trees import QUESTIONS
from othello_lab.core.bitboard import bits, symmetric_forms
from othello_lab.experiments.report.figures.drawing import (
    MINUS,
    SMALL,
    ReportFigure,
    blank,
    heat,
    resize,
    signed,
)
from othello_lab.experiments.report.figures.palette import (
    BLUE,
    DIVERGING,
    FAINT,
    GREY,
    LINE,
    ORANGE,
    PAGE,
    SEQUENTIAL,
)
from othello_lab.experiments.studies.positions import PHASES
from othello_lab.training.data import Positions
from othello_lab.training.measuring import phase_numbers
from othello_lab.training.stages import empties_text
from othello_lab.training.tree_growing import ALWAYS, SingleTree, TreeStage, importances

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


_LEAF = 0.62  # inches of a leaf's place


def sizes_figure(
    names: Sequence[str], stages: Sequence[str], moved: np.ndarray, unit: str
) -> ReportFigure:
    """Return a heat map of how much a composite's features move values, shape (stages, features),
    in this unit."""
    most = float(np.nanmax(np.abs(moved), initial=1e-9))
    digits = 1 if most < 100 else 0
    texts = np.array([["" if np.isnan(v) else signed(v, digits) for v in row] for row in moved.T])
    with blank() as figure:
        axes = figure.add_subplot()
        label = f"{unit}, with the sign of the weight"
        heat(figure, axes, moved.T, DIVERGING, label, Normalize(-most, most), texts, 8)
        axes.set_xticks(range(len(stages)), stages, rotation=90)
        axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        axes.set_xlabel("empty squares")
        resize(figure, axes, 0.42 * len(stages) + 0.4, 0.34 * len(names) + 0.3)
    frame = pd.DataFrame(moved, columns=list(names))
    frame.insert(0, "empties", stages)
    return ReportFigure(
        name="weights",
        title="What the weights mean",
        caption=f"By how many {unit} each feature moves a stage's positions (weight x root "
        "mean square of the feature). Features overlap, so a weight may be negative because "
        "another one counts the same twice.",
        chart=figure,
        data=frame,
    )


def tree_figures(
    single: SingleTree, stages: Sequence[TreeStage], of_empties: np.ndarray
) -> Iterator[ReportFigure]:
    """The figures of a training's report. of_empties: the stage of each number of empty squares."""
    yield ReportFigure(
        name="single_tree",
        title="One tree over the whole game",
        caption="Where the answer is yes, go left. At the leaves the mean final disc difference to "
        "the side to move, in discs, and the share of positions that end there. This tree is here "
        "to be read; the evaluation adds up many others.",
        chart=tree_chart(single.stage, single.counts),
    )
    middle = len(stages) // 2
    yield ReportFigure(
        name="first_tree",
        title="The first of many trees",
        caption=f"Of the stage with {empties_text(of_empties, middle)} empty squares, which has "
        f"{len(stages[middle].leaf)} trees. At the leaves what it adds, in discs; the trees after "
        "it add what it still misses.",
        chart=tree_chart(stages[middle]),
    )
    yield ReportFigure(
        name="importances",
        title="What the trees ask about",
        caption="By stage of the game, the share of what questions about a feature bring: the sum "
        "by which they lower squared errors of training. Features that say much the same share "
        "what they bring.",
        chart=importances_chart(stages, of_empties),
    )


def tree_chart(stage: TreeStage, counts: np.ndarray | None = None) -> Figure:
    """A stage's first tree.

    counts: how many positions come to each slot, shape (63,), to be told at the leaves.
    """
    feature, threshold, leaf = stage.feature[0], stage.threshold[0], stage.leaf[0]
    layout = _layout(threshold)
    leaves = sum(not _children(threshold, slot) for slot in layout)
    depth = max(down for _, down in layout.values())
    most = np.abs(leaf).max(initial=1e-9)
    width = max(8.0, _LEAF * leaves + 0.4)
    with blank(width=width, height=0.95 * (depth + 1) + 0.5) as figure:
        axes = figure.add_subplot()
        for slot, (across, down) in layout.items():
            children = _children(threshold, slot)
            for child in children:
                to = layout[child]
                axes.plot([across, to[0]], [down, to[1]], color=LINE, linewidth=1.2, zorder=1)
            if children:
                name = in_words(feature[slot])
                text = f"{name}\n≤ {threshold[slot]}?".replace("\n≤ -", f"\n≤ {MINUS}")
                _box(axes, across, down, text, PAGE, FAINT)
            else:
                deepest = slot
                while deepest < QUESTIONS:
                    deepest = 2 * deepest + 1
                value = leaf[deepest - QUESTIONS]
                text = signed(value, 1)
                if counts is not None and counts[0]:
                    text += f"\n{100 * counts[slot] / counts[0]:.0f} %"
                colour = BLUE if value >= 0 else ORANGE
                _box(axes, across, down, text, colour, colour, alpha=0.15 + 0.5 * abs(value) / most)
        for word, child in zip(("yes", "no"), _children(threshold, 0), strict=False):
            across = (layout[0][0] + layout[child][0]) / 2
            side = "right" if word == "yes" else "left"
            axes.text(across, 0.42, f" {word} ", ha=side, color=GREY, fontsize=SMALL)
        axes.set_xlim(-0.6, leaves - 0.4)
        axes.set_ylim(depth + 0.4, -0.4)
        axes.set_axis_off()
    return figure


def _children(threshold: np.ndarray, slot: int) -> tuple[int, ...]:
    """Return the places below one; none below a leaf, also below one that comes early."""
    asks = slot < QUESTIONS and threshold[slot] != ALWAYS
    return (2 * slot + 1, 2 * slot + 2) if asks else ()


def _layout(threshold: np.ndarray) -> dict[int, tuple[float, int]]:
    """Return the distance to the right and down of each slot that is drawn: leaves beside each
    other, questions over their middle."""
    layout: dict[int, tuple[float, int]] = {}
    leaves = itertools.count()

    def put(slot: int, down: int) -> float:
        below = [put(child, down + 1) for child in _children(threshold, slot)]
        across = float(np.mean(below)) if below else float(next(leaves))
        layout[slot] = across, down
        return across

    put(0, 0)
    return layout


def in_words(feature: int) -> str:
    """A feature's name, as players write it."""
    name = NAMES[feature].replace("_", " ")
    return {"x squares": "X-squares", "c squares": "C-squares"}.get(name, name)


def _box(
    axes: Axes, across: float, down: int, text: str, face: str, edge: str, alpha: float = 1
) -> None:
    # First what covers the lines, then the shade, then the words.
    for colour, seen in ((PAGE, 1.0), (face, alpha)):
        box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": edge, "alpha": seen}
        axes.text(across, down, text, ha="center", va="center", fontsize=SMALL - 2, bbox=box,
                  alpha=0, zorder=2)  # fmt: skip
    axes.text(across, down, text, ha="center", va="center", fontsize=SMALL - 2, zorder=3)


def importances_chart(stages: Sequence[TreeStage], of_empties: np.ndarray) -> Figure:
    """The share of each feature in each stage, the most important first."""
    shares = 100 * importances(stages).T
    order = np.argsort(-shares.mean(axis=1), kind="stable")
    texts = np.array([[f"{share:.0f}" if share >= 1 else "" for share in row] for row in shares])
    with blank(width=3.6 + 0.55 * len(stages), height=1 + 0.27 * len(NAMES)) as figure:
        axes = figure.add_subplot()
        # The opening, stage by stage, to the game's end.
        stages_shown = np.arange(len(stages))[::-1]
        heat(
            figure,
            axes,
            shares[order][:, stages_shown],
            SEQUENTIAL,
            "share of what questions bring (%)",
            texts=texts[order][:, stages_shown],
            size=SMALL - 1,
        )
        axes.set_yticks(range(len(order)), [in_words(n) for n in order])
        axes.set_xticks(
            range(len(stages)),
            [empties_text(of_empties, int(stage)) for stage in stages_shown],
            rotation=45 if len(stages) > 6 else 0,
        )
        axes.set_xlabel("empty squares")
    return figure
