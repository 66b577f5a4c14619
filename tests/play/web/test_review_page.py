"""The review of a game in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from boards import played_out
from clicks import click, put_in, start
from playwright.sync_api import expect

from othello_lab.core.notation import PASS, square_name
from othello_lab.core.rules import ruleset
from othello_lab.play.agent_process import AgentProcesses, Limits
from othello_lab.play.game_files import game_of
from othello_lab.play.review import GOOD, MoveReview, Reviewer, told

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Open = Callable[..., Any]

pytestmark = pytest.mark.integration


def transcript(rules: str, seed: int) -> str:
    return "".join(square_name(move) for _, move in played_out(rules, seed) if move != PASS)


def reviewed(text: str) -> list[MoveReview]:
    """The moves of a game on 4x4 that have comments."""
    rules = ruleset("mini4")
    game = game_of(text, rules)
    with AgentProcesses(rules, Limits(), 60, lambda said: None) as thinkers:
        found = list(Reviewer(thinkers, 4).review(game, range(1, len(game.turns) + 1)))
    return [each for each in found if each.loss >= GOOD]


def open_review(page: Page, text: str, rules: str) -> Locator:
    """Open a game, and have it reviewed."""
    put_in(page, text, rules)
    start(page)
    page.get_by_role("tab", name="Review").click()
    click(page, "Review the game")
    return page.locator("#why-review")


def test_a_game_is_reviewed_and_gone_through(open_page: Open, tmp_path: Path) -> None:
    text = transcript("mini4", 1)
    known = reviewed(text)
    assert known
    page = open_page()
    panel = open_review(page, text, "mini4")
    rows = panel.locator(".review-row")
    expect(rows).to_have_count(len(known))
    assert panel.locator(".review-comment").all_inner_texts() == [told(each) for each in known]

    slider = panel.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuenow", "0")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "1")
    box = slider.bounding_box()
    assert box
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 80)
    page.mouse.up()
    expect(page.locator("#last")).to_be_disabled()

    number = known[0].number
    click(rows.first, "Show the better line")
    expect(page.locator("#board .latest")).to_have_attribute(
        "data-square", square_name(known[0].best)
    )
    expect(page.locator("#board .latest")).not_to_have_attribute(
        "data-square", square_name(known[0].best)
    )
    before = page.locator("#moves button").count()
    with page.expect_download() as saved:
        click(panel, "Save with comments")
    content = Path(saved.value.path()).read_text()
    assert all(told(each) in content for each in known)
    assert content.count("exact]") >= len(known)
    click(rows.first, "Play on from here")
    expect(page.locator("#moves button")).to_have_count(number - 1)
    assert before > number - 1
    expect(rows).to_have_count(0)


# The second part of a review, for which the page asks as soon as it shows the first, is sent when
# Stop is clicked; the server never hears of the stop.
STOPPED_TOO_LATE = """() => {
  const send = WebSocket.prototype.send;
  let parts = 0;
  let second = null;
  WebSocket.prototype.send = function (text) {
    const { type, name } = JSON.parse(text);
    if (type === "ask" && name === "review" && ++parts === 2) second = text;
    else if (type === "cancel" && second) send.call(this, second);
    else send.call(this, text);
  };
}"""


def test_the_review_of_a_long_game_can_be_stopped(open_page: Open) -> None:
    page = open_page()
    page.evaluate(STOPPED_TOO_LATE)
    panel = open_review(page, transcript("standard", 2), "standard")
    panel.locator(".review-row").first.wait_for()
    click(panel, "Stop")
    expect(panel.get_by_role("alert")).to_contain_text("Stopped")
    seen = panel.locator(".review-row").count()
    click(panel, "Review the game")
    more = "(seen) => document.querySelectorAll('.review-row').length > seen"
    page.wait_for_function(more, arg=seen, timeout=300_000)  # on a busy machine
    page.wait_for_function(  # estimates and exact values
        "() => [...document.querySelectorAll('#why-review polyline')].every((each) => "
        "each.points.length > 10)"
    )
