"""The standings of a run as ``watch`` shows them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.report.tables import elo_text
from othello_lab.experiments.report.watch import look, watch


@pytest.mark.integration
def test_ratings_are_those_of_the_report(tmp_path: Path) -> None:
    words = ["agents=classics", "games=6", "rating.anchor=greedy", "figures=false"]
    words += [f"results={tmp_path}", "executor=serial"]
    result = run(read(words), "test", Console(quiet=True))
    console = Console(file=io.StringIO(), record=True, width=200)
    watch(result.folder, console, look, once=True)
    shown = {
        line.split()[0]: line
        for line in console.export_text().splitlines()
        if line.split()[:1] and line.split()[0] in set(result.standings["agent"])
    }
    assert len(shown) == len(result.standings) == 6 and "0 (anchor)" in shown["greedy"]
    for row in result.standings.itertuples():
        assert elo_text(row) in shown[row.agent]
