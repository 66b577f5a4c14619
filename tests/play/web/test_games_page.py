"""Games, levels, series, clocks, sounds and typed moves in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from clicks import begin, choose, click, play, press, square, start
from playwright.sync_api import expect
from served import served

from othello_lab.play.levels import levels

Open = Callable[..., Any]
Shot = Callable[..., None]

pytestmark = pytest.mark.integration

OWN = """
from othello_lab import Agent, Decision

class Eager(Agent):
    "The first legal move."

    def decide(self, position, limits):
        return Decision(position.moves[0])

class Raises(Eager):
    def decide(self, position, limits):
        raise RuntimeError("a bug of mine")
"""


def test_levels_stand_in_the_dialog_with_their_elo(open_page: Open, shot: Shot) -> None:
    page = open_page()
    dialog = choose(page, white="casual")
    seat = dialog.get_by_role("group", name="White")
    expect(seat.locator(".about")).to_contain_text("Elo")
    offered = seat.locator("optgroup").first.locator("option").all_text_contents()
    assert offered == [f"{level.name} · {level.elo}" for level in levels()]
    shot(page, "levels")
    start(page)
    press(page, "f5")
    expect(page.locator("#moves button")).to_have_count(2)
    expect(page.locator("#white-seat")).to_contain_text("casual")


def test_my_games_lead_back_to_each_of_them(open_page: Open) -> None:
    page = open_page()
    play(page, "f5")
    first = page.url
    begin(page)
    expect(page.locator("#moves button")).to_have_count(0)
    assert page.url != first
    press(page, "d3")
    click(page, "Open")
    mine = page.locator(".mine button")
    expect(mine).to_have_count(2)
    mine.nth(1).click()
    expect(square(page, "f5")).to_have_class(re.compile("latest"))
    assert page.url == first


def test_a_series_shows_its_score_and_its_next_game(open_page: Open, shot: Shot) -> None:
    page = open_page()
    begin(page, white="greedy", Games="2")
    for human in ("black", "white"):
        expect(page.locator("#status")).to_contain_text("Your turn")
        expect(page.locator(f"#{human}-seat")).to_contain_text("human")
        press(page, page.locator("#board .legal").first.get_attribute("data-square") or "")
        expect(page.locator("#status")).to_contain_text("Your turn")
        click(page, "Resign")
        if human == "black":
            expect(page.locator("#series")).to_contain_text("human 0, greedy 1")
            shot(page, "series")
            click(page, "Next game, colours changed")
    expect(page.locator("#series")).to_contain_text("greedy wins the series")
    expect(page.get_by_role("button", name="Next game")).to_be_hidden()


def test_a_clock_runs_down_and_ends_the_game(open_page: Open, shot: Shot) -> None:
    page = open_page()
    begin(page, Clock="move 10")
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
    play(page, "f5")
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
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shot: Shot
) -> None:
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with served(tmp_path, f"white={tmp_path}/mine.py:Eager") as server:
        page = open_page(server)
        dialog = page.get_by_role("dialog")
        click(page, "New game")
        white = dialog.get_by_role("group", name="White").get_by_label("Player")
        expect(white).to_have_value("Eager")
        click(dialog, "Exchange colours")
        expect(white).to_have_value("human")
        start(page)
        expect(page.locator("#black-seat .who")).to_contain_text("Eager")
        expect(page.locator("#moves button")).to_have_count(1)
        choose(page, white="own agent")
        dialog.get_by_role("textbox", name="Path").fill("mine.py:Nobody")
        click(dialog, "Start the game")
        expect(dialog.locator(".problem")).to_contain_text("Nobody")
        dialog.get_by_role("textbox", name="Path").fill("mine.py:Raises")
        start(page)
        press(page, "f5")
        expect(page.locator("#trouble")).to_contain_text("a bug of mine")
        shot(page)
        click(page, "Play white myself")
        press(page, "d6")
        expect(page.locator("#moves button")).to_have_count(2)


def test_all_is_beside_the_board_on_a_laptop(open_page: Open) -> None:
    page = open_page(width=1280, height=800)
    for name in ("New game", "Undo", "Hint", "Resign", "One move back", "Sound"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None and box["y"] + box["height"] <= 800
    moves = page.locator("#moves").bounding_box()
    assert moves is not None and moves["y"] + moves["height"] <= 800
