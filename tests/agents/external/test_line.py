"""Bots by the line protocol: its examples play, and whatever a bot does wrong loses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bots import EXAMPLES, bot
from chosen import mostly_nightly
from processes import await_
from records import query
from rich.console import Console

from othello_lab import PASS, Color, Position
from othello_lab.__main__ import main as experiments_main
from othello_lab.agents import contract
from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.command_line import main
from othello_lab.agents.external import LineAgent
from othello_lab.agents.external_agent import is_outside
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, ILLEGAL, LATE, PlayerFailure
from othello_lab.core.system.processes import descendants
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run


def play(folder: Path, command: str, *words: str) -> tuple[set[tuple[str, str]], str]:
    """How the games of a bot against a random agent ended: who won, and why; and the log."""
    line_up = ["agents=duel", "agent@first=line", f"first.command='{command}'"]
    common = [
        *line_up,
        "agent@second=random",
        "figures=false",
        "games=2",
        "searches.positions=1",
        "trial=false",
    ]
    plan = read([*common, f"results={folder}", "executor.workers=1", *words])
    done = run(plan, "test", Console(quiet=True)).folder
    names = dict(query(done, "select agent, name from agents"))
    ends = set()
    for black, white, result, end in query(
        done, "select black, white, result, end_reason from games"
    ):
        winner = {"black": names[black], "white": names[white]}.get(result, "nobody")
        ends.add((winner, end))
    return ends, (done / "log.txt").read_text()


LOST = "random"

TROUBLES = {
    "illegal": ("print('a1', flush=True)", ILLEGAL, "a1: "),
    "pass": ("print('--', flush=True)", ILLEGAL, "pass while moves exist"),
    "no square": ("print('z9', flush=True)", GARBAGE, "answered 'z9': 'z9': not a square"),
    "chatter": ("print('d3, I think', flush=True)", GARBAGE, "answered 'd3, I think'"),
    "bad count": ("print(rest[3], 'nodes=many', flush=True)", GARBAGE, "'nodes=many' is no number"),
    "huge count": ("print(rest[3], 'nodes=9' + '9' * 17, flush=True)", GARBAGE, "is not a count"),
    "two answers": ("print(rest[3] + '\\n' + rest[3], flush=True)", GARBAGE, "without being asked"),
    "binary": ("os.write(1, bytes(range(256)) + b'\\n')", GARBAGE, "answered"),
    "no newline": ("os.write(1, b'x' * 100_000); time.sleep(100)", GARBAGE, "a line of more than"),
    "crash": ("1 / 0", DIED, "ZeroDivisionError"),
    "exit": ("os._exit(3)", DIED, "ended (exit code 3)"),
    "closes": ("os.close(1); time.sleep(100)", DIED, "closed its output"),
    "hangs": ("time.sleep(100)", HUNG, "no answer for 1 s"),
    "only comments": (
        "[(print('# hm', flush=True), time.sleep(0.01)) for _ in iter(int, 1)]",
        HUNG,
        "no answer",
    ),
}


@pytest.mark.parametrize("name", mostly_nightly(TROUBLES, ("illegal", "chatter", "crash")))
def test_a_bot_that_does_wrong_loses_for_that_reason(name: str, tmp_path: Path) -> None:
    trouble, reason, told = TROUBLES[name]
    limits = "limits.hang=1" if reason == HUNG else "limits.hang=30"
    ends, log = play(tmp_path, bot(tmp_path, trouble, after=3), limits)
    assert ends == {(LOST, reason)}
    assert told in log, log


def test_it_plays_again_after_a_game_that_it_has_lost(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    die = f"open({str(flag)!r}, 'x'); os._exit(1)"
    once = f"print(rest[3], flush=True) if os.path.exists({str(flag)!r}) else exec({die!r})"
    ends, _ = play(tmp_path, bot(tmp_path, once, after=3), "games=6")
    ended = {end for _, end in ends}
    assert ended == {DIED, FINISHED}


@pytest.mark.integration
def test_a_bot_that_thinks_too_long_is_late(tmp_path: Path) -> None:
    code = "time.sleep(0.4); print(rest[3], flush=True)"
    ends, _ = play(tmp_path, bot(tmp_path, code, after=3), "limits.seconds=0.2")
    assert ends == {(LOST, LATE)}


@pytest.mark.integration
@pytest.mark.parametrize(
    ("begin", "reason", "told"),
    [
        ("os._exit(4)", DIED, "ended (exit code 4)"),
        ("print('hello', flush=True)", GARBAGE, "answered 'hello' to game"),
        ("time.sleep(100)", HUNG, "did not answer within 0.5 s"),
    ],
)
def test_a_bot_that_does_not_begin_loses(
    begin: str, reason: str, told: str, tmp_path: Path
) -> None:
    ends, log = play(tmp_path, bot(tmp_path, begin=begin), "first.patience=0.5")
    assert ends == {(LOST, reason)}
    assert told in log


def test_a_bot_that_says_what_it_thinks_is_recorded(tmp_path: Path) -> None:
    answer = (
        "print(rest[3], 'value=-1.5 depth=4 nodes=77 evaluations=30', '\\n\\n# fine', flush=True)"
    )
    ends, log = play(tmp_path, bot(tmp_path, answer, after=0))
    assert {end for _, end in ends} == {FINISHED}, log
    (folder,) = (path.parent for path in tmp_path.rglob("games.sqlite"))
    rows = query(
        folder,
        "select distinct value, depth, nodes, evaluations from moves join agents using (agent) "
        "where name = 'line' and nodes > 0",
    )
    assert rows == [(-1.5, 4, 77, 30)]


def test_what_it_prints_to_its_error_stream_is_kept(tmp_path: Path) -> None:
    play(tmp_path, bot(tmp_path, begin="print('here I am', file=sys.stderr)"))
    (output,) = tmp_path.rglob("output.txt")
    assert "line: here I am" in output.read_text()


# ------------------------------------------------------------------ the examples


def of_python(folder: Path) -> str:
    return f"{sys.executable} {EXAMPLES / 'bot.py'}"


def of_c(folder: Path) -> str:
    if (compiler := shutil.which("gcc")) is None:
        pytest.skip("needs gcc")
    flags = ["-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "-o", folder / "bot", EXAMPLES / "bot.c"], check=True)
    return str(folder / "bot")


@pytest.mark.integration
@pytest.mark.parametrize("build", mostly_nightly([of_python, of_c], [of_python]))
def test_the_examples_play(build: Callable[[Path], str], tmp_path: Path) -> None:
    command = build(tmp_path)
    ends, log = play(tmp_path, command, "games=10", "seed=2", "limits.seconds=5")
    assert {end for _, end in ends} == {FINISHED}, log


@pytest.mark.integration
@pytest.mark.parametrize("build", [of_python, of_c])
def test_the_examples_keep_to_the_contract(build: Callable[[Path], str], tmp_path: Path) -> None:
    verdict = contract.check(LineAgent(build(tmp_path)), patience=30)
    assert verdict.holds, f"\n{verdict}"


# ------------------------------------------------------------------ what is said


TEACHER = """
import sys
log = open({log!r}, "w")
for line in sys.stdin:
    log.write(line); log.flush()
    word, *rest = line.split()
    if word == "game":
        print("ready", flush=True)
    elif word == "move":
        print(rest[3].upper(), flush=True)
    elif word == "quit":
        break
