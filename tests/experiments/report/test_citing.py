"""A run in a paper: LaTeX, BibTeX, and the versions behind it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from othello_lab.__main__ import main
from othello_lab.experiments.report.citing import bibtex


def test_tables_and_reference_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "name=a_b", "figures=none"]
    assert main(["run", *words, "games=20", "limits.nodes=500", f"results={tmp_path}"]) == 0
    (folder,) = (tmp_path / "a_b").iterdir()
    before = (folder / "report.md").read_bytes()
    capsys.readouterr()
    assert main(["report", str(folder), "--latex", "--bibtex"]) == 0
    text = capsys.readouterr().out
    assert (folder / "report.md").read_bytes() == before
    tables = re.findall(r"\\begin{tabular}{(l[lr]+)}\n(.*?)\\end{tabular}", text, re.DOTALL)
    assert len(tables) == 2
    for form, content in tables:
        assert [content.count(rule) for rule in ("toprule", "midrule", "bottomrule")] == [1, 1, 1]
        for line in content.splitlines():
            if line.endswith("\\\\"):
                assert line.count(" & ") == len(form) - 1
                assert not re.search(r"(?<!\\)[%_#]", line)
    assert r"a\_b: 20 games from 10 openings, standard, at most 500 nodes a move." in text
    assert "seed 1" in text
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
def test_table_and_reference_of_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agents=duel", "agent@first=alphabeta", "agent@second=random", "figures=none"]
    words += ["depth=1,2", "games=2", "executor=serial", f"results={tmp_path}"]
    assert main(["run", "-m", *words]) == 0
    (folder,) = (tmp_path / "duel").iterdir()
    capsys.readouterr()
    assert main(["report", str(folder), "--latex", "--bibtex"]) == 0
    text = capsys.readouterr().out
    ((form, content),) = re.findall(
        r"\\begin{tabular}{(.*?)}\n(.*?)\\end{tabular}", text, re.DOTALL
    )
    lines = [line for line in content.splitlines() if line.endswith("\\\\")]
    assert lines[0].split(" & ")[:3] == ["depth", "agent", r"Elo [95 \%]"]
    assert [line.split(" & ")[0] for line in lines[1:]] == ["1", "1", "2", "2"]
    assert {line.count(" & ") for line in lines} == {len(form) - 1}
    assert "Sweep \\texttt{duel}, seed 1, code " in text
    assert "depth=1,2" in text
    assert main(["report", str(folder), "--figures", "files"]) == 0
    assert (folder / "elo.png").exists()
