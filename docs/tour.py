"""Draw the moving picture of the README, docs/tour.gif, from real runs: ``make tour``.

In an empty folder a heuristic plays a match, the report and the review of a game are looked at, and
a search with a mistake is checked. The terminal's scenes are what the commands printed, those of
the report are its page in the ``chromium`` on the PATH.
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
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME as THEME
from rich.text import Text

WIDTH, HEIGHT, BAR = 880, 600, 46  # pixels; the bar has the scene's question
COLUMNS, LINES = 100, 25
SHOWN = 3800  # milliseconds of a picture
COLOURS = 96

FILES = {
    "mine.py": """
from othello_lab.agents.evaluation.helpers import CORNERS, count, moves

def hollow(mover, opponent):
    corners = count(mover & CORNERS) - count(opponent & CORNERS)
    return 10 * corners + count(moves(mover, opponent)) - count(moves(opponent, mover))
""",
    "anna.py": """
from othello_lab import Agent, Decision

class AlphaBeta(Agent):
    "A search with a mistake."

    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation

    def decide(self, position, limits):
        values = {
            move: -self.value(position.play(move), self.depth - 1, -(10**10), 10**10)
            for move in position.moves
        }
        best = max(values, key=values.get)
        return Decision(best, values[best])

    def value(self, position, depth, alpha, beta):
        if position.is_over:
            return 10**7 * position.disc_difference
        if depth == 0 or not position.moves:
            return self.evaluation(position)
        for move in position.moves:
            alpha = max(alpha, -self.value(position.play(move), depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha
""",
}

STYLE = f"""
body {{ margin: 0; width: {WIDTH}px; height: {HEIGHT}px; overflow: hidden; background: #292929; }}
h1 {{ margin: 0; height: {BAR}px; line-height: {BAR}px; padding-left: 22px; background: #0b5d3b;
     color: white; font: 600 20px/{BAR}px "DejaVu Sans", sans-serif; }}
pre {{ margin: 14px 20px; font: 13.4px/19.4px "DejaVu Sans Mono", monospace; color: #c5c8c6; }}
b {{ color: #98a84b; }}
img {{ display: block; width: {WIDTH}px; }}
"""


def printed(words: Sequence[str], folder: Path) -> list[str]:
    """Return the lines that a command of the lab prints on a terminal, with their colours."""
    environment = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    ended = subprocess.run(
        [sys.executable, "-m", "othello_lab", *words],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
    )
    if ended.returncode > 1:
        raise SystemExit(ended.stderr.decode())
    moving = re.compile(r"\x1b\[(?:\?25[lh]|\d*[AK])")  # a progress bar draws over itself
    lines: list[str] = []
    for line in ended.stdout.decode().split("\n"):
        if "\x1b[1A" in line:
            lines.pop()
        lines.append(moving.sub("", line.rpartition("\r")[2]))
    return lines


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
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def of_report(page: Page, title: str, report: Path, selector: str) -> Image.Image:
    """Return a picture of a report, from the element with this CSS selector on."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT - BAR})
    page.goto(report.as_uri())
    page.locator(selector).first.evaluate("e => { e.open = true; e.scrollIntoView(); }")
    page.wait_for_timeout(300)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture = drawn(page, title, "")
    picture.paste(shot, (0, BAR))
    return picture


def scenes(page: Page, folder: Path) -> Iterator[Image.Image]:
    """Run all commands in a folder, and yield the pictures."""
    command = "match ./mine.py:hollow iago"
    lines = printed(command.split(), folder)
    start = next(number for number, line in enumerate(lines) if "agent" in line) - 1
    table = lines[start : next(p for p, line in enumerate(lines) if "no room" in line) - 1]
    words = lines[next(p for p, line in enumerate(lines) if " leads " in line) :]
    yield terminal(page, "Is my heuristic better?", f"othello-lab {command}", [*table, "", *words])
    (report,) = folder.glob("results/*/*/report.html")
    yield of_report(page, "The report begins with the answer …", report, "html")
    yield of_report(page, "… and shows where the two disagree", report, "#where-they-disagree-most")
    command = f"play review {report.parent.relative_to(folder)} game=0"
    lines = printed(command.split(), folder)
    start = next(number for number, line in enumerate(lines) if line.lstrip().startswith("1. "))
    yield terminal(
        page, "What did each move lose, and why?", f"othello-lab {command}", lines[start:]
    )
    command = "agents check --search ./anna.py:AlphaBeta"
    lines = printed(command.split(), folder)
    yield terminal(page, "What is wrong with my alpha-beta?", f"othello-lab {command}", lines)


def main() -> None:
    """Draw docs/tour.gif."""
    target = Path(__file__).with_name("tour.gif")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        for file, text in FILES.items():
            (folder / file).write_text(text.lstrip(), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        pictures = [
            image.quantize(COLOURS, dither=Image.Dither.NONE)
            for image in scenes(browser.new_page(), folder)
        ]
        browser.close()
    first, *others = pictures
    first.save(target, save_all=True, append_images=others, duration=SHOWN, loop=0, optimize=True)
    print(f"{target}: {len(pictures)} pictures, {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
