"""Commands that come to an engine while its agent thinks."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from othello_lab.agents.external.program import Program
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


def test_an_agent_stops_for_an_urgent_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("othello_lab.play.agent_process.SURE_SECONDS", 0)
    table, player = read_engine(DEEP.split(), [])
    output = io.StringIO()
    asked = AgentProcesses(table.rules, table.limits, 60, lambda said: None, "", lambda: True)
    with asked as thinkers:
        server = GtpServer(table, player, thinkers)
        assert str(server.answer("3 genmove b")).startswith("?3 no move")
        assert server.answer("4 play b d3") == "=4\n\n"
        nboard = NBoardServer(table, player, thinkers, output)
        serve(nboard, ["go", "ping 3", "hint 1", "ping 4", "quit"], output)
    said = [line for line in output.getvalue().splitlines() if not line.startswith("status ")]
    assert said == ["pong 3", "pong 4"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "asked", "urgent", "answer"),
    [("gtp", "1 genmove b", "2 quit", "=2"), ("nboard", "go", "ping 7", "pong 7")],
)
def test_an_urgent_command_is_answered_while_an_agent_thinks(
    protocol: str, asked: str, urgent: str, answer: str
) -> None:
    engine = Program(f"{sys.executable} -m play {protocol} {DEEP}")
    engine.start()
    engine.send("name" if protocol == "gtp" else "ping 1")
    engine.receive(300)  # it may have to compile
    engine.send(asked)
    engine.read_output(2)
    engine.send(urgent)
    while engine.receive(60) != answer:
        pass
    engine.kill()


@pytest.mark.integration
@pytest.mark.parametrize("words", ["gtp genmove b", "nboard go", "nboard hint 1"])
def test_the_end_of_the_input_ends_an_engine(words: str) -> None:
    protocol, _, asked = words.partition(" ")
    command = [sys.executable, "-m", "play", protocol, *DEEP.split()]
    ended = subprocess.run(command, input=f"{asked}\n", text=True, capture_output=True, timeout=300)
    assert ended.returncode == 0 and "Traceback" not in ended.stderr
