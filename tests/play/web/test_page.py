"""The page in a real browser: games by click and by keyboard, small and large, dark and light."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from clicks import press, square
from playwright.sync_api import expect
from served import served

from othello_lab.core.position import Position

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Open = Callable[..., Any]
Shot = Callable[..., None]

expect.set_options(timeout=60_000)


def status(page: Page) -> Locator:
    return page.locator("#status")


def board(page: Page) -> str:
    """The squares a1, b1, ... as drawn: X, O, -."""
    letters: str = page.locator(".board").evaluate(
        """board => {
            const cells = [...board.querySelectorAll(".cell")];
            const place = (name) => 8 * Number(name[1]) + name.charCodeAt(0);
            cells.sort((a, b) => place(a.dataset.square) - place(b.dataset.square));
            const has = (cell, color) => cell.classList.contains(color);
            return cells.map((c) => has(c, "black") ? "X" : has(c, "white") ? "O" : "-").join("");
        }"""
    )
    return letters


def seen(page: Page) -> str:
    """The same by what can really be seen of each disc, when nothing moves any more."""
    letters: str = page.locator(".board").evaluate(
        """async board => {
            await Promise.all(board.getAnimations({subtree: true}).map((each) => each.finished));
            const cells = [...board.querySelectorAll(".cell")];
            const place = (name) => 8 * Number(name[1]) + name.charCodeAt(0);
            cells.sort((a, b) => place(a.dataset.square) - place(b.dataset.square));
            const has = (cell, color) =>
                getComputedStyle(cell.querySelector(`.face.${color}`)).opacity === "1";
            return cells.map((c) => has(c, "black") ? "X" : has(c, "white") ? "O" : "-").join("");
        }"""
    )
    return letters


def begin(page: Page, black: str, white: str, rules: str = "standard") -> None:
    """A new game by its dialog."""
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Rules").select_option(rules)
    for side, name in (("Black", black), ("White", white)):
        dialog.get_by_role("group", name=side).get_by_label("Player").select_option(name)
    dialog.get_by_role("button", name="Start the game").click()
    expect(dialog).to_be_hidden()


def play_through(page: Page, position: Position) -> Position:
    """Click the first legal square until the game is over."""
    while not position.is_over:
        if position.must_pass:
            position = position.play(64)
            continue
        move = position.legal_moves()[0]
        press(page, move)
        position = position.play(move)
        expect(square(page, move)).to_have_class(re.compile("latest"))
    return position


def review(page: Page) -> None:
    begin(page, "human", "human", "mini4")
    play_through(page, Position.start("mini4"))
    page.get_by_role("tab", name="Review").click()
    page.get_by_role("button", name="Review the game").click()
    page.locator("#why-review polyline").first.wait_for(state="attached")


@pytest.mark.integration
def test_a_whole_game_by_clicks(open_page: Open, shot: Shot) -> None:
    page = open_page()
    begin(page, "human", "human", "mini4")
    end = play_through(page, Position.start("mini4"))
    expect(status(page)).to_contain_text("The game is over")
    assert board(page) == seen(page) == end.to_obf().split()[0]
    shot(page)
    page.get_by_role("button", name="Click here to start another game").click()
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.integration
def test_only_legal_squares_can_be_clicked(open_page: Open) -> None:
    page = open_page()
    hands = [
        name
        for name in (f"{column}{row}" for row in range(1, 9) for column in "abcdefgh")
        if square(page, name).evaluate("cell => getComputedStyle(cell).cursor") == "pointer"
    ]
    assert sorted(hands) == ["c4", "d3", "e6", "f5"]
    start = board(page)
    for name in ("a1", "d4", "c3"):
        press(page, name)
    assert board(page) == start
    press(page, "d3")
    expect(page.locator("#moves button")).to_have_count(1)
    assert seen(page) == Position.start().play("d3").to_obf().split()[0]


RECORDER = """() => {
    window.pressed = [];
    document.addEventListener("click", (event) => {
        const cell = event.target.closest("#board .cell");
        const board = document.querySelector("#board .board");
        if (!cell) return;
        window.pressed.push({
            move: cell.dataset.square,
            discs: board.querySelectorAll(".cell.black, .cell.white").length,
            offered: cell.classList.contains("legal") && !board.classList.contains("turning"),
        });
    }, true);
}"""
"""Notes of each click what the board showed when it came."""

GAPS = (50, 75, 100, 125, 150, 200, 250, 300, 350, 400)
SQUARES = ("d3", "c4", "f5", "e6")


def raced(page: Page, tries: int) -> int:
    """Click twice, quickly, on squares that were legal before the first click, in so many games.
    Return the number of moves; each of them was offered by the board as it stood."""
    page.evaluate(RECORDER)
    played = 0
    for number in range(tries):
        begin(page, "human", "random")
        page.locator(".playable:not(.turning) .legal").first.wait_for()
        page.evaluate("() => { window.pressed = []; }")
        squares = [square(page, name) for name in SQUARES]
        places = [each.bounding_box() for each in squares]
        middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in places]
        for x, y in (middles[number % 4], middles[(number + 1) % 4], middles[(number + 2) % 4]):
            page.mouse.click(x, y)
            page.wait_for_timeout(GAPS[number % len(GAPS)])
        page.locator(".playable:not(.turning) .legal").first.wait_for()
        moves = page.locator("#moves button").evaluate_all(
            "all => all.map((each) => each.ariaLabel)"
        )
        mine = [(ply, label) for ply, label in enumerate(moves) if " black " in label]
        offers = [
            (each["discs"] - 4, each["move"])
            for each in page.evaluate("() => window.pressed")
            if each["offered"]
        ]
        for ply, label in mine:
            assert (ply, label.split()[3].rstrip(",")) in offers, (number, moves, offers)
        played += len(mine)
    return played


@pytest.mark.integration
def test_no_move_is_played_that_nobody_chose(open_page: Open) -> None:
    games = math.lcm(len(GAPS), len(SQUARES))  # each gap from each square
    assert raced(open_page(), games) >= games


CLICK_WHILE_TURNING = """() => {
    window.clicked = new Promise((done) => {
        const look = () => {
            if (!document.querySelector("#board .turning")) return requestAnimationFrame(look);
            const cell = document.querySelector('#board [data-square="c4"]');
            cell.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
            done();
        };
        look();
    });
}"""


@pytest.mark.integration
def test_a_double_click_plays_one_move_and_a_click_ends_the_turning(open_page: Open) -> None:
    page = open_page()
    square(page, "d3").dblclick()
    expect(page.locator("#moves button")).to_have_count(1)
    page.locator("#board .board:not(.turning)").wait_for()
    page.evaluate(CLICK_WHILE_TURNING)
    press(page, "c3")
    page.evaluate("() => window.clicked")
    page.locator("#board .board:not(.turning)").wait_for()
    expect(page.locator("#moves button")).to_have_count(2)
    press(page, "c4")
    expect(page.locator("#moves button")).to_have_count(3)


@pytest.mark.integration
def test_a_game_against_an_agent_to_its_end(open_page: Open, shot: Shot) -> None:
    page = open_page()
    begin(page, "human", "greedy")
    while page.locator("#status.over").count() == 0:
        legal = page.locator(".playable:not(.turning) .legal")
        legal.or_(page.locator("#status.over")).first.wait_for()
        if legal.count():
            legal.first.click()
            page.wait_for_timeout(30)
    counts = [
        int(page.locator(f"#{color}-seat .count").inner_text()) for color in ("black", "white")
    ]
    expect(page.locator(".cell.black")).to_have_count(counts[0])
    expect(page.locator(".cell.white")).to_have_count(counts[1])
    assert board(page) == seen(page)
    shot(page)


@pytest.mark.integration
def test_discs_flip_in_the_order_of_their_distance(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Open").click()
    page.get_by_label("Transcript").fill("-" * 24 + "XOOO-OOX" + "-" * 32 + " X")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Start the game").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    press(page, "e4")
    expect(square(page, "d4")).to_have_class(re.compile("black"))
    delays = page.locator(".board").evaluate(
        """board => Object.fromEntries(board.getAnimations({subtree: true}).flatMap((each) => {
            const cell = each.effect.target.closest(".cell");
            return [[cell.dataset.square, each.effect.getTiming().delay]];
        }))"""
    )
    assert delays["d4"] < delays["c4"] < delays["b4"]
    assert delays["d4"] == delays["f4"]
    assert delays["e4"] < delays["d4"]
    assert seen(page)[24:32] == "XXXXXXXX"


@pytest.mark.integration
def test_nothing_moves_where_motion_is_unwelcome(open_page: Open) -> None:
    page = open_page(reduced_motion="reduce")
    page.evaluate("0")
    press(page, "d3")
    expect(square(page, "d4")).to_have_class(re.compile("black"))
    moving = "board => board.getAnimations({subtree: true}).length"
    assert page.locator(".board").evaluate(moving) == 0
    assert seen(page) == board(page)


def test_by_keyboard_alone(open_page: Open, shot: Shot) -> None:
    page = open_page()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "gridcell":
            break
    focused = page.locator(":focus")
    assert focused.get_attribute("aria-label") == "d3, legal move"
    shot(page)
    page.keyboard.press("ArrowDown")
    assert focused.get_attribute("aria-label") == "d4, white"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(square(page, "c4")).to_have_attribute("aria-label", "c4, black, last move")
    expect(status(page)).to_have_text("Black played c4. White to move.")
    page.keyboard.press("Home")
    assert focused.get_attribute("aria-label") == "a4, empty"
    page.keyboard.press("Control+End")
    assert focused.get_attribute("aria-label") == "h8, empty"
    assert page.locator('[tabindex="0"].cell').count() == 1


@pytest.mark.integration
def test_two_agents_are_watched(open_page: Open, shot: Shot) -> None:
    page = open_page()
    begin(page, "random", "greedy", "mini6")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.wait_for_timeout(1500)  # a move under way is made
    moves = page.locator("#moves button")
    before = moves.count()
    page.get_by_role("button", name="Step").click()
    expect(moves).to_have_count(before + 1)
    shot(page)
    page.get_by_label("Seconds a move").fill("0")
    page.get_by_label("Seconds a move").dispatch_event("change")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(status(page)).to_contain_text("The game is over")
    assert page.locator(".playable").count() == 0
    shot(page, "end")


@pytest.mark.integration
def test_moves_are_looked_at_and_taken_back(open_page: Open, shot: Shot) -> None:
    page = open_page()
    for name in ("d3", "c3", "c4", "c5"):
        press(page, name)
        expect(square(page, name)).to_have_class(re.compile("latest"))
    page.get_by_role("button", name="One move back").click()
    page.get_by_role("button", name="One move back").click()
    expect(status(page)).to_have_text("After move 2 of 4.")
    start = Position.start()
    assert board(page) == start.follow(["d3", "c3"])[0].to_obf().split()[0]
    assert page.locator(".playable").count() == 0
    shot(page)
    page.get_by_role("button", name="Play on from here").click()
    expect(page.locator("#moves button")).to_have_count(2)
    press(page, "c4")
    expect(page.locator("#moves button")).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#moves button")).to_have_count(2)
    page.get_by_role("button", name="Resign").click()
    expect(status(page)).to_contain_text("Black resigns")


@pytest.mark.integration
def test_a_position_is_set_up_and_played(open_page: Open, shot: Shot) -> None:
    page = open_page()
    page.get_by_role("button", name="Set up").click()
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Rules").select_option("mini4")
    page.get_by_role("button", name="Clear").click()
    for name in ("a1", "b1", "b1", "d4", "d4", "d4"):
        press(page, name)
    page.get_by_label("White", exact=True).first.check()
    press(page, "c1")
    shot(page)
    page.get_by_role("button", name="Play from here").click()
    page.get_by_role("button", name="Start the game").click()
    expect(page.locator("#editor")).to_be_hidden()
    assert board(page) == "XOO-" + "-" * 12
    press(page, "d1")
    expect(status(page)).to_contain_text("The game is over: Black wins")
    assert seen(page) == "XXXX" + "-" * 12


@pytest.mark.integration
def test_games_are_shared_and_opened(open_page: Open, shot: Shot) -> None:
    page = open_page()
    for name in ("d3", "c5"):
        press(page, name)
        expect(square(page, name)).to_have_class(re.compile("latest"))
    page.get_by_role("button", name="Share").click()
    text = page.get_by_label("GGF").input_value()
    assert page.get_by_label("Transcript").input_value() == "d3c5"
    shot(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open").click()
    page.get_by_label("Transcript").fill("d3d3")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Start the game").click()
    problem = page.locator(".problem")
    expect(problem).to_have_text("Move 2 of the transcript: d3: square occupied.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open").click()
    page.get_by_label("Transcript").fill(text[:-2] + "B[d6];)")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Start the game").click()
    expect(page.locator("#moves button")).to_have_count(3)


def test_a_file_that_is_too_long_is_refused_in_words(open_page: Open, tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("f5" * 110_000)
    page = open_page()
    page.get_by_role("button", name="Open").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("From a file").set_input_files(file)
    expect(dialog.get_by_role("alert")).to_contain_text("too long for a game: long.txt has 220,000")
    dialog.get_by_label("Transcript").fill("f5" * 30_000)
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog.get_by_role("alert")).to_contain_text("it has 60,000 letters; at most 50,000")


@pytest.mark.integration
def test_the_smallest_screens_need_no_scrolling_sideways(open_page: Open) -> None:
    page = open_page(width=320, height=640)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 320
    begin(page, "human", "human")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 320


@pytest.mark.integration
def test_values_on_squares_are_those_of_the_open_tab(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Value every move").click()
    expect(page.locator("#board .noted")).to_have_count(4)
    page.get_by_role("tab", name="Parts").click()
    expect(page.locator("#board .noted")).to_have_count(0)
    page.get_by_role("tab", name="Values").click()
    expect(page.locator("#board .noted")).to_have_count(4)


@pytest.mark.integration
def test_an_agent_of_ones_own_is_named_in_the_dialog(tmp_path: Path, open_page: Open) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    with served(tmp_path, f"white={tmp_path}/mine.py:Eager") as server:
        page = open_page(server)
        page.get_by_role("button", name="New game").click()
        dialog = page.get_by_role("dialog")
        white = dialog.get_by_role("group", name="White").get_by_label("Player")
        expect(white).to_have_value("Eager")
        dialog.get_by_role("button", name="Exchange colours").click()
        expect(white).to_have_value("human")
        dialog.get_by_role("button", name="Start the game").click()
        expect(dialog).to_be_hidden()
        expect(page.locator("#black-seat .who")).to_contain_text("Eager")
        expect(page.locator("#moves button")).to_have_count(1)


@pytest.mark.integration
def test_a_hint_is_marked_until_the_game_goes_on(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#said")).to_contain_text(re.compile(r"Hint of alphabeta .*: \w\d, value"))
    marked = page.locator("#board .noted")
    expect(marked).to_have_count(1)
    expect(marked).to_have_class(re.compile("legal"))
    press(page, marked.get_attribute("data-square") or "")
    expect(page.locator("#moves button")).to_have_count(1)
    expect(marked).to_have_count(0)


@pytest.mark.integration
def test_the_arrow_keys_go_through_the_moves(open_page: Open) -> None:
    page = open_page()
    for name in ("d3", "c3"):
        press(page, name)
        expect(square(page, name)).to_have_class(re.compile("latest"))
    page.locator("#board .board:not(.turning)").wait_for()
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    expect(status(page)).to_contain_text("After move 1 of 2")
    page.keyboard.press("Home")
    expect(status(page)).to_contain_text("The start")
    page.keyboard.press("End")
    expect(status(page)).to_contain_text("Black to move")
    square(page, "c4").focus()
    page.keyboard.press("ArrowLeft")  # there it walks over the board
    expect(status(page)).to_contain_text("Black to move")


@pytest.mark.integration
def test_the_opening_is_named(open_page: Open) -> None:
    page = open_page()
    for name in ("f5", "f4"):
        press(page, name)
        expect(square(page, name)).to_have_class(re.compile("latest"))
    expect(page.locator("#opening")).to_have_text("Opening: Parallel")
    page.locator("#first").click()
    expect(page.locator("#opening")).to_be_hidden()


@pytest.mark.integration
def test_the_address_of_a_game_leads_to_it(open_page: Open) -> None:
    page = open_page()
    press(page, "d3")
    expect(page.locator("#moves button")).to_have_count(1)
    page.get_by_role("button", name="Share").click()
    link = page.get_by_role("dialog").get_by_label("Link to this game").input_value()
    assert link == page.url
    assert re.search(r"#game=[\w-]{22}$", link)
    other = page.context.new_page()
    other.goto(link)
    expect(other.locator("#moves button")).to_have_count(1)
    other.goto(f"{link[:-22]}{'x' * 22}")
    expect(other.locator("#said")).to_contain_text("not kept")
    expect(other.locator("#moves button")).to_have_count(0)


OWN = """
from othello_lab import Agent, Decision

