"""Effects of opening and colour on the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    blank,
    cell_texts,
    check_frame,
    coloured,
    column,
    drawn,
    heat,
    name_ticks,
    resize,
    row_chart,
    wrapped,
)
from othello_lab.experiments.report.figures.palette import DIVERGING, GREY, LINE, PAGE, scale
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.standings import SIDES, scores_from
from othello_lab.experiments.report.tables import by_agent
from othello_lab.experiments.statistics.pairs import OUTCOMES

MOST_OPENINGS = 30
"""Up to so many openings are shown one by one."""

_POINTS = ("lost both games", "½ point", "1 point", "1½ points", "won both")
_SHADES = (2, 6, 10, 14, 18)  # places in the scale, one for each number of half points
_BAR = 0.22  # inches, of the 0.33 that a name of one line has
_LONGEST = 24  # letters of an opening's name


def colours_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of every agent's score with Black and with White."""
    table = by_agent(facts.colours, facts.order)
    if table.empty:
        return
    several = facts.openings > 1
    bars = " Bars are 95 % intervals over openings." if several else ""
    yield ReportFigure(
        name="colours",
        title="Score by colour",
        caption="Share of points with Black and with White, from the same openings. Pairs of "
        f"games that repeat an earlier one are left out.{bars}",
        chart=colours_chart(table, facts.context, facts.order),
        data=table,
    )


def pairs_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of every agent's points in the pairs."""
    counts = facts.pair_counts.sum(axis=1)
    table = pd.DataFrame(counts, facts.names, range(OUTCOMES)).loc[facts.order]
    table = table[table.sum(axis=1) > 0]
    if table.empty or facts.all_split:
        return
    yield ReportFigure(
        name="pairs",
        title="Points of a pair",
        caption="A pair is two games from one opening with colours swapped. In the middle are "
        "shared pairs: the opening decided, or nobody was better. Pairs that "
        "repeat an earlier one move for move are left out.",
        chart=pairs_chart(table, facts.context),
    )


def openings_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of every agent's score from each opening, if these are few."""
    if facts.all_split or not 1 < facts.openings <= MOST_OPENINGS:
        return
    table = scores_from(facts.record)
    if table.empty:
        return
    table["agent"] = table["agent"].map(dict(enumerate(facts.names)))
    shares = table.pivot_table("score", "agent", "opening", sort=False)
    shares = shares.loc[[name for name in facts.order if name in shares.index]]
    played = [text for text in facts.record.openings() if text in shares.columns]
    yield ReportFigure(
        name="openings",
        title="Score by opening",
        caption="Share of points from each opening, per cent, with both colours together.",
        chart=openings_chart(shares[played or list(shares.columns)], facts.context),
        data=table,
    )


# ------------------------------------------------------------------ charts


def colours_chart(scores: pd.DataFrame, context: str = "", order: Sequence[str] = ()) -> Figure:
    """Draw every agent's score with each colour, a row an agent, with its 95 % interval.

    scores: a row an agent and colour; columns ``agent``, ``side`` ("Black" or "White"), ``score``,
        ``low``, ``high`` (0 to 1; the last two may be nan) and ``games``. 1 to 60 agents read well;
        the figure grows with them.
    context: the line above. order: all agents of the report, for their rows and colours.
    """
    check_frame(scores, ["agent", "side", "score", "low", "high", "games"])
    agents = coloured(scores["agent"], order)
    with row_chart([name for name, _ in agents], context) as (figure, axes, rows):
        axes.axvline(50, color=GREY, linewidth=1)
        texts: dict[str, list[str]] = {side: [] for side in SIDES}
        shares = scores.set_index(["agent", "side"])[["score", "low", "high"]].to_dict("index")
        for row, (name, colour) in zip(rows, agents, strict=True):
            for side, away in zip(SIDES, (-0.06, 0.06), strict=True):
                share, low, high = (100 * part for part in shares[name, side].values())
                ends = None if np.isnan(low) else [[share - low], [high - share]]
                style: Any = {"color": colour, "capsize": 2, "markersize": 6, "linewidth": 1.2}
                style["markerfacecolor"] = colour if side == "Black" else PAGE
                part = axes.errorbar(share, row + away, xerr=ends, fmt="o", **style)
                interval = "" if ends is None else f" [{low:.1f}, {high:.1f}]"
                annotate(part, name, f"{name}\nwith {side} {share:.1f} %{interval}")
                texts[side].append(f"{share:.1f}")
        for side, face in zip(SIDES, (GREY, PAGE), strict=True):
            axes.plot([], [], "o", color=GREY, markerfacecolor=face, label=f"with {side}")
        axes.set_xlim(-3, 103)
        axes.set_xlabel("score, %")
        figure.legend(loc="outside lower center", ncols=2)
        for number, side in enumerate(SIDES, start=1):
            column(axes, side, rows, texts[side], offset=50 * number)
    return figure


