"""Figures: labelled, complete, nothing written over something else, the same file again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from othello_lab import Agent, Decision, GreedyAgent, Limits, Position, RandomAgent, run_match
from othello_lab.experiments.report.figures import course, matrices
from othello_lab.experiments.report.figures.cost import elo_cost_chart, pareto, surely
from othello_lab.experiments.report.figures.course import course_chart, values_chart
from othello_lab.experiments.report.figures.discs import discs_chart
from othello_lab.experiments.report.figures.drawing import (
    MINUS,
    ReportFigure,
    coloured,
    draw_figures,
    save,
    styled,
)
from othello_lab.experiments.report.figures.elo import elo_chart
from othello_lab.experiments.report.figures.matrices import matrix_chart
from othello_lab.experiments.report.figures.openings import (
    colours_chart,
    openings_chart,
    pairs_chart,
)
from othello_lab.experiments.report.figures.palette import BLUE, COLOURS, ORANGE
from othello_lab.experiments.report.figures.pruning import pruning_chart
from othello_lab.experiments.report.figures.searches import cost_chart, depth_chart
from othello_lab.experiments.report.figures.times import time_chart
from othello_lab.experiments.report.tables import time_text

Patch = pytest.MonkeyPatch

LONG = [
    "alphabeta-depth-8-mobility-and-corner-weights-with-parity",
    "minimax depth 4, square weights from the literature of 1990",
    "random",
    "extremely_long_name_without_any_space_in_it_whatsoever_to_break_at",
    "greedy",
]


def names_of(agents: int) -> list[str]:
    return [f"agent-{number}" for number in range(agents)]


def standings(names: list[str], bounds: bool = False, equal: bool = False) -> pd.DataFrame:
    """Invented ratings, best first; with ``bounds`` the first and the last agent are perfect."""
    agents, rng = len(names), np.random.default_rng(len(names))
    elo = np.zeros(agents) if equal else np.sort(rng.normal(0, 200, agents))[::-1]
    width = np.zeros(agents) if equal else rng.uniform(10, 60, agents)
    frame = pd.DataFrame({"agent": names, "elo": elo, "low": elo - width, "high": elo + 2 * width})
    frame = frame.assign(bound="", split=False, games=rng.integers(10, 1_000_000, agents))
    if bounds:
        for row, sign, rating in ((0, ">", elo.max() + 600), (agents - 1, "<", elo.min() - 600)):
            frame.loc[row, "bound"] = sign
            frame.loc[row, ["elo", "low", "high"]] = rating
    return frame


def scores(names: list[str], equal: bool = False) -> pd.DataFrame:
    """Invented scores; the first agent never lost to the last, and 0 and 1 did not meet."""
    agents = len(names)
    every = np.random.default_rng(agents).random((agents, agents))
    upper = np.triu(np.full((agents, agents), 0.5) if equal else every, 1)
    table = upper + np.tril(1 - upper.T, -1)
    table[0, -1], table[-1, 0] = 1, 0
    np.fill_diagonal(table, np.nan)
    if agents > 2:
        table[0, 1] = table[1, 0] = np.nan
    return pd.DataFrame(table, index=names, columns=names)


def counts(minimax: int, alphabeta: int) -> pd.DataFrame:
    """Invented node counts up to these depths."""
    rows = [("minimax", depth, 8.0**depth + 1) for depth in range(1, minimax + 1)]
    rows += [("alpha-beta", depth, 8.0 ** (0.6 * depth) + 5) for depth in range(1, alphabeta + 1)]
    frame = pd.DataFrame(rows, columns=["algorithm", "depth", "nodes"])
    return frame.assign(positions=50, evaluation="square weights")


def shown_ticks(axis: Axis) -> list[Text]:
    """The labels of the ticks within the axis's ends; matplotlib keeps others it doesn't draw."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    ticks = [tick for tick in axis.get_major_ticks() if tick.label1.get_visible()]
    return [tick.label1 for tick in ticks if low - slack <= tick.get_loc() <= high + slack]


