"""The figures of one run, of agents with strange names, one of which never moves."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from othello_lab import Agent, Decision, GreedyAgent, Limits, Position, RandomAgent, run_match

NAMES = ("<script>alert(1)</script>", "$x_1$ & _y", "オセロ", "never moves")
MOVERS = {"discs", "cost", "times", "course", "values"}
FIGURES = {*MOVERS, "elo", "win_rates", "superiority", "colours", "pairs", "openings"}


class Stubborn(Agent):
    def decide(self, position: Position, limits: Limits) -> Decision:
        raise RuntimeError("I will not move")


@pytest.mark.integration
def test_all_figures_of_a_run_come_out(tmp_path: Path) -> None:
    players = (GreedyAgent(), RandomAgent(), RandomAgent(), Stubborn())
    folder = run_match(
        dict(zip(NAMES, players, strict=True)), 20, isolation="none", trial=False, workers=0,
        ruleset="mini6", openings={"kind": "random", "plies": 4}, results=tmp_path,
        figures="files", quiet=True,
    ).folder  # fmt: skip
    assert {path.stem for path in folder.glob("*.svg")} == FIGURES
    report = (folder / "report.md").read_text(encoding="utf-8")
    for name in FIGURES:
        with Image.open(folder / f"{name}.png") as image:
            assert round(image.info["dpi"][0]) == 200
        tree = ElementTree.parse(folder / f"{name}.svg")
        assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
        told = "".join("".join(tree.getroot().itertext()).split())
        assert NAMES[0] in told, "the name stands there as it is"
        assert "nevermoves" in told or name in MOVERS
        assert f"({name}.png)" in report
