"""``othello-lab play nboard``: scripted sessions, as a controller holds them."""

from __future__ import annotations

import io
import re
import sys

import pytest

from othello_lab import Position
from othello_lab.__main__ import room_main
from othello_lab.core.notation import PASS, format_ggf
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.engine import read_engine, serve
from othello_lab.play.nboard import NBoardServer


def session(words: str, *lines: str) -> list[str]:
    """What an engine of this agent says to these lines; times left out."""
    table, player = read_engine(words.split(), [])
    output = io.StringIO()
    with AgentProcesses(table.rules, table.limits, 60, lambda line: None) as thinkers:
        serve(NBoardServer(table, player, thinkers, output), map("{}\n".format, lines), output)
    return re.sub(r"[/ ]\d+\.\d{3}$", "", output.getvalue(), flags=re.MULTILINE).splitlines()


START = "-" * 27 + "O*" + "-" * 6 + "*O" + "-" * 27
GAME = f"set game (;GM[Othello]PC[NBoard]PB[x]PW[y]RE[?]TI[15:00]TY[8]BO[8 {START} *]B[F5]W[F6];)"


def test_a_session_as_nboard_holds_it() -> None:
    said = session(
        "agent=alphabeta agent.depth=2",
        *("nboard 2", "set depth 1", "set contempt 0", GAME, "ping 3", "go", "go", "hint 1"),
        *("move E6/1.25/0.50", "ping 4", "learn", "quit", "ping 5"),
    )
    assert said[:3] == [
        "set myname alphabeta",
        "status alphabeta depth=2 evaluation=SquareWeights",
        "pong 3",
    ]
    go = said[3:7]
    assert go[:2] == ["status alphabeta is thinking", "status"]
    assert re.fullmatch(r"nodestats \d+", go[2])
    assert re.fullmatch(r"=== [A-H][1-8]/-?\d+\.00", go[3])
    assert said[7:11] == go  # which has made no move
    move = go[3][4:6]
    assert re.fullmatch(rf"search {move} -?\d+\.00 0 1", said[13])
    assert said[-2:] == ["pong 4", "learned"]


@pytest.mark.integration
def test_depth_is_a_bound_and_no_order() -> None:
    deep = [
        re.findall(r"nodestats (\d+)", "\n".join(session("agent=minimax agent.depth=3", *told)))
        for told in (["go"], ["set depth 60", "go"], ["set depth 2", "go"], ["set depth x", "go"])
    ]
    assert deep[0] == deep[1] == deep[3] != deep[2]


def test_the_end_and_passes() -> None:
    position, moves = Position.start(), []
    while position.moves:  # the shortest way to where nobody, or one side, can move
        moves.append((position.to_move, position.moves[0]))
        position = position.play(position.moves[0])
    game = f"set game {format_ggf(Position.start().to_obf(), moves)}"
    assert session("agent=greedy", game, "go", "hint 1") == ["=== PA"]
    if position.must_pass:
        assert session("agent=greedy", game, "move PA", "go")[-1].startswith("=== ")
    before = format_ggf(position.to_obf(), [(position.to_move, PASS)])
    assert len(session("agent=greedy", f"set game {before}")) == (not position.must_pass)


def test_a_known_end_is_told_in_discs() -> None:
    position = Position.from_obf("X" * 61 + "-OX X")
    said = session(
        "agent=minimax agent.depth=2", f"set game {format_ggf(position.to_obf(), [])}", "go"
    )
    assert said[-1] == "=== F8/64.00"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("move A1", "a1: traps nothing"),
        ("A1", "a1: traps nothing"),
        ("move Z9", "'Z9'"),
        ("set game", "GGF"),
        ("set game x", "'x'"),
        (GAME.replace("W[F6]", "W[A1]"), "a1: traps nothing"),
        (f"set game (;GM[Othello]BO[10 {'-' * 100} *];)", "10x10"),
        (f"set game (;GM[Othello]BO[6 {'-' * 36} *];)", "square weights"),
    ],
)
def test_what_cannot_be_done_is_told_and_the_game_stays(line: str, told: str) -> None:
    first, *rest = session("agent=maximizer", "move D3", line, "C3", "go")
    assert first.startswith("status ") and told in first
    assert rest[-1].startswith("=== ")


def test_what_is_not_understood_is_left_alone() -> None:
    assert session("agent=greedy", "", "dance", "set", "set x 3", "D3", "ping 1") == ["pong 1"]


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("ping 1\nquit\n"))
    assert room_main("play", ["nboard", "agent=greedy"]) == 0
    assert capsys.readouterr().out == "pong 1\n"
