"""Commands that come to an engine while its agent thinks."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from othello_lab.agents.external.program import Program
from othello_lab.play import agent_process, nboard
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.engine import Commands, read_engine
from othello_lab.play.gtp import GtpServer

URGENT = r"\s*(\d+\s+)?quit\b"
DEEP = "agent=pvs agent.depth=26"
SECONDS = 60  # for an answer


@pytest.fixture
def controller() -> Iterator[io.FileIO]:
    """The end of a pipe in which a controller writes; the other is its ``name``."""
    source, pipe = os.pipe()
    with open(source) as commands, open(pipe, "wb", buffering=0) as controller:
        controller.commands = Commands(commands, URGENT)  # type: ignore[attr-defined]
        yield controller


def test_commands_are_read_ahead(controller: io.FileIO) -> None:
    commands: Commands = controller.commands  # type: ignore[attr-defined]
    for part in (b"", b"genmove b\n\xff show", b"ow\n12 qui", b"t"):
        controller.write(part)
        assert not commands.interrupt()
    controller.write(b" \r\nname")
    assert commands.interrupt()
    lines = iter(commands)
    assert [next(lines) for _ in range(3)] == ["genmove b", "\ufffd show" + "ow", "12 quit \r"]
    assert not commands.interrupt()
    controller.close()
    assert commands.interrupt() and list(lines) == ["name"] and commands.interrupt()


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "commands"
    path.write_text("genmove b\nquit\n")
    with path.open() as file:
        for source in (file, io.StringIO(path.read_text())):
            commands = Commands(source, URGENT)
            assert not commands.interrupt()
            assert list(commands) == ["genmove b\n", "quit\n"]
    assert list(Commands(None, URGENT)) == []


def test_an_agent_stops_for_an_urgent_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_process, "SURE_SECONDS", 0)
    table, player = read_engine(DEEP.split(), [])
    output = io.StringIO()
    with AgentProcesses(
        table.rules, table.limits, 60, lambda line: None, interrupt=lambda: True
    ) as thinkers:
        server = GtpServer(table, player, thinkers)
        assert str(server.answer("3 genmove b")).startswith("?3 stopped")
        assert server.answer("4 play b d3") == "=4\n\n"
        nboard.serve(table, player, thinkers, ["go", "ping 3", "hint 1", "ping 4", "quit"], output)
    said = output.getvalue().splitlines()
    assert [line for line in said if not line.startswith("status ")] == ["pong 3", "pong 4"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "asked", "urgent", "answer"),
    [
        ("gtp", "1 genmove b", "2 quit", "=2"),
        ("nboard", "go", "ping 7", "pong 7"),
        ("nboard", "hint 3", "ping 8", "pong 8"),
    ],
)
def test_an_urgent_command_is_answered_while_an_agent_thinks(
    protocol: str, asked: str, urgent: str, answer: str
) -> None:
    engine = Program(f"{sys.executable} -m play {protocol} {DEEP}")
    engine.start()
    engine.send("play b d3" if protocol == "gtp" else "ping 1")
    engine.receive(300)  # it may have to compile
    engine.send(asked)
    engine.read_output(2)
    engine.send(urgent)
    while engine.receive(SECONDS) != answer:
        pass
    if urgent != "2 quit":
        engine.send("quit")
    assert engine.ended_within(SECONDS)
    engine.kill()


@pytest.mark.integration
@pytest.mark.parametrize(
    "words", ["gtp genmove b", "nboard go", "nboard hint 1", "gtp reg_genmove w"]
)
def test_the_end_of_the_input_ends_an_engine(words: str) -> None:
    protocol, _, asked = words.partition(" ")
    command = [sys.executable, "-m", "play", protocol, *DEEP.split()]
    ended = subprocess.run(command, input=f"{asked}\n", text=True, capture_output=True, timeout=300)
    assert ended.returncode == 0 and "Traceback" not in ended.stderr
