"""The page of a report in a real browser, opened from disk: its tables sort, an agent is lit, its
games can be stepped through, and nothing in it keeps anybody out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from clicks import check_for_all
from playwright.sync_api import expect

from othello_lab import AlphaBeta, GreedyAgent, Position, RandomAgent, SquareWeights
from othello_lab.core.notation import PASS, split_transcript, square_name
from othello_lab.experiments.jobs.run import run_match
from othello_lab.experiments.record.store import Record

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.integration
HOSTILE = "<script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three agents with figures, one of them with a name that is code."""
    searcher = AlphaBeta(2, SquareWeights())
    agents = {HOSTILE: searcher, "greedy": GreedyAgent(), "random": RandomAgent()}
    results = tmp_path_factory.mktemp("results")
    return run_match(agents, games=8, results=results, workers=0, quiet=True).folder


Open = Callable[..., Any]


@pytest.fixture
def open_report(folder: Path, visit: Open) -> Iterator[Open]:
    """``open_report(color_scheme="dark")``: the report from disk, its scripts run."""
    pages = []

    def begin(**how: Any) -> Page:
        page: Page = visit((folder / "report.html").as_uri(), **how)
        page.locator(".browser article").first.wait_for()
        pages.append(page)
        return page

    yield begin
    assert all(page.title().startswith("match") for page in pages)


@pytest.fixture
def page(open_report: Open) -> Page:
    return open_report()


def drawn(page: Page) -> list[str]:
    """The squares a1, b1, ... of both boards as they are drawn: X, O, -."""
    boards = page.locator("article svg.game-board").evaluate_all(
        """boards => boards.map((board) => [...board.querySelectorAll(".disc")].map((disc) =>
        disc.matches(".black") ? "X" : disc.matches(".white") ? "O" : "-").join(""))"""
    )
    return list(boards)


def test_both_games_of_a_pair_are_stepped_through(page: Page, folder: Path) -> None:
    with Record.open(folder) as record:
        known = {row.game: row for row in record.games().itertuples()}
    pairings = page.locator(".choice select").first
    assert pairings.locator("option").count() == 3
    for pairing in range(3):
        pairings.select_option(index=pairing)
        page.locator(".choice select").last.select_option(index=1)
        titles = page.locator(".browser h3").all_text_contents()
        shown = [known[int(title.removeprefix("Game "))] for title in titles]
        assert {shown[0].black, shown[0].white} == {shown[1].black, shown[1].white}
        assert shown[0].pair == shown[1].pair
        page.get_by_role("slider", name="Move").focus()
        page.keyboard.press("Home")
        played = [Position.start().follow(split_transcript(row.transcript))[1] for row in shown]
        positions = [Position.start(), Position.start()]
        for ply in range(max(map(len, played))):
            assert drawn(page) == [position.to_obf().split()[0] for position in positions]
            page.keyboard.press("ArrowRight")
            positions = [
                position.play(moves[ply]) if ply < len(moves) else position
                for position, moves in zip(positions, played, strict=True)
            ]
        assert drawn(page) == [position.to_obf().split()[0] for position in positions]
        for board, (row, position) in enumerate(zip(shown, positions, strict=True)):
            article = page.locator(".browser article").nth(board)
            winner = f"{row.result.capitalize()} wins by {abs(row.disc_difference)}"
            ended = "A draw" if row.result == "draw" else winner
            expect(article.locator(".result")).to_have_text(ended)
            expect(article.locator(".seats")).to_contain_text(f"{position.black.bit_count()}")


def test_a_move_shows_what_its_agent_stated(page: Page, folder: Path) -> None:
    number = int(page.locator(".browser h3").first.inner_text().removeprefix("Game "))
    with Record.open(folder) as record:
        turn = next(turn for turn in record.turns([number]).rows() if turn.depth == 2)
    article = page.locator(".browser article").first
    article.locator(f'tr[data-ply="{turn.ply}"] button').click()
    said = article.get_by_role("status")
    expect(said).to_contain_text(re.compile(rf"^{turn.ply}\. (Black|White)"))
    name = "pass" if turn.square == PASS else square_name(turn.square)
    sign = "\N{MINUS SIGN}" if turn.value < 0 else "+"
    for words in (
        f": {name}, turns",
        f"value {sign}{abs(turn.value):,.0f}, {turn.nodes:,} nodes, depth 2",
    ):
        expect(said).to_contain_text(words)
    expect(article.locator("tr[aria-current]")).to_have_attribute("data-ply", str(turn.ply))
    expect(article.locator(".mark.last")).to_have_count(1)
    page.get_by_role("button", name="Back").click()
    expect(said).to_contain_text(re.compile(rf"^({turn.ply - 1}\.|Where)"))


