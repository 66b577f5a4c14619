"""The folder of a run: making it, and keeping others out while it grows."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

from agents.config import ConfigError

_PATIENCE = 3.0  # seconds: a driver that was just killed may take a moment to be gone


def make_folder(parent: Path, started: datetime, dated: bool) -> Path:
    """``parent`` itself, or ``dated`` a new folder in it named by the time; ConfigError."""
    stamp = started.strftime("%Y-%m-%d_%H-%M-%S")
    names = [stamp, *(f"{stamp}-{n}" for n in range(2, 100))] if dated else [""]
    for name in names:
        folder = parent / name if name else parent
        try:
            folder.mkdir(parents=True, exist_ok=not dated)
        except FileExistsError:
            if not dated or not parent.is_dir():
                raise ConfigError(f"results: {parent} exists and is no folder") from None
            continue
        except OSError as error:
            raise ConfigError(f"results: cannot write {folder}: {error.strerror}") from None
        if not os.access(folder, os.W_OK):
            raise ConfigError(f"results: cannot write in {folder}")
        return folder
    raise ConfigError(f"results: {parent} has too many runs of this second")


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from playing into the same folder; ConfigError if one does already.

    The lock is on the folder itself, and ends with this process, however that ends.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    held = [descriptor]
    # A child that outlives this process must not keep the lock.
    os.register_at_fork(after_in_child=partial(_close_all, held))
    try:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise ConfigError(
                        f"{folder} is locked: another process is playing into its record"
                    ) from None
                time.sleep(0.05)
        yield
    finally:
        held.clear()
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process is playing into a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
