"""What a confined process can do to others: nothing that takes their time."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from othello_lab.core.system import landlock
from othello_lab.core.system.confinement import Box, ConfinedProcess, Confinement
from othello_lab.core.system.forked import Channel
from othello_lab.core.system.processes import LINUX

pytestmark = pytest.mark.skipif(not LINUX, reason="needs Linux")

LIBC = ctypes.CDLL(None, use_errno=True)
SUBREAPER, PARENT = 36, 0x8000


def _answer(link: Channel, parent: int, question: Callable[[int], object]) -> None:
    try:
        answer = repr(question(parent))
    except OSError as error:
        answer = errno.errorcode[error.errno or 0]
    link.send(answer.encode())


@contextmanager
def process(question: Callable[[int], object], box: Box | None = None) -> Iterator[ConfinedProcess]:
    """Yield a confined process that answers a question about its parent."""
    output = os.open(os.devnull, os.O_WRONLY)
    child = ConfinedProcess(
        _answer, os.getpid(), question, confinement=Confinement(box=box), output=output
    )
    os.close(output)
    try:
        yield child
    finally:
        child.close()


def confined(question: Callable[[int], object], box: Box | None = None) -> str:
    """Return the answer of a confined process to a question about its parent, or its error."""
    with process(question, box) as child:
        answer = child.receive_within(60)
        assert answer is not None
        return answer.decode()


def checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


TAKES: dict[str, Callable[[int], object]] = {
    "affinity": lambda other: os.sched_setaffinity(other, {0}),
    "priority": lambda other: os.setpriority(os.PRIO_PROCESS, other, 19),
    "of the group": lambda other: os.setpriority(os.PRIO_PGRP, os.getpgid(other), 19),
    "of the user": lambda other: os.setpriority(os.PRIO_USER, 0, 19),
    "more priority": lambda other: os.setpriority(os.PRIO_PROCESS, 0, -1),
    "scheduler": lambda other: os.sched_setscheduler(other, os.SCHED_IDLE, os.sched_param(0)),
    "realtime": lambda other: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "parameters": lambda other: os.sched_setparam(other, os.sched_param(0)),
    "limits": lambda other: resource.prlimit(other, resource.RLIMIT_CORE, (0, 0)),
    "subreaper": lambda other: checked(LIBC.prctl(SUBREAPER, 0, 0, 0, 0)),
    "sibling": lambda other: checked(LIBC.syscall(56, PARENT | signal.SIGCHLD, 0, 0, 0, 0)),
}


@pytest.mark.parametrize("kind", TAKES)
def test_nobody_elses_time_can_be_taken(kind: str) -> None:
    if os.uname().machine != "x86_64" and kind == "sibling":
        pytest.skip("the number of the call is another one")
    assert confined(TAKES[kind]) == "EPERM"


@pytest.mark.parametrize("name", ["oom_score_adj", "timerslack_ns", "comm"])
def test_files_of_other_processes_cannot_be_written(name: str) -> None:
    if landlock.version() < 2:
        pytest.skip("this kernel has no rules for files")
    before = Path(f"/proc/self/{name}").read_text()
    said = confined(lambda other: Path(f"/proc/{other}/{name}").write_text("900"))
    assert said in ("EACCES", "EPERM")
    assert Path(f"/proc/self/{name}").read_text() == before


def test_an_honest_process_can_do_its_work(tmp_path: Path) -> None:
    """Threads, children, files of its own, less priority, a processor of its own choice."""

    def work(_: int) -> list[object]:
        done: list[object] = []
        worker = threading.Thread(target=done.append, args=["thread"])
        worker.start()
        worker.join()
        said = subprocess.run(
            [sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True
        )
        done.append(said.stdout.strip())
        (tmp_path / "one").mkdir()
        (tmp_path / "one" / "file").write_text("mine")
        (tmp_path / "one" / "file").rename(tmp_path / "moved")
        done.append((tmp_path / "moved").read_text())
        os.sched_setaffinity(0, os.sched_getaffinity(0))
        done.append(os.nice(1))
        if (child := os.fork()) == 0:
            os._exit(5)
        done.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return done

    niceness = os.nice(0) + 1
    assert confined(work) == repr(["thread", "42", "mine", niceness, 5])


def test_orphans_stay_below_whoever_made_them() -> None:
    """A child of a child is found among its descendants, whatever it has tried."""

    def hide(other: int) -> bool:
        LIBC.prctl(SUBREAPER, 0, 0, 0, 0)
        first, last = os.pipe()
        if (child := os.fork()) == 0:
            if (orphan := os.fork()) == 0:
                signal.pause()
            os.write(last, f"{orphan}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        orphan = int(os.read(first, 20))
        stat = Path(f"/proc/{orphan}/stat").read_text()
        os.kill(orphan, signal.SIGKILL)
        return int(stat.rpartition(")")[2].split()[1]) == os.getpid()

    assert confined(hide) == "True"


@pytest.mark.parametrize("number", [errno.ENOMEM, errno.EPERM])
def test_a_system_without_room_ends_a_process_without_a_traceback(
    number: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Any other error is one of the lab, and is shown."""

    def refuse(control: int, parent: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("othello_lab.core.system.confinement.fork_sender", refuse)
    with process(lambda _: "begun") as child, pytest.raises(EOFError):
        child.receive()
    assert ("Traceback" in capfd.readouterr().err) == (number == errno.EPERM)
