"""The gallery: finished reports and a reviewed game, made by real runs: ``make gallery``.

Each goes into a folder of its own below ``build/extra/gallery``, from where the site takes it. With
chromium on the PATH and Playwright installed, the small pictures of ``docs/gallery.md`` are made
anew, too.
"""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

from PIL import Image

from othello_lab.__main__ import main

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "extra" / "gallery"
RESULTS = ROOT / "build" / "gallery"
PICTURES = ROOT / "docs" / "gallery"

JOBS = {
    "ab_vs_minimax": ["run", "agents=ab_vs_minimax"],
    "ladder": ["run", "agents=classics", "games=200"],
    "match": ["match", "iago", "mobility"],
    "pruning": ["study", "pruning", "study.depths=[1,2,3,4,5]"],
    "class": ["run", "experiment=class", "folder=submissions"],
}
"""The commands that make the reports, by name; each runs in a folder of its own."""

SUBMISSIONS = ROOT / "docs" / "examples" / "class"
REVIEWED = "ladder", "game=28"
"""The reviewed game, of one of these runs."""

LARGEST = 1 << 20
"""Bytes of a page."""

WINDOW = 1000, 700
SMALL = 400, 280
COLOURS = 32
"""Size of the window for a picture, and size and colours of the picture."""


def make() -> None:
    """Play everything anew, and copy the pages."""
    for folder in (RESULTS, OUTPUT):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SUBMISSIONS, RESULTS / "class" / "submissions")
    for name, command in JOBS.items():
        run(name, command)
        copy(RESULTS / name / result_of(name), OUTPUT / name)
    name, game = REVIEWED
    run(name, ["play", "review", str(result_of(name)), game, "--page", "review.html"])
    (OUTPUT / "review").mkdir()
    shutil.copyfile(RESULTS / name / "review.html", OUTPUT / "review" / "report.html")
    for page in OUTPUT.rglob("*.html"):
        if page.stat().st_size > LARGEST:
            raise SystemExit(f"{page}: {page.stat().st_size:,} bytes; {LARGEST:,} are allowed")


def run(name: str, command: list[str]) -> None:
    """Run a command of the lab in the folder of this name; SystemExit if it fails."""
    print(f"== othello-lab {' '.join(command)}", flush=True)
    folder = RESULTS / name
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(folder):
        if code := main(command):
            raise SystemExit(code)


def result_of(name: str) -> Path:
    """Return the folder of the one result below the folder of this name, seen from there."""
    (made,) = (RESULTS / name).glob("results/*/*")
    return made.relative_to(RESULTS / name)


def copy(made: Path, folder: Path) -> None:
    """Copy the pages of a result, and those that they link to."""
    folder.mkdir(parents=True)
    for page in made.rglob("*.html"):
        target = folder / page.relative_to(made)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(page, target)


def draw() -> None:
    """Take a small picture of each page, as it opens; nothing without a browser."""
    browser_path = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser_path = None
    if browser_path is None:
        print("no chromium or no Playwright: the pictures of docs/gallery.md stay as they are")
        return
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        width, height = WINDOW
        page = browser.new_page(viewport={"width": width, "height": height})
        for report in sorted(OUTPUT.glob("*/report.html")):
            page.goto(report.as_uri())
            with Image.open(io.BytesIO(page.screenshot())) as image:
                small = image.convert("RGB").resize(SMALL, Image.Resampling.LANCZOS)
            path = PICTURES / f"{report.parent.name}.png"
            small.quantize(COLOURS).save(path, optimize=True)
        browser.close()


if __name__ == "__main__":
    make()
    draw()
