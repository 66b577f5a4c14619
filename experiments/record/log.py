"""The log of a run, with the game in every line, and the file of the agents' own output."""

from __future__ import annotations

import io
import logging
import logging.handlers
import multiprocessing
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from othello_lab.core.system.escaping import visible
from othello_lab.core.system.files import check_file, open_file, open_to_add
from othello_lab.core.system.shared_memory import why_no_locks

OUTPUT = "lab.output"
"""The logger of what agents print."""

_FORMAT = "%(asctime)s %(levelname)-7s %(processName)s game %(game)s %(name)s: %(message)s"
_OUTPUT_FORMAT = "%(asctime)s %(processName)s game %(game)s %(message)s"
_FURTHER = re.compile(r"\n(?=[^\n])")  # begins a further line of an entry
_ENTRY = re.compile(r"\S+ \S+ (?:[A-Z]+ +)?\S+ game (\S+) (.*)", re.DOTALL)
MOST_OUTPUT = 20 << 20
"""Characters of what agents print that a run keeps."""
_CLOSED = "lab.closed"
"""The logger of a record that only wakes who waits for one."""
_NOISY = ("matplotlib", "PIL", "fontTools", "numba")  # have much to say that is not about the run


class _CurrentGame(threading.local):
    number: int | None = None


_current = _CurrentGame()


@contextmanager
def logging_game(number: int) -> Iterator[None]:
    """Mark all that this thread logs in the block with the number of a game."""
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


class _EscapedFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = visible(super().format(record), keep="\n\t")
        return _FURTHER.sub("\n    ", text)  # so that none of them looks like an entry of its own


class _LogFile(logging.FileHandler):
    """A file of log records, begun with the first of them. A full disk cuts it short silently: the
    record's writer reports it.

    output: True for the file of the agents' output, up to MOST_OUTPUT characters; False for all the
    rest.
    """

    def __init__(self, path: Path, output: bool) -> None:
        with suppress(FileNotFoundError):
            check_file(path, follow=False)
        super().__init__(path, encoding="utf-8", delay=True)
        self.setFormatter(_EscapedFormatter(_OUTPUT_FORMAT if output else _FORMAT))
        self.addFilter(name_game)
        self.addFilter(lambda record: (record.name == OUTPUT) == output)
        self._left = MOST_OUTPUT if output else None

    def _open(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(open_to_add(self.baseFilename), encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        if record.name != _CLOSED:
            super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if self._left is not None:
            self._left = max(0, self._left - len(line))
            if not self._left:
                raise ValueError("too much output")  # which drops it
        return line

    def handleError(self, record: logging.LogRecord) -> None:
        _drop(record)


def _drop(record: logging.LogRecord) -> None:
    pass


def entries(path: Path) -> Iterator[tuple[int | None, str]]:
    """Return the entries of a file of :func:`logging_to`, in order: the number of the game and the
    text, in ``log.txt`` without the name of the logger. Empty if there is no such file."""
    lines: list[str] = []
    with suppress(FileNotFoundError), open_file(path) as file:
        for line in (content.decode("utf-8", "replace") for content in file):
            if lines and not line[0].isspace():
                yield from _entry("".join(lines))
                lines = []
            lines.append(line)
        yield from _entry("".join(lines))


def _entry(text: str) -> Iterator[tuple[int | None, str]]:
    if match := _ENTRY.match(text):
        yield int(match[1]) if match[1].isdecimal() else None, match[2].rstrip("\n")


@contextmanager
def logging_to(path: Path, level: str) -> Iterator[None]:
    """Send the log of this process and its workers to one file, and the agents' output to
    ``output.txt`` in the same folder, made with the first output."""
    import multiprocessing_logging  # here: it starts a thread when it is used

    if multiprocessing.get_start_method(allow_none=True) != "fork":
        multiprocessing.set_start_method("fork", force=True)
    root = logging.getLogger()
    before, level_before = list(root.handlers), root.level
    for other in before:
        root.removeHandler(other)
    root.addHandler(_LogFile(path, output=False))
    root.addHandler(_LogFile(path.with_name("output.txt"), output=True))
    root.setLevel(level.upper())
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
    try:
        # Its queue asks for its size, which macOS cannot tell, and needs locks. Without it only
        # what several processes log at once may be mixed; the lab's workers send theirs by pipes.
        if sys.platform != "darwin" and not why_no_locks():
            multiprocessing_logging.install_mp_handler()
        for handler in root.handlers:
            handler.handleError = _drop  # type: ignore[method-assign]
        yield
    finally:
        for ours in list(root.handlers):
            root.removeHandler(ours)
            _close(ours)
        for other in before:
            root.addHandler(other)
        root.setLevel(level_before)


def _close(handler: logging.Handler) -> None:
    """Close a handler; multiprocessing-logging sees its end late, unless a record wakes it."""

    def close() -> None:
        with suppress(OSError):
            handler.close()

    closing = threading.Thread(target=close)
    try:
        closing.start()
    except RuntimeError:  # there is no thread to be had
        close()
        return
    with suppress(AttributeError, ValueError):  # another kind; or it has just looked
        while closing.is_alive():
            handler.queue.put(logging.makeLogRecord({"name": _CLOSED}))  # type: ignore[attr-defined]
            closing.join(0.05)  # it may have been woken too early
    closing.join()


class SendRecords(logging.handlers.QueueHandler):
    """A log handler that sends records through a pipe of this process's own: a queue shared by
    several processes would be left locked if one were killed while writing to it."""

    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(queue=None)  # type: ignore[arg-type]
        self._send = send

    def enqueue(self, record: logging.LogRecord) -> None:
        self._send(record)


def log_only_to(handler: logging.Handler) -> None:
    """Make this the one handler of the process."""
    root = logging.getLogger()
    for other in list(root.handlers):
        root.removeHandler(other)
    root.addHandler(handler)