class Eager(Agent):
    "The first legal move."

    def decide(self, position, limits):
        return Decision(position.moves[0])
"""


@pytest.mark.integration
def test_a_game_of_a_run_is_opened(tmp_path: Path, open_page: Open, shot: Shot) -> None:
    from othello_lab import AlphaBeta, DiscCount, RandomAgent, run_match

    agents = {"searcher": AlphaBeta(2, DiscCount()), "random": RandomAgent()}
    where = {"results": tmp_path / "runs", "ruleset": "mini6", "workers": 0}
    run_match(agents, games=2, quiet=True, figures=False, **where)
    with served(tmp_path, "white=human") as server:
        page = open_page(server)
        page.get_by_role("button", name="Open").click()
        page.get_by_role("button", name=re.compile("random . searcher")).click()
        page.get_by_role("button", name="Start the game").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(status(page)).to_contain_text("The game is over")
        expect(page.locator("#black-seat .who")).to_contain_text("random")
        expect(page.locator("#white-seat .who")).to_contain_text("searcher")
        page.get_by_role("button", name="Move 10").click()
        expect(page.locator("#about-move, #moves [aria-current]").first).to_be_visible()
        expect(
            page.locator("#moves small").filter(has_text=re.compile(r"\d")).first
        ).to_be_visible()
        shot(page)


@pytest.mark.integration
def test_two_tabs_are_two_games_that_outlive_the_server(
    tmp_path: Path, open_page: Open, shot: Shot
) -> None:
    with served(tmp_path, "white=human") as server:
        one = open_page(server)
        two = one.context.new_page()
        two.goto(f"http://{server.host}/")
        press(one, "d3")
        press(two, "f5")
        expect(one.locator("#moves button")).to_have_text(["d3"])
        expect(two.locator("#moves button")).to_have_text(["f5"])
        one.reload()
        expect(one.locator("#moves button")).to_have_text(["d3"])
        server.close()
        expect(one.locator("#offline")).to_be_visible()
        shot(one, "offline")
        with served(tmp_path, port=server.port):
            for page, name in ((one, "c3"), (two, "f6")):
                expect(page.locator("#offline")).to_be_hidden()
                press(page, name)
                expect(page.locator("#moves button")).to_have_count(2)


@pytest.mark.integration
def test_who_comes_when_all_games_are_taken_is_told(tmp_path: Path, open_page: Open) -> None:
    with served(tmp_path, "white=human", "web.games=1") as server:
        first = open_page(server)
        second = first.context.new_page()
        second.goto(f"http://{server.host}/")
        expect(second.locator("#offline")).to_contain_text(
            "All games that may be open at once (1) are"
        )
        first.close()
        expect(second.locator("#offline")).to_be_hidden()
        press(second, "d3")
        expect(second.locator("#moves button")).to_have_text(["d3"])


@pytest.mark.integration
def test_a_search_is_stopped_and_another_agent_plays_on(open_page: Open, shot: Shot) -> None:
    page = open_page()
    page.get_by_role("button", name="New game").click()
    white = page.get_by_role("group", name="White")
    white.get_by_label("Player").select_option("minimax")
    white.get_by_label("Depth").fill("99")
    assert not page.locator("form.game").evaluate("form => form.checkValidity()")
    white.get_by_label("Depth").fill("40")
    page.get_by_role("button", name="Start the game").click()
    press(page, "d3")
    expect(page.locator("#note")).to_contain_text("more than a thousand years")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    shot(page, "thinking")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#trouble")).to_contain_text("White (minimax) was stopped.")
    shot(page, "stopped")
    page.get_by_role("button", name="Another agent").click()
    white.get_by_label("Player").select_option("greedy")
    page.get_by_role("button", name="Play on", exact=True).click()
    expect(page.locator("#moves button")).to_have_count(2)


# ---------------------------------------------------------------------- on every screen


VIEWS: dict[str, Callable[[Any], None]] = {
    "start": lambda page: None,
    "game": lambda page: square(page, "d3").click(),
    "new": lambda page: page.get_by_role("button", name="New game").click(),
    "open": lambda page: page.get_by_role("button", name="Open").click(),
    "share": lambda page: page.get_by_role("button", name="Share").click(),
    "edit": lambda page: page.get_by_role("button", name="Set up").click(),
    "over": lambda page: page.get_by_role("button", name="Resign").click(),
    "watch": lambda page: begin(page, "random", "random", "mini4"),
    "review": lambda page: review(page),
}


@pytest.mark.integration
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1600, "dark")])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_used_by_all(
    open_page: Open, shot: Shot, view: str, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(width=width, height=800, color_scheme=scheme)
    VIEWS[view](page)
    page.wait_for_timeout(800)
    for summary in page.locator("dialog summary").all():
        summary.click()
    shot(page)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert len(found.response["passes"]) > 15
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) <= width
