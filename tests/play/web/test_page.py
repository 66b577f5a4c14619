"""The page in a real browser: games by click and by keyboard, levels, series, clocks and sounds,
small and large, dark and light."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from chosen import mostly_nightly
from clicks import begin, check_for_all, choose, click, play, press, put_in, square, start
from playwright.sync_api import expect
from served import OWN, served

from othello_lab.agents.ladder import levels
from othello_lab.core.position import Position
from othello_lab.core.wthor import WthorGame, format_wthor

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Open = Callable[..., Any]
Shot = Callable[..., None]

pytestmark = pytest.mark.integration


@pytest.fixture
def page(open_page: Open) -> Page:
    return open_page()


def status(page: Page) -> Locator:
    return page.locator("#status")


def moves(page: Page) -> Locator:
    return page.locator("#moves button")


LETTERS = """async (board, seen) => {
    if (seen) await Promise.all(board.getAnimations({subtree: true}).map((each) => each.finished));
    const cells = [...board.querySelectorAll(".cell")];
    const place = (name) => 8 * Number(name[1]) + name.charCodeAt(0);
    cells.sort((a, b) => place(a.dataset.square) - place(b.dataset.square));
    const has = (cell, color) => seen
        ? getComputedStyle(cell.querySelector(`.face.${color}`)).opacity === "1"
        : cell.classList.contains(color);
    return cells.map((c) => has(c, "black") ? "X" : has(c, "white") ? "O" : "-").join("");
}"""


def board(page: Page) -> str:
    """The squares a1, b1, ... as drawn: X, O, -."""
    letters: str = page.locator(".board").evaluate(LETTERS, False)
    return letters


def seen(page: Page) -> str:
    """The same by what can really be seen of each disc, when nothing moves any more."""
    letters: str = page.locator(".board").evaluate(LETTERS, True)
    return letters


def play_through(page: Page, position: Position) -> Position:
    """Click the first legal square until the game is over."""
    while not position.is_over:
        if not position.must_pass:
            play(page, position.legal_moves()[0])
        position = position.play((*position.moves, 64)[0])
    return position


def review(page: Page) -> None:
    begin(page, Rules="mini4")
    play_through(page, Position.start("mini4"))
    page.get_by_role("tab", name="Review").click()
    click(page, "Review the game")
    drawn = page.locator("#why-review polyline").first
    drawn.wait_for(state="attached", timeout=300_000)  # it may have to compile


def test_a_whole_game_by_clicks(page: Page) -> None:
    begin(page, Rules="mini4")
    end = play_through(page, Position.start("mini4"))
    expect(status(page)).to_contain_text("is over")
    for color in ("black", "white"):
        count = int(page.locator(f"#{color}-seat .count").inner_text())
        expect(page.locator(f".cell.{color}")).to_have_count(count)
    assert board(page) == seen(page) == end.to_obf().split()[0]
    click(page, "Click here to start another game")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_all_is_beside_the_board_and_only_legal_squares_can_be_clicked(open_page: Open) -> None:
    page = open_page(width=1280, height=800)
    names = ("New game", "Undo", "Hint", "Resign", "One move back", "Sound")
    for part in (page.locator("#moves"), *(page.get_by_role("button", name=n) for n in names)):
        box = part.bounding_box()
        assert box is not None and box["y"] + box["height"] <= 800
    hands = [
        name
        for name in (f"{column}{row}" for row in range(1, 9) for column in "abcdefgh")
        if square(page, name).evaluate("cell => getComputedStyle(cell).cursor") == "pointer"
    ]
    assert sorted(hands) == ["c4", "d3", "e6", "f5"]
    before = board(page)
    for name in ("a1", "d4", "c3"):
        press(page, name)
    assert board(page) == before
    play(page, "d3")
    assert seen(page) == Position.start().play("d3").to_obf().split()[0]


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


def test_a_double_click_plays_one_move_and_a_click_ends_the_turning(page: Page) -> None:
    square(page, "d3").dblclick()
    expect(moves(page)).to_have_count(1)
    page.locator("#board .board:not(.turning)").wait_for()
    page.evaluate(CLICK_WHILE_TURNING)
    press(page, "c3")
    page.evaluate("() => window.clicked")
    page.locator("#board .board:not(.turning)").wait_for()
    expect(moves(page)).to_have_count(2)
    press(page, "c4")
    expect(moves(page)).to_have_count(3)


def test_discs_flip_in_the_order_of_their_distance(page: Page) -> None:
    put_in(page, "-" * 24 + "XOOO-OOX" + "-" * 32 + " X")
    start(page)
    page.evaluate(
        """() => {
            const animate = Element.prototype.animate;
            window.delays = {};
            Element.prototype.animate = function (frames, timing) {
                window.delays[this.closest(".cell").dataset.square] = timing.delay || 0;
                return animate.call(this, frames, timing);
            };
        }"""
    )
    press(page, "e4")
    expect(square(page, "d4")).to_have_class(re.compile("black"))
    delays = page.evaluate("() => window.delays")
    assert delays["e4"] < delays["d4"] < delays["c4"] < delays["b4"]
    assert delays["d4"] == delays["f4"]
    assert seen(page)[24:32] == "XXXXXXXX"


def test_nothing_moves_where_motion_is_unwelcome(open_page: Open) -> None:
    page = open_page(reduced_motion="reduce")
    play(page, "d3")
    assert not page.locator(".board").evaluate("it => it.getAnimations({subtree: true}).length")
    assert seen(page) == board(page)


def test_by_keyboard_alone(page: Page) -> None:
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "gridcell":
            break
    focused = page.locator(":focus")
    assert focused.get_attribute("aria-label") == "d3, legal move"
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


def test_two_agents_are_watched(page: Page) -> None:
    begin(page, "random", "greedy", Rules="mini6")
    click(page, "Pause")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(status(page)).not_to_contain_text("is thinking")  # a move under way is made
    before = moves(page).count()
    click(page, "Step")
    expect(moves(page)).to_have_count(before + 1)
    page.get_by_label("Seconds a move").fill("0")
    page.get_by_label("Seconds a move").dispatch_event("change")
    click(page, "Play")
    expect(status(page)).to_contain_text("is over")
    assert page.locator(".playable").count() == 0


def test_moves_are_looked_at_and_taken_back(page: Page) -> None:
    play(page, "d3", "c3", "c4", "c5")
    click(page, "One move back")
    click(page, "One move back")
    expect(status(page)).to_contain_text("After move 2 of 4")
    assert board(page) == Position.start().follow(["d3", "c3"])[0].to_obf().split()[0]
    assert page.locator(".playable").count() == 0
    click(page, "Play on from here")
    expect(moves(page)).to_have_count(2)
    play(page, "c4")
    click(page, "Undo")
    expect(moves(page)).to_have_count(2)
    click(page, "Resign")
    expect(status(page)).to_contain_text("Black resigns")


def test_a_position_is_set_up_and_played(page: Page) -> None:
    click(page, "Set up")
    click(page, "Clear")
    page.get_by_label("Rules").select_option("mini4")
    click(page, "Clear")
    for name in ("a1", "b1", "b1", "d4", "d4", "d4"):
        press(page, name)
    page.get_by_label("White", exact=True).first.check()
    press(page, "c1")
    click(page, "Play from here")
    start(page)
    expect(page.locator("#editor")).to_be_hidden()
    assert board(page) == "XOO-" + "-" * 12
    press(page, "d1")
    expect(status(page)).to_contain_text("Black wins")
    assert seen(page) == "XXXX" + "-" * 12


def test_games_are_shared_and_opened(page: Page) -> None:
    play(page, "d3", "c5")
    click(page, "Share")
    text = page.get_by_label("GGF").input_value()
    assert page.get_by_label("Transcript").input_value() == "d3c5"
    link = page.get_by_role("dialog").get_by_label("Link to this game").input_value()
    assert link == page.url and re.search(r"#game=[\w-]{22}$", link)
    other = page.context.new_page()
    other.goto(link)
    expect(moves(other)).to_have_count(2)
    other.goto(f"{link[:-22]}{'x' * 22}")
    expect(other.locator("#said")).to_contain_text("not kept")
    expect(moves(other)).to_have_count(0)
    page.keyboard.press("Escape")
    put_in(page, "d3d3")
    click(page, "Start the game")
    expect(page.locator(".problem")).to_contain_text("d3: square occupied")
    page.keyboard.press("Escape")
    put_in(page, text[:-2] + "B[d6];)")
    start(page)
    expect(moves(page)).to_have_count(3)


def test_a_file_opens_with_its_last_game_or_is_too_long(page: Page, tmp_path: Path) -> None:
    file, wthor = tmp_path / "long.txt", tmp_path / "two.wtb"
    file.write_text("f5" * 170_000)
    games = [WthorGame(b"\x13", 32), WthorGame(b"\x25\x2b\x12", 32)]  # c2 would be a line end
    wthor.write_bytes(format_wthor(games, date(2026, 1, 13), 2026))
    put_in(page, "f5" * 50_000)
    problem = page.get_by_role("dialog").get_by_role("alert")
    expect(problem).to_contain_text("100,000 letters")
    page.get_by_label("From a file").set_input_files(file)
    expect(problem).to_contain_text("long.txt has 340,000")
    page.get_by_label("Transcript").fill("")
    page.get_by_label("From a file").set_input_files(wthor)
    click(page, "Go on")
    start(page)
    expect(moves(page)).to_have_count(3)


def test_a_hint_is_marked_until_the_game_goes_on(page: Page) -> None:
    click(page, "Hint")
    expect(page.locator("#said")).to_contain_text(re.compile(r"alphabeta .*: \w\d, value"))
    marked = page.locator("#board .noted")
    expect(marked).to_have_count(1)
    expect(marked).to_have_class(re.compile("legal"))
    play(page, marked.get_attribute("data-square") or "")
    expect(marked).to_have_count(0)


def test_the_arrow_keys_go_through_the_moves_and_the_opening_is_named(page: Page) -> None:
    play(page, "f5", "f4")
    page.locator("#board .board:not(.turning)").wait_for()
    expect(page.locator("#opening")).to_contain_text("Parallel")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    expect(status(page)).to_contain_text("After move 1 of 2")
    page.keyboard.press("Home")
    expect(status(page)).to_contain_text("The start")
    expect(page.locator("#opening")).to_be_hidden()
    page.keyboard.press("End")
    expect(status(page)).to_contain_text("Black to move")
    square(page, "c4").focus()
    page.keyboard.press("ArrowLeft")  # there it walks over the board
    expect(status(page)).to_contain_text("Black to move")


def test_a_game_of_a_run_is_opened(recorded_duel: Path, tmp_path: Path, open_page: Open) -> None:
    with served(tmp_path, "white=human", f"web.runs={recorded_duel.parent.parent}") as server:
        page = open_page(server)
        click(page, "Open")
        page.get_by_role("button", name=re.compile("alphabeta . random")).first.click()
        start(page)
        expect(status(page)).to_contain_text("is over")
        expect(page.locator("#black-seat .who")).to_contain_text("alphabeta")
        expect(page.locator("#white-seat .who")).to_contain_text("random")
        page.get_by_role("button", name="Move 10").click()
        expect(page.locator("#about-move, #moves [aria-current]").first).to_be_visible()
        with_values = page.locator("#moves small").filter(has_text=re.compile(r"\d"))
        expect(with_values.first).to_be_visible()


def test_two_tabs_are_two_games_that_outlive_the_server(tmp_path: Path, open_page: Open) -> None:
    with served(tmp_path, "white=human") as server:
        one = open_page(server)
        two = one.context.new_page()
        two.goto(f"http://{server.host}/")
        press(one, "d3")
        press(two, "f5")
        expect(moves(one)).to_have_text(["d3"])
        expect(moves(two)).to_have_text(["f5"])
        one.reload()
        expect(moves(one)).to_have_text(["d3"])
        server.close()
        expect(one.locator("#offline")).to_be_visible()
        with served(tmp_path, port=server.port):
            for page, name in ((one, "c3"), (two, "f6")):
                expect(page.locator("#offline")).to_be_hidden()
                press(page, name)
                expect(moves(page)).to_have_count(2)


def test_a_search_is_stopped_and_another_agent_plays_on(page: Page) -> None:
    white = choose(page, white="minimax").get_by_role("group", name="White")
    white.get_by_label("Depth").fill("99")
    assert not page.locator("form.game").evaluate("form => form.checkValidity()")
    white.get_by_label("Depth").fill("40")
    start(page)
    press(page, "d3")
    expect(page.locator("#note")).to_contain_text("more than a thousand years")
    click(page, "Stop")
    expect(page.locator("#trouble")).to_contain_text("White (minimax) was stopped")
    click(page, "Another agent")
    white.get_by_label("Player").select_option("greedy")
    click(page, "Play on")
    expect(moves(page)).to_have_count(2)


def test_levels_stand_in_the_dialog_with_their_elo(page: Page) -> None:
    dialog = choose(page, white="casual")
    seat = dialog.get_by_role("group", name="White")
    expect(seat.locator(".about")).to_contain_text("Elo")
    offered = seat.locator("optgroup").first.locator("option").all_text_contents()
    assert offered == [f"{level.name} · {level.elo}" for level in levels()]
    start(page)
    press(page, "f5")
    expect(moves(page)).to_have_count(2)
    expect(page.locator("#white-seat")).to_contain_text("casual")


def test_my_games_lead_back_to_each_of_them(page: Page) -> None:
    play(page, "f5")
    first = page.url
    begin(page)
    expect(moves(page)).to_have_count(0)
    assert page.url != first
    press(page, "d3")
    click(page, "Open")
    mine = page.locator(".mine button")
    expect(mine).to_have_count(2)
    mine.nth(1).click()
    expect(square(page, "f5")).to_have_class(re.compile("latest"))
    assert page.url == first


def test_a_series_shows_its_score_and_its_next_game(page: Page) -> None:
    begin(page, white="greedy", Games="2")
    for human in ("black", "white"):
        expect(status(page)).to_contain_text("Your turn")
        expect(page.locator(f"#{human}-seat")).to_contain_text("human")
        press(page, page.locator("#board .legal").first.get_attribute("data-square") or "")
        expect(status(page)).to_contain_text("Your turn")
        click(page, "Resign")
        if human == "black":
            expect(page.locator("#series")).to_contain_text("human 0, greedy 1")
            click(page, "Next game, colours changed")
    expect(page.locator("#series")).to_contain_text("greedy wins the series")
    expect(page.get_by_role("button", name="Next game")).to_be_hidden()


def test_a_clock_runs_down_and_ends_the_game(page: Page) -> None:
    begin(page, Clock="move 10")
    clock = page.locator("#black-seat .clock")
    expect(clock).to_have_text(re.compile("0:0[5-8]"))
    expect(page.locator("#white-seat .clock")).to_have_text("0:10")
    press(page, "f5")
    expect(clock).to_have_text("0:10")
    expect(status(page)).to_contain_text("White's time is up")


def test_moves_are_typed(page: Page) -> None:
    page.keyboard.type("f5")
    expect(square(page, "f5")).to_have_class(re.compile("latest"))
    page.keyboard.type("a1")
    expect(page.locator("#said")).to_contain_text("a1 is no legal move; the legal moves are f4")
    page.keyboard.type("d6")
    expect(moves(page)).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("c3")
    expect(page.locator("#said")).to_contain_text("an earlier position")
    page.keyboard.press("End")
    page.keyboard.type("C3")
    expect(moves(page)).to_have_count(3)


def test_sounds_are_off_until_they_are_wanted(page: Page) -> None:
    page.evaluate(
        "() => { const it = AudioContext.prototype, make = it.createOscillator; window.tones = 0;"
        "it.createOscillator = function () { window.tones += 1; return make.apply(this); }; }"
    )
    play(page, "f5")
    sound = page.get_by_role("button", name="Sound")
    expect(sound).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("tones") == 0
    sound.click()
    expect(sound).to_have_attribute("aria-pressed", "true")
    before = page.evaluate("tones")
    press(page, "d6")
    expect(moves(page)).to_have_count(2)
    page.wait_for_function(f"tones === {before + 2}")
    page.reload()
    expect(page.get_by_role("button", name="Sound")).to_have_attribute("aria-pressed", "true")


def test_an_own_agent_is_told_by_its_path_and_may_break(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with served(tmp_path, f"white={tmp_path}/mine.py:Mine") as server:
        page = open_page(server)
        dialog = page.get_by_role("dialog")
        click(page, "New game")
        white = dialog.get_by_role("group", name="White").get_by_label("Player")
        expect(white).to_have_value("Mine")
        click(dialog, "Exchange colours")
        expect(white).to_have_value("human")
        start(page)
        expect(page.locator("#black-seat .who")).to_contain_text("Mine")
        expect(moves(page)).to_have_count(1)
        choose(page, white="own agent")
        dialog.get_by_role("textbox", name="Path").fill("mine.py:Nobody")
        click(dialog, "Start the game")
        expect(dialog.locator(".problem")).to_contain_text("Nobody")
        dialog.get_by_role("textbox", name="Path").fill("mine.py:Raises")
        start(page)
        press(page, "f5")
        expect(page.locator("#trouble")).to_contain_text("a bug in a student's agent")
        click(page, "Play white myself")
        press(page, "d6")
        expect(moves(page)).to_have_count(2)


VIEWS: dict[str, Callable[[Any], None]] = {
    "start": lambda page: None,
    "game": lambda page: square(page, "d3").click(),
    "new": lambda page: click(page, "New game"),
    "open": lambda page: click(page, "Open"),
    "share": lambda page: click(page, "Share"),
    "edit": lambda page: click(page, "Set up"),
    "over": lambda page: click(page, "Resign"),
    "watch": lambda page: begin(page, "random", "random", Rules="mini4"),
    "review": lambda page: review(page),
}


@pytest.mark.parametrize("view", mostly_nightly(VIEWS, ["game", "review"]))
def test_every_view_can_be_used_by_all(open_page: Open, shot: Shot, view: str) -> None:
    page = open_page(reduced_motion="reduce")
    VIEWS[view](page)
    for summary in page.locator("dialog summary").all():
        summary.click()
    check_for_all(page, shot, (320, "light"), (1600, "dark"))
