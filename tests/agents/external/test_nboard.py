"""Engines of the NBoard protocol as agents: one of the tests' own, and the lab's."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from bots import engine

from othello_lab import AlphaBeta, Color, Position, SquareWeights, play_game
from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.external import NBoardAgent
from othello_lab.core.game import FINISHED

ROOT = Path(__file__).parents[3]
START = Position.start()


@pytest.mark.parametrize(
    ("trait", "value", "nodes"),
    [("", -1.5, 350), ("edax", -1.5, 350), ("bare", None, 350), ("bad-nodes", -1.5, 0)],
)
def test_what_an_engine_says_of_its_move(trait: str, value: float | None, nodes: int) -> None:
    agent = NBoardAgent(engine("nboard", trait), 3, patience=30)
    agent.begin_game(Color.BLACK, START, 1)
    decision = agent.decide(START, Limits())
    agent.close()
    assert decision == Decision(19, value, stats=SearchStats(nodes=nodes))


def test_what_an_engine_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = NBoardAgent(engine("nboard", f"log={log}"), 5, patience=30)
    start = Position.start("wpi")
    position = start.play("d3")
    agent.begin_game(Color.BLACK, start, 1)
    agent.observe(19, position)
    agent.decide(position, Limits())
    agent.decide(position, Limits(depth=2))
    agent.close()
    said = re.sub(r"ping \d+\n", "", log.read_text()).splitlines()
    board = start.to_obf()[:-2].replace("X", "*")
    game = f"set game (;GM[Othello]PC[lab]RE[?]TY[8]BO[8 {board} O];)"
    told = ["nboard 2", "set depth 5", game, "move D3", "go", "set depth 2", "go", "quit"]
    assert said == told


@pytest.mark.integration
def test_our_own_engine_plays_as_the_agent_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = f"{sys.executable} -m play nboard agent=alphabeta agent.depth=3"
    there = NBoardAgent(command, 3, patience=300)
    here = AlphaBeta(3, SquareWeights())
    record = play_game({Color.BLACK: there, Color.WHITE: here})
    there.close()
    assert record.end_reason == FINISHED, record.detail
    position = START
    for ply in record.plies:
        if ply.decision and ply.color is Color.BLACK:
            expected = here.decide(position, Limits())
            assert (ply.move, ply.decision.stats.nodes) == (expected.move, expected.stats.nodes)
        position = position.play(ply.move)
