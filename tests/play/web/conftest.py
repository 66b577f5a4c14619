"""A server of the board, a line to it, and its page in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as BrowserPage
    from served import Page, Server

PATIENCE = 60_000.0  # milliseconds: the machine may be busy
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
    with house.page() as found:
        yield found


@pytest.fixture
def open_page(house: Server, browser: Browser) -> Iterator[Open]:
    """``open_page(width=360)``: a page of its own visit, with whatever Playwright's contexts take.
    At its end nothing may have gone wrong in it, and it has asked nobody but its server."""
    with ExitStack() as stack:

        def begin(
            server: Server | None = None, width: int = 1280, height: int = 800, **how: Any
        ) -> BrowserPage:
            address = f"http://{(server or house).host}/"
            context = browser.new_context(viewport={"width": width, "height": height}, **how)
            stack.callback(context.close)
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            said: list[str] = []
            asked: list[str] = []
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("console", lambda line: said.append(line.text) if line.type == "error" else 0)
            page.on("request", lambda request: asked.append(request.url))
            page.goto(address)
            page.locator(".cell").first.wait_for()

            def nothing_went_wrong() -> None:
                lost = ("WebSocket connection to", "ERR_CONNECTION_REFUSED")
                assert [each for each in said if not any(word in each for word in lost)] == []
                assert [url for url in asked if not url.startswith((address, "blob:"))] == []

            stack.callback(nothing_went_wrong)
            return page

        yield begin