"""


def test_what_a_bot_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    (tmp_path / "teacher.py").write_text(TEACHER.format(log=str(log)))
    agent = LineAgent(f"{sys.executable} {tmp_path / 'teacher.py'}", 30, [6, 8])
    start = Position.start()
    try:
        agent.begin_game(Color.WHITE, start, 17)
        position = start.play("d3")
        agent.observe(19, position)
        assert agent.decide(position, Limits()).move == position.moves[0]
        agent.decide(position, Limits(seconds=1.5))
        agent.decide(position, Limits(clock=20))
        passing = Position.from_obf("XO--" + "-" * 60 + " X").play("c1")
        agent.observe(PASS, passing)
        small = Position.start("mini6")
        agent.begin_game(Color.BLACK, small, 3)
        agent.decide(small, Limits())
    finally:
        agent.close()
    board, small_board = position.to_obf()[:-2], small.to_obf()[:-2]
    moves = " ".join(position.legal_moves())
    assert log.read_text().splitlines() == [
        f"game O 8 17 {start.to_obf()}",
        "played X d3",
        f"move O {board} - {moves}",
        f"move O {board} move:1.500 {moves}",
        f"move O {board} game:20.000 {moves}",
        "played X --",
        f"game X 6 3 {small.to_obf()}",
        f"move X {small_board} - {' '.join(small.legal_moves())}",
        "quit",
    ]


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ("d3", Decision(19)),
        (" D3 ", Decision(19)),
        ("d3 value=+4 depth=2", Decision(19, 4, (), 2)),
        ("d3 value=0.25 playouts=5", Decision(19, 0.25, stats=SearchStats(playouts=5))),
    ],
)
def test_answers_that_are_understood(answer: str, decision: Decision, tmp_path: Path) -> None:
    agent = LineAgent(bot(tmp_path, f"print({answer!r}, flush=True)", after=0), 30)
    agent.begin_game(Color.BLACK, Position.start(), 1)
    try:
        assert agent.decide(Position.start(), Limits()) == decision
    finally:
        agent.close()


@pytest.mark.parametrize(
    "answer", ["d3 value", "d3 value=", "d3 x=1", "d3 depth=1.5", "d3 value=nan"]
)
def test_answers_that_are_not_understood(answer: str, tmp_path: Path) -> None:
    agent = LineAgent(bot(tmp_path, f"print({answer!r}, flush=True)", after=0), 30)
    agent.begin_game(Color.BLACK, Position.start(), 1)
    with pytest.raises(PlayerFailure) as caught:
        agent.decide(Position.start(), Limits())
    assert caught.value.reason == GARBAGE and answer in caught.value.detail


# ------------------------------------------------------------------ where it runs


def test_nothing_is_started_because_somebody_looks(tmp_path: Path) -> None:
    flag = tmp_path / "started"
    (tmp_path / "bot.py").write_text(f"open({str(flag)!r}, 'w')")
    command = f"{sys.executable} {tmp_path / 'bot.py'}"
    plan = read(
        ["agents=duel", "agent@first=line", "agent@second=greedy", f"first.command='{command}'"]
    )
    agent = plan.agents["line"]
    agent.prepare()
    agent.close()
    assert is_outside(agent) and not agent.reproducible
    assert not flag.exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("first.command=no-such-program", "agent 'line': .*'no-such-program' is not there"),
        ("first.command=''", "command=: a command"),
        ('first.command="\'"', "No closing quotation"),
        ("", "agent 'first' leaves 'command' open"),
        ("first.command=cat first.patience=0", "patience=0: a number of more than 0 is needed"),
        ("first.command=cat first.boards=[5]", "boards=5: an even number from 4 to 8 is needed"),
        ("first.command=cat ruleset=mini6", "agent 'line' plays on boards of 8x8"),
        ("first.command=cat limits.nodes=10", "limits.nodes=10: another program knows"),
    ],
)
def test_bad_input_is_one_line(
    words: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["run", "agents=duel", "agent@first=line", "agent@second=greedy", "games=2"]
    assert experiments_main([*common, f"results={tmp_path / 'results'}", *words.split()]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert re.search(complaint, printed), printed
    assert not (tmp_path / "results").exists()


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
def test_check_finds_a_bot_that_hangs_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = bot(tmp_path, "time.sleep(100)", after=3)
    before = set(descendants([os.getpid()]))
    assert main(["check", "line", f"command={command}", "--patience", "2"]) == 1
    assert "no answer for 2 s after decide" in capsys.readouterr().out
    await_(lambda: set(descendants([os.getpid()])) <= before)
