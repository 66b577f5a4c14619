"""What several test folders share."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from clocks import Clock

# The process that only hands out the tests to others needs none of the lab; so what takes long to
# import is imported by those that run tests.
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from playwright.sync_api import Browser, Page

    from othello_lab import Position

    Visit = Callable[..., Page]

pytest_plugins = ["costs", "shared"]


def pytest_configure(config: pytest.Config) -> None:
    share_bytecode(config)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    if config.option.markexpr == "integration":  # a test may have both marks; then it is nightly
        config.option.markexpr = "integration and not nightly"
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    from hypothesis import HealthCheck, settings

    # No deadline, and inputs may be slow to draw: the first example of a run may have to compile.
    # The blob lets a failure seen elsewhere be repeated here.
    slow = [HealthCheck.too_slow]
    settings.register_profile("lab", deadline=None, print_blob=True, suppress_health_check=slow)
    settings.load_profile("lab")


def share_bytecode(config: pytest.Config) -> None:
    """Where no bytecode is to be written beside the sources, let all processes of the tests write
    it to pytest's own folder: the lab is imported hundreds of times."""
    cache = getattr(config, "cache", None)
    if sys.dont_write_bytecode and cache is not None:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))


# Started now, so that no test takes multiprocessing's helper for something that it has left behind.
resource_tracker.ensure_running()

# All that is imported and collected stays, so the garbage collector need not look at it, neither
# while it becomes more nor later.
gc.disable()


MANY = 1000
"""So many tests need all kernels."""


def pytest_collection_finish(session: pytest.Session) -> None:
    worker = getattr(session.config, "workerinput", {}).get("workerid", "")
    if worker and len(session.items) > MANY:
        compile_once(int(worker.removeprefix("gw")))
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


def compile_once(worker: int) -> None:
    """Compile what takes longest before the tests begin, each process beginning with another part:
    in the midst of them several would compile the same."""
    from othello_lab import MCTS, PVS, AlphaBeta, DiscCount
    from othello_lab.agents.evaluation import EdgeStability
    from othello_lab.agents.search.endgame.solver import EndgameSolver

    parts = [
        [PVS(1, DiscCount())],
        [EndgameSolver(table_mb=1)],
        [MCTS(playouts=1), EdgeStability(), AlphaBeta(1, DiscCount())],
    ]
    first = worker % len(parts)
    for part in parts[first:] + parts[:first]:
        for searcher in part:
            searcher.prepare()


@pytest.fixture(autouse=True)
def no_command_goes_on() -> Iterator[None]:
    """Kill what a test has begun and, as it failed, not ended: it has a copy of every pipe here."""
    yield
    if "processes" in sys.modules:
        sys.modules["processes"].end_commands()


@pytest.fixture(scope="session")
def random_game() -> Callable[[str, int], list[Position]]:
    """``random_game(ruleset, seed)``: every position of one game of random moves, in order."""
    import boards

    return boards.random_game


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the tested code takes for the wall clock; nobody ever waits for a processor."""
    clock = Clock()
    monkeypatch.setattr("othello_lab.core.game.ready_but_not_run", lambda path: 0)
    monkeypatch.setattr(time, "perf_counter", clock.look)
    monkeypatch.setattr(time, "perf_counter_ns", lambda: round(clock.look() * 1e9))
    return clock


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds after which the tested code wants searches to stop; all stop very soon."""
    from othello_lab.agents.search import limits

    wanted = []
    deadline = limits.deadline

    def soon(seconds: float, clock: int) -> int:
        wanted.append(seconds)
        return deadline(0.02, clock)

    monkeypatch.setattr(limits, "deadline", soon)
    return wanted


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Executor]:
    """Another process, started afresh, so that no address of this one means anything there."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        yield process


# ---------------------------------------------------------------------- a browser

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


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, AbstractEventLoop]]:
    """Chromium, and the event loop of Playwright, which hides as long as no test uses it."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the PATH (Debian: apt-get install chromium)")
    api.expect.set_options(timeout=60_000)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        loop = asyncio.get_running_loop()
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(chromium: tuple[Browser, AbstractEventLoop]) -> Iterator[Browser]:
    """Playwright drives the system's chromium, found on the PATH. Its loop does not seem to run
    between the tests, so other tests can use asyncio.run."""
    browser, loop = chromium
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """``visit(address, width=360)``: the page there, with whatever Playwright's contexts take. At
    its end nothing may have gone wrong in it, and it has asked nobody but what begins with its
    address, or with ``home``."""
    with ExitStack() as stack:

        def begin(
            address: str, width: int = 1280, height: int = 800, home: str = "", **how: Any
        ) -> Page:
            context = browser.new_context(viewport={"width": width, "height": height}, **how)
            stack.callback(context.close)
            context.set_default_timeout(60_000)  # milliseconds: the machine may be busy
            page = context.new_page()
            said: list[str] = []
            requested: list[str] = []
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("console", lambda line: said.append(line.text) if line.type == "error" else 0)
            page.on("request", lambda request: requested.append(request.url))
            page.goto(address)

            def nothing_went_wrong() -> None:
                lost = ("WebSocket connection to", "ERR_CONNECTION_REFUSED")
                assert [line for line in said if not any(word in line for word in lost)] == []
                allowed = (home or address, "blob:", "data:")
                assert [url for url in requested if not url.startswith(allowed)] == []

            stack.callback(nothing_went_wrong)
            return page

        yield begin


@pytest.fixture
def shot(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """``shot(page, "dark")``: keep a picture of the page where ``SCREENSHOTS`` says, to be looked
    at by whoever has changed the page."""
    folder = os.environ.get("SCREENSHOTS")

    def take(page: Page, name: str = "") -> None:
        if folder:
            test = request.node.name.removeprefix("test_")
            page.screenshot(path=Path(folder) / f"{test}{name and '-'}{name}.png", full_page=True)

    return take


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the scratch folders of refereed programs; nobody waits long for their end."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr("othello_lab.play.umpire.EXIT_SECONDS", 0.3)
    return folder
