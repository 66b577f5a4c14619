"""A machine whose processes cannot share locks: only what needs them is refused."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest
from refusals import refuses

from othello_lab.core.system.shared_memory import why_no_locks
from othello_lab.experiments.record.log import logging_to


def refuse(*arguments: Any, **named: Any) -> NoReturn:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where /dev/shm is read-only."""
    context = type(multiprocessing.get_context("fork"))
    for name in ("Lock", "BoundedSemaphore", "Semaphore", "Queue"):
        monkeypatch.setattr(context, name, refuse)
    monkeypatch.setattr(multiprocessing, "Queue", refuse)


def test_the_reason_and_the_cure_are_told_in_a_line(no_locks: None) -> None:
    reason = why_no_locks()
    assert "Read-only file system" in reason and "mount -t tmpfs" in reason and "/dev/shm" in reason
    assert "\n" not in reason


def test_a_run_logs_without_them(no_locks: None, tmp_path: Path) -> None:
    with logging_to(tmp_path / "log.txt", "info"):
        logging.getLogger("lab").info("all the same")
    assert "all the same" in (tmp_path / "log.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words", ["openings x.txt --plies 4 --depth 2 --shallow 1", "run agents=classics executor=dask"]
)
def test_a_command_that_needs_them_says_so(
    words: str, no_locks: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refuses(words.split(), "cannot share locks")
    assert not list(tmp_path.iterdir())