def texts_of(axes: Axes) -> list[Text]:
    texts = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
    texts += [*shown_ticks(axes.xaxis), *shown_ticks(axes.yaxis)]
    legend = axes.get_legend()
    return texts + (list(legend.get_texts()) if legend else [])


def drawn(figure: Figure) -> list[Text]:
    """All texts of a figure after drawing it, so that their places are known."""
    FigureCanvasAgg(figure).draw()
    shown = (texts_of(axes) for axes in figure.axes if axes.get_visible())
    texts = itertools.chain(figure.texts, *shown)
    return [text for text in texts if text.get_text() and text.get_visible()]


def check_texts(figure: Figure) -> None:
    """No text touches another or is cut off by the figure's edge."""
    edge = figure.bbox
    # leaders left out
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in drawn(figure)]
    for text, box in boxes:
        assert edge.x0 <= box.x0 and box.x1 <= edge.x1, f"{text!r} is cut off"
        assert edge.y0 <= box.y0 and box.y1 <= edge.y1, f"{text!r} is cut off"
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        assert not first.overlaps(second), f"{one!r} touches {other!r}"


def squeezed(text: str) -> str:
    """A text without its blanks and line breaks."""
    return "".join(text.split())


def tick_names(axis: Axis) -> list[str]:
    return [squeezed(label.get_text()) for label in shown_ticks(axis)]


def words(figure: Figure) -> set[str]:
    return {text.get_text() for text in drawn(figure)}


def times(names: list[str], longest: float) -> pd.DataFrame:
    """Invented times, from none that can be measured to the longest, in microseconds."""
    median = np.linspace(0, longest / 3, len(names))
    frame = pd.DataFrame({"agent": names, "median_microseconds": median})
    return frame.assign(p95_microseconds=3 * median)


def by_colour(names: list[str]) -> pd.DataFrame:
    rows = [
        (name, side, 0.5 + number / 100, 0.4, 0.9, 20)
        for number, name in enumerate(names)
        for side in ("Black", "White")
    ]
    frame = pd.DataFrame(rows, columns=["agent", "side", "score", "low", "high", "games"])
    frame.loc[0, ["low", "high"]] = np.nan
    return frame


def of_discs(names: list[str]) -> pd.DataFrame:
    rows = [(name, difference, 3) for name in names for difference in (-64, -2, 0, 1)]
    return pd.DataFrame(rows, columns=["agent", "difference", "games"])


