"""Another program, talked to in lines or not at all: started, asked, and ended, whatever it does.

All that can go wrong with it is handled here, once: a :class:`core.game.PlayerFailure` is raised,
with the program's last output, and the program is ended. Whoever needs it again starts it again.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Annotated, NoReturn

from othello_lab.core.game import DIED, GARBAGE, HUNG, PlayerFailure, ready_but_not_run
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.processes import die_with_parent, end_descendants
from othello_lab.core.system.settings import Text

Command = Annotated[str, Text(r"(?s).*\S.*", "a command, such as 'python3 bot.py',")]
"""A setting: a program and its arguments, as one would type them; no shell is asked."""

PATIENCE = 8.0
"""Seconds for an answer that is no move, unless somebody says otherwise."""
LONGEST_LINE = 1 << 16
"""Bytes."""
MOST_PRINTED = 1 << 24
"""Bytes that a program may print that has nothing to say."""
_TAIL = 20  # lines that are kept for messages
_TAIL_WIDTH = 300  # characters of each
_END_SECONDS = 1.0  # from the end of a program's output to its own
_TICK = 0.1
_CHUNK = 1 << 16
_LAST_CHUNKS = 100


def shown(command: str) -> str:
    """A command as messages quote it."""
    return f"{visible(command):.{_TAIL_WIDTH}}"


def words_in(command: str) -> list[str]:
    """The words of a command; ValueError if it cannot be read, or has none."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"command='{shown(command)}': {error}") from None
    if not words:
        raise ValueError("command='': a program is needed")
    return words


def words_of(command: str) -> list[str]:
    """A command as the system takes it; ValueError if it cannot be read, or if there is no such
    program. Nothing is started."""
    words = words_in(command)
    if shutil.which(words[0]) is None:
        there = "is not executable" if os.path.isfile(words[0]) else "is not there"
        raise ValueError(f"command='{command}': the program '{words[0]}' {there}")
    return words


