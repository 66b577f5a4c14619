"""Another program as a process that may talk in lines, and may fail at any time.

All faults of programs are handled here: the program is ended, and a
:class:`core.game.PlayerFailure` with its last output is raised. A caller may start it again.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NoReturn

from othello_lab.core.game import DIED, GARBAGE, HUNG, PlayerFailure, ready_but_not_run
from othello_lab.core.system import call_filter
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.files import read_text
from othello_lab.core.system.processes import die_with_parent, end_descendants
from othello_lab.core.system.settings import Text

Command = Annotated[str, Text(r"(?s).*\S.*", "a command, such as 'python3 bot.py',")]
"""A setting: a program and its arguments, as typed, but without a shell."""

PATIENCE = 8.0
"""Default seconds for any answer but a move."""
LONGEST_LINE = 1 << 16
"""Bytes."""
MOST_PRINTED = 1 << 24
"""Bytes that a program without a dialogue may print."""
LAST_OUTPUT = ". Its last output:\n"
"""In the detail of a failure: the reason stands before it, the last lines printed after it."""
_JVM_NOTE = re.compile(rb"NOTE: Picked up JDK_JAVA_OPTIONS:[^\n]*\n?")
"""Java says so in each closed process; it is no word of the program."""
_CLASS_PATH_OPTIONS = ("-cp", "-classpath", "--class-path")
_OF_PROGRAMS = ("bin", "shims", "libexec")  # beside these stands what interpreters need
_TAIL = 20  # last lines, for messages
_TAIL_WIDTH = 300  # characters a line
_END_SECONDS = 1.0  # from the end of a program's output to the program's end
_TICK = 0.1
_CHUNK = 1 << 16
_LAST_CHUNKS = 100


def quote_command(command: str) -> str:
    """Format a command for a message."""
    return f"{visible(command):.{_TAIL_WIDTH}}"


def words_in(command: str) -> list[str]:
    """Split a command into words; raises ValueError if it cannot be read or has none."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"command='{quote_command(command)}': {error}") from None
    if not words:
        raise ValueError("command='': a program is needed")
    return words


def words_of(command: str) -> list[str]:
    """Return the words of a command whose program exists; nothing is started.

    Raises ValueError if the command cannot be read or there is no such program.
    """
    words = words_in(command)
    if shutil.which(words[0]) is None:
        state = "is not executable" if os.path.isfile(words[0]) else "is not there"
        raise ValueError(f"command='{command}': the program '{words[0]}' {state}")
    return words


def files_of(command: str) -> Iterator[str]:
    """Yield the files and folders that a program needs to run: those of the program, and of all
    that its command names."""
    words = words_in(command)
    yield from _files_of_program(shutil.which(words[0]) or words[0])
    named = [
        part for word in words for part in _paths_in(word) or _paths_in(word.partition("=")[2])
    ]
    for path in named or ["."]:  # what is named otherwise, a class of Java say, is here
        path = os.path.abspath(path)
        yield path if os.path.isdir(path) else os.path.dirname(path)


def files_of_interpreter(command: str) -> Iterator[str]:
    """Yield the files and folders of the program that a command names without a path, such as
    ``java`` or ``python3``. Everything else that the command names stays closed."""
    program = words_in(command)[0]
    path = None if os.sep in program else shutil.which(program)
    if path is not None and os.path.isabs(path):
        yield from _files_of_program(path)


def _files_of_program(program: str) -> Iterator[str]:
    for path in {os.path.abspath(program), os.path.realpath(program)}:
        folder = Path(path).parent
        whole = folder.name in _OF_PROGRAMS and len(folder.parts) > 2
        yield str(folder.parent if whole and folder.parent != Path.home() else path)


