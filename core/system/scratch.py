"""Scratch folders: one for each agent or game, removed when nobody uses it any more."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path

from othello_lab.core.system.removal import remove_tree

_PREFIX = "othello-lab-scratch-"


class ScratchFolder:
    """A new folder, locked while its owner lives.

    If the owner is killed, the next scratch folder removes it.
    """

    def __init__(self) -> None:
        remove_abandoned()
        self.path, self._lock = self._make()

    def _make(self) -> tuple[Path, int]:
        while True:
            path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            # Until the lock is held, another process may take the folder for an abandoned one.
            with contextlib.suppress(BlockingIOError, FileNotFoundError):
                lock = _lock_folder(path)
                if path.exists():
                    return path, lock
                os.close(lock)

    def remove(self) -> None:
        _discard(self.path, self._lock)


def remove_abandoned() -> None:
    """Remove the scratch folders of owners that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            _discard(folder, _lock_folder(folder))


def _lock_folder(folder: Path) -> int:
    """Lock a folder and return its descriptor; raises OSError if another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _discard(folder: Path, lock: int) -> None:
    """Remove a folder with all its contents and unlock it."""
    try:
        with contextlib.suppress(OSError):
            remove_tree(folder)
    finally:
        os.close(lock)
