"""The lecture in a real browser: its steps are those of the search, its address has all of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from othello_lab import AlphaBeta, Minimax, SquareWeights
from othello_lab.agents.search import SearchAgent
from othello_lab.agents.search.observer import SearchObserver
from othello_lab.core.notation import square_name
from othello_lab.core.position import Position
from othello_lab.play.web.twin_code import MARKS, twin_code

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., Any]

POSITION = Position.from_transcript("f5d6c3d3c4")
OBF = POSITION.to_obf().removesuffix(";")
MINUS = "\N{MINUS SIGN}"


class Steps(SearchObserver):
    """The search's steps as (what happens, move, value), in the order of the twin."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str, int | None]] = [("begin", "", None)]
        self.moves: list[str] = []
        self.at_leaf = False

    def enter(self, move: int, alpha: int, beta: int) -> None:
        self.moves.append(square_name(move))
        self.at_leaf = False
        self.steps.append(("searched", self.moves[-1], None))

    def leaf(self, value: int, over: bool) -> None:
        self.at_leaf = True
        self.steps.pop()

    def leave(self, value: int) -> None:
        what = "evaluated" if self.at_leaf else "worth"
        self.steps.append((what, self.moves.pop(), value))
        self.at_leaf = False

    def cut(self, value: int, beta: int, unsearched: Any) -> None:
        self.steps.append(("Cut", "", value))


def trace(agent: SearchAgent) -> list[tuple[str, str, int | None]]:
    """Return all steps of a search."""
    watch = Steps()
    decision = agent.watched(POSITION, agent.depth, watch)
    return [*watch.steps, ("done", square_name(decision.pv[0]), int(decision.value or 0))]


@pytest.fixture
def page(open_page: Open) -> Page:
    return open_page(width=1280, height=720)


def lecture(page: Page, **settings: str) -> None:
    """Open the lecture with these settings in its address."""
    words = "&".join(f"{key}={value}" for key, value in settings.items())
    origin = page.evaluate("location.origin")
    page.goto("about:blank")  # else only the end of the address might change
    page.goto(f"{origin}/lecture#position={OBF.replace(' ', '+')}&{words}")
    expect(page.locator("#event")).not_to_have_text(re.compile("Searching|Connecting"))


def event(page: Page) -> str:
    return page.locator("#event").inner_text()


@pytest.mark.integration
def test_steps_are_those_of_the_search(page: Page) -> None:
    for first, agent in (
        ("minimax", Minimax(2, SquareWeights())),
        ("alphabeta:none", AlphaBeta(2, SquareWeights())),
        ("alphabeta:sorted", AlphaBeta(2, SquareWeights(), ordering="sorted")),
    ):
        lecture(page, first=first, depth="2", signs="nega")
        steps = trace(agent)
        seen = []
        while len(seen) < len(steps):
            page.keyboard.press("ArrowRight")
            if not (said := event(page)).startswith("To order"):
                seen.append(said)
        for said, (what, move, value) in zip(seen, steps, strict=True):
            number = "" if value is None else f"{'+' if value >= 0 else MINUS}{abs(value)}"
            assert all(part in said for part in (what, move, number))
        expect(page.get_by_role("button", name="One step on")).to_be_disabled()
        assert page.locator("#counts table").get_attribute("data-equal") == "true"
        nodes = agent.search(POSITION, 2).stats.nodes
        assert f"{nodes:,}" in page.locator("#counts tbody tr").last.inner_text()
        for _ in range(5):
            page.keyboard.press("PageUp")
        assert event(page) == page.locator("#event").inner_text() != seen[-1]