class Program:
    """A program, running or not, that ends with this process.

    may_fork: False if it may start no other. echoes: True if its standard error is copied to that
    of this process. talks: true for a dialogue in lines. Otherwise the
    program has no input, and its output is treated like error output. folder: the working folder,
    None for the present one. Files, class paths and classes of Java that the command names are
    found from any folder.
    """

    def __init__(self, command: str, talks: bool = True) -> None:
        self.command = command
        self.folder: Path | None = None
        self.may_fork = True
        self.echoes = True
        self._talks = talks
        self._process: subprocess.Popen[bytes] | None = None
        self._starter = 0  # number of the process that started the program
        self._said = bytearray()  # standard output not yet taken
        self._errors = bytearray()  # the unfinished last line of standard error
        self._printed = 0  # bytes
        self._open: set[int] = set()  # descriptors of outputs still open
        self._tail: deque[str] = deque(maxlen=_TAIL)

    @property
    def is_running(self) -> bool:
        """True if this process has started the program and has not ended it.

        The program may have ended by itself.
        """
        return self._process is not None and self._starter == os.getpid()

    @property
    def number(self) -> int | None:
        """Number of the program's process; None if it is not running."""
        return self._process.pid if self._process is not None and self.is_running else None

    def start(self) -> None:
        """Start the program; raises PlayerFailure."""
        parent = self._starter = os.getpid()
        self._tail.clear()
        self._said.clear()
        self._errors.clear()
        self._printed = 0
        try:
            words, environment = words_of(self.command), dict(os.environ)
            if self.folder is not None:
                words = _with_whole_paths(words)
                environment.setdefault("CLASSPATH", os.getcwd())  # java Bert: named here
            self._process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.PIPE if self._talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                preexec_fn=lambda: self._keep_below(parent),
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise PlayerFailure(DIED, f"'{self.command}' cannot be started: {error}") from None
        assert self._process.stdout and self._process.stderr
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
        self._open = {self._process.stdout.fileno(), self._process.stderr.fileno()}

    def _keep_below(self, parent: int) -> None:
        """Let this process, the program's, end with its parent."""
        die_with_parent(parent)
        if not self.may_fork:
            call_filter.stay_alone()

    # ------------------------------------------------------------------ talking

    def send(self, line: str, patience: float = PATIENCE) -> None:
        """Send a line.

        Raises PlayerFailure if the program has ended or does not read within ``patience`` seconds.
        """
        process = self._living()
        assert process.stdin is not None
        waiting = memoryview(f"{line}\n".encode())
        until = time.monotonic() + patience
        while waiting:
            try:
                waiting = waiting[os.write(process.stdin.fileno(), waiting) :]
            except BlockingIOError:
                if time.monotonic() > until:
                    self.fail(HUNG, f"did not read '{line:.60}' within {patience:.3g} s")
                self._listen(min(_TICK, patience), process.stdin.fileno())
            except OSError:
                self.fail_as_ended()

    def receive(self, patience: float | None = None) -> str:
        """Return the next line that the program prints, without the line's end.

        Raises PlayerFailure if the program ends, prints a line without end, or prints none within
        ``patience`` seconds (None: no limit).
        """
        until = None if patience is None else time.monotonic() + patience
        while (line := self._take()) is None:
            if until is not None and time.monotonic() > until:
                self.fail(HUNG, f"did not answer within {patience:.3g} s")
            if not self._listen(_TICK if patience is None else min(_TICK, patience)):
                self.fail_as_ended()
        return line

    def receive_now(self) -> str | None:
        """Return a line that the program has printed by now, or None; raises PlayerFailure."""
        self._living()
        self._listen(0.0)
        return self._take()

    @property
    def has_ended(self) -> bool:
        """True if the program was started and has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    @property
    def waited(self) -> float:
        """Seconds that the process stood ready while others had the processor (Linux; else 0).

        Only the first thread counts.
        """
        with contextlib.suppress(OSError):
            return ready_but_not_run(f"/proc/{self.number}/schedstat") / 1e9
        return 0.0

    def read_output(self, seconds: float) -> None:
        """Wait up to ``seconds`` for output of the program and read it.

        Raises PlayerFailure if the program has printed more than MOST_PRINTED bytes.
        """
        self._living()
        self._listen(seconds)
        if self._printed > MOST_PRINTED:
            self.fail(GARBAGE, f"printed more than {MOST_PRINTED >> 20} MiB")

    def _take(self) -> str | None:
        """Return the next whole line among the bytes read, or None."""
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
        """Read output; False once all is read. writable: return as soon as it accepts a write."""
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
            read = b""
            with contextlib.suppress(OSError):
                read = os.read(source, _CHUNK)
            if not read:
                self._open.discard(source)
                continue
            heard = True
            if source == out and self._talks:
                self._said += read
            else:
                self._printed += len(read)
                self._hear_errors(read)
        # A child of the program may hold the output open.
        return heard or (out in self._open and process.poll() is None)

    def _hear_errors(self, text: bytes) -> None:
        text = _JVM_NOTE.sub(b"", text)
        with contextlib.suppress(OSError, ValueError):
            if self.echoes:
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

    def fail_as_ended(self, more: str = "") -> NoReturn:
        """Raise PlayerFailure for a program that has ended or closed its output.

        more: further words of the reason.
        """
        process = self._living()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        if process.poll() is not None:
            self._hear_last_words()
        code = process.returncode
        ended = "closed its output" if code is None else f"ended (exit code {code})"
        self.fail(DIED, f"{ended}{more}")

    def fail(self, reason: str, what: str) -> NoReturn:
        """End the program and raise PlayerFailure with this reason and the last output."""
        with contextlib.suppress(OSError):
            if self.is_running:
                self._listen(0.0)
        last = [*self._tail, *self._rest()]
        self.kill()
        detail = f"'{self.command}' {what}"
        if last:
            detail += LAST_OUTPUT + "\n".join(visible(line) for line in last)
        raise PlayerFailure(reason, detail)

    def _rest(self) -> list[str]:
        """Return lines that the program has not finished, or that nobody has taken."""
        text = bytes(self._said[:LONGEST_LINE] + b"\n" + self._errors).decode(errors="replace")
        return [line[:_TAIL_WIDTH] for line in text.splitlines() if line.strip()][-_TAIL:]

    def _hear_last_words(self) -> None:
        """Read the rest of the output, in few steps: a child left behind may print for ever."""
        for _ in range(_LAST_CHUNKS):
            if self._process is None or not self._listen(0.0):
                break

    def ended_within(self, seconds: float) -> bool:
        """Return True if the program ends by itself within ``seconds``; read its output."""
        until = time.monotonic() + seconds
        while self._process is not None and self._process.poll() is None:
            if time.monotonic() > until:
                return False
            if not self._listen(0.02):
                time.sleep(0.02)  # the output is closed, so _listen does not wait
        self._hear_last_words()
        return True

    def kill(self) -> None:
        """End the program and all processes that it has started."""
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
        """Send a farewell, wait up to ``seconds`` for the end, and end the program."""
        if not self.is_running:
            return
        with contextlib.suppress(PlayerFailure):
            self.send(farewell, seconds)
            self.ended_within(seconds)
        self.kill()


def _with_whole_paths(words: list[str]) -> list[str]:
    """Return the words of a command with whole paths for program, files and class path."""
    program = shutil.which(words[0]) or words[0]
    whole = [os.path.abspath(program)]
    for before, word in pairwise(words):
        is_path = before in _CLASS_PATH_OPTIONS or os.path.isfile(word)
        whole.append(":".join(map(os.path.abspath, _paths_in(word))) or word if is_path else word)
    return whole


def _paths_in(word: str) -> list[str]:
    """Return the files and folders that a word names, one or a list; empty if one is not there."""
    paths = word.split(":")
    return paths if all(path and os.path.exists(path) for path in paths) else []


# ---------------------------------------------------------------------- one that starts others

_REFUSED = re.compile(r"No child processes|Cannot fork|Unknown system error -10", re.IGNORECASE)
"""What shells and languages print when the system refuses another process."""
_NAMED = re.compile(
    r"""No child processes: '([^']+)'|Cannot run program "([^"]+)"|fork/exec (\S+):""",
    re.IGNORECASE,
)
_LINE = re.compile(r"([^\s:]+): (?:line )?(\d+): Cannot fork|([^\s:]+): fork: ")
_COMMAND = re.compile(r"(?:^|[|;&`(])\s*([\w./-]+)")
_OF_SHELLS = {"echo", "printf", "test", "true", "false", "kill", "pwd", "[", "time"}


def explained(detail: str, name: str, path: str | None) -> str:
    """Return the detail of a failure; if the agent of this name wanted another process, words that
    say so stand before it. path: its file or folder, None if it has none."""
    if not _REFUSED.search(detail):
        return detail
    wanted = _wanted(detail, path)
    named = f" ({wanted})" if wanted else ""
    who = name if path is None else Path(path).name
    said = (
        f"{who} started another program{named}: write it in one process, or ask your teacher for "
        f"isolation.children=[{name}]"
    )
    return said + LAST_OUTPUT + detail.replace(LAST_OUTPUT, "\n")


def _wanted(detail: str, path: str | None) -> str:
    """Return the program that was to be started, as far as it is known."""
    if named := _NAMED.search(detail):
        return Path(next(filter(None, named.groups()))).name
    if path is None or not (script := _LINE.search(detail)):
        return ""
    file = Path(path)
    if file.is_dir():
        file /= Path(script[1] or script[3]).name
    with contextlib.suppress(OSError):
        lines = read_text(file).splitlines()
        for line in lines[int(script[2]) - 1 :][:1] if script[2] else lines:
            for word in _COMMAND.findall(line):
                if word not in _OF_SHELLS and shutil.which(word):
                    return str(word)
    return ""
