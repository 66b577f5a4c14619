"""A child process and the line to it."""

from __future__ import annotations

import errno
import os
import signal

import pytest

from othello_lab.core.system.forked import ForkedProcess


def test_a_process_for_which_there_is_no_room_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fork() -> int:
        raise OSError(errno.ENOMEM, "no room")

    monkeypatch.setattr(os, "fork", fork)
    masked, files = signal.pthread_sigmask(signal.SIG_BLOCK, []), descriptors()
    with pytest.raises(OSError, match="no room"):
        ForkedProcess(print)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == masked
    assert descriptors() == files


def descriptors() -> int:
    """Return the number of the lowest file descriptor that is free."""
    number = os.dup(0)
    os.close(number)
    return number
