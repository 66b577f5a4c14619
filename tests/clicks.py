"""Clicks on the board of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def square(page: Page, name: str) -> Locator:
    return page.locator(f'#board [data-square="{name}"]')


def press(page: Page, name: str) -> None:
    """Click a square when no disc turns any more; before, a click only ends the turning."""
    page.locator("#board .board:not(.turning)").wait_for()
    square(page, name).click()