@pytest.mark.integration
def test_the_address_leads_to_this_cut(page: Page) -> None:
    lecture(page, first="alphabeta:none", second="minimax", depth="3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    said, address = event(page), page.url
    assert "Cut: " in said
    assert page.locator(".lecture-tree").count() == 2
    assert page.locator("#code").count() == 0
    again = page.context.new_page()
    again.goto(address)
    again.locator(".lecture-node").first.wait_for()
    expect(again.locator("#event")).to_have_text(said)
    expect(again.locator("#signs")).to_have_text("Negamax")
    again.keyboard.press("End")
    expect(again.locator(".lecture-share")).to_have_text(re.compile("of the nodes of minimax"))


@pytest.mark.integration
def test_signs_turn_every_other_row(page: Page) -> None:
    lecture(page, first="minimax", depth="2")
    page.keyboard.press("End")
    nodes, who = page.locator(".lecture-node .value"), page.locator(".lecture-tree .who")
    values = nodes.all_text_contents()
    assert who.all_text_contents() == ["MAX", "MIN"]
    page.keyboard.press("s")
    assert who.all_text_contents() == ["White", "Black"]
    assert len(values) == len(POSITION.moves) + 1
    assert nodes.all_text_contents() == values, "the root's and its moves' values are MAX's own"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # back among the replies to the last move
    shown = nodes.all_text_contents()[len(values) - 1 :]
    page.keyboard.press("s")
    turned = str.maketrans(f"+{MINUS}", f"{MINUS}+")
    assert len(shown) > 1
    assert nodes.all_text_contents()[len(values) - 1 :] == [
        text if text == "+0" else text.translate(turned) for text in shown
    ]


@pytest.mark.nightly
def test_what_comes_is_asked_before_it_is_shown(page: Page) -> None:
    lecture(page, first="alphabeta:none", depth="3", predict="on")
    questions = right = 0
    question = page.locator("#question")
    for _ in range(80):
        before = page.locator("#step").inner_text()
        page.keyboard.press("ArrowRight")
        if not question.is_visible() or "Predict" not in question.inner_text():
            continue
        questions += 1
        assert page.locator("#step").inner_text() == before
        is_cut = "Cut the other moves" in question.inner_text()
        page.keyboard.press("1")
        said = question.inner_text()
        right += said.startswith("Right")
        if is_cut:
            assert said.startswith("Right") == event(page).startswith("Cut")
        assert f"{right} of {questions} answer" in said
    assert questions > 5
    assert 0 < right < questions


@pytest.mark.integration
def test_it_fits_on_a_projector(page: Page) -> None:
    lecture(page, depth="3", step="40")
    assert page.evaluate("document.documentElement.scrollHeight") <= 720
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    letters = page.evaluate(
        "[...document.querySelectorAll('#event, #code code, .lecture-node .value, .who')]"
        ".map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(letters) >= 16
    assert page.locator("#code .lit").count() > 0
    boxes = [box.bounding_box() for box in page.locator(".lecture-node rect").all()]
    placed = [(box["x"], box["y"], box["width"], box["height"]) for box in boxes if box]
    assert all(min(wide, high) >= 20 for _, _, wide, high in placed)
    for (x, y, wide, high), (x2, y2, wide2, high2) in itertools.combinations(placed, 2):
        apart = x + wide <= x2 or x2 + wide2 <= x or y + high <= y2 or y2 + high2 <= y
        assert apart, "boxes of the tree overlap"
    lecture(page, depth="9")
    expect(page.locator("#event")).to_have_text(re.compile("too many to show"))


@pytest.mark.parametrize("name", ["minimax", "alphabeta", "pvs"])
def test_the_code_is_the_twins_own(name: str) -> None:
    code = twin_code(name, None if name == "minimax" else "none")
    text = "\n".join(code["lines"])
    compile(text, name, "exec")
    assert not re.search("stats|watch|self", text)
    unmarked = {mark for mark in MARKS if not code["marks"][mark]}
    assert unmarked == ({"look", "above", "raise", "cut"} if name == "minimax" else set())
    assert ("null_windows" in text) == (name == "pvs")
    learning = twin_code(name, "killer")["lines"]
    assert any("remember_cutoff" in line for line in learning) == (name != "minimax")