class Program:
    """A program of this command, running or not. It ends with this process.

    talks: whether lines go to and fro; otherwise it has no input, and all that it prints is like
    its error output. folder: where it runs, None for here; files that its command names are found
    from there, too.
    """

    def __init__(self, command: str, talks: bool = True) -> None:
        self.command = command
        self.folder: Path | None = None
        self._talks = talks
        self._process: subprocess.Popen[bytes] | None = None
        self._starter = 0  # the process that has started it
        self._said = bytearray()  # by its standard output, not yet taken
        self._errors = bytearray()  # by its standard error, the last line, not yet ended
        self._printed = 0  # bytes
        self._open: set[int] = set()  # its outputs, as long as they are open
        self._tail: deque[str] = deque(maxlen=_TAIL)

    @property
    def is_running(self) -> bool:
        """Whether it has been started by this process, and has not been ended. (It may have ended
        by itself.)"""
        return self._process is not None and self._starter == os.getpid()

    @property
    def number(self) -> int | None:
        """Of its process; None if it is not running."""
        return self._process.pid if self._process is not None and self.is_running else None

    def start(self) -> None:
        """Start it; raises Fault."""
        parent = self._starter = os.getpid()
        self._tail.clear()
        self._said.clear()
        self._errors.clear()
        self._printed = 0
        try:
            words = words_of(self.command)
            self._process = subprocess.Popen(
                words if self.folder is None else _found_from_elsewhere(words),
                cwd=self.folder,
                stdin=subprocess.PIPE if self._talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                preexec_fn=lambda: die_with_parent(parent),
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise PlayerFailure(DIED, f"'{self.command}' cannot be started: {error}") from None
        assert self._process.stdout and self._process.stderr
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
        self._open = {self._process.stdout.fileno(), self._process.stderr.fileno()}

    # ------------------------------------------------------------------ talking

    def send(self, line: str, patience: float = PATIENCE) -> None:
        """Send a line; raises Fault if the program has ended, or does not read for so long."""
        process = self._living()
        assert process.stdin is not None
        waiting = memoryview(f"{line}\n".encode())
        until = time.monotonic() + patience
        while waiting:
            try:
                waiting = waiting[os.write(process.stdin.fileno(), waiting) :]
            except BlockingIOError:
                if time.monotonic() > until:
                    self.fail(HUNG, f"did not read '{line:.60}' within {patience:g} s")
                self._listen(min(_TICK, patience), process.stdin.fileno())
            except OSError:
                self.fail_as_ended()

    def receive(self, patience: float | None = None) -> str:
        """The next line that it prints, without its end; raises Fault if it ends, prints what is no
        text or never ends, or prints none for so many seconds (None: wait for ever)."""
        until = None if patience is None else time.monotonic() + patience
        while (line := self._take()) is None:
            if until is not None and time.monotonic() > until:
                self.fail(HUNG, f"did not answer within {patience:g} s")
            if not self._listen(_TICK if patience is None else min(_TICK, patience)):
                self.fail_as_ended()
        return line

    def overheard(self) -> str | None:
        """A line that it has printed by now, or None; raises Fault."""
        self._living()
        self._listen(0.0)
        return self._take()

    @property
    def has_ended(self) -> bool:
        """Whether it was started and has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    @property
    def waited(self) -> float:
        """Seconds that it has stood ready while others had the processor: the process itself, which
        is most of it for a program of one thread (Linux; 0 elsewhere)."""
        with contextlib.suppress(OSError):
            return ready_but_not_run(f"/proc/{self.number}/schedstat") / 1e9
        return 0.0

    def attend(self, seconds: float) -> None:
        """Let it work for a moment, of so many seconds at most; what it prints is read. Raises
        Fault if it prints more than can be meant."""
        self._living()
        self._listen(seconds)
        if self._printed > MOST_PRINTED:
            self.fail(GARBAGE, f"printed more than {MOST_PRINTED >> 20} MiB")

    def _take(self) -> str | None:
        """A whole line of what was read."""
        end = self._said.find(b"\n")
        if end < 0:
            if len(self._said) > LONGEST_LINE:
                self.fail(GARBAGE, f"printed a line of more than {LONGEST_LINE} bytes")
            return None
        line = self._said[:end].decode(errors="replace").rstrip("\r")
        del self._said[: end + 1]
        self._tail.append(line[:_TAIL_WIDTH])
        return line

    def _listen(self, seconds: float, writable: int | None = None) -> bool:
        """Read what it prints within so many seconds; False once it has ended and all is read.

        What goes to its standard error goes to that of this process. writable: also come back when
        this descriptor can be written to.
        """
        process = self._process
        assert process is not None and process.stdout is not None and process.stderr is not None
        out = process.stdout.fileno()
        poll = select.poll()
        for source in self._open:
            poll.register(source, select.POLLIN)
        if writable is not None:
            poll.register(writable, select.POLLOUT)
        heard = False
        for source in self._open & {descriptor for descriptor, _ in poll.poll(1000 * seconds)}:
            read = _read(source)
            if not read:
                self._open.discard(source)
                continue
            heard = True
            if source == out and self._talks:
                self._said += read
            else:
                self._printed += len(read)
                self._hear_errors(read)
        # A child of its own may hold its output open.
        return heard or (out in self._open and process.poll() is None)

    def _hear_errors(self, text: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text.decode(errors="replace"))
            sys.stderr.flush()
        *lines, self._errors = (self._errors + text).split(b"\n")
        del self._errors[:-LONGEST_LINE]
        self._tail.extend(line.decode(errors="replace")[:_TAIL_WIDTH] for line in lines)

    # ------------------------------------------------------------------ its end

    def _living(self) -> subprocess.Popen[bytes]:
        if self._process is None or not self.is_running:
            raise PlayerFailure(DIED, f"'{self.command}' is not running")
        return self._process

    def fail_as_ended(self) -> NoReturn:
        """It has ended, or closed its output: raise Fault."""
        process = self._living()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        if process.poll() is not None:
            self._hear_last_words()
        code = process.returncode
        self.fail(DIED, "closed its output" if code is None else f"ended (exit code {code})")

    def fail(self, reason: str, what: str) -> NoReturn:
        """End the program, and raise Fault, with this reason and its last output."""
        with contextlib.suppress(OSError):
            if self.is_running:
                self._listen(0.0)
        last = [*self._tail, *self._rest()]
        self.kill()
        told = f"'{self.command}' {what}"
        if last:
            told += ". Its last output:\n" + "\n".join(visible(line) for line in last)
        raise PlayerFailure(reason, told)

    def _rest(self) -> list[str]:
        """Lines that it has not ended, or nobody has taken."""
        text = bytes(self._said[:LONGEST_LINE] + b"\n" + self._errors).decode(errors="replace")
        return [line[:_TAIL_WIDTH] for line in text.splitlines() if line.strip()][-_TAIL:]

    def _hear_last_words(self) -> None:
        """Read what is left of its output; a child that it has left behind may go on for ever."""
        for _ in range(_LAST_CHUNKS):
            if self._process is None or not self._listen(0.0):
                break

    def ended_within(self, seconds: float) -> bool:
        """Whether it ends by itself in so many seconds; what it prints meanwhile is read."""
        until = time.monotonic() + seconds
        while self._process is not None and self._process.poll() is None:
            if time.monotonic() > until:
                return False
            if not self._listen(0.02):
                time.sleep(0.02)  # it has closed its output
        self._hear_last_words()
        return True

    def kill(self) -> None:
        """End it, and all that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._starter == os.getpid():
            end_descendants([process.pid])
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def close(self, farewell: str, seconds: float) -> None:
        """Say farewell, give it so long to end, and end it."""
        if self._process is None or not self.is_running:
            return
        with contextlib.suppress(PlayerFailure):
            self.send(farewell, seconds)
            self.ended_within(seconds)
        self.kill()


def _found_from_elsewhere(words: list[str]) -> list[str]:
    """The words of a command, the program and files among them with their whole paths."""
    program = shutil.which(words[0]) or words[0]
    rest = [os.path.abspath(word) if os.path.isfile(word) else word for word in words[1:]]
    return [os.path.abspath(program), *rest]


def _read(descriptor: int) -> bytes:
    """What there is to read; nothing at the end."""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""
