"""A server of the board, a line to it, and its page in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page as BrowserPage
    from served import Page, Server

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests that need no other; its first games are between two people."""
    pytest.importorskip("starlette", reason="the extra play is not installed")
    from served import served

    with served(tmp_path_factory.mktemp("house"), "white=human") as server:
        yield server


@pytest.fixture
def page(house: Server) -> Iterator[Page]:
    """A line to the server, greeted."""
    with house.page() as page:
        yield page


@pytest.fixture
def open_page(house: Server, visit: Open) -> Open:
    """``open_page(width=360)``: a page of its own visit, as ``visit`` has it."""

    def begin(server: Server | None = None, **how: Any) -> BrowserPage:
        page: BrowserPage = visit(f"http://{(server or house).host}/", **how)
        page.locator(".cell").first.wait_for()
        return page

    return begin
