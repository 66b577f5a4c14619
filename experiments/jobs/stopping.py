"""Early ends of a run: a signal, or the loss of its record."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from othello_lab.core.system.shared_memory import FINISH_PAIRS, GO_ON, STOP_AT_ONCE, STOPPING

_LOOK_SECONDS = 0.25  # how often to see whether the record is there


class RunStopped(RuntimeError):
    """A run ended early for a reason outside it. The message names the command that continues it.

    why: the message without that command, for a job that this one is a part of; may be empty.
    """

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why


@contextmanager
def stoppable(stop: Any, saying: str = STOPPING) -> Iterator[None]:
    """End the block in order after one Ctrl-C, SIGTERM or SIGHUP, at once after a second one.

    stop: the number that workers look at. saying: printed at the first signal. A signal that is
    ignored already (``nohup``) stays so.
    """
    terminals = [number for number in (1, 2) if os.isatty(number)]

    def handle(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:  # the terminal is gone, and with it whoever reads
            for terminal in terminals:
                os.dup2(os.open(os.devnull, os.O_WRONLY), terminal)
        if stop.value != GO_ON:
            stop.value = STOP_AT_ONCE
            raise KeyboardInterrupt
        stop.value = FINISH_PAIRS
        again = "Ctrl-C again" if number == signal.SIGINT else "a second signal"
        # Not through the console: it may be busy with a line just now, or be gone.
        with suppress(OSError):
            os.write(2, f"\n{saying}; {again} to stop at once\n".encode())

    with signals_handled(handle, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        yield


@contextmanager
def signals_handled(handle: Callable[[int, Any], None], *signals: int) -> Iterator[None]:
    """Within it these signals are handled so; SIGTERM and SIGHUP stay ignored where they are."""
    before: dict[int, Any] = {}
    with suppress(ValueError):  # not in the main thread, where signals do not arrive
        for number in signals:
            if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def guarded(record: Path, stop: Any) -> Iterator[None]:
    """Stop at once, with RunStopped, when the file of the record is deleted or moved meanwhile.

    stop: the number that workers look at.
    """
    original, over, gone = _identity(record), threading.Event(), threading.Event()
    caller = threading.current_thread()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            if _identity(record) != original:
                gone.set()
                stop.value = STOP_AT_ONCE
                if caller is threading.main_thread():  # it may be playing itself
                    signal.pthread_kill(caller.ident or 0, signal.SIGINT)
                return

    thread = threading.Thread(target=look, name="record", daemon=True)
    thread.start()
    try:
        try:
            yield
        finally:
            over.set()
            thread.join()
        if gone.is_set():
            raise KeyboardInterrupt
    except BaseException:
        if gone.is_set():
            raise RunStopped(
                f"{record} was deleted, or moved, in mid-run; the run has stopped, and no more of "
                "it is kept than is left there"
            ) from None
        raise


def _identity(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one in its place; None if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
