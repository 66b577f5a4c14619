"""Commands as processes of their own, and what tests ask of the processes of a run."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from othello_lab.__main__ import main


def await_(there: Callable[[], object], timeout: float = 120) -> None:
    """Wait until something is there; AssertionError if that takes far too long."""
    until = time.monotonic() + timeout
    while not there():
        assert time.monotonic() < until, f"waited for {timeout} s"
        time.sleep(0.01)


def descendants(process: int) -> Iterator[int]:
    """The processes below one, nearest first; needs /proc."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == process:
            yield int(path.parent.name)
            yield from descendants(int(path.parent.name))


class Command:
    """``othello-lab ...`` in a fork of this process, which spares it the second that a
    Python of its own takes to begin; used like :class:`subprocess.Popen`.

    It leads a process group of its own, and may print as much as a pipe holds (64 KiB).

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

    def _run(self, output: int, words: Sequence[str], before: Callable[[], None]) -> int:
        os.close(self._output)
        for descriptor in (1, 2):
            os.dup2(output, descriptor)
        sys.stdout, sys.stderr = (os.fdopen(n, "w", 1, closefd=False) for n in (1, 2))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
        before()
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
        await_(lambda: self.poll() is not None, timeout)
        assert self.returncode is not None
        return self.returncode

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
