"""The scratch memory of searches follows SearchStats: a counter is added there and nowhere else."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from othello_lab import SearchStats
from othello_lab.agents.search.context import ScratchLayout

ROOT = Path(__file__).resolve().parents[3]
NEW = ("at_the_beginning", "in_the_middle", "at_the_end")

SEARCH = """
import json
from dataclasses import asdict
from othello_lab import MCTS, PVS, AlphaBeta, SquareWeights
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab import Position

midgame = Position.from_transcript("f5d6c3d3c4")
late = Position.from_transcript(
    "c4e3f2b4b3e2f5e6d3f4d7f6g4d6b5h4f3g3g5a6c6g6h3b7h7g1c7h2a4g7c3e7f8h5b8b6c5e8g2f1a7a3d8a5f7a8"
)
table = {"ordering": "tt+killer+mobility", "table_mb": 1, "etc": True, "iterative": True}
for found in (
    AlphaBeta(5, SquareWeights()).search(midgame),
    PVS(6, SquareWeights(), **table).search(midgame),
    EndgameSolver(table_mb=1).solve(late),
    MCTS(playouts=300).search(midgame),
):
    answer = asdict(found)
    answer.pop("seconds", None)
    print(json.dumps(answer))
"""


def answers(folder: Path, **environment: str) -> list[dict[str, Any]]:
    """What the searches of the sources in a folder find, in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", SEARCH],
        cwd=folder,  # where python -c looks for packages first
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_more_counters_change_no_search(tmp_path: Path) -> None:
    for package in ("core", "agents", "othello_lab"):
        shutil.copytree(ROOT / package, tmp_path / package, symlinks=True)
    declared_in = Path(str(inspect.getsourcefile(SearchStats))).resolve().relative_to(ROOT)
    source = (tmp_path / declared_in).read_text(encoding="utf-8")
    for line, changed in (
        ("    nodes: int = 0\n", "    {0}: int = 0\n    nodes: int = 0\n"),
        ("    cutoffs: int = 0\n", "    {1}: int = 0\n    cutoffs: int = 0\n"),
        ("    playouts: int = 0\n", "    playouts: int = 0\n    {2}: int = 0\n"),
    ):
        assert source.count(line) == 1
        source = source.replace(line, changed.format(*NEW))
    (tmp_path / declared_in).write_text(source, encoding="utf-8")
    expected = answers(ROOT)
    found = answers(tmp_path, OTHELLO_LAB_CACHE=str(tmp_path / "cache"))
    assert len(expected) == 4
    for answer in found:
        assert [answer["stats"].pop(name) for name in NEW] == [0, 0, 0]
    assert found == expected
    assert found[1]["stats"]["table_returns"] > 0
    assert found[2]["stats"]["stability_returns"] > 0
    assert found[3]["stats"]["playouts"] == 300


def test_words_are_handed_out_once() -> None:
    layout = ScratchLayout(behind=5)
    assert [layout.word(), layout.block(3), layout.word()] == [5, 6, 9]
    assert layout.size == 10
