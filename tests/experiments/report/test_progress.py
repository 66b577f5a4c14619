"""The line that says how far a run is, and the standings so far."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from othello_lab.experiments.report import progress
from othello_lab.experiments.report.progress import Tally, progress_bar

FIELDS = {"before": 0, "note": "", "warnings": []}


def test_wins_draws_and_losses_are_counted() -> None:
    tally = Tally(["ann", "bob", "[b]eve"])
    tally.tell([(0, 1, "black", 2), (1, 0, "black", 1), (2, 0, "draw", 1), (1, 2, "white", 3)])
    console = Console(width=80, file=io.StringIO())
    with console.capture() as shown:
        console.print(tally.table())
    rows = [line.split() for line in shown.get().splitlines() if len(line.split()) > 2]
    assert rows == [
        ["agent", "games", "wins", "draws", "losses", "%"],
        ["[b]eve", "4", "3", "1", "0", "87.5"],
        ["ann", "4", "2", "1", "1", "62.5"],
        ["bob", "6", "1", "0", "5", "16.7"],
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_standings_are_shown_while_a_run_lasts(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = Tally(["ann", "bob"])
    console = Console(width=100, file=io.StringIO(), force_terminal=terminal)

    def shown(bar: progress.RunProgress) -> bool:
        with console.capture() as text:
            console.print(bar.get_renderable())
        return "losses" in text.get()

    stopping: list[bool] = []
    with progress_bar(console, tally, lambda: bool(stopping)) as bar:
        bar.add_task("run", total=10, **FIELDS)
        assert not shown(bar), "not at once"
        monkeypatch.setattr(progress, "STANDINGS_AFTER", -1.0)
        assert not shown(bar), "there is no game yet"
        tally.tell([(0, 1, "black", 1)])
        assert shown(bar) is terminal
        stopping.append(True)
        assert not shown(bar)
    assert not shown(bar), "the report's table comes in its place"
