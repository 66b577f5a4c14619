"""The pages as a site, read from disk in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from clicks import check_for_all

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
PHONE, DESK = 360, 1280

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


Open = Callable[[Path, int, str], "Page"]


@pytest.fixture
def open_site(visit: Callable[..., Page]) -> Open:
    """``open_site(path, width, scheme)``: the page in the browser, which asks nobody but the
    disk."""
    pages: dict[tuple[int, str], Page] = {}

    def begin(path: Path, width: int, scheme: str) -> Page:
        if (width, scheme) not in pages:
            pages[width, scheme] = visit(path.as_uri(), width, color_scheme=scheme, home="file:")
        pages[width, scheme].goto(path.as_uri())
        return pages[width, scheme]

    return begin


def test_every_page_opens_from_disk_on_a_phone(site: Path, open_site: Open) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 80
    width = "document.documentElement.scrollWidth"
    opened = ((path, open_site(path, PHONE, "light")) for path in pages)
    assert [path for path, page in opened if page.evaluate(width) > PHONE] == []


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


def test_everybody_can_read_each_kind_of_page(
    site: Path, open_site: Open, shot: Callable[..., None]
) -> None:
    for scheme, width, kinds in (("light", PHONE, 8), ("dark", PHONE, 3), ("light", DESK, 2)):
        for kind in KINDS[:kinds]:
            check_for_all(open_site(site / kind, width, scheme), shot, (width, scheme))


def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#?]+)', path.read_text(encoding="utf-8")):
            if not re.match(r"\w+:|//", target):
                assert (path.parent / target).exists(), f"{path}: {target}"


def test_the_search_works_from_disk(site: Path, open_site: Open) -> None:
    page = open_site(site / "index.html", DESK, "light")
    field = page.locator("input[name=q]").first
    field.fill("cpu_seconds")
    field.press("Enter")
    link = page.locator("#search-results li a").first
    link.wait_for()
    link.click()
    page.wait_for_load_state()
    assert "cpu_seconds" in page.locator("article").inner_text()


def test_reports_open_from_disk(
    recorded_ladder: Path, recorded_study: Path, open_site: Open, shot: Callable[..., None]
) -> None:
    for folder in (recorded_ladder, recorded_study):
        page = open_site(folder / "report.html", PHONE, "light")
        check_for_all(page, shot, (PHONE, "light"), (PHONE, "dark"))
