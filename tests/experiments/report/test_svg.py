"""Figures as SVG: what a page needs of them, and what a file does."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from scipy.optimize import isotonic_regression

from othello_lab.experiments.report import page
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    blank,
    draw_figures,
    heat,
    save,
    styled,
)
from othello_lab.experiments.report.figures.labels import spread
from othello_lab.experiments.report.figures.palette import (
    COLOURS,
    DIVERGING,
    LEVELS,
    MANY_COLOURS,
    SEQUENTIAL,
    css_variables,
    scale,
    stylesheet,
)
from othello_lab.experiments.report.figures.svg import annotate, inline_svg

NAME = '<b onload="x">&'


def chart() -> ReportFigure:
    """A line with a marker for each of two series, and a small heat map with a hole in it."""
    with blank() as figure:
        left, right = figure.subplots(1, 2)
        for name, style in styled([NAME, "other"]):
            annotate(left.plot([1, 2], [3, 4], **style), name, f"{name}\ntwo points")
        values = np.array([[0.0, 1.0], [np.nan, 0.5]])
        texts = np.array([["0", "1"], ["", "½"]])
        titles = np.array([["low", "high"], ["", "middle"]])
        heat(figure, right, values, DIVERGING, "share", texts=texts, titles=titles)
    return ReportFigure("lines", 'A "title"', "caption", figure)


@pytest.fixture
def drawing(tmp_path: Path) -> str:
    (drawn,) = draw_figures([chart()], tmp_path)
    assert not list(tmp_path.iterdir()), "files are written when asked only"
    return drawn.svg


def test_every_colour_in_a_page_is_a_variable_with_two_values(drawing: str) -> None:
    assert not re.search(r"#[0-9a-f]{6}|rgb\(", drawing)
    assert len(set(css_variables().values())) == len(css_variables()), "none means two things"
    style = (Path(page.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
    dark = style[style.index("prefers-color-scheme") :]
    for used in set(re.findall(r"var\((--[\w-]+)\)", drawing)):
        declared = [f"{used}:" in sheet.replace(": ", ":") for sheet in stylesheet()]
        assert all(declared) or f"{used}: " in dark, used


def test_names_and_tooltips_are_text(drawing: str) -> None:
    root = ElementTree.fromstring(drawing)
    titles = {title.text for title in root.iter("title")}
    assert titles == {f"{NAME}\ntwo points", "other\ntwo points", "low", "high", "middle"}
    assert {part.get("data-series") for part in root.iter()} == {None, NAME, "other"}
    assert root.get("aria-label") == 'A "title"' and root.get("role") == "img"
    assert not {"style", "script", "metadata"} & {part.tag for part in root.iter()}


def test_ids_are_of_this_figure_and_all_are_used(drawing: str) -> None:
    ids = re.findall(r' id="([^"]*)"', drawing)
    assert ids and len(ids) == len(set(ids))
    assert all(name.startswith("lines-") for name in ids)
    assert set(ids) == set(re.findall(r'(?:url\(|href=")#([^")]*)', drawing))


@pytest.mark.integration
def test_the_same_figure_is_the_same_text(drawing: str, tmp_path: Path) -> None:
    again: Any = chart().chart
    assert inline_svg(again, "other", "") != drawing
    assert draw_figures([chart()], Path())[0].svg == drawing
    alone = save(again, tmp_path, "lines")[1].read_text(encoding="utf-8")
    assert "var(" not in alone and COLOURS[0] in alone
    ElementTree.fromstring(alone)


def test_text_in_a_cell_has_the_ink_of_its_shade(drawing: str) -> None:
    inks = dict(re.findall(r"fill: var\((--\w+i)\)[^>]*>([^<]*)</text>", drawing))
    assert inks == {"--d0i": "0", f"--d{LEVELS - 1}i": "1", f"--d{LEVELS // 2}i": "½"}


@pytest.mark.parametrize("name", [DIVERGING, SEQUENTIAL])
def test_a_scale_begins_and_ends_differently_and_fades_into_its_page(name: str) -> None:
    for dark in (False, True):
        shades = scale(name, dark)
        assert len(set(shades)) == LEVELS
        quiet = shades[LEVELS // 2 if name == DIVERGING else 0]
        light = sum(int(quiet[digit : digit + 2], 16) for digit in (1, 3, 5)) / 3
        assert light < 60 if dark else light > 190


@pytest.mark.parametrize("agents", [2, 10, 11, 20, 40])
def test_series_can_be_told_apart_by_colour_or_dashes(agents: int) -> None:
    styles = dict(styled([f"agent {number}" for number in range(agents)])).values()
    colours = {style["color"] for style in styles}
    assert len({(style["color"], style["linestyle"]) for style in styles}) == agents
    assert colours <= {*COLOURS, *MANY_COLOURS}
    assert agents > len(COLOURS) or len(colours) == agents


def test_many_colours_are_far_apart_and_seen_on_both_pages() -> None:
    """No two are alike, and every colour has some contrast to a light and to a dark page."""
    shades = [np.array(to_rgb(colour)) for colour in MANY_COLOURS]
    apart = [np.linalg.norm(one - other) for one, other in itertools.combinations(shades, 2)]
    assert min(apart) > 0.15
    for shade in shades:
        light = np.where(shade <= 0.04045, shade / 12.92, ((shade + 0.055) / 1.055) ** 2.4)
        luminance = float(light @ [0.2126, 0.7152, 0.0722]) + 0.05
        assert 1.05 / luminance > 2.5 and luminance / 0.06 > 2.5


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=30))
def test_labels_move_as_little_as_can_be(wanted: list[float]) -> None:
    ordered, sizes = np.sort(wanted), np.full(len(wanted), 0.1)
    middles = 0.1 * np.arange(len(wanted)) + 0.05
    least = isotonic_regression(ordered - middles).x + middles
    assert spread(ordered, sizes) == pytest.approx(least)
