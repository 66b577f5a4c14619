"""Make what the pages show of real runs: ``python docs/pictures.py gallery`` or ``tour``.

The gallery is finished reports and a reviewed game, each in a folder of its own below
``build/extra/gallery``, from where the site takes it, with small pictures for ``docs/gallery.md``.
The tour is the moving picture of the README, ``docs/tour.gif``: a heuristic plays a match, the
report and the review of a game are looked at, and a search with a mistake is checked. Pictures are
taken with Playwright and the ``chromium`` on the PATH; without these the gallery has no new ones.
"""

from __future__ import annotations

import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME as THEME
from rich.text import Text

if TYPE_CHECKING:
    from playwright.sync_api import Page

DOCS = Path(__file__).resolve().parent
COLOURS = 96
COLUMNS, LINES = 100, 25


@contextmanager
def browser() -> Iterator[Page]:
    """A page of the browser; ImportError without Playwright or chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise ImportError("there is no chromium on the PATH")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]).new_page()


def shot(page: Page) -> Image.Image:
    """Return a picture of the page."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def printed(words: Sequence[str], folder: Path, worst: int = 0) -> list[str]:
    """Return the lines that a command of the lab prints on a terminal, with their colours.

    folder: where it runs. worst: the largest exit code; SystemExit for another one.
    """
    print("==", "othello-lab", *words, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {"PYTHONPATH": str(DOCS.parent)}
    terminal = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "othello_lab", *words]
    ended = subprocess.run(
        command, cwd=folder, env=os.environ | terminal | paths, capture_output=True
    )
    if ended.returncode > worst:
        raise SystemExit(ended.stderr.decode())
    moving = re.compile(r"\x1b\[(?:\?25[lh]|\d*[AK])")  # a progress bar draws over itself
    lines: list[str] = []
    for line in ended.stdout.decode().split("\n"):
        if "\x1b[1A" in line:
            lines.pop()
        lines.append(moving.sub("", line.rpartition("\r")[2]))
    return lines


# ---------------------------------------------------------------------- the gallery

OUTPUT = DOCS.parent / "build" / "extra" / "gallery"
RESULTS = DOCS.parent / "build" / "gallery"

JOBS = {
    "ab_vs_minimax": "run agents=ab_vs_minimax",
    "ladder": "run agents=classics games=200",
    "match": "match iago mobility",
    "pruning": "study pruning study.depths=[1,2,3,4,5]",
    "class": "run experiment=class folder=submissions",
}
"""The commands that make the reports, by name; each runs in a folder of its own."""

REVIEWED = "ladder", "game=28"
"""The reviewed game, of one of these runs."""

LARGEST = 1 << 20
"""Bytes of a page."""

WINDOW = {"width": 1000, "height": 700}
SMALL = 400, 280
"""Size of the window for a picture, and of the picture."""


def make_gallery() -> None:
    """Play everything anew, copy the pages, and take a small picture of each, as it opens."""
    for folder in (RESULTS, OUTPUT):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS / "examples" / "class", RESULTS / "class" / "submissions")
    for name, command in JOBS.items():
        printed(command.split(), RESULTS / name)
        (result,) = (RESULTS / name).glob("results/*/*")
        for page in result.rglob("*.html"):
            copy(page, OUTPUT / name / page.relative_to(result))
        if name == REVIEWED[0]:
            words = ["play", "review", str(result), REVIEWED[1], "--page", "review.html"]
            printed(words, RESULTS / name)
            copy(RESULTS / name / "review.html", OUTPUT / "review" / "report.html")
    try:
        with browser() as page:
            page.set_viewport_size(WINDOW)
            for report in sorted(OUTPUT.glob("*/report.html")):
                page.goto(report.as_uri())
                small = shot(page).resize(SMALL, Image.Resampling.LANCZOS).quantize(32)
                small.save(DOCS / "gallery" / f"{report.parent.name}.png", optimize=True)
    except ImportError as error:
        print(f"{error}: the pictures of docs/gallery.md stay as they are")


def copy(page: Path, target: Path) -> None:
    """Copy a page; SystemExit for one that is too large."""
    if page.stat().st_size > LARGEST:
        raise SystemExit(f"{page}: {page.stat().st_size:,} bytes; {LARGEST:,} are allowed")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(page, target)


