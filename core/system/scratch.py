"""Scratch folders: one for each agent or game, removed when nobody uses it any more, whatever a
stranger has put into it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

_PREFIX = "othello-lab-scratch-"
_MOST_FILES, _MOST_BYTES = 1000, 256 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ScratchFolder:
    """A new folder, locked while its owner lives.

    If the owner is killed, the next scratch folder removes it.
    """

    def __init__(self) -> None:
        remove_abandoned()
        self.path, self._lock = self._make()

    def _make(self) -> tuple[Path, int | None]:
        while True:
            path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            # Until the lock is held, another process may take the folder for an abandoned one.
            with contextlib.suppress(BlockingIOError, FileNotFoundError):
                try:
                    lock = _lock_folder(path)
                except PermissionError:  # a closed process: its folder lies in one that is locked
                    return path, None
                if path.exists():
                    return path, lock
                os.close(lock)

    def remove(self) -> None:
        _discard(self.path, self._lock)

    def excess(self) -> str | None:
        """Return what is in the folder beyond its bounds, in words; None for nothing."""
        files = size = 0
        folders = [str(self.path)]
        while folders and files <= _MOST_FILES and size <= _MOST_BYTES:
            try:
                entries = list(islice(os.scandir(folders.pop()), _MOST_FILES + 1))
                for entry in entries:
                    size += 512 * entry.stat(follow_symlinks=False).st_blocks
            except FileNotFoundError:
                continue  # removed meanwhile
            except OSError as error:
                return f"a folder in its scratch folder cannot be read ({error.strerror})"
            files += len(entries)
            folders += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        if files > _MOST_FILES:
            return f"it had more than {_MOST_FILES:,} files in its scratch folder"
        if size > _MOST_BYTES:
            return f"it had more than {_MOST_BYTES >> 20} MiB in its scratch folder"
        return None


def remove_abandoned() -> None:
    """Remove the scratch folders of owners that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            _discard(folder, _lock_folder(folder))


def _lock_folder(folder: Path) -> int:
    """Lock a folder and return its descriptor; raises OSError if another process holds it."""
    descriptor = os.open(folder, _FOLDER)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _discard(folder: Path, lock: int | None) -> None:
    """Remove a folder with all its contents and unlock it."""
    try:
        with contextlib.suppress(OSError):
            remove_tree(folder)
    finally:
        if lock is not None:
            os.close(lock)


# ---------------------------------------------------------------------- removal


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, however deep; links are not followed.

    ``shutil.rmtree`` goes down by recursion and by paths: some thousand folders in each other are
    too many for both. Here each folder's content moves up to the top before the folder is removed.
    Raises OSError.
    """
    if stat.S_ISDIR(folder.lstat().st_mode):
        folder.chmod(stat.S_IRWXU)
    top = os.open(folder, _FOLDER)
    try:
        token = secrets.token_hex(8)  # which nobody has named a file by
        names = (f"{token}-{number}" for number in count())
        while entries := os.listdir(top):
            for name in entries:
                if _is_folder(name, top):
                    _empty_into(top, name, names)
                    os.rmdir(name, dir_fd=top)
                else:
                    os.unlink(name, dir_fd=top)
    finally:
        os.close(top)
    folder.rmdir()


def _empty_into(top: int, name: str, names: Iterator[str]) -> None:
    """Move all that is in a folder of the top one up to there, under new names."""
    os.chmod(name, stat.S_IRWXU, dir_fd=top)
    inner = os.open(name, _FOLDER, dir_fd=top)
    try:
        for part in os.listdir(inner):
            if _is_folder(part, inner):  # its entry for the folder above changes
                os.chmod(part, stat.S_IRWXU, dir_fd=inner)
            os.rename(part, next(names), src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
