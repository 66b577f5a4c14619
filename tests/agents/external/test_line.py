"""Bots by the line protocol, and what is common to all agents that start a program."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bots import bot
from processes import await_
from runs import told

from othello_lab import PASS, Color, Position
from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.command_line import main
from othello_lab.agents.external import GtpAgent, LineAgent, NBoardAgent, WpiAgent
from othello_lab.agents.external_agent import is_outside
from othello_lab.core.system.processes import descendants

START = Position.start()


def test_answers_that_are_understood(tmp_path: Path) -> None:
    answers = {
        "d3": Decision(19),
        " D3 ": Decision(19),
        "d3 value=+4 depth=2": Decision(19, 4, (), 2),
        "d3 value=0.25 playouts=5": Decision(19, 0.25, stats=SearchStats(playouts=5)),
        "\\n# hm\\nd3 nodes=3": Decision(19, stats=SearchStats(nodes=3)),
    }
    said = f"print({list(answers)}[ANSWERS - 1].replace('\\\\n', chr(10)), flush=True)"
    agent = LineAgent(bot(tmp_path, said, after=0), 30)
    agent.begin_game(Color.BLACK, START, 1)
    assert [agent.decide(START, Limits()) for _ in answers] == list(answers.values())
    agent.close()


def test_what_a_bot_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    hear, answer = f"open({str(log)!r}, 'a').write(line)", "print(rest[3].upper(), flush=True)"
    agent = LineAgent(bot(tmp_path, answer, after=0, hear=hear), 30, [6, 8])
    agent.begin_game(Color.WHITE, START, 17)
    position = START.play("d3")
    agent.observe(19, position)
    assert agent.decide(position, Limits()).move == position.moves[0]
    agent.decide(position, Limits(seconds=1.5))
    agent.decide(position, Limits(clock=20))
    passing = Position.from_obf("XO--" + "-" * 60 + " X").play("c1")
    agent.observe(PASS, passing)
    small = Position.start("mini6")
    agent.begin_game(Color.BLACK, small, 3)
    agent.decide(small, Limits())
    agent.close()
    board, small_board = position.to_obf()[:-2], small.to_obf()[:-2]
    moves = " ".join(position.legal_moves())
    assert log.read_text().splitlines() == [
        f"game O 8 17 {START.to_obf()}",
        "played X d3",
        f"move O {board} - {moves}",
        f"move O {board} move:1.500 {moves}",
        f"move O {board} game:20.000 {moves}",
        "played X --",
        f"game X 6 3 {small.to_obf()}",
        f"move X {small_board} - {' '.join(small.legal_moves())}",
        "quit",
    ]


# ------------------------------------------------------------------ agents that start a program


@pytest.mark.parametrize(
    "agent_of", [LineAgent, GtpAgent, lambda command: NBoardAgent(command, 2), WpiAgent]
)
def test_nothing_is_started_because_somebody_looks(
    agent_of: Callable[[str], LineAgent], tmp_path: Path
) -> None:
    flag = tmp_path / "started"
    (tmp_path / "bot.py").write_text(f"open({str(flag)!r}, 'w')")
    agent = agent_of(f"{sys.executable} {tmp_path / 'bot.py'}")
    agent.prepare()
    agent.close()
    assert is_outside(agent) and not agent.reproducible
    assert agent.from_start == isinstance(agent, WpiAgent)
    assert not flag.exists()


@pytest.mark.integration
def test_check_shows_what_a_bot_prints_at_a_failure_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chatter = "print('chatter', file=sys.stderr)"
    assert main(["check", "line", f"command={bot(tmp_path, begin=chatter)}"]) == 0
    out, errors = capfd.readouterr()
    assert "chatter" not in out + errors
    assert main(["check", "line", f"command={bot(tmp_path, 'os._exit(3)', 3, chatter)}"]) == 1
    assert "chatter" in capfd.readouterr().out


@pytest.mark.integration
def test_check_finds_a_bot_that_hangs_and_leaves_nothing(tmp_path: Path) -> None:
    command = bot(tmp_path, "signal.pause()", after=3)
    before = set(descendants([os.getpid()]))
    assert "5 s after decide" in told(
        "agents", "check", "line", f"command={command}", "--patience", "5", code=1
    )
    await_(lambda: set(descendants([os.getpid()])) <= before)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: LineAgent(""), "command="),
        (lambda: LineAgent("'").prepare(), "quotation"),
        (lambda: LineAgent("cat", patience=0), "patience=0"),
        (lambda: LineAgent("cat", boards=[5]), "boards=5"),
        (lambda: GtpAgent("cat", settings=3), "settings=3"),  # type: ignore[arg-type]
        (lambda: GtpAgent("cat", time=2), "time=2"),  # type: ignore[arg-type]
        (lambda: WpiAgent("cat", "../cat"), "name=../cat"),
        (lambda: WpiAgent("cat", folder="/nowhere").prepare(), "folder=/nowhere"),
        (lambda: WpiAgent("cat", folder="/proc").prepare(), "folder=/proc"),
    ],
)
def test_bad_settings_of_programs(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make()