def pairs_chart(pairs: pd.DataFrame, context: str = "") -> Figure:
    """Draw every agent's points in the pairs, 0 to 2 each, a bar an agent.

    pairs: index: agents, best first; columns 0 to 4: numbers of pairs with this many half points. 1
    to 60 agents read well; the figure grows with them.
    context: the line above.
    """
    check_frame(pairs, [])
    shares = 100 * pairs.div(pairs.sum(axis=1), axis=0).to_numpy()
    shades = [scale(DIVERGING)[level] for level in _SHADES]
    with row_chart(pairs.index, context, width=5.4) as (figure, axes, rows):
        begin = np.zeros(len(rows))
        for points, name in enumerate(_POINTS):
            part = shares[:, points]
            bars = axes.barh(
                rows, part, _BAR, begin, color=shades[points], edgecolor=LINE, label=name
            )
            for bar, agent, number in zip(bars, pairs.index, pairs.iloc[:, points], strict=True):
                annotate(bar, str(agent), f"{agent}\n{name}: {counted(int(number), 'pair')}")
            begin += part
        axes.set_xlim(0, 100)
        axes.grid(visible=False, axis="x")
        axes.axvline(50, color=PAGE, linewidth=1)
        axes.set_xlabel("pairs, %")
        figure.legend(loc="outside lower center", ncols=OUTCOMES, columnspacing=1.2)
        shared = [f"{share:.0f} %" for share in shares[:, OUTCOMES // 2]]
        column(axes, "shared", rows, shared, offset=52)
        column(axes, "pairs", rows, [f"{n:,}" for n in pairs.sum(axis=1)], offset=110)
    return figure


def openings_chart(shares: pd.DataFrame, context: str = "") -> Figure:
    """Draw every agent's score from each opening, as a heat map.

    shares: index: agents, best first; columns: openings; values 0 to 1, nan where there is none.
        2 to 60 agents and 2 to 30 openings read well.
    context: the line above.
    """
    if shares.empty:
        raise ValueError("the frame has no rows: nothing to draw")
    values = 100 * shares.to_numpy(dtype=float)
    agents, openings = values.shape
    names = [wrapped(name) for name in shares.index]
    lines = max(1 + name.count("\n") for name in names)
    texts = cell_texts(shares, lambda _, __, share: f"{100 * share:.0f}")
    titles = cell_texts(
        shares, lambda agent, opening, share: f"{agent}\n{opening}\n{100 * share:.1f} %"
    )
    with blank(context=context) as figure:
        axes = figure.add_subplot()
        heat(
            figure, axes, values, DIVERGING, "score, %", Normalize(0, 100), texts, 8, titles=titles
        )
        short = [text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in shares]
        axes.set_xticks(range(openings), [drawn(text) for text in short], rotation=90)
        axes.set_yticks(range(agents), names)
        name_ticks(axes, shares.index)
        axes.set_xlabel("opening")
        axes.set_ylabel("agent")
        height = max(1.2, agents * max(0.28, 0.17 * lines))
        resize(figure, axes, max(3.0, 0.4 * openings), height)
    return figure
