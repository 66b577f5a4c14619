"""The pages as a site, read from disk in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
PHONE, DESK = 360, 1280
PATIENCE = 60_000.0  # milliseconds: the machine may be busy

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, made without a warning."""
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-d"]
    made = subprocess.run(
        [sys.executable, *command, str(folder / "trees"), ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return folder / "html"


Visit = Callable[[Path, int, str], "Page"]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """``visit(path, width, scheme)``: the page in the browser. An error or a request to anywhere
    but the disk fails the test."""
    said: list[str] = []
    pages: dict[tuple[int, str], Page] = {}

    def begin(path: Path, width: int, scheme: str) -> Page:
        if (width, scheme) not in pages:
            page = browser.new_page(
                viewport={"width": width, "height": 800},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page.set_default_timeout(PATIENCE)
            page.on("pageerror", lambda error: said.append(f"{page.url}: {error}"))
            page.on("console", lambda line: said.append(f"{page.url}: {line.text}"))
            page.on(
                "request", lambda asked: asked.url.startswith("file:") or said.append(asked.url)
            )
            pages[width, scheme] = page
        page = pages[width, scheme]
        page.goto(path.as_uri())
        return page

    yield begin
    for page in pages.values():
        page.close()
    assert said == []


def is_narrow(page: Page) -> bool:
    """Return True if the page does not scroll sideways."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    return int(page.evaluate("document.documentElement.scrollWidth")) <= width


def check_accessible(page: Page) -> None:
    """Fail if axe finds anything."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"preload": False})  # axe itself reads no file from disk
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"


def test_every_page_opens_from_disk_on_a_phone(site: Path, visit: Visit) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 80
    wide = [str(path) for path in pages if not is_narrow(visit(path, PHONE, "light"))]
    assert wide == []


KINDS = [
    "index.html",
    "build/pages/settings/openings.html",
    "build/pages/api/evaluations.html",
    "docs/line_protocol.html",
    "build/pages/agents/ladder.html",
    "build/pages/agents/champion.html",
    "search.html",
    "docs/gallery.html",
]
"""A page of each kind."""


def test_everybody_can_read_each_kind_of_page(site: Path, visit: Visit) -> None:
    for scheme, width, kinds in (("light", PHONE, 8), ("dark", PHONE, 3), ("light", DESK, 2)):
        for kind in KINDS[:kinds]:
            check_accessible(visit(site / kind, width, scheme))


def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#?]+)', path.read_text(encoding="utf-8")):
            if not re.match(r"\w+:|//", target):
                assert (path.parent / target).exists(), f"{path}: {target}"


def test_the_search_works_from_disk(site: Path, visit: Visit) -> None:
    page = visit(site / "index.html", DESK, "light")
    field = page.locator("input[name=q]").first
    field.fill("cpu_seconds")
    field.press("Enter")
    found = page.locator("#search-results li a").first
    found.wait_for()
    found.click()
    page.wait_for_load_state()
    assert "cpu_seconds" in page.locator("article").inner_text()


def test_reports_open_from_disk(recorded_ladder: Path, recorded_study: Path, visit: Visit) -> None:
    for folder in (recorded_ladder, recorded_study):
        for scheme in ("light", "dark"):
            page = visit(folder / "report.html", PHONE, scheme)
            assert is_narrow(page), folder
            check_accessible(page)
