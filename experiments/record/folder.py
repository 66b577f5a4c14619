"""The folder of a run: making it, and keeping others out while it grows."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from othello_lab.core.system.files import writing
from othello_lab.core.system.settings import ConfigError

if TYPE_CHECKING:
    import pandas as pd

CHECKS = "checks.txt"
"""The file with the findings of checks of agents before a run, a sentence a line."""
_PATIENCE = 3.0  # seconds: a driver that was just killed may take a moment to be gone


def sync(folder: Path) -> None:
    """Wait until a folder's list of files is on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # not all systems can
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV or Parquet, by the file's ending."""
    with writing(path) as file:
        getattr(table, f"to_{path.suffix[1:]}")(file, index=False)


def numbered(path: Path) -> Iterator[Path]:
    """The path, then the same with a number behind its name, from 2."""
    yield path
    yield from (path.with_name(f"{path.name}-{number}") for number in range(2, 1000))


def new_folder(wanted: Path) -> Path:
    """Make a folder of this name, or with a number behind it; ConfigError."""
    new = [path for path in wanted.parents if not path.exists()]
    for folder in numbered(wanted):
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise ConfigError(f"results: cannot write {folder}: {error.strerror}") from None
        for path in (folder, *new):
            sync(path.parent)
        return folder
    raise ConfigError(f"results: {wanted} exists")


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from playing into the same folder; ConfigError if one does already.

    The lock is on the folder itself, and ends with this process, however that ends.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
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
    """Return True if a process is playing into a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
