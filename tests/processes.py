"""Commands as processes of their own, and what tests ask of the processes of a run."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from othello_lab.__main__ import main
from othello_lab.core.system import processes

_PR_SET_CHILD_SUBREAPER = 36
_PF_EXITING = 0x4  # linux/sched.h


def await_(there: Callable[[], object], timeout: float = 120) -> None:
    """Wait until something is there; AssertionError if that takes far too long."""
    until = time.monotonic() + timeout
    while not there():
        assert time.monotonic() < until, f"waited for {timeout} s"
        time.sleep(0.01)


def descendants(process: int) -> list[int]:
    """The living processes below one; needs /proc."""
    return processes.descendants([process])


def _stat(process: int) -> list[str]:
    """The fields behind a process's name; those of one that is dead if it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["X", "0"]


def lives(process: int) -> bool:
    """Return True if a process is there, and has not ended; needs /proc."""
    return _stat(process)[0] not in "ZX"


def leads_a_session(process: int) -> bool:
    """Return True for a fork server that has not begun to end: workers lead none."""
    try:
        return os.getsid(process) == process and not int(_stat(process)[6]) & _PF_EXITING
    except (ProcessLookupError, IndexError):
        return False


def parent_of(process: int) -> int:
    """The parent's number, 0 if the process is gone; needs /proc."""
    return int(_stat(process)[1])


@contextmanager
def adopted() -> Iterator[Callable[[], list[int]]]:
    """Meanwhile this process becomes the parent of all below it that lose theirs; a function
    returns what lives below it and was not there before. In the end that is killed."""
    before = set(descendants(os.getpid()))
    processes.adopt_orphans()
    try:
        yield lambda: [n for n in descendants(os.getpid()) if n not in before]
    finally:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        processes.end_descendants([os.getpid()], before)


_commands: list[Command] = []


def end_commands() -> None:
    """Kill all commands that have not ended."""
    while _commands:
        with contextlib.suppress(ChildProcessError):  # somebody else has seen its end
            _commands.pop().kill()


class Command:
    """``othello-lab ...`` in a fork of this process, which spares it the second that a
    Python of its own takes to begin; used like :class:`subprocess.Popen`.

    It leads a process group of its own, may print as much as a pipe holds (64 KiB), and is killed
    at the end of the test. With Dask it gets a Python of its own: a fork lacks the threads that
    Dask may have here, and would wait for them for ever.

    before: called in the new process before the command. main: of another package.
    """

    def __init__(
        self,
        *words: str,
        before: Callable[[], None] = lambda: None,
        main: Callable[[Sequence[str]], int] = main,
    ) -> None:
        self._main = main
        self._output, theirs = os.pipe()
        os.set_blocking(self._output, False)
        self._printed = ""
        self._closed = False
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.setsid()
                code = self._run(theirs, words, before)
            finally:
                os._exit(code)
        os.close(theirs)
        _commands.append(self)

    def _run(self, output: int, words: Sequence[str], before: Callable[[], None]) -> int:
        os.close(self._output)
        for descriptor in (1, 2):
            os.dup2(output, descriptor)
        sys.stdout, sys.stderr = (os.fdopen(n, "w", 1, closefd=False) for n in (1, 2))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
        before()
        if "executor=dask" in words:
            os.execv(sys.executable, [sys.executable, "-m", "othello_lab", *words])
        try:
            return self._main(words)
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            sys.stdout.flush()

    def poll(self) -> int | None:
        """The exit code, negative after a signal; None while it runs."""
        if self.returncode is None:
            number, status = os.waitpid(self.pid, os.WNOHANG)
            if number:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = 120) -> int:
        """The exit code, once it has ended; AssertionError if that takes too long."""
        if self.poll() is None:
            with os.fdopen(os.pidfd_open(self.pid)) as end:
                select.select([end], [], [], timeout)
        code = self.poll()
        assert code is not None, f"it has not ended within {timeout} s: {self.printed}"
        return code

    def says(self, words: str, times: int = 1, timeout: float = 120) -> None:
        """Wait until it has printed these words so often; AssertionError if it ends before."""
        until = time.monotonic() + timeout
        while self._printed.count(words) < times:
            if not select.select([self._output], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"it did not say {words!r} within {timeout} s")
            before = self._printed
            assert self.printed != before, f"it ended, and did not say {words!r}: {before}"

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()

    def stop_listening(self) -> None:
        """Nobody reads any more what it prints."""
        os.close(self._output)
        self._closed = True

    @property
    def printed(self) -> str:
        """What it has printed by now."""
        if not self._closed:
            with contextlib.suppress(BlockingIOError):
                self._printed += os.read(self._output, 1 << 16).decode()
        return self._printed

    def communicate(self, timeout: float = 120) -> tuple[str, None]:
        """All that it has printed, once it has ended."""
        await_(lambda: (self.printed, self.poll())[1] is not None, timeout)  # no full pipe
        printed = self.printed
        if not self._closed:
            self.stop_listening()
        return printed, None