def of_pairs(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(np.arange(5 * len(names)).reshape(len(names), 5), names)


win_rates = partial(matrix_chart, label="score of the row agent, %", across="opponent")

CHARTS: dict[str, Callable[[list[str]], Figure]] = {
    "elo": lambda names: elo_chart(standings(names)),
    "bounds": lambda names: elo_chart(standings(names, bounds=True)),
    "equal": lambda names: elo_chart(standings(names, equal=True)),
    "scores": lambda names: win_rates(scores(names)),
    "equal scores": lambda names: win_rates(scores(names, equal=True)),
    "times": lambda names: time_chart(times(names, 2000 * len(names) ** 3)),
    "colours": lambda names: colours_chart(by_colour(names), "some games", names),
    "pairs": lambda names: pairs_chart(of_pairs(names), "some games"),
    "discs": lambda names: discs_chart(of_discs(names), "some games", names),
}
TWENTY = [f"{LONG[number % 4]} {number}" for number in range(20)]
LINE_UPS = pytest.mark.parametrize(
    "names",
    [
        pytest.param(names_of(2), id="2 agents"),
        pytest.param(LONG, id="long names"),
        pytest.param(TWENTY, id="20 long names", marks=pytest.mark.nightly),
    ],
)


@LINE_UPS
@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.integration
def test_charts_show_everyone(chart: str, names: list[str]) -> None:
    figure = CHARTS[chart](names)
    check_texts(figure)
    axes, shown = figure.axes[0], words(figure)
    (low, high) = axes.get_xlim()
    assert tick_names(axes.yaxis) == [squeezed(name) for name in names]
    if chart in ("elo", "bounds", "equal"):
        frame = standings(names, chart == "bounds", chart == "equal")
        assert axes.yaxis_inverted(), "the first agent must be at the top"
        assert low < frame["low"].min() and frame["high"].max() < high
    elif "scores" in chart:
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("opponent", "agent")
        assert figure.axes[1].get_ylabel() == "score of the row agent, %"
        assert tick_names(axes.xaxis) == tick_names(axes.yaxis)
        box = axes.get_window_extent()
        assert box.width == pytest.approx(box.height, rel=0.03), "cells must be square"
    elif chart == "times":
        assert axes.get_xscale() == "log" and len(shown_ticks(axes.xaxis)) >= 2
        for row in times(names, 2000 * len(names) ** 3).itertuples():
            assert {time_text(row.median_microseconds), time_text(row.p95_microseconds)} <= shown
            assert low < max(1, row.median_microseconds) and row.p95_microseconds < high
    elif chart == "colours":
        assert {"Black", "White", f"{49 + len(names)}.0"} <= shown
    elif chart == "pairs":
        ends = [bar.get_x() + bar.get_width() for bar in axes.containers[-1]]
        assert ends == pytest.approx([100] * len(names))
    else:
        assert f"{MINUS}16.2" in shown and low <= -66 and high >= 66


@pytest.mark.integration
def test_elo_chart_writes_the_values_and_what_zero_means() -> None:
    rows = [
        ("best", 620.4, 620.4, 620.4, ">", 40),
        ("good", 123.4, 104.0, 144.0, "", 1400),
        ("bad", -123.4, -140.0, -110.0, "", 40),
        ("worst", -0.2, -0.2, -0.2, "", 40),
    ]
    frame = pd.DataFrame(rows, columns=["agent", "elo", "low", "high", "bound", "games"])
    frame = frame.assign(split=False)
    values = {"> +620", "+123 [104, 144]", f"{MINUS}123 [{MINUS}140, {MINUS}110]", "+0 [0, 0]"}
    assert values | {"1,400"} <= words(elo_chart(frame))
    for shown, anchor, zero in (
        (frame, None, "mean of the pool without bounds = 0"),
        (frame.iloc[1:3], None, "mean of the pool = 0"),
        (standings(names_of(2), bounds=True), None, "mean of the pool = 0"),
        (frame, "bad", "bad = 0"),
    ):
        assert zero in elo_chart(shown.reset_index(), anchor=anchor).axes[0].get_xlabel()


def test_matrix_chart_writes_per_cent_and_leaves_blank_who_never_met() -> None:
    names, nan = names_of(3), float("nan")
    table = pd.DataFrame([[nan, 0.75, nan], [0.25, nan, 1], [nan, 0, nan]], names, names)
    axes = win_rates(table).axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["0", "100", "25", "75"]
    mesh = axes.collections[0]
    assert mesh.get_clim() == (0, 100)
    assert mesh.get_array().tolist() == [[None, 75, None], [25, None, 100], [None, 0, None]]


MANY_EVALUATIONS = [counts(0, 5).assign(evaluation=f"a long heuristic {n}") for n in range(15)]
PRUNING_CASES = {
    "1 depth": counts(1, 1),
    "minimax stops early": counts(6, 12),
    "alpha-beta alone": counts(0, 5),
    "15 evaluations": pd.concat([counts(4, 0), *MANY_EVALUATIONS]),
}


@pytest.mark.parametrize("frame", PRUNING_CASES.values(), ids=PRUNING_CASES)
def test_pruning_chart_is_labelled(frame: pd.DataFrame) -> None:
    figure = pruning_chart(frame, "a sample of 50 positions, standard")
    check_texts(figure)
    (axes,) = figure.axes
    assert axes.get_xlabel().startswith("search depth") and axes.get_yscale() == "log"
    assert axes.get_ylabel().startswith("nodes per position")
    assert figure.get_suptitle() == "a sample of 50 positions, standard"
    assert tick_names(axes.xaxis) == [str(depth) for depth in sorted(set(frame["depth"]))]
    legend = axes.get_legend()
    texts = " ".join(text.get_text() for text in (legend.get_texts() if legend else axes.texts))
    several = frame["evaluation"].nunique() > 2
    for algorithm, evaluation in zip(frame["algorithm"], frame["evaluation"], strict=True):
        alone = algorithm if algorithm == "minimax" else evaluation
        assert (alone if several else f"{algorithm}, {evaluation}") in texts


def test_pruning_chart_writes_the_ratios_and_where_minimax_stopped() -> None:
    nodes = {"minimax": [10, 100, 1000, 100_000], "alpha-beta": [10, 45, 62, 400, 2000]}
    rows = [
        (name, depth, float(count), 50, "disc count")
        for name, column in nodes.items()
        for depth, count in enumerate(column, start=1)
    ]
    figure = pruning_chart(pd.DataFrame(rows, columns=list(counts(1, 1))))
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert labels == ["100 %", "45 %", "6.2 %", "1/250"]
    (note,) = figure.texts
    assert "50 positions" in note.get_text() and "to depth 4 only" in note.get_text()
    assert "only" not in pruning_chart(counts(3, 3)).texts[0].get_text()


def test_pruning_chart_takes_the_colours_of_those_who_search() -> None:
    frame = PRUNING_CASES["15 evaluations"]
    first, second = frame["evaluation"].unique()[1:3]
    figure = pruning_chart(frame, "", {first: ORANGE, second: BLUE})
    lines = {line.get_label(): line.get_color() for line in figure.axes[0].lines}
    assert (lines[first], lines[second]) == (ORANGE, BLUE)
    assert lines["minimax"] not in COLOURS  # it is nobody's


def test_an_agent_keeps_its_colour_and_place_whoever_else_is_drawn() -> None:
    order = names_of(12)
    all_of_them = dict(coloured(order, order))
    some = coloured(["agent-7", "agent-2"], order)
    assert [name for name, _ in some] == ["agent-2", "agent-7"]
    assert all(all_of_them[name] == colour for name, colour in some)
    assert coloured(["b", "a", "b"]) == [("b", COLOURS[0]), ("a", COLOURS[1])]
    assert len({tuple(style.items()) for _, style in styled(names_of(40))}) == 40


def test_openings_chart_names_agents_and_openings() -> None:
    openings = ["f5d6", "f5f6" * 10]
    figure = openings_chart(pd.DataFrame([[0.75, 0.5], [0.25, np.nan]], ["ann", "bob"], openings))
    check_texts(figure)
    axes = figure.axes[0]
    assert tick_names(axes.xaxis) == ["f5d6", "f5f6" * 5 + "f5f…"]
    assert [text.get_text() for text in axes.texts] == ["75", "50", "25"]


def test_discs_chart_gives_everyone_its_own_mean() -> None:
    rows = [("ann", -20, 1), ("ann", -10, 3), ("bob", 40, 2)]
    chart = discs_chart(pd.DataFrame(rows, columns=["agent", "difference", "games"]))
    lines = [line.get_xdata() for line in chart.axes[0].lines]
    marks = [places[0] for places in lines if len(set(places)) == 1]
    assert marks == [0, -12.5, 40]  # the middle of the axis first


@LINE_UPS
def test_elo_cost_chart_marks_the_front(names: list[str]) -> None:
    frame = standings(names, bounds=True)
    frame["microseconds"] = np.geomspace(1e4, 0.1, len(names))
    frame["nodes_per_move"] = [0, *np.geomspace(1e4, 10, len(names) - 1)]
    figure = elo_cost_chart(frame, "some games", names)
    check_texts(figure)
    assert len(figure.axes) == (2 if len(names) > 2 else 1)
    named = [*(text for axes in figure.axes for text in axes.texts)]
    named += [text for legend in figure.legends for text in legend.get_texts()]
    weights = {squeezed(text.get_text()): text.get_fontweight() for text in named}
    # The best is the dearest, so all are on the front.
    assert weights == {squeezed(name): "bold" for name in names}


def test_a_bound_is_no_rating_on_the_front() -> None:
    """The cheapest has lost everything, so its bound shuts nobody out."""
    table = pd.DataFrame({"elo": [-183.0, -191, -190, 40], "bound": ["<", "", "", ">"]})
    front = pareto(np.array([1.0, 2, 3, 4]), surely(table))
    assert front.tolist() == [0, 1, 2, 3]


def test_nobody_on_the_front_is_beaten_at_its_cost() -> None:
    rng = np.random.default_rng(1)
    cost, worth = rng.integers(1, 20, 40), rng.integers(1, 20, 40)
    front = set(pareto(cost, worth).tolist())
    for number in range(40):
        better = (cost <= cost[number]) & (worth >= worth[number])
        better &= (cost < cost[number]) | (worth > worth[number])
        twins = np.flatnonzero((cost == cost[number]) & (worth == worth[number]))
        assert better.any() != any(twin in front for twin in twins.tolist())


def course_of(names: list[str]) -> pd.DataFrame:
    rows = [
        (name, ply, 10, number + 0.1 + ply, 0 if number == 1 else 10.0 * ply)
        for number, name in enumerate(names)
        for ply in range(5, 61)
    ]
    return pd.DataFrame(rows, columns=["agent", "ply", "moves", "microseconds", "nodes"])


@pytest.mark.parametrize("agents", [2, 9])
def test_course_chart_shows_time_and_nodes_of_everyone(agents: int) -> None:
    names = names_of(agents)
    figure = course_chart(course_of(names), "some games", names)
    check_texts(figure)
    time, nodes, *_ = figure.axes
    if agents <= 8:
        assert [line.get_label() for line in time.lines] == names
        assert len(nodes.lines) == agents - 1  # the second counts none
    else:
        assert tick_names(time.yaxis) == names
        assert time.yaxis_inverted() and nodes.yaxis_inverted(), "the first is at the top"
    labels = " ".join(axes.get_ylabel() for axes in figure.axes)
    assert "time a move" in labels and "nodes a move" in labels


@pytest.mark.parametrize("agents", [1, 5])
def test_values_chart_has_a_panel_for_each_agent(agents: int) -> None:
    rows = [
        (name, side, ply, 10, ply * sign, -50.0, 50.0)
        for name in names_of(agents)
        for side, sign in (("Black", 1), ("White", -1))
        for ply in range(5, 61)
    ]
    columns = ["agent", "side", "ply", "moves", "mean", "low", "high"]
    figure = values_chart(pd.DataFrame(rows, columns=columns), "some games", names_of(agents))
    check_texts(figure)
    panels = [axes.get_title() for axes in figure.axes if axes.get_visible()]
    assert panels == names_of(agents)


def test_a_win_rate_says_of_how_many_games() -> None:
    two, three = scores(names_of(2)), scores(names_of(3)).fillna(0.5)
    same = pd.DataFrame([[0, 20], [20, 0]], two.index, two.index)
    assert "(20 games each)" in win_rates(two, games=same).axes[1].get_ylabel()
    games = pd.DataFrame(np.arange(9).reshape(3, 3), three.index, three.index)
    assert "%\nin 5" in win_rates(three, games=games).axes[0].texts[5].get_text()


def columns(facts: pd.DataFrame) -> Iterator[ReportFigure]:
    """A figure for each column that has values; the last one's data are kept."""
    for name in facts:
        if facts[name].notna().any():
            data = facts[[name]] if name == facts.columns[-1] else None
            yield ReportFigure(name, f"About {name}", "numbers", Figure(), data)


def test_figures_are_drawn_where_there_are_some(tmp_path: Path) -> None:
    facts = pd.DataFrame({"elo": [1.0, 2.0], "none": [np.nan, np.nan], "nodes": [3.0, np.nan]})
    drawn = draw_figures(columns(facts), tmp_path, files=True)
    assert [(figure.name, figure.title) for figure in drawn] == [
        *(("elo", "About elo"), ("nodes", "About nodes"))
    ]
    files = {f"{name}.{ending}" for name in ("elo", "nodes") for ending in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == files | {"nodes.csv"}
    assert pd.read_csv(tmp_path / "nodes.csv").columns.tolist() == ["nodes"]


ONE_ROW = pd.DataFrame({"agent": ["a"], "depth": [1], "positions": [1], "nodes": [1.0]})
RATED = standings(names_of(2))


@pytest.mark.parametrize(
    ("draw", "frame", "missing"),
    [
        (elo_chart, RATED.drop(columns="games"), "games"),
        (elo_chart, RATED.iloc[:0], "no rows"),
        (pruning_chart, counts(2, 2).drop(columns=["nodes", "positions"]), "nodes, positions"),
        (pruning_chart, counts(2, 2).replace("minimax", "pvs"), "'pvs'"),
        (
            partial(cost_chart, subtitle=""),
            ONE_ROW[["agent", "nodes"]],
            "positions, openings, depth",
        ),
        (partial(depth_chart, baseline="a"), ONE_ROW, "openings, nodes_ratio, nodes_low"),
        (win_rates, scores(names_of(3)).iloc[:2], "same agents"),
        (win_rates, pd.DataFrame(), "at least one"),
    ],
)
def test_frames_that_lack_something_are_refused(
    draw: Any, frame: pd.DataFrame, missing: str
) -> None:
    with pytest.raises(ValueError, match=missing):
        draw(frame)


def test_save_writes_png_and_svg_with_text_and_the_same_again(tmp_path: Path) -> None:
    frame = standings(names_of(3), bounds=True)
    first, second = (
        save(elo_chart(frame), tmp_path / folder, "elo") for folder in ("new/one", "two")
    )
    assert [path.name for path in first] == ["elo.png", "elo.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    svg = first[1].read_text(encoding="utf-8")
    assert all(f">{name}</text>" in svg for name in frame["agent"])
    assert "<dc:date>" not in svg


def test_pyplot_keeps_no_figure_and_no_setting() -> None:
    before = dict(plt.rcParams)
    for draw in (CHARTS["elo"], CHARTS["scores"]):
        draw(names_of(2))
    pruning_chart(counts(2, 2), "")
    assert plt.get_fignums() == [] and dict(plt.rcParams) == before


def test_figures_that_would_show_nearly_nobody_are_left_out(monkeypatch: Patch) -> None:
    """As of a class: single games, and two moves at a ply."""
    counts = np.zeros((3, 3, 5), int)
    facts: Any = SimpleNamespace(all_split=False, pair_counts=counts, moves=None, names=names_of(3))
    monkeypatch.setattr(course, "course", lambda moves, names: course_of(names[:1]))
    assert [*matrices.win_rates_figures(facts), *course.course_figures(facts)] == []


NAMES = ("<script>alert(1)</script>", "$x_1$ & _y", "オセロ", "never moves")
MOVERS = {"discs", "cost", "times", "course", "values", "elo", "superiority"}
"""Figures without agents that forfeit every game: they have no moves, and no rating."""
FIGURES = {*MOVERS, "win_rates", "colours", "pairs", "openings"}


class Stubborn(Agent):
    def decide(self, position: Position, limits: Limits) -> Decision:
        raise RuntimeError("I will not move")


@pytest.mark.integration
def test_all_figures_of_a_run_come_out(tmp_path: Path) -> None:
    players = (GreedyAgent(), RandomAgent(), RandomAgent(), Stubborn())
    folder = run_match(
        dict(zip(NAMES, players, strict=True)), 20, isolation="none", trial=False, workers=0,
        ruleset="mini6", openings={"kind": "random", "plies": 4}, results=tmp_path,
        figures="files", quiet=True,
    ).folder  # fmt: skip
    assert {path.stem for path in folder.glob("*.svg")} == FIGURES
    report = (folder / "report.md").read_text(encoding="utf-8")
    for name in FIGURES:
        with Image.open(folder / f"{name}.png") as image:
            assert round(image.info["dpi"][0]) == 200
        tree = ElementTree.parse(folder / f"{name}.svg")
        assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
        text = "".join("".join(tree.getroot().itertext()).split())
        assert NAMES[0] in text, "the name stands there as it is"
        assert "nevermoves" in text or name in MOVERS
        assert f"({name}.png)" in report
