"""The section "Why" in a real browser: values, parts, the graph, the search-tree explorer, and the
review of a game."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from boards import played_out
from chosen import mostly_nightly
from clicks import begin, check_for_all, click, play, put_in, square, start
from playwright.sync_api import expect

from othello_lab import PVS, AlphaBeta, Minimax, SquareWeights
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.play.agent_process import AgentProcesses, Limits
from othello_lab.play.game_files import game_of
from othello_lab.play.review import GOOD, MoveReview, Reviewer, comment

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Open = Callable[..., Any]
Shot = Callable[..., None]

pytestmark = pytest.mark.integration

MOVES = ("f5", "d6", "c3", "d3", "c4")
MINUS = "\N{MINUS SIGN}"
COUNTS = ("nodes", "leaves", "evaluations", "cutoffs")


@pytest.fixture
def page(open_page: Open) -> Page:
    return open_page()


def number(text: str) -> int:
    return int(text.replace(MINUS, "-").replace(",", "").replace("+", ""))


def some_moves(page: Page) -> Position:
    play(page, *MOVES)
    return Position.from_transcript("".join(MOVES))


def open_tab(page: Page, name: str) -> Locator:
    page.get_by_role("tab", name=name).click()
    return page.locator(f"#why-{name.lower()}")


def cells(table: Locator) -> list[list[str]]:
    """The rows of a table's body."""
    rows = table.locator("tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def grown(page: Page, depth: int = 3, **choices: str) -> Locator:
    """The panel with the trees of the position, searched as chosen by label."""
    panel = open_tab(page, "Tree")
    panel.get_by_label("Depth").fill(str(depth))
    for key, value in choices.items():
        group, label = key.split("_")
        fields = panel.get_by_role("group", name=f"{group} search", exact=False)
        fields.get_by_label(label).select_option(value)
    click(panel, "Search this position")
    panel.locator("[role=treeitem]").first.wait_for()
    return panel


def counted(panel: Locator) -> dict[str, list[int]]:
    """The counts so far, of the whole tree, and the engine's."""
    rows = cells(panel.locator("table[data-equal]"))
    return {name: [number(text) for text in texts] for name, *texts in rows}


def step_of(panel: Locator) -> int:
    return int(panel.get_by_label("Steps of the search").input_value())


def test_values_are_written_on_the_squares(page: Page) -> None:
    position = some_moves(page)
    panel = open_tab(page, "Values")
    panel.get_by_label("Agent").select_option("alphabeta")
    panel.get_by_label("Depth").fill("3")
    click(panel, "Value every move")
    panel.locator("table").wait_for()
    engine = Minimax(2, SquareWeights())
    expected = {
        name: -int(engine.search(position.play(name)).value or 0) for name in position.legal_moves()
    }
    values_shown = {row[0]: number(row[1]) for row in cells(panel.locator("table"))}
    assert values_shown == expected
    for name, value in expected.items():
        note = square(page, name).locator(".note")
        assert number(note.text_content() or "") == value
        assert ("best" in (note.get_attribute("class") or "")) == (value == max(expected.values()))
        assert "worth " in (square(page, name).get_attribute("aria-label") or "")
    click(page, "One move back")
    expect(page.locator("#board .noted")).to_have_count(0)
    click(page, "One move on")
    expect(page.locator("#board .noted")).to_have_count(len(expected))
    for tab, count in (("Parts", 0), ("Values", len(expected))):  # those of the open tab
        open_tab(page, tab)
        expect(page.locator("#board .noted")).to_have_count(count)
    click(panel, "Clear")
    expect(page.locator("#board .noted")).to_have_count(0)


def test_the_value_over_the_game_is_drawn_and_told(page: Page) -> None:
    begin(page, "greedy", "greedy", Rules="mini4")
    expect(page.locator("#status")).to_contain_text("is over")
    panel = open_tab(page, "Graph")
    panel.get_by_label("Agent").select_option("alphabeta")
    panel.get_by_label("Heuristic").select_option("disc_count")
    click(panel, "Value the whole game")
    expect(panel.locator("thead")).to_contain_text("asked for")
    picture = panel.locator(".why-graph").get_by_role("img").first
    expect(picture).to_have_attribute("aria-label", re.compile("to Black. Black says: from"))
    ticks = panel.locator(".why-graph text.tick").all_text_contents()
    assert ticks == ["+16", "+8", "+0", f"{MINUS}8", f"{MINUS}16"]
    *rows, total = cells(panel.locator("table"))
    assert len(rows) == page.locator("#moves button").count()
    assert panel.locator("polyline.asked").count() == 1
    assert panel.locator("circle.point.asked").count() - 1 == len(rows) + 1  # one is the key's
    nodes = [number(row[4]) for row in rows if row[4]]
    assert nodes and sum(nodes) == number(total[4])
    panel.get_by_role("radio", name="White").check()
    turned = [row[1] for row in cells(panel.locator("table"))[:-1]]
    signs = str.maketrans(f"+{MINUS}", f"{MINUS}+")
    words = {"win": "loss", "loss": "win", "+0": "+0"}
    for row, after in zip(rows, turned, strict=True):
        other = re.sub("win|loss", lambda word: words[word[0]], row[1]).translate(signs)
        assert after == words.get(row[1], other)


def test_the_search_is_stepped_through_both_ways(page: Page) -> None:
    some_moves(page)
    panel = grown(page)
    story = panel.locator(".why-event")
    last = step_of(panel)
    expect(story).to_contain_text("done")
    click(panel, "To the beginning of the search")
    assert all(sofar == 0 for sofar, _, _ in counted(panel).values())
    expect(panel.get_by_role("button", name="One step back")).to_be_disabled()
    stories, tables = [story.inner_text()], [counted(panel)]
    for _ in range(25):
        click(panel, "One step on")
        stories.append(story.inner_text())
        tables.append(counted(panel))
    assert all(one != other for one, other in itertools.pairwise(stories))
    entered = [table["nodes"][0] for table in tables]
    assert entered == sorted(entered)
    assert entered[-1] > 15
    for before, table in zip(stories[-2::-1], tables[-2::-1], strict=True):
        click(panel, "One step back")
        assert story.inner_text() == before
        assert counted(panel) == table
    cuts = panel.get_by_role("button", name="On to the next cut")
    cuts.click()
    condition = re.match(r"Cut: (\S+) ≥ beta (\S+)\. .* (\d+) .*: (.*)\.", story.inner_text())
    assert condition
    value, beta, left = number(condition[1]), number(condition[2]), condition[4].split(", ")
    assert value >= beta
    assert len(left) == int(condition[3])
    cut = panel.locator(".why-row.cut.now")
    assert f"{condition[1]} ≥ beta {condition[2]}" in cut.inner_text()
    assert panel.locator(".why-row.unsearched.now s").all_inner_texts() == left
    assert counted(panel)["cutoffs"][0] == 1
    names, facts = (panel.locator(f".why-facts {kind}").all_inner_texts() for kind in ("dt", "dd"))
    bounds = {re.split(r"\W", name)[0]: fact for name, fact in zip(names, facts, strict=True)}
    assert (number(bounds["alpha"]), number(bounds["beta"])) == (value, beta)
    for name in left:
        assert "not looked at" in square_of_tree(panel, name)
    while cuts.is_enabled():
        cuts.click()
    assert counted(panel)["cutoffs"][0] == counted(panel)["cutoffs"][1]
    panel.get_by_label("Steps of the search").focus()
    page.keyboard.press("End")
    assert step_of(panel) == last


def test_the_search_plays_by_itself(page: Page) -> None:
    panel = grown(page, depth=2)
    panel.get_by_label("Speed").select_option("fast")
    click(panel, "Play")
    expect(panel.locator(".why-event")).to_contain_text("The search is done")
    expect(panel.get_by_role("button", name="Play", exact=True)).to_be_visible()
    click(panel, "Play")
    click(panel, "Pause")
    assert step_of(panel) < int(panel.get_by_label("Steps of the search").get_attribute("max") or 0)


@pytest.mark.nightly
def test_two_searches_are_compared_in_one_switch(page: Page) -> None:
    position = some_moves(page)
    panel = grown(page, depth=3)
    full = Minimax(3, SquareWeights()).search(position).stats
    pruned = AlphaBeta(3, SquareWeights()).search(position).stats
    expect(panel.locator(".why-share")).to_contain_text(f"{100 * pruned.nodes / full.nodes:.1f} %")
    totals = {row[0]: row[1:] for row in cells(panel.locator(".why-compare table"))}
    for name in COUNTS:
        assert [number(text) for text in totals[name]] == [
            getattr(pruned, name),
            getattr(full, name),
        ]
    assert totals["value"][0] == totals["value"][1]
    assert counted(panel)["nodes"] == [pruned.nodes] * 3
    row = panel.locator("[role=treeitem]").filter(has_text="≤").first
    name = row.locator("b").inner_text()
    row.click()
    assert panel.locator(".why-row.unsearched, .why-row.cut").count()
    panel.get_by_role("radio", name="minimax").check()
    assert counted(panel)["nodes"] == [full.nodes] * 3
    assert panel.locator('[aria-selected="true"] b').inner_text() == name
    assert not panel.locator(".why-row.unsearched, .why-row.cut").count()
    grown(page, Second_Search="pvs", Second_Ordering="static")
    panel.get_by_role("radio", name="ordering static").check()
    nodes = PVS(3, SquareWeights(), ordering="static").search(position).stats.nodes
    assert counted(panel)["nodes"] == [nodes] * 3


def tab_to(page: Page, holds: str) -> None:
    """Press Tab until this holds for the element with the focus."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(f"(({{textContent, role}}) => {holds})(document.activeElement)"):
            return


def test_the_tree_is_walked_by_keyboard_alone(page: Page) -> None:
    page.get_by_role("tab", name="Values").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Tree")).to_be_focused()
    panel = page.locator("#why-tree")
    tab_to(page, "textContent === 'Search this position'")
    page.keyboard.press("Enter")
    panel.locator("[role=treeitem]").first.wait_for()
    tab_to(page, "role === 'treeitem'")
    focused = page.locator(":focus")

    def shows(key: str, text: str = "", **attributes: str) -> None:
        if key:
            page.keyboard.press(key)
        assert text in focused.inner_text()
        for name, value in attributes.items():
            assert focused.get_attribute(f"aria-{name}") == value

    shows("", level="1", expanded="true")
    shows("ArrowDown", "d3", expanded="false", selected="true")
    assert "last move" in square_of_tree(panel, "d3")
    shows("ArrowRight", expanded="true")
    shows("ArrowRight", level="3")
    shows("ArrowLeft", "d3")
    shows("ArrowLeft", expanded="false")
    shows("End", "e6")
    page.keyboard.press("Enter")
    expect(panel.locator(".why-event")).to_contain_text("Black e6")
    shows("Home", level="1")
    assert panel.locator('[role=treeitem][tabindex="0"]').count() == 1


def square_of_tree(panel: Locator, name: str) -> str:
    return panel.locator(f'.why-board [data-square="{name}"]').get_attribute("aria-label") or ""


@pytest.mark.nightly
def test_what_is_too_large_or_not_allowed_is_told(page: Page) -> None:
    some_moves(page)
    panel = open_tab(page, "Tree")
    panel.get_by_label("Depth").fill("8")
    click(panel, "Search this position")
    problem = panel.locator(".why-problem")
    expect(problem).to_contain_text("at most 30,000")
    assert panel.locator("[role=treeitem]").count() == 0
    panel.get_by_label("Depth").fill("6")
    click(panel, "Search this position")
    expect(problem).to_contain_text("depth 6 has")
    assert panel.get_by_role("radio").count() == 1
    panel.get_by_label("Depth").fill("99")
    click(panel, "Search this position")
    assert not panel.locator("form").evaluate("form => form.checkValidity()")


def test_a_slow_question_is_stopped(page: Page) -> None:
    panel = open_tab(page, "Values")
    panel.get_by_label("Agent").select_option("minimax")
    panel.get_by_label("Depth").fill("40")
    click(panel, "Value every move")
    expect(panel.locator(".why-note")).to_contain_text("a thousand years")
    click(panel, "Stop")
    expect(panel.locator(".why-problem")).to_contain_text("Stopped")
    panel.get_by_label("Depth").fill("2")
    click(panel, "Value every move")
    expect(panel.locator("table")).to_be_visible()


def _values(page: Page) -> None:
    click(open_tab(page, "Values"), "Value every move")
    page.locator("#why-values table").wait_for()


def _parts(page: Page) -> None:
    click(open_tab(page, "Parts"), "Take it apart")
    page.locator("#why-parts table").first.wait_for()


def _graph(page: Page) -> None:
    click(open_tab(page, "Graph"), "Value the whole game")
    page.locator("#why-graph table").wait_for()


def _cut(page: Page) -> None:
    panel = grown(page)
    click(panel, "Back to the cut before")
    panel.locator("summary").click()


def _start(page: Page) -> None:
    click(grown(page), "To the beginning of the search")


@pytest.mark.parametrize("view", mostly_nightly([_values, _parts, _graph, _cut, _start], [_start]))
def test_every_view_of_why_can_be_used_by_all(
    open_page: Open, shot: Shot, view: Callable[..., None]
) -> None:
    page = open_page(reduced_motion="reduce")
    some_moves(page)
    view(page)
    check_for_all(page, shot, (360, "dark"), (1800, "light"))


# ------------------------------------------------------------------ the review


def transcript(rules: str, seed: int) -> str:
    return "".join(square_name(move) for _, move in played_out(rules, seed) if move != PASS)


def reviewed(text: str) -> list[MoveReview]:
    """The moves of a game on 4x4 that have comments."""
    rules = ruleset("mini4")
    game = game_of(text, rules)
    with AgentProcesses(rules, Limits(), 60, lambda said: None) as thinkers:
        reviews = list(Reviewer(thinkers, 4).review(game, range(1, len(game.turns) + 1)))
    return [review for review in reviews if review.loss >= GOOD]


def open_review(page: Page, text: str, rules: str) -> Locator:
    """Open a game, and have it reviewed."""
    put_in(page, text, rules)
    start(page)
    page.get_by_role("tab", name="Review").click()
    click(page, "Review the game")
    return page.locator("#why-review")


def test_a_game_is_reviewed_and_gone_through(page: Page, tmp_path: Path) -> None:
    text = transcript("mini4", 1)
    known = reviewed(text)
    assert known
    panel = open_review(page, text, "mini4")
    rows = panel.locator(".review-row")
    expect(rows).to_have_count(len(known))
    assert panel.locator(".review-comment").all_inner_texts() == [*map(comment, known)]

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
    assert all(comment(review) in content for review in known)
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


def test_the_review_of_a_long_game_can_be_stopped(page: Page) -> None:
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
