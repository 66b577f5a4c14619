"""One program, whatever it does: what it says, how it ends, and that nothing is left of it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import await_

from othello_lab.agents.external.program import LONGEST_LINE, Program, words_of
from othello_lab.core.game import DIED, GARBAGE, HUNG, PlayerFailure
from othello_lab.core.system.processes import LINUX, descendants

Start = Callable[[str], Program]


@pytest.fixture
def started() -> Iterator[Start]:
    """Start a program by its command; it is killed in the end."""
    programs: list[Program] = []

    def start(command: str) -> Program:
        programs.append(Program(command))
        programs[-1].start()
        return programs[-1]

    yield start
    for program in programs:
        program.kill()


@pytest.fixture
def python(started: Start) -> Start:
    """Start a program that runs this code."""
    return lambda code: started(f'{sys.executable} -c "import os, signal, sys; {code}"')


def test_lines_go_to_and_fro() -> None:
    program = Program("cat")
    assert not program.is_running and program.number is None
    program.start()
    assert program.is_running
    program.send("one\r")
    program.send("two, größer")
    assert program.receive(10) == "one"  # without the end of a line on Windows
    assert program.receive(10) == "two, größer"
    assert program.receive_now() is None
    program.kill()
    assert not program.is_running


def test_what_is_not_read_is_not_waited_for(python: Start) -> None:
    program = python("signal.pause()")
    with pytest.raises(PlayerFailure, match="did not read 'xxx") as caught:
        program.send("x" * (1 << 22), 0.2)
    assert caught.value.reason == HUNG
    assert not program.is_running


def test_a_program_that_writes_while_it_is_written_to_is_listened_to(started: Start) -> None:
    program, line = started("cat"), "x" * 1000
    for _ in range(300):  # more than both pipes hold
        program.send(line, 10)
    assert [program.receive(10) for _ in range(300)] == [line] * 300


@pytest.mark.parametrize(
    ("code", "reason", "what"),
    [
        ("signal.pause()", HUNG, "0.3 s"),
        ("raise SystemExit(7)", DIED, "exit code 7"),
        ("print(1/0)", DIED, "ZeroDivisionError: division by zero"),
        ("os.kill(os.getpid(), 9)", DIED, "exit code -9"),
        ("os.close(1); signal.pause()", DIED, "closed its output"),
        ("print('x' * 10**6, flush=True, end=''); signal.pause()", GARBAGE, "65536"),
        ("print('half a line', end='')", DIED, "\nhalf a line"),
        ("sys.stderr.write('oh\\x1b!\\n'); raise SystemExit(1)", DIED, "\noh\\x1b!"),
    ],
)
@pytest.mark.integration
def test_whatever_it_does_is_told_and_ends_it(
    code: str, reason: str, what: str, python: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    program = python(code)
    with pytest.raises(PlayerFailure) as caught:
        program.receive(0.3 if reason == HUNG else 30)
    assert caught.value.reason == reason
    assert what in caught.value.detail
    assert program.command in caught.value.detail
    assert not program.is_running
    assert ("oh\x1b!" in capsys.readouterr().err) == ("oh" in what)
    with pytest.raises(PlayerFailure, match="is not running"):
        program.send("hello")
    program.start()  # and again
    assert program.is_running


def test_a_child_that_holds_its_output_open_does_not_hide_its_end(python: Start) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '100']); print('bye', flush=True)"
    program = python(code)
    assert program.receive(30) == "bye"
    with pytest.raises(PlayerFailure, match="exit code 0"):
        program.receive(30)


def test_a_long_line_is_read(python: Start) -> None:
    program = python(f"print('x' * {LONGEST_LINE - 1}); input()")
    assert len(program.receive(30)) == LONGEST_LINE - 1


@pytest.mark.skipif(not LINUX, reason="finds processes by /proc")
@pytest.mark.integration
def test_it_ends_with_all_that_it_has_started(python: Start) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '100'], start_new_session=True)"
    program = python(f"{code}; print('there', flush=True); input()")
    assert program.receive(30) == "there"
    assert program.number is not None
    below = [program.number, *descendants([program.number])]
    assert len(below) >= 2
    program.kill()
    await_(lambda: not any(Path(f"/proc/{number}").exists() for number in below))


@pytest.mark.parametrize(
    ("code", "ends"),
    [("input()", True), ("input(); signal.pause()", False), ("signal.pause()", False)],
)
def test_it_is_asked_to_end_and_then_ended(
    code: str, ends: bool, python: Start, tmp_path: Path
) -> None:
    program = python(f"{code}; open('{tmp_path / 'ended'}', 'x')")
    program.close("quit", 30 if ends else 0.2)
    assert (tmp_path / "ended").exists() == ends
    assert not program.is_running
    program.close("quit", 1)  # which is nothing


@pytest.mark.skipif(not LINUX, reason="needs PR_SET_PDEATHSIG")
def test_it_ends_with_the_process_that_has_started_it(tmp_path: Path) -> None:
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        program = Program("sleep 100")  # which does not read
        program.start()
        os.write(write, str(program.number).encode())
        signal.pause()
    state = Path(f"/proc/{os.read(read, 100).decode()}/stat")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    await_(lambda: not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_fork_does_not_use_the_program_of_another(started: Start) -> None:
    program = started("cat")
    if (child := os.fork()) == 0:
        os._exit(program.is_running)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert program.is_running


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("no-such-program x", "'no-such-program' is not there"),
        ("'", "No closing quotation"),
        ("", "a program is needed"),
        ("./text", "'./text' is not executable"),
    ],
)
def test_commands_that_cannot_be_run(
    command: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("hello")
    Path("text").chmod(0o644)
    with pytest.raises(ValueError, match=complaint):
        words_of(command)
    with pytest.raises(PlayerFailure) as caught:
        Program(command).start()
    assert caught.value.reason == DIED and complaint in caught.value.detail


def test_a_program_that_does_not_talk_runs_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what its command names by a relative path is found from there."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "run"
    script.write_text('#!/bin/sh\npwd > where; cat "$1" >> where; cat >> where; echo done\n')
    script.chmod(0o755)
    (tmp_path / "text").write_text("found\n")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    program = Program("bin/run text", talks=False)
    program.folder = folder
    program.start()
    await_(lambda: program.has_ended)
    assert (folder / "where").read_text() == f"{folder}\nfound\n"
    with pytest.raises(PlayerFailure, match=r"exit code 0\)[^z]*done"):
        program.fail_as_ended()
