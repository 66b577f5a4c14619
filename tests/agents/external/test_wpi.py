"""Programs of the file protocol as agents, in games."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bots import player

from othello_lab import Color, Position, RandomAgent, play_game
from othello_lab.agents.agent import Limits
from othello_lab.agents.external import WpiAgent
from othello_lab.agents.external.mailbox import LONGEST, FileNameError, MailboxFile, mailbox_files
from othello_lab.agents.external.program import Program
from othello_lab.agents.external.wpi import name_of
from othello_lab.core.game import DIED, FINISHED, GARBAGE, ILLEGAL, LATE, PlayerFailure
from othello_lab.core.system.scratch import ScratchFolder

Made = Callable[..., WpiAgent]
pytestmark = pytest.mark.usefixtures("scratch")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    """Make the agent of a player with these settings; it is closed in the end."""
    agents: list[WpiAgent] = []

    def make(*trouble: Any, **settings: Any) -> WpiAgent:
        agents.append(WpiAgent(player(tmp_path, *trouble, **settings), patience=60))
        return agents[-1]

    yield make
    for agent in agents:
        agent.close()


@pytest.mark.integration
def test_whole_games(scratch: Path, made: Made) -> None:
    agent = made(seed=3)
    assert agent.boards() == {8}
    for rules, color in (("wpi", Color.WHITE), ("standard", Color.WHITE), ("wpi", Color.BLACK)):
        players = {color: agent, color.other: RandomAgent()}
        record = play_game(players, Position.start(rules), seeds={color: 0, color.other: 1})
        assert record.end_reason == FINISHED, record.detail
        assert len(list(scratch.iterdir())) == 1
    agent.close()
    assert not list(scratch.iterdir())


WATCHER = "os.remove = lambda path: (open({log!r}, 'a').write(open(path).read()), removed(path))"


def test_what_a_program_is_told(tmp_path: Path, made: Made) -> None:
    log = tmp_path / "log"
    begin = f"removed = os.remove; {WATCHER.format(log=str(log))}"
    agent = made(begin=begin, seed=3, name="anna")
    record = play_game({Color.WHITE: RandomAgent(), Color.BLACK: agent}, Position.start("wpi"))
    assert record.end_reason == FINISHED, record.detail
    assert agent.ended_within(60)  # it has been told of the last move, too
    lines = log.read_text().split("\n")[:-1]
    whites = [ply.move for ply in record.plies if ply.color is Color.WHITE]
    assert lines[0] == "B" and len(lines) == 1 + len(whites)
    assert all(re.fullmatch(r"\(W [A-HP] [1-8]\)", line) for line in lines[1:])


@pytest.mark.parametrize(
    ("at_a_pass", "ends", "passes"),
    [("text", FINISHED, 2), pytest.param("'(W D 3)'", ILLEGAL, 1, marks=pytest.mark.integration)],
)
def test_a_forced_pass_is_asked_for(at_a_pass: str, ends: str, passes: int, made: Made) -> None:
    """By seeds 6 and 1 White has to pass, twice."""
    say = f"honest({at_a_pass} if text == '(W P 1)' else text)"
    white = made(say, after=0, seed=6, name="white")
    black = made(seed=1, name="black")
    record = play_game({Color.WHITE: white, Color.BLACK: black}, Position.start("wpi"))
    assert record.end_reason == ends, record.detail
    assert [ply.color for ply in record.plies if ply.move == 64] == [Color.WHITE] * passes


def test_games_that_begin_elsewhere_are_refused(made: Made) -> None:
    start = Position.start("wpi")
    agent = made(seed=3)
    with pytest.raises(PlayerFailure, match="start") as caught:
        agent.begin_game(Color.BLACK, start.play("d3"), 1)
    assert caught.value.reason == GARBAGE
    agent.begin_game(Color.WHITE, start, 1)
    with pytest.raises(PlayerFailure, match="start"):
        agent.observe(19, start.play("d3"))  # which it has not chosen


def test_a_program_that_ends_too_early_has_played_what_it_wrote(made: Made) -> None:
    agent = made("honest(text); os._exit(0)", after=0)
    record = play_game({Color.WHITE: agent, Color.BLACK: RandomAgent()}, Position.start("wpi"))
    assert (record.end_reason, len(record.plies)) == (DIED, 2)
    assert "exit code 0" in record.detail


def test_what_it_waited_before_its_move_excuses_no_late_move(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    monkeypatch.setattr(Program, "waited", property(lambda program: looks.append(program) or 9.0))
    agent = made("signal.pause()", after=0)
    agent.begin_game(Color.WHITE, Position.start("wpi"), 1)
    with pytest.raises(PlayerFailure) as caught:
        agent.decide(Position.start("wpi"), Limits(seconds=0.1))
    assert caught.value.reason == LATE
    assert len(looks) == 2, "at its input, and when it was late"


# ------------------------------------------------------------------ names and folders


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/home/anna/bin/anna-2.sh", "anna-2"),
        ("java -jar Anna.jar", "Anna"),
        ("'./an na' anna", "anna"),
        *((command, "") for command in ("'./an na'", "-x", "..", "./größe")),
    ],
)
def test_a_programs_files_are_called_as_it_is(command: str, name: str) -> None:
    if name:
        assert name_of(command) == name
    else:
        with pytest.raises(ValueError, match="name=WORD"):
            name_of(command)
        assert WpiAgent(command, "anna").name == "anna"


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


# ------------------------------------------------------------------ the files by which they talk


@pytest.fixture
def file(scratch: Path) -> MailboxFile:
    return MailboxFile(scratch / "x")


def test_a_message_is_written_read_and_removed(scratch: Path) -> None:
    incoming, outgoing = mailbox_files(scratch, "anna")
    assert incoming.path.name == "anna.in" and outgoing.path.name == "anna.out"
    assert not incoming.is_there and incoming.read() is None
    incoming.write("W")
    assert incoming.is_there and incoming.read() == "W\n" and 0 <= incoming.age < 100
    incoming.write("(B D 3)")
    assert incoming.read() == "(B D 3)\n"
    assert [path.name for path in scratch.iterdir()] == ["anna.in"]
    assert incoming.path.stat().st_mode & 0o777 == 0o644  # others may have to read it
    incoming.remove()
    incoming.remove()
    assert not incoming.is_there and incoming.age == 0 and not outgoing.is_there


def test_nobody_ever_sees_half_of_it(file: MailboxFile) -> None:
    seen: set[str | None] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.add(file.read())

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(100):
        file.write("(W D 3)")
    done.set()
    reader.join()
    assert seen <= {None, "(W D 3)\n"}


def test_what_is_no_file_is_told(file: MailboxFile, scratch: Path) -> None:
    (scratch / "there").write_text("(W D 3)")
    for make, what in (
        (lambda: os.mkdir(file.path), "x is a folder"),
        (lambda: os.mkfifo(file.path), "x is a FIFO"),
        (lambda: file.path.symlink_to("there"), "x is a link"),
        (lambda: file.path.symlink_to("nowhere"), "x is a link"),
    ):
        make()
        assert file.is_there
        with pytest.raises(FileNameError, match=what):
            file.read()
        if file.path.is_dir():
            for touch in (lambda: file.write("W"), file.remove):
                with pytest.raises(OSError, match="x"):
                    touch()
            file.path.rmdir()
        else:
            file.write("W")  # in its place
            assert file.read() == "W\n" and not file.path.is_symlink()
            file.remove()
    assert (scratch / "there").read_text() == "(W D 3)"
    assert [path.name for path in scratch.iterdir()] == ["there"]


def test_what_others_write_is_cut_to_what_could_be_meant(file: MailboxFile) -> None:
    file.path.write_bytes(b"\xff" * (LONGEST + 1000))
    assert len(file.read() or "") == LONGEST
    file.path.write_text("(W D 3)", encoding="utf-8-sig")  # with a byte order mark
    assert file.read() == "(W D 3)"
