"""One program, whatever it does: what it says, how it ends, and that nothing is left of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import await_

from othello_lab.agents.external.program import LONGEST_LINE, Program, words_of
from othello_lab.core.game import DIED, GARBAGE, HUNG, PlayerFailure
from othello_lab.core.system.processes import LINUX, descendants


@pytest.fixture
def started() -> Iterator[list[Program]]:
    programs: list[Program] = []
    yield programs
    for program in programs:
        program.kill()


def python(code: str, started: list[Program]) -> Program:
    """A program that runs this code."""
    program = Program(f'{sys.executable} -c "{code}"')
    started.append(program)
    program.start()
    return program


def test_lines_go_to_and_fro(started: list[Program]) -> None:
    program = Program("cat")
    started.append(program)
    assert not program.is_running and program.number is None
    program.start()
    assert program.is_running
    program.send("one")
    program.send("two, größer")
    assert program.receive(10) == "one"
    assert program.receive(10) == "two, größer"
    assert program.receive_now() is None


def test_the_end_of_a_line_may_be_windows_own(started: list[Program]) -> None:
    program = python("print('d3\\r\\n', end='', flush=True); input()", started)
    assert program.receive(10) == "d3"


def test_what_is_not_read_is_not_waited_for(started: list[Program]) -> None:
    program = python("import time; time.sleep(100)", started)
    with pytest.raises(PlayerFailure, match="did not read 'xxx") as caught:
        program.send("x" * (1 << 22), 0.2)
    assert caught.value.reason == HUNG
    assert not program.is_running


def test_a_program_that_writes_while_it_is_written_to_is_listened_to(
    started: list[Program],
) -> None:
    program = Program("cat")
    started.append(program)
    program.start()
    line = "x" * 1000
    for _ in range(1000):  # more than both pipes hold
        program.send(line, 10)
    assert [program.receive(10) for _ in range(1000)] == [line] * 1000


@pytest.mark.parametrize(
    ("code", "reason", "what"),
    [
        ("import time; time.sleep(100)", HUNG, "did not answer within 0.3 s"),
        ("raise SystemExit(7)", DIED, "ended (exit code 7)"),
        ("print(1/0)", DIED, "ZeroDivisionError: division by zero"),
        ("import os; os.kill(os.getpid(), 9)", DIED, "ended (exit code -9)"),
        ("import os, time; os.close(1); time.sleep(100)", DIED, "closed its output"),
        ("import time; print('x' * 10**6, flush=True, end=''); time.sleep(9)", GARBAGE, "a line"),
        ("print('half a line', end='')", DIED, "Its last output:\nhalf a line"),
    ],
)
def test_whatever_it_does_is_told_and_ends_it(
    code: str, reason: str, what: str, started: list[Program]
) -> None:
    program = python(code, started)
    patience = 0.3 if reason == HUNG else 30
    with pytest.raises(PlayerFailure) as caught:
        program.receive(patience)
    assert caught.value.reason == reason
    assert what in caught.value.detail
    assert program.command in caught.value.detail
    assert not program.is_running
    with pytest.raises(PlayerFailure, match="is not running"):
        program.send("hello")
    program.start()  # and again
    assert program.is_running


def test_a_child_that_holds_its_output_open_does_not_hide_its_end(started: list[Program]) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '100']); print('bye', flush=True)"
    program = python(code, started)
    assert program.receive(30) == "bye"
    with pytest.raises(PlayerFailure, match="exit code 0"):
        program.receive(30)


def test_a_long_line_is_read(started: list[Program]) -> None:
    program = python(f"print('x' * {LONGEST_LINE - 1}); input()", started)
    assert len(program.receive(30)) == LONGEST_LINE - 1


def test_what_it_says_in_its_error_stream_is_passed_on_and_kept(
    started: list[Program], capsys: pytest.CaptureFixture[str]
) -> None:
    program = python("import sys; sys.stderr.write('oh\\x1b!\\n'); raise SystemExit(1)", started)
    with pytest.raises(PlayerFailure, match=r"Its last output:\noh\\x1b!"):
        program.receive(30)
    assert "oh\x1b!" in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.skipif(not LINUX, reason="finds processes by /proc")
def test_it_ends_with_all_that_it_has_started(started: list[Program]) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '100'], start_new_session=True)"
    program = python(f"{code}; print('there', flush=True); input()", started)
    assert program.receive(30) == "there"
    assert program.number is not None
    below = [program.number, *descendants([program.number])]
    assert len(below) >= 2
    program.kill()
    await_(lambda: not any(Path(f"/proc/{number}").exists() for number in below))


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("input(); print('so long')", True),
        ("import time; input(); time.sleep(100)", False),
        ("import time; time.sleep(100)", False),
    ],
)
def test_it_is_asked_to_end_and_then_ended(code: str, ends: bool, started: list[Program]) -> None:
    program = python(code, started)
    process = program._process
    assert process is not None
    program.close("quit", 30 if ends else 0.2)
    assert process.returncode == (0 if ends else -signal.SIGKILL)
    assert not program.is_running
    program.close("quit", 1)  # which is nothing


@pytest.mark.skipif(not LINUX, reason="needs PR_SET_PDEATHSIG")
def test_it_ends_with_the_process_that_has_started_it(tmp_path: Path) -> None:
    number = tmp_path / "number"
    if (child := os.fork()) == 0:
        program = Program("sleep 100")  # which does not read
        program.start()
        (tmp_path / "partial").write_text(str(program.number))
        (tmp_path / "partial").rename(number)
        time.sleep(100)
    await_(number.exists)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    state = Path(f"/proc/{number.read_text()}/stat")
    await_(lambda: not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_fork_does_not_use_the_program_of_another(started: list[Program]) -> None:
    program = Program("cat")
    started.append(program)
    program.start()
    if (child := os.fork()) == 0:
        os._exit(program.is_running)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert program.is_running


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("no-such-program x", "the program 'no-such-program' is not there"),
        ("'", "No closing quotation"),
        ("", "a program is needed"),
        ("./text", "the program './text' is not executable"),
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
    started: list[Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    started.append(program)
    program.start()
    await_(lambda: program.has_ended)
    assert (folder / "where").read_text() == f"{folder}\nfound\n"
    with pytest.raises(PlayerFailure, match=r"ended \(exit code 0\)[^z]*done"):
        program.fail_as_ended()
