"""A browser for tests of the page: Playwright drives the system's chromium, found on the PATH."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from served import Server

CHROMIUM = shutil.which("chromium")
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60_000.0  # milliseconds: the machine may be busy


@pytest.fixture(scope="module")  # while it is there asyncio.run cannot be used, as others do
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the PATH (Debian: apt-get install chromium)")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        yield found
        found.close()


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests that need no other; its first games are between two people."""
    pytest.importorskip("starlette", reason="the extra play is not installed")
    from served import served

    with served(tmp_path_factory.mktemp("house"), "white=human") as server:
        yield server


Open = Callable[..., Any]


@pytest.fixture
def open_page(house: Server, browser: Browser) -> Iterator[Open]:
    """``open_page(width=360)``: a page of its own visit, with whatever Playwright's contexts take.
    At its end nothing may have gone wrong in it, and it has asked nobody but its server."""
    with ExitStack() as stack:

        def begin(
            server: Server | None = None, width: int = 1280, height: int = 800, **how: Any
        ) -> Page:
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


@pytest.fixture
def shot(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """``shot(page, "dark")``: keep a picture of the page where ``SCREENSHOTS`` says, to be looked
    at by whoever has changed the page."""
    import os

    folder = os.environ.get("SCREENSHOTS")

    def take(page: Page, name: str = "") -> None:
        if folder:
            test = request.node.name.removeprefix("test_")
            page.screenshot(path=Path(folder) / f"{test}{name and '-'}{name}.png", full_page=True)

    return take