# ---------------------------------------------------------------------- the tour

WIDTH, HEIGHT, BAR = 880, 600, 46  # pixels; the bar has the scene's question
SHOWN = 3800  # milliseconds of a picture
FILES = {"mine.py": "heuristic.md", "ben.py": "search.md"}
"""The files that it uses, and the pages that have them."""
STYLE = f"""
body {{ margin: 0; width: {WIDTH}px; height: {HEIGHT}px; overflow: hidden; background: #292929; }}
h1 {{ margin: 0; height: {BAR}px; line-height: {BAR}px; padding-left: 22px; background: #0b5d3b;
     color: white; font: 600 20px/{BAR}px "DejaVu Sans", sans-serif; }}
pre {{ margin: 14px 20px; font: 13.4px/19.4px "DejaVu Sans Mono", monospace; color: #c5c8c6; }}
b {{ color: #98a84b; }}
"""


def terminal(page: Page, title: str, command: str, lines: Sequence[str]) -> Image.Image:
    """Return a picture of a command with the lines that it printed, as far as they fit."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi("\n".join(lines[:LINES])))
    text = console.export_html(theme=THEME, inline_styles=True, code_format="{code}")
    return drawn(page, title, f"<pre><b>$</b> {html.escape(command)}\n\n{text}</pre>")


def drawn(page: Page, title: str, body: str) -> Image.Image:
    """Return a picture with a title and the body's HTML below."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.set_content(f"<style>{STYLE}</style><h1>{html.escape(title)}</h1>{body}")
    page.wait_for_load_state("networkidle")
    return shot(page)


def of_report(page: Page, title: str, report: Path, selector: str) -> Image.Image:
    """Return a picture of a report, from the element with this CSS selector on."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT - BAR})
    page.goto(report.as_uri())
    page.locator(selector).first.evaluate("e => { e.open = true; e.scrollIntoView(); }")
    page.wait_for_timeout(300)
    below = shot(page)
    picture = drawn(page, title, "")
    picture.paste(below, (0, BAR))
    return picture


def scenes(page: Page, folder: Path) -> Iterator[Image.Image]:
    """Run all commands in a folder, and yield the pictures."""
    command = "match ./mine.py:hollow iago"
    lines = printed(command.split(), folder)
    start = next(number for number, line in enumerate(lines) if "agent" in line) - 1
    table = lines[start : next(n for n, line in enumerate(lines) if "no room" in line) - 1]
    answer = lines[next(n for n, line in enumerate(lines) if " leads " in line) :]
    shown = [*table, "", *answer]
    yield terminal(page, "Is my heuristic better?", f"othello-lab {command}", shown)
    (report,) = folder.glob("results/*/*/report.html")
    yield of_report(page, "The report begins with the answer …", report, "html")
    yield of_report(page, "… and shows where the two disagree", report, "#where-they-disagree-most")
    command = f"play review {report.parent.relative_to(folder)} game=0"
    lines = printed(command.split(), folder)
    start = next(n for n, line in enumerate(lines) if line.lstrip().startswith("1. "))
    question = "What did each move lose, and why?"
    yield terminal(page, question, f"othello-lab {command}", lines[start:])
    command = "agents check --search ./ben.py:Student"
    lines = printed(command.split(), folder, worst=1)
    yield terminal(page, "What is wrong with my alpha-beta?", f"othello-lab {command}", lines)


def make_tour() -> None:
    """Draw docs/tour.gif."""
    target = DOCS / "tour.gif"
    with tempfile.TemporaryDirectory() as name, browser() as page:
        folder = Path(name)
        for file, source in FILES.items():
            text = (DOCS / source).read_text(encoding="utf-8")
            code = re.search(f"<!-- file: {file} -->\n```python\n(.*?)```", text, re.DOTALL)
            assert code is not None, f"{source} has no {file}"
            (folder / file).write_text(code[1], encoding="utf-8")
        first, *others = (
            image.quantize(COLOURS, dither=Image.Dither.NONE) for image in scenes(page, folder)
        )
    first.save(target, save_all=True, append_images=others, duration=SHOWN, loop=0, optimize=True)
    print(f"{target}: {1 + len(others)} pictures, {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    {"gallery": make_gallery, "tour": make_tour}[sys.argv[1]]()
