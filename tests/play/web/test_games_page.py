"""Games, levels, series, clocks, sounds and typed moves in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from clicks import press, square
from playwright.sync_api import expect
from served import Server, served

from othello_lab.agents.ladder import levels

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Open = Callable[..., Any]
Shot = Callable[..., None]

pytestmark = pytest.mark.integration
expect.set_options(timeout=60_000)

OWN = """
from othello_lab import RandomAgent

class Raises(RandomAgent):
    def decide(self, position, limits):
        raise RuntimeError("a bug of mine")
"""


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in a folder with an own agent."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(OWN, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with served(folder, "white=human") as found:
            yield found


def new_game(page: Page, white: str = "human", **choices: str) -> Locator:
    """Begin a game by the dialog; choices: labels of the fields below the players."""
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("group", name="White").get_by_label("Player").select_option(white)
    for label, value in choices.items():
        dialog.get_by_label(label.replace("_", " ")).select_option(value)
    return dialog


def start(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Start the game").click()
    expect(dialog).to_be_hidden()


def test_levels_stand_in_the_dialog_with_their_elo(open_page: Open, shot: Shot) -> None:
    page = open_page()
    dialog = new_game(page, "casual")
    seat = dialog.get_by_role("group", name="White")
    expect(seat.locator(".about")).to_contain_text("Elo")
    offered = seat.locator("optgroup").first.locator("option").all_text_contents()
    assert offered == [f"{level.name} · {level.elo}" for level in levels()]
    shot(page, "levels")
    start(dialog)
    press(page, "f5")
    expect(page.locator("#moves button")).to_have_count(2)
    expect(page.locator("#white-seat")).to_contain_text("casual")


def test_my_games_lead_back_to_each_of_them(open_page: Open) -> None:
    page = open_page()
    press(page, "f5")
    expect(page.locator("#moves button")).to_have_count(1)
    first = page.url
    start(new_game(page))
    expect(page.locator("#moves button")).to_have_count(0)
    assert page.url != first
    press(page, "d3")
    page.get_by_role("button", name="Open").click()
    mine = page.locator(".mine button")
    expect(mine).to_have_count(2)
    mine.nth(1).click()
    expect(square(page, "f5")).to_have_class(re.compile("latest"))
    assert page.url == first


def test_a_series_shows_its_score_and_its_next_game(open_page: Open, shot: Shot) -> None:
    page = open_page()
    start(new_game(page, "greedy", Games="2"))
    for human in ("black", "white"):
        expect(page.locator("#status")).to_contain_text("Your turn")
        expect(page.locator(f"#{human}-seat")).to_contain_text("human")
        press(page, page.locator("#board .legal").first.get_attribute("data-square") or "")
        expect(page.locator("#status")).to_contain_text("Your turn")
        page.get_by_role("button", name="Resign").click()
        if human == "black":
            expect(page.locator("#series")).to_contain_text("human 0, greedy 1")
            shot(page, "series")
            page.get_by_role("button", name="Next game").click()
    expect(page.locator("#series")).to_contain_text("greedy wins the series")
    expect(page.get_by_role("button", name="Next game")).to_be_hidden()


def test_a_clock_runs_down_and_ends_the_game(open_page: Open, shot: Shot) -> None:
    page = open_page()
    start(new_game(page, Clock="move 10"))
    clock = page.locator("#black-seat .clock")
    expect(clock).to_have_text(re.compile("0:(08|07)"))
    expect(page.locator("#white-seat .clock")).to_have_text("0:10")
    press(page, "f5")
    expect(clock).to_have_text("0:10")
    shot(page, "clock")
    expect(page.locator("#status")).to_contain_text("White's time is up: Black wins by 64")


def test_moves_are_typed(open_page: Open) -> None:
    page = open_page()
    page.keyboard.type("f5")
    expect(square(page, "f5")).to_have_class(re.compile("latest"))
    page.keyboard.type("a1")
    expect(page.locator("#said")).to_contain_text("a1 is no legal move; the legal moves are f4")
    page.keyboard.type("d6")
    expect(page.locator("#moves button")).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("c3")
    expect(page.locator("#said")).to_contain_text("an earlier position")
    page.keyboard.press("End")
    page.keyboard.type("C3")
    expect(page.locator("#moves button")).to_have_count(3)


def test_sounds_are_off_until_they_are_wanted(open_page: Open) -> None:
    page = open_page()
    page.evaluate(
        "() => { window.tones = 0; const make = AudioContext.prototype.createOscillator;"
        "AudioContext.prototype.createOscillator = function () {"
        "window.tones += 1; return make.apply(this); }; }"
    )
    press(page, "f5")
    expect(page.locator("#moves button")).to_have_count(1)
    sound = page.get_by_role("button", name="Sound")
    expect(sound).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("tones") == 0
    sound.click()
    expect(sound).to_have_attribute("aria-pressed", "true")
    before = page.evaluate("tones")
    press(page, "d6")
    expect(page.locator("#moves button")).to_have_count(2)
    page.wait_for_function(f"tones === {before + 2}")
    page.reload()
    expect(page.get_by_role("button", name="Sound")).to_have_attribute("aria-pressed", "true")


def test_an_own_agent_is_told_by_its_path_and_may_break(
    open_page: Open, own_server: Server, shot: Shot
) -> None:
    page = open_page(own_server)
    dialog = new_game(page, "own agent")
    dialog.get_by_role("textbox", name="Path").fill("mine.py:Nobody")
    dialog.get_by_role("button", name="Start the game").click()
    expect(dialog.locator(".problem")).to_contain_text("Nobody")
    dialog.get_by_role("textbox", name="Path").fill("mine.py:Raises")
    start(dialog)
    press(page, "f5")
    expect(page.locator("#trouble")).to_contain_text("a bug of mine")
    shot(page, "own-agent")
    page.get_by_role("button", name="Play white myself").click()
    press(page, "d6")
    expect(page.locator("#moves button")).to_have_count(2)


def test_the_dialog_fits_a_phone(open_page: Open, shot: Shot) -> None:
    page = open_page(width=360, height=740)
    new_game(page, "casual")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    shot(page, "dialog-360")


def test_all_is_beside_the_board_on_a_laptop(open_page: Open) -> None:
    page = open_page(width=1280, height=800)
    for name in ("New game", "Undo", "Hint", "Resign", "One move back", "Sound"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None and box["y"] + box["height"] <= 800
    moves = page.locator("#moves").bounding_box()
    assert moves is not None and moves["y"] + moves["height"] <= 800
