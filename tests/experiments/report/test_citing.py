"""A run in a paper: LaTeX, BibTeX, and the versions behind it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from shared import copied

from othello_lab.__main__ import main
from othello_lab.experiments.report.citing import bibtex

Capture = pytest.CaptureFixture[str]


def printed_tables(folder: Path, capsys: Capture) -> tuple[str, list[Any]]:
    """What ``report`` prints for a paper, and the rows of its tables, as cells."""
    assert main(["report", str(folder), "--latex", "--bibtex"]) == 0
    text = capsys.readouterr().out
    tables = []
    for form, content in re.findall(
        r"\\begin{tabular}{([lr]+)}\n(.*?)\\end{tabular}", text, re.DOTALL
    ):
        assert [content.count(rule) for rule in ("toprule", "midrule", "bottomrule")] == [1, 1, 1]
        lines = [line for line in content.splitlines() if line.endswith("\\\\")]
        assert {line.count(" & ") for line in lines} == {len(form) - 1}
        assert not any(re.search(r"(?<!\\)[%_#]", line) for line in lines)
        tables.append([line.split(" & ") for line in lines])
    return text, tables


def test_tables_and_reference_of_a_run(recorded_duel: Path, capsys: Capture) -> None:
    before = (recorded_duel / "report.md").read_bytes()
    text, tables = printed_tables(recorded_duel, capsys)
    assert (recorded_duel / "report.md").read_bytes() == before
    assert len(tables) == 2
    assert "duel: 8 games from 4 openings, standard" in text and "seed 1" in text
    versions = re.search(r"pip install (.*)  # Python 3", before.decode())
    assert versions is not None
    assert {"numba", "numpy"} <= {word.partition("==")[0] for word in versions[1].split()}


def test_a_reference_has_no_sign_that_latex_reads() -> None:
    head = {"name": "50%_a", "command": "lab run a={x}#~", "seed": 3, "versions": {}}
    text = bibtex({**head, "started": "2026-01-31T12:00:00"})
    assert r"50\%\_a" in text
    assert r"a=\{x\}\#\textasciitilde{}" in text
    assert "year = {2026}" in text


@pytest.mark.integration
def test_table_and_reference_of_a_sweep(
    recorded_sweep: Path, tmp_path: Path, capsys: Capture
) -> None:
    folder = copied(recorded_sweep, tmp_path)
    text, ((heads, *rows),) = printed_tables(folder, capsys)
    assert heads[:3] == ["depth", "agent", r"Elo [95 \%]"]
    assert [row[0] for row in rows] == ["1", "1", "2", "2"]
    assert "seed 1, code " in text and "depth=1,2" in text
    assert main(["report", str(folder), "--figures", "files"]) == 0
    assert (folder / "nodes_per_move.png").exists()
    assert (folder / "report.html").read_text().count("<figure ") == 2