def test_arrow_keys_step_wherever_the_focus_is(page: Page) -> None:
    where, pairs = page.locator(".browser output"), page.locator(".choice select").last
    board = page.locator(".browser svg.game-board").first
    board.scroll_into_view_if_needed()

    def moves_on(key: str, step: int) -> None:
        begin = int(where.inner_text().split()[0])
        page.keyboard.press(key)
        expect(where).to_contain_text(re.compile(f"^{begin + step} of"))

    moves_on("ArrowRight", 1)  # nothing has the focus
    board.click()
    moves_on("ArrowLeft", -1)
    pairs.select_option(index=1)
    pairs.focus()
    moves_on("ArrowRight", 1)
    assert pairs.evaluate("select => select.selectedIndex") == 1
    number = page.locator(".browser h3").first.inner_text().removeprefix("Game ")
    for word in ("replay", "review"):
        command = page.get_by_text(re.compile(f"^othello-lab play {word}"))
        expect(command).to_contain_text(f"game={number}")
    assert number != "0"


def test_tables_sort_by_what_cells_are_worth(page: Page) -> None:
    page.evaluate(
        """() => {
            const rows = [["b", "1,200"], ["a", "-"], ["c", "> +620"], ["d", "-15 [-118, 75]"],
                ["e", "3.5 ms"], ["f", "13½"]];
            const table = document.createElement("table");
            table.id = "mine";
            table.innerHTML = "<thead><tr><th>name</th><th>worth</th></tr></thead><tbody></tbody>";
            for (const row of rows) {
                const made = table.tBodies[0].insertRow();
                for (const text of row) made.insertCell().textContent = text;
            }
            document.querySelector("main").append(table);
            lab.makeSortable(table);
        }"""
    )
    table = page.locator("#mine")
    for name, order in (
        ("worth", "ebcfda"),  # 3,500 µs, 1,200, 620, 13½, -15; what is missing comes last
        ("worth", "dfcbea"),
        ("name", "abcdef"),
    ):
        table.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
        assert "".join(table.locator("tbody td:first-child").all_text_contents()) == order
    expect(table.locator("th").first).to_have_attribute("aria-sort", "ascending")
    standings = page.locator("#standings + div table")
    agents = standings.locator("tbody td:first-child")
    before = agents.all_text_contents()
    standings.get_by_role("button", name="losses").click()
    assert agents.all_text_contents() == before[::-1]


def colour_of(page: Page, part: str) -> str:
    """The colour in which an agent's part of the figure of ratings is drawn."""
    paint = "part => getComputedStyle(part).fill"
    colour: str = page.locator(f"#figure-elo > svg {part}").first.evaluate(paint)
    return colour


def test_an_agent_is_lit_where_the_mouse_is(page: Page) -> None:
    figure = page.locator("#figure-elo > svg")
    greedy, others = (figure.locator(f'[data-series="{name}"]') for name in ("greedy", "random"))
    assert "W-D-L" in (greedy.locator("title").first.text_content() or "")
    greedy.last.hover()
    expect(figure).to_have_class("lit")
    expect(greedy.first).to_have_css("opacity", "1")
    expect(others.first).to_have_css("opacity", "0.15")
    page.locator("h1").hover()
    expect(others.first).to_have_css("opacity", "1")


@pytest.mark.parametrize("media", ["screen", "print"])
def test_figures_have_the_colours_of_their_page(open_report: Open, media: str) -> None:
    page = open_report(color_scheme="dark")
    dark = [colour_of(page, part) for part in ("path", "text")]
    page.emulate_media(media=media, color_scheme="light" if media == "screen" else "dark")
    light = [colour_of(page, part) for part in ("path", "text")]
    assert dark[0] == "rgb(23, 24, 26)" and light[0] == "rgb(255, 255, 255)"
    assert dark[1] != light[1]
    assert not page.locator("figure img").count()


def test_what_is_folded_is_printed(page: Page) -> None:
    folded = page.locator("details:not([open])")
    assert folded.count()
    for event, there in (("beforeprint", False), ("afterprint", True)):
        page.evaluate(f"dispatchEvent(new Event('{event}'))")
        assert bool(folded.count()) == there


def test_the_page_is_for_everybody(page: Page, folder: Path, shot: Callable[..., None]) -> None:
    for summary in page.locator("summary").all():
        summary.click()
    check_for_all(page, shot, (1200, "light"), (390, "dark"))
    assert (folder / "report.html").stat().st_size < 400_000
