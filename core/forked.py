"""A process forked from this one, for work that may hang or die."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


class Forked:
    """Runs ``main(pipe, *arguments)`` in a child process; ``pipe`` leads to it."""

    def __init__(self, main: Callable[..., None], *arguments: Any) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_run, args=(self.pipe, main, theirs, *arguments))
        self._process.start()
        theirs.close()

    def exit_code(self) -> int | None:
        """Wait until it has ended by itself; its exit code."""
        self._process.join()
        return self._process.exitcode

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()


def _run(parents: Connection, main: Callable[..., None], *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    parents.close()
    main(*arguments)
