"""Commands that come to an engine while its agent thinks; and ``othello-lab play nboard``."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from othello_lab import Position
from othello_lab.__main__ import room_main
from othello_lab.agents.external.program import Program
from othello_lab.core.notation import PASS, format_ggf
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.engine import Commands, read_engine, serve
from othello_lab.play.gtp import GtpServer
from othello_lab.play.nboard import NBoardServer

URGENT = r"\s*(\d+\s+)?quit\b"
DEEP = "agent=pvs agent.depth=26"


def test_commands_are_read_ahead() -> None:
    source, controller = os.pipe()
    with open(source) as file:
        commands = Commands(file, URGENT)
        for part in (b"genmove b\n\xff show", b"ow\n12 qui", b"t"):
            os.write(controller, part)
            assert not commands.interrupt()
        os.write(controller, b" \r\nname")
        assert commands.interrupt()
        lines = iter(commands)
        assert [next(lines) for _ in range(3)] == ["genmove b", "\ufffd showow", "12 quit \r"]
        assert not commands.interrupt()
        os.close(controller)
        assert commands.interrupt() and list(lines) == ["name"] and commands.interrupt()


def test_a_file_has_all_its_commands_done(tmp_path: Path) -> None:
    path = tmp_path / "commands"
    path.write_text("genmove b\nquit\n")
    with path.open() as file:
        for source in (file, io.StringIO(path.read_text()), None):
            commands = Commands(source, URGENT)
            assert not commands.interrupt()
            assert [line.strip() for line in commands] == ["genmove b", "quit"] * bool(source)


@pytest.mark.parametrize(
    ("protocol", "command", "said"),
    [("gtp", "genmove b", r"= [A-H][1-8]\n\n=\n\n"), ("nboard", "ping 1", r"pong 1\n")],
)
def test_nothing_but_answers_goes_to_the_output(
    protocol: str,
    command: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{command}\nquit\n"))
    assert room_main("play", [protocol, "agent=alphabeta", "agent.depth=2"]) == 0
    assert re.fullmatch(said, capsys.readouterr().out)


def test_an_agent_stops_for_an_urgent_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("othello_lab.play.agent_process.SURE_SECONDS", 0)
    setup, player = read_engine(DEEP.split(), [])
    output = io.StringIO()
    processes = AgentProcesses(setup.rules, setup.limits, 60, lambda said: None, "", lambda: True)
    with processes as thinkers:
        server = GtpServer(setup, player, thinkers)
        assert str(server.answer("3 genmove b")).startswith("?3 no move")
        assert server.answer("4 play b d3") == "=4\n\n"
        nboard = NBoardServer(setup, player, thinkers, output)
        serve(nboard, ["go", "ping 3", "hint 1", "ping 4", "quit"], output)
    said = [line for line in output.getvalue().splitlines() if not line.startswith("status ")]
    assert said == ["pong 3", "pong 4"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "command", "urgent", "answer"),
    [("gtp", "1 genmove b", "2 quit", "=2"), ("nboard", "go", "ping 7", "pong 7")],
)
def test_an_urgent_command_is_answered_while_an_agent_thinks(
    protocol: str, command: str, urgent: str, answer: str
) -> None:
    engine = Program(f"{sys.executable} -m play {protocol} {DEEP}")
    engine.start()
    engine.send("name" if protocol == "gtp" else "ping 1")
    engine.receive(300)  # it may have to compile
    engine.send(command)
    engine.read_output(2)
    engine.send(urgent)
    while engine.receive(60) != answer:
        pass
    engine.kill()


@pytest.mark.integration
@pytest.mark.parametrize("words", ["gtp genmove b", "nboard hint 1"])
def test_the_end_of_the_input_ends_an_engine(words: str) -> None:
    protocol, _, line = words.partition(" ")
    command = [sys.executable, "-m", "play", protocol, *DEEP.split()]
    ended = subprocess.run(command, input=f"{line}\n", text=True, capture_output=True, timeout=300)
    assert ended.returncode == 0 and "Traceback" not in ended.stderr


# ------------------------------------------------------------------ scripted sessions of NBoard


def session(words: str, *lines: str) -> list[str]:
    """What an engine of this agent says to these lines; times left out."""
    setup, player = read_engine(words.split(), [])
    output = io.StringIO()
    with AgentProcesses(setup.rules, setup.limits, 60, lambda line: None) as thinkers:
        serve(NBoardServer(setup, player, thinkers, output), map("{}\n".format, lines), output)
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
        re.findall(r"nodestats (\d+)", "\n".join(session("agent=minimax agent.depth=3", *lines)))
        for lines in (["go"], ["set depth 60", "go"], ["set depth 2", "go"], ["set depth x", "go"])
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
    ("line", "words"),
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
def test_what_cannot_be_done_is_told_and_the_game_stays(line: str, words: str) -> None:
    first, *rest = session("agent=maximizer", "move D3", line, "C3", "go")
    assert first.startswith("status ") and words in first
    assert rest[-1].startswith("=== ")


def test_what_is_not_understood_is_left_alone() -> None:
    assert session("agent=greedy", "", "dance", "set", "set x 3", "D3", "ping 1") == ["pong 1"]
