"""The log of a run: one file, in which every line names its game."""

from __future__ import annotations

import logging
import multiprocessing
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FORMAT = "%(asctime)s %(levelname)-7s %(processName)s game %(game)s %(name)s: %(message)s"
_NOISY = ("matplotlib", "PIL", "fontTools", "numba")  # have much to say that is not about the run


class _CurrentGame(threading.local):
    number: int | None = None


_current = _CurrentGame()


@contextmanager
def logging_game(number: int) -> Iterator[None]:
    """What this thread logs meanwhile is about the game of this number."""
    _current.number = number
    try:
        yield
    finally:
        _current.number = None


def name_game(record: logging.LogRecord) -> bool:
    """A logging filter that gives each record its game's number; ``-`` where there is none."""
    if not hasattr(record, "game"):
        record.game = "-" if _current.number is None else _current.number
    return True


class _LogFile(logging.FileHandler):
    """A log that a full disk cuts short without further words: the record's writer says it."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass


@contextmanager
def logging_to(path: Path, level: str) -> Iterator[None]:
    """Send what this process and its workers log to one file."""
    import multiprocessing_logging  # here: it starts a thread when it is used

    if multiprocessing.get_start_method(allow_none=True) != "fork":
        multiprocessing.set_start_method("fork", force=True)
    root = logging.getLogger()
    before, level_before = list(root.handlers), root.level
    handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORMAT))
    handler.addFilter(name_game)
    for other in before:
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
    if sys.platform != "darwin":  # its queue asks for its size, which macOS cannot tell
        multiprocessing_logging.install_mp_handler()
    try:
        yield
    finally:
        for ours in list(root.handlers):
            root.removeHandler(ours)
            with suppress(OSError):
                ours.close()
        for other in before:
            root.addHandler(other)
        root.setLevel(level_before)
