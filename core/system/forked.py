"""Processes forked from this one, for work that may hang or die, and the lines to them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from othello_lab.core.system.processes import LINUX, end_descendants, send_signal

_LENGTH = struct.Struct("<I")
_CHUNK = 1 << 16
_LOOK_SECONDS = 0.1
_END_SECONDS = 2.0
"""A process whose line has ended may live on for so long."""
# Packets, as the system notes for each when it was sent.
_KIND = socket.SOCK_SEQPACKET if LINUX else socket.SOCK_STREAM
_SO_TIMESTAMPNS = 35  # asm-generic/socket.h
_TIMESTAMP = struct.Struct("qq")  # seconds and nanoseconds


class Channel:
    """One end of a connection between two processes, for messages of bytes.

    Input is never more than bytes: a process that does not trust the other end must not unpickle
    them.

    most: the longest message that is accepted; None for any.
    """

    def __init__(self, end: socket.socket, most: int | None = None) -> None:
        self._end = end
        self._most = most
        self._received = bytearray()
        self._stamped = False
        self._stamp = b""
        self.ended = False

    def fileno(self) -> int:
        """Of the socket, to wait for it together with others."""
        return self._end.fileno()

    def send(self, message: bytes, wait: bool = True) -> None:
        """Send a message; OSError if nobody is there, or without ``wait``, if nobody reads."""
        flags = 0 if wait else socket.MSG_DONTWAIT
        data = memoryview(_LENGTH.pack(len(message)) + message)  # of which slices are no copies
        for begin in range(0, len(data), _CHUNK):
            self._end.sendall(data[begin : begin + _CHUNK], flags)

    def receive(self) -> bytes:
        """Wait for the next message; EOFError if there will be none."""
        while (message := self.take()) is None:
            if self.ended:
                raise EOFError
            self._read(0)
        return message

    def read(self) -> None:
        """Read the present input, without waiting; notice the end of the connection."""
        with contextlib.suppress(BlockingIOError):
            self._read(socket.MSG_DONTWAIT)

    def _read(self, flags: int) -> None:
        try:
            if self._stamped:
                received, notes, _, _ = self._end.recvmsg(_CHUNK, 64, flags)
                self._stamp = notes[0][2] if notes else b""
            else:
                received = self._end.recv(_CHUNK, flags)
        except ConnectionError:
            received = b""
        self.ended = self.ended or not received
        self._received += received

    def note_when_sent(self) -> None:
        """From now on note the time at which the other end has sent its messages."""
        with contextlib.suppress(OSError):
            self._end.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            self._stamped = LINUX

    def sent_ago(self) -> int:
        """Return the nanoseconds since the other end has sent the last message read; 0 if the
        system does not have it. By the clock of the day, and somebody may set that meanwhile."""
        if len(self._stamp) != _TIMESTAMP.size:
            return 0
        seconds, rest = _TIMESTAMP.unpack(self._stamp)
        return max(0, time.time_ns() - seconds * 10**9 - rest)

    def take(self) -> bytes | None:
        """The next message, if all of it has been read; ValueError if it is longer than allowed."""
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        if self._most is not None and length > self._most:
            raise ValueError(f"a message of {length} bytes; {self._most} are allowed")
        end = _LENGTH.size + length
        if len(self._received) < end:
            return None
        with memoryview(self._received) as received:
            message = bytes(received[_LENGTH.size : end])
        del self._received[:end]
        return message

    def close(self) -> None:
        """Close this end."""
        self._end.close()


def _forget_handlers() -> None:
    """Reset all signals to their defaults; but the parent ends this process, not Ctrl-C."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def fork(main: Callable[[], None]) -> int:
    """Run ``main`` in a child process and return its number; the exit code is 1 if it raises.

    Raises OSError if there is no room for a process.
    """
    # What the parent does when a signal comes is not what the child is to do.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        number = os.fork()
        if number == 0:
            code = 1
            try:
                _forget_handlers()
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                main()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                with contextlib.suppress(Exception):
                    sys.stdout.flush()
                os._exit(code)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return number


class ChildSignals:
    """Signals of children that stop, go on or end, and of stops of this process: one object."""

    def __init__(self) -> None:
        self._bell, listener = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        for number in (signal.SIGCHLD, signal.SIGCONT):
            signal.signal(number, lambda *_: None)  # or the system would not tell
        signal.set_wakeup_fd(listener, warn_on_full_buffer=False)

    def fileno(self) -> int:
        """Readable when there is news."""
        return self._bell

    def heard(self) -> bytes:
        """The numbers of the signals that have come since this was asked last."""
        try:
            return os.read(self._bell, 1 << 12)
        except BlockingIOError:
            return b""


class ForkedProcess(Channel):
    """Runs ``main(link, *arguments)`` in a child process; this is the line to it.

    number: of the process. most: see :class:`Channel`.
    """

    def __init__(self, main: Callable[..., None], *arguments: Any, most: int | None = None) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, _KIND)
        super().__init__(ours, most)
        self._exit_code: int | None = None
        self._gone = False

        def run() -> None:
            ours.close()
            main(Channel(theirs), *arguments)

        try:
            self.number = fork(run)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()

    def receive_within(self, seconds: float) -> bytes | None:
        """The next message, or None if none comes in time; EOFError if there will be none."""
        until = time.monotonic() + seconds
        while (message := self.take()) is None:
            if self.ended:
                raise EOFError
            left = until - time.monotonic()
            if left <= 0:
                return None
            if select.select([self], [], [], min(left, _LOOK_SECONDS))[0]:
                self.read()
            elif self.has_ended() and not select.select([self], [], [], 0)[0]:
                self.ended = True  # a child of its own may hold the line open
        return message

    def has_ended(self, within: float = 0.0) -> bool:
        """Return True if the process has ended, now or within these seconds."""
        until = time.monotonic() + within
        while not (ended := self._wait(os.WNOHANG)) and time.monotonic() < until:
            time.sleep(0.002)
        return ended

    def exit_code(self) -> int | None:
        """Return the exit code of a process with a closed connection, negative for a signal, None
        if it is unknown. If the process does not end, it is killed."""
        if not self.has_ended(_END_SECONDS):
            self.kill()
        return self._exit_code

    def _wait(self, options: int) -> bool:
        if not self._gone:
            try:
                number, status = os.waitpid(self.number, options)
            except ChildProcessError:  # somebody else has asked
                self._gone = True
            else:
                # A process that has asked to be traced is seen to stop.
                if number and not os.WIFSTOPPED(status):
                    self._gone = True
                    self._exit_code = os.waitstatus_to_exitcode(status)
        return self._gone

    def kill(self) -> None:
        """End the process at once; its messages can still be read."""
        if not self.has_ended():
            send_signal(self.number, signal.SIGKILL)
            while not self._wait(0):
                pass

    def close(self) -> None:
        """End the process, and close the line."""
        self.kill()
        super().close()


def answer_of_child(function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
    """Call a function in a child process and return its result, plain data but None.

    Returns None if there is no result within ``seconds``. Raises EOFError if the process ends
    without one. The process and all that it has started are ended.
    """

    def send(link: Channel) -> None:
        link.send(json.dumps(function(*arguments)).encode())

    with contextlib.closing(ForkedProcess(send)) as child:
        try:
            message = child.receive_within(seconds)
        finally:
            end_descendants([child.number])
    return None if message is None else json.loads(message)
