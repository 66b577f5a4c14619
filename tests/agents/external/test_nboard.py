"""Engines of the NBoard protocol as agents, and the checks of the protocol: one of the tests' own
in all its kinds, and the lab's own engine."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from chosen import mostly_nightly, rows_mostly_nightly
from records import query
from rich.console import Console

from othello_lab import AlphaBeta, Color, Position, SquareWeights, play_game
from othello_lab.agents import contract
from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.command_line import main
from othello_lab.agents.external import NBoardAgent
from othello_lab.agents.external.check_nboard import CHECKS, NBoardEngineUnderTest
from othello_lab.agents.external.checking import FAILED, NOT_ASKED, OK, findings
from othello_lab.agents.external.program import Program
from othello_lab.agents.external_agent import is_outside
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, ILLEGAL
from othello_lab.core.notation import format_ggf, parse_ggf
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "tests" / "nboard_engine.py"


def engine(*traits: str) -> str:
    return f"{sys.executable} {ENGINE} {' '.join(traits)}"


@pytest.mark.parametrize("trait", ["", "edax", "bare"])
def test_what_an_engine_says_of_its_move(trait: str) -> None:
    agent = NBoardAgent(engine(trait), 3, patience=30)
    start = Position.start()
    agent.begin_game(Color.BLACK, start, 1)
    try:
        value = None if trait == "bare" else -1.5
        expected = Decision(19, value, stats=SearchStats(nodes=350))
        assert agent.decide(start, Limits()) == expected
    finally:
        agent.close()


def test_node_counts_that_are_none_are_left_out() -> None:
    agent = NBoardAgent(engine("bad-nodes"), 3, patience=30)
    agent.begin_game(Color.BLACK, Position.start(), 1)
    try:
        assert agent.decide(Position.start(), Limits()).stats.nodes == 0
    finally:
        agent.close()


@pytest.mark.integration
def test_it_keeps_to_the_contract() -> None:
    agent = NBoardAgent(engine(), 3, patience=30)
    assert is_outside(agent) and not agent.reproducible
    verdict = contract.check(agent, patience=60)
    assert verdict.holds, f"\n{verdict}"


def test_what_an_engine_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = NBoardAgent(engine(f"log={log}"), 5, patience=30)
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


def play(folder: Path, command: str, *words: str) -> tuple[set[tuple[str, str]], str]:
    """How the games of an engine against a random agent ended: who won, and why; and the log."""
    line_up = ["agents=duel", "agent@first=nboard", f"first.command='{command}'", "depth=2"]
    common = [*line_up, "agent@second=random", "figures=false", "games=2", "searches.positions=1"]
    plan = read([*common, f"results={folder}", "executor.workers=1", *words])
    done = run(plan, "test", Console(quiet=True)).folder
    names = dict(query(done, "select agent, name from agents"))
    ends = set()
    for black, white, result, end in query(
        done, "select black, white, result, end_reason from games"
    ):
        ends.add(({"black": names[black], "white": names[white]}.get(result, "nobody"), end))
    return ends, (done / "log.txt").read_text()


@pytest.mark.parametrize(
    ("trait", "reason", "told"),
    rows_mostly_nightly(
        [
            ("dies", DIED, "ended (exit code 9). Its last output:"),
            ("hangs", HUNG, "no answer for 2 s"),
            ("illegal", ILLEGAL, "a1: "),
            ("nonsense", GARBAGE, "answered '=== corner"),
            ("same-pong", HUNG, "did not answer within 5 s"),
        ],
        ("illegal",),
    ),
)
def test_an_engine_that_does_wrong_loses(
    trait: str, reason: str, told: str, tmp_path: Path
) -> None:
    hang = "limits.hang=2" if trait == "hangs" else "limits.hang=60"
    patience = "first.patience=5" if trait == "same-pong" else "first.patience=30"
    ends, log = play(tmp_path, engine(trait), hang, patience)
    assert ends == {("random", reason)}
    assert told in log, log


@pytest.mark.integration
def test_whole_games(tmp_path: Path) -> None:
    ends, log = play(tmp_path, engine(), "games=6", "ruleset=wpi")
    assert {end for _, end in ends} == {FINISHED}, log


@pytest.mark.integration
def test_our_own_engine_plays_as_the_agent_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = f"{sys.executable} -m play nboard agent=alphabeta agent.depth=3"
    there = NBoardAgent(command, 3, patience=300)
    here = AlphaBeta(3, SquareWeights())
    try:
        record = play_game({Color.BLACK: there, Color.WHITE: here})
    finally:
        there.close()
    assert record.end_reason == FINISHED, record.detail
    position = Position.start()
    for ply in record.plies:
        if ply.decision and ply.color is Color.BLACK:
            expected = here.decide(position, Limits())
            assert (ply.move, ply.decision.stats.nodes) == (expected.move, expected.stats.nodes)
        position = position.play(ply.move)


def test_games_in_ggf_make_the_round_trip() -> None:
    moves = [(Color.BLACK, 19), (Color.WHITE, 18), (Color.BLACK, 64)]
    start = Position.start()
    text = format_ggf(start.to_obf(), moves, PB="a [b]; \\c", PW="größer\n")
    (game,) = parse_ggf(text)
    assert "PB[a b c]PW[größer]" in text and "\n" not in text
    assert Position.from_obf(game.start) == start
    assert list(zip(game.colors, game.words, strict=True)) == [
        (Color.BLACK, "D3"),
        (Color.WHITE, "C3"),
        (Color.BLACK, "PA"),
    ]


# ------------------------------------------------------------------ check-engine

BROKEN = {
    "same-pong": "pings",
    "illegal": "game",
    "nonsense": "game",
    "no-moves": "white",
    "moves-itself": "stays",
    "deaf": "move",
    "sets-once": "again",
    "bad-nodes": "nodes",
    "no-hints": "hint",
    "stays": "quit",
    "answers-all": "unknown",
    "dies": "game",
}


def found(command: str, patience: float = 30) -> dict[str, str]:
    case = NBoardEngineUnderTest(Program(command), patience, 30)
    made = list(findings(case, CHECKS))
    assert all(each.exchanges for each in made if each.outcome == OK)
    return {each.name: each.outcome for each in made}


def test_an_engine_that_does_all_right_passes() -> None:
    assert len(CHECKS) >= 20
    assert set(found(engine()).values()) == {OK}


@pytest.mark.parametrize("trait", mostly_nightly(BROKEN, ("nonsense", "bad-nodes")))
def test_each_check_finds_the_engine_that_fails_it(trait: str) -> None:
    outcomes = found(engine(trait), 1 if trait in ("same-pong", "stays") else 30)
    assert outcomes[BROKEN[trait]] == FAILED, outcomes


def test_what_an_engine_need_not_do_is_not_asked() -> None:
    outcomes = found(engine("bare"))
    assert outcomes.pop("value") == NOT_ASKED and set(outcomes.values()) == {OK}
    outcomes = found(engine("nameless", "no-learning"))
    assert outcomes["name"] == outcomes["learn"] == NOT_ASKED


@pytest.mark.integration
def test_our_own_engine_passes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = f"{sys.executable} -m play nboard agent=alphabeta agent.depth=2"
    code = main(["check-engine", "nboard", command, "--patience", "300"])
    printed = capsys.readouterr().out
    assert code == 0 and "not asked" not in printed, printed
    assert f"{command} plays, with these settings: depth=2" in printed


def test_a_program_that_speaks_something_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-engine", "nboard", "cat", "--patience", "0.5"]) == 1
    printed = capsys.readouterr().out
    assert "starts      failed" in printed
    assert "cat does not play: never answered: " in printed
