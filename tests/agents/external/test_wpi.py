"""Programs of the file protocol as agents, in games and in runs."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bots import example_player, player
from chosen import mostly_nightly
from processes import await_
from records import query
from rich.console import Console

from othello_lab import Color, Position, play_game
from othello_lab.__main__ import main as experiments_main
from othello_lab.agents.agent import Limits
from othello_lab.agents.external import WpiAgent
from othello_lab.agents.external.program import Program
from othello_lab.agents.external.wpi import name_of
from othello_lab.agents.external_agent import is_outside
from othello_lab.agents.simple import RandomAgent
from othello_lab.core.game import DIED, FINISHED, GARBAGE, ILLEGAL, LATE, PlayerFailure
from othello_lab.core.system.processes import descendants
from othello_lab.core.system.scratch import ScratchFolder
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs play."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def closed() -> Iterator[list[WpiAgent]]:
    agents: list[WpiAgent] = []
    yield agents
    for agent in agents:
        agent.close()


# ------------------------------------------------------------------ one game


@pytest.mark.parametrize("color", list(Color))
@pytest.mark.parametrize("rules", ["wpi", "standard", "mini6"])
def test_whole_games_by_rulesets(
    rules: str, color: Color, tmp_path: Path, scratch: Path, closed: list[WpiAgent]
) -> None:
    if rules == "mini6":  # which the program does not know
        assert WpiAgent("cat").boards() == {8}
        return
    agent = WpiAgent(player(tmp_path, seed=3))
    closed.append(agent)
    for seed in (1, 2):
        players = {color: agent, color.other: RandomAgent()}
        record = play_game(players, Position.start(rules), seeds={color: 0, color.other: seed})
        assert record.end_reason == FINISHED, record.detail
    assert len(list(scratch.iterdir())) == 1
    agent.close()
    assert not list(scratch.iterdir())


WATCHER = "os.remove = lambda path: (open({log!r}, 'a').write(open(path).read()), removed(path))"


def test_what_a_program_is_told(tmp_path: Path, closed: list[WpiAgent]) -> None:
    log = tmp_path / "log"
    begin = f"removed = os.remove; {WATCHER.format(log=str(log))}"
    agent = WpiAgent(player(tmp_path, begin=begin, seed=3, name="anna"), patience=60)
    closed.append(agent)
    other = RandomAgent()
    record = play_game({Color.WHITE: other, Color.BLACK: agent}, Position.start("wpi"))
    assert record.end_reason == FINISHED, record.detail
    await_(lambda: agent._program.has_ended)  # it has been told of the last move, too
    told = log.read_text().split("\n")[:-1]
    whites = [ply.move for ply in record.plies if ply.color is Color.WHITE]
    assert told[0] == "B" and len(told) == 1 + len(whites)
    assert all(re.fullmatch(r"\(W [A-HP] [1-8]\)", each) for each in told[1:])


def test_a_forced_pass_is_asked_for(tmp_path: Path, closed: list[WpiAgent]) -> None:
    """By seeds 6 and 1 White has to pass, twice."""
    for trouble, ends in (("pass", FINISHED), ("honest('(W D 3)')", ILLEGAL)):
        say = f"exec({trouble!r}) if text == '(W P 1)' and {trouble != 'pass'} else honest(text)"
        white = WpiAgent(player(tmp_path, say, after=0, seed=6, name="white"), patience=60)
        black = WpiAgent(player(tmp_path, seed=1, name="black"), patience=60)
        closed += [white, black]
        record = play_game({Color.WHITE: white, Color.BLACK: black}, Position.start("wpi"))
        passes = [ply.color for ply in record.plies if ply.move == 64]
        assert record.end_reason == ends, record.detail
        assert passes == [Color.WHITE] * (2 if ends == FINISHED else 1)


def test_games_that_begin_elsewhere_are_refused(tmp_path: Path, closed: list[WpiAgent]) -> None:
    start = Position.start("wpi")
    agent = WpiAgent(player(tmp_path, seed=3))
    closed.append(agent)
    with pytest.raises(PlayerFailure, match="no game with another start") as caught:
        agent.begin_game(Color.BLACK, start.play("d3"), 1)
    assert caught.value.reason == GARBAGE
    agent.begin_game(Color.WHITE, start, 1)
    with pytest.raises(PlayerFailure, match="no game with another start"):
        agent.observe(19, start.play("d3"))  # which it has not chosen


def test_a_program_that_ends_too_early_has_played_what_it_wrote(
    tmp_path: Path, closed: list[WpiAgent]
) -> None:
    agent = WpiAgent(player(tmp_path, "honest(text); os._exit(0)", after=0), patience=60)
    closed.append(agent)
    start = Position.start("wpi")
    agent.begin_game(Color.WHITE, start, 1)
    move = agent.decide(start, Limits()).move
    after = start.play(move)
    agent.observe(move, after)
    reply = after.moves[0]
    agent.observe(reply, after.play(reply))
    with pytest.raises(PlayerFailure, match=re.escape("ended (exit code 0)")) as caught:
        agent.decide(after.play(reply), Limits())
    assert caught.value.reason == DIED


def test_what_it_waited_before_its_move_excuses_no_late_move(
    closed: list[WpiAgent], tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    monkeypatch.setattr(Program, "waited", property(lambda program: looks.append(program) or 9.0))
    agent = WpiAgent(player(tmp_path, TROUBLES["nothing"][0], after=0))
    closed.append(agent)
    agent.begin_game(Color.WHITE, Position.start("wpi"), 1)
    with pytest.raises(PlayerFailure) as caught:
        agent.decide(Position.start("wpi"), Limits(seconds=0.1))
    assert caught.value.reason == LATE
    assert len(looks) == 2, "at its input, and when it was late"


@pytest.mark.integration
def test_the_example_of_the_page_plays(tmp_path: Path, closed: list[WpiAgent]) -> None:
    import sys

    agent = WpiAgent(f"{sys.executable} {example_player(tmp_path / 'anna.py')}", patience=60)
    closed.append(agent)
    record = play_game({Color.WHITE: agent, Color.BLACK: RandomAgent()}, Position.start("wpi"))
    assert record.end_reason == FINISHED, record.detail


# ------------------------------------------------------------------ runs


def play(folder: Path, command: str, *words: str) -> tuple[set[tuple[str, str]], str]:
    """How the games of a program against a random agent ended: who won, and why; and the log."""
    line_up = ["agents=duel", "agent@first=wpi", f"first.command='{command}'"]
    common = [
        *line_up,
        "agent@second=random",
        "figures=false",
        "games=2",
        "openings=start",
        "trial=false",
    ]
    plan = read([*common, "openings.repeats=true", f"results={folder}/results", *words])
    done = run(plan, "test", Console(quiet=True)).folder
    names = dict(query(done, "select agent, name from agents"))
    ends = set()
    for black, white, result, end in query(
        done, "select black, white, result, end_reason from games"
    ):
        ends.add(({"black": names[black], "white": names[white]}.get(result, "nobody"), end))
    return ends, (done / "log.txt").read_text()


TROUBLES = {
    "illegal": ("honest('(W D 4)')", ILLEGAL, "wrote '(W D 4)': "),
    "half a line": ("open(NAME + '.out', 'w').write('(W'); sleep(300)", LATE, "no whole move"),
    "crash": ("1 / 0", DIED, "ZeroDivisionError"),
    "nothing": ("sleep(300)", LATE, "wrote no player.out within"),
}


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(TROUBLES, ("illegal",)))
def test_a_program_that_does_wrong_loses_for_that_reason(
    name: str, tmp_path: Path, scratch: Path
) -> None:
    trouble, reason, told = TROUBLES[name]
    limit = "limits.seconds=0.5" if reason == LATE else "limits.seconds=30"
    ends, log = play(tmp_path, player(tmp_path, trouble, after=3), limit, "executor.workers=1")
    assert ends == {("random", reason)}, log
    assert told in log, log


@pytest.mark.integration
def test_a_run_is_played_to_its_end(tmp_path: Path, scratch: Path) -> None:
    before = set(descendants([os.getpid()]))
    command = player(tmp_path)
    ends, log = play(tmp_path, command, "games=4", "executor.workers=2", "limits.seconds=30")
    assert {end for _, end in ends} == {FINISHED}, log
    assert set(descendants([os.getpid()])) <= before
    assert not list(scratch.iterdir())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("first.command=no-such-program", "'no-such-program' is not there"),
        ("first.command=cat first.name=../cat", "name=../cat: one word of letters, digits, "),
        ("first.command=cat first.name=a/b", "name=a/b: one word"),
        (
            "first.command=cat first.folder=/nowhere executor.workers=1",
            "folder=/nowhere: no such folder",
        ),
        (
            "first.command=cat first.folder=/proc executor.workers=1",
            "folder=/proc: cannot be written",
        ),
        (
            "first.command=cat first.folder=. executor.workers=2",
            r"'wpi': folder=\.: the games of several workers would share it; executor.workers=1",
        ),
        (
            "first.command=cat first.folder=. agent@second=wpi second.command=cat second.folder=. "
            "executor=serial",
            r"agent 'wpi_2': folder=\.: 'wpi_1' has the files cat.in and cat.out there; another",
        ),
        ("first.command=cat openings=random", "begins elsewhere .* from 8 random plies; openings="),
        ("first.command=cat limits.nodes=10", "limits.nodes=10: another program knows"),
        ("first.command=cat ruleset=mini6", "agent 'wpi' plays on boards of 8x8"),
    ],
)
def test_bad_input_is_one_line(
    words: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["run", "agents=duel", "agent@first=wpi", "agent@second=greedy", "games=2"]
    common += ["openings=start", f"results={tmp_path / 'results'}"]
    assert experiments_main([*common, *words.split()]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and re.search(complaint, printed), printed
    assert not (tmp_path / "results").exists()


# ------------------------------------------------------------------ names and folders


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./anna", "anna"),
        ("/home/anna/bin/anna-2.sh", "anna-2"),
        ("python3 -u anna.py", "anna"),
        ("java -cp build Anna", "Anna"),
        ("java -jar Anna.jar", "Anna"),
        ("othello-lab play wpi anna agent=pvs", "anna"),
        ("'./an na' anna", "anna"),
    ],
)
def test_a_programs_files_are_called_as_it_is(command: str, name: str) -> None:
    assert name_of(command) == name


def test_a_name_that_cannot_be_is_told() -> None:
    for command in ("'./an na'", "-x", "..", "./größe"):
        with pytest.raises(ValueError, match="name=WORD"):
            name_of(command)
    assert WpiAgent("'./an na'", "anna").name == "anna"


def test_folders_of_those_who_were_killed_are_removed_by_the_next(scratch: Path) -> None:
    left = Path(tempfile.mkdtemp(prefix="othello-lab-scratch-"))
    (left / "deep").mkdir()
    mine = ScratchFolder()
    assert mine.path.is_dir() and not left.exists()
    other = ScratchFolder()  # mine is in use
    assert mine.path.is_dir() and other.path != mine.path
    descriptor = os.open(mine.path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
    mine.remove()
    other.remove()
    assert not list(scratch.iterdir())


def test_nothing_is_started_because_somebody_looks(tmp_path: Path) -> None:
    flag = tmp_path / "started"
    agent = WpiAgent(player(tmp_path, begin=f"open({str(flag)!r}, 'w')"))
    agent.prepare()
    agent.close()
    assert is_outside(agent) and not agent.reproducible and agent.from_start
    assert not flag.exists()
