"""Control over all processes of an agent at once: to stop, continue and end them.

Signals sent one by one can be outrun: a process that forks and ends, over and over, has another
number each time. ``kill(-1)`` cannot: the kernel sends to all processes at one moment. It reaches
every process that the sender may signal, so its sender lives in a Landlock domain of its own, with
none but the agent's processes below it. These cannot signal it. Where the kernel has no such
domains (Linux before 6.12), there is no control, and callers signal one by one.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket

from othello_lab.core.system.landlock import scope_signals

_SIGNALS = {b"s": signal.SIGSTOP, b"c": signal.SIGCONT, b"k": signal.SIGKILL}
_STOP, _CONTINUE, _KILL = _SIGNALS
_READY = b"+"
_PATIENCE = 2.0
"""Seconds until a sender that does not answer counts as gone."""


class TreeControl:
    """The end of the line to the process that sends the signals."""

    def __init__(self) -> None:
        self._line, self._theirs = socket.socketpair()
        self._works: bool | None = None  # not known before it has said so

    @property
    def inherited(self) -> int:
        """Number of the descriptor for :func:`serve`, in the process that is forked next."""
        return self._theirs.fileno()

    def forked(self) -> None:
        """Note that the other process has its end."""
        self._theirs.close()

    def stop(self) -> bool:
        """Stop all processes; False if there is no control over them."""
        return self._ask(_STOP)

    def go_on(self) -> bool:
        """Let all processes go on; False if there is no control over them."""
        return self._ask(_CONTINUE)

    def end(self) -> bool:
        """Kill all processes; none is left to start another. False without control over them."""
        return self._ask(_KILL)

    def _ask(self, order: bytes) -> bool:
        if self._works is None:
            self._works = self._answer() == _READY
        if self._works:
            try:
                self._line.send(order)
                self._works = self._answer() == order
            except OSError:
                self._works = False
        return self._works

    def _answer(self) -> bytes:
        if not select.select([self._line], [], [], _PATIENCE)[0]:
            return b""
        try:
            return self._line.recv(1)
        except OSError:
            return b""

    def close(self) -> None:
        """Close the line; all processes are killed that are left."""
        self._line.close()


def fork_sender(control: int, parent: int) -> None:
    """Enter a domain, and fork the process that sends signals to all other processes in it.

    What this process and those it forks do later, they do in that domain. control: descriptor of
    :attr:`TreeControl.inherited`. parent: number of this process's parent, which is outside.
    """
    if not scope_signals() or _reaches(parent):
        return
    if os.fork() == 0:
        try:
            _serve(control)
        finally:
            os._exit(0)


def _reaches(process: int) -> bool:
    """Return True if this process may signal another; then ``kill(-1)`` would reach everybody."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass
    return True


def _serve(control: int) -> None:
    """Send signals as ordered, until the line ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.closerange(0, control)
    os.closerange(control + 1, os.sysconf("SC_OPEN_MAX"))
    order = _READY
    try:
        while order and order != _KILL:
            os.write(control, order)
            order = os.read(control, 1)
            if order:
                _signal_all(_SIGNALS[order])
    finally:
        _signal_all(signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.write(control, _KILL)


def _signal_all(number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, number)
