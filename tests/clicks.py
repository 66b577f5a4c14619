"""What tests do with the page of the board, as a user would."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def square(page: Page, name: str) -> Locator:
    return page.locator(f'#board [data-square="{name}"]')


def press(page: Page, name: str) -> None:
    """Click a square when no disc turns any more; before, a click only ends the turning."""
    page.locator("#board .board:not(.turning)").wait_for()
    square(page, name).click()


def play(page: Page, *moves: str) -> None:
    """Click moves, each as soon as the one before is made."""
    from playwright.sync_api import expect

    for name in moves:
        press(page, name)
        expect(square(page, name)).to_have_class(re.compile("latest"))


def click(page: Page | Locator, name: str) -> None:
    """Click the button of exactly this name."""
    page.get_by_role("button", name=name, exact=True).click()


def start(page: Page) -> None:
    """Start the game of the dialog."""
    from playwright.sync_api import expect

    click(page, "Start the game")
    expect(page.get_by_role("dialog")).to_be_hidden()


def choose(page: Page, black: str = "human", white: str = "human", **fields: str) -> Locator:
    """Open the dialog of a new game and choose in it; fields: by the labels of the others."""
    click(page, "New game")
    dialog = page.get_by_role("dialog")
    for label, value in fields.items():
        dialog.get_by_label(label).select_option(value)
    for side, name in (("Black", black), ("White", white)):
        dialog.get_by_role("group", name=side).get_by_label("Player").select_option(name)
    return dialog


def begin(page: Page, black: str = "human", white: str = "human", **fields: str) -> None:
    """Begin a new game by its dialog."""
    choose(page, black, white, **fields)
    start(page)


def put_in(page: Page, text: str, rules: str | None = None) -> None:
    """Put a game or a position into the dialog for that; it is not started yet."""
    click(page, "Open")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Transcript").fill(text)
    if rules:
        dialog.get_by_label("Rules").select_option(rules)
    click(page, "Go on")


def check_for_all(page: Page, shot: Callable[..., None], *sizes: tuple[int, str]) -> None:
    """Check what is shown at each width, in its colours: axe finds nothing, and nobody scrolls
    sideways."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"preload": not page.url.startswith("file:")}  # axe reads nothing from disk
    for width, scheme in sizes:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        shot(page, f"{width}")
        result = Axe().run(page, options=options)
        assert result.violations_count == 0, f"{page.url}\n{result.generate_report()}"
        assert len(result.response["passes"]) > 15
        assert page.evaluate("document.documentElement.scrollWidth") <= width
