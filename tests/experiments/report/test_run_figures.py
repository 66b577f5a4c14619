"""The figures of one run, of agents with strange names, one of which never moves."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from othello_lab import Agent, Decision, GreedyAgent, Limits, Position, RandomAgent, run_match
from othello_lab.experiments.report.figures.course import _left_out, course
from othello_lab.experiments.report.moves import RecordedMoves

NAMES = ("<script>alert(1)</script>", "$x_1$ & _y", "オセロ", "never moves")


class Stubborn(Agent):
    def decide(self, position: Position, limits: Limits) -> Decision:
        raise RuntimeError("I will not move")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    players = (GreedyAgent(), RandomAgent(), RandomAgent(), Stubborn())
    played = run_match(
        dict(zip(NAMES, players, strict=True)),
        20,
        isolation="none",
        trial=False,
        workers=0,
        ruleset="mini6",
        openings={"kind": "random", "plies": 4},
        results=tmp_path_factory.mktemp("results"),
        figures="files",
        quiet=True,
    )
    return played.folder


FIGURES = {
    *("elo", "win_rates", "superiority", "colours", "pairs", "openings", "discs"),
    *("cost", "times", "course", "values"),
}


@pytest.mark.integration
def test_all_figures_of_a_run_come_out(folder: Path) -> None:
    assert {path.stem for path in folder.glob("*.svg")} == FIGURES
    report = (folder / "report.md").read_text(encoding="utf-8")
    for name in FIGURES:
        with Image.open(folder / f"{name}.png") as image:
            assert round(image.info["dpi"][0]) == 200
        tree = ElementTree.parse(folder / f"{name}.svg")
        assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
        told = "".join("".join(tree.getroot().itertext()).split())
        assert NAMES[0] in told, "the name stands there as it is"
        if name not in ("discs", "cost", "times", "course", "values"):  # who moved
            assert "nevermoves" in told
        assert f"({name}.png)" in report


def test_agents_with_too_few_moves_are_told() -> None:
    """At no ply has the second agent five moves, as the first has."""
    often = np.array([0] * 6 + [1] * 4)
    moves = RecordedMoves(
        agent=often,
        black=np.ones(10, dtype=bool),
        ply=np.ones(10, dtype=np.int64),
        nanoseconds=np.ones(10),
        waited_nanoseconds=np.zeros(10),
        cpu_nanoseconds=np.ones(10),
        nodes=np.ones(10),
        value=np.zeros(10),
        games=10,
        recorded=10,
    )
    names = ["often", "seldom"]
    table = course(moves, names)
    told = _left_out(moves, np.isfinite(moves.nanoseconds), names, table)
    assert told == " Not shown, as they have fewer than 5 moves at every ply: seldom."
    assert set(table["agent"]) == {"often"}
    assert not _left_out(moves, often == 0, names, table)
