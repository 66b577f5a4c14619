"""Removal of folders that a stranger has filled."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


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
