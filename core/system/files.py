"""Files from outside: opened here alone, so that none hangs a command or fills the memory."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from othello_lab.core.system.settings import ConfigError

MOST_TEXT = 4 << 20
"""Bytes of a text that a person writes."""
MOST_DATA = 1 << 30
"""Bytes of data: archives of games, weights."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO (a named pipe)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class UnreadableFile(OSError, ConfigError):
    """A file of a kind, size or encoding that is not read."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def open_file(path: Path | str, most: int | None = None) -> BinaryIO:
    """Open a file for reading. Raises OSError: UnreadableFile at once, in words, for all that is no
    file, and for a file of more than ``most`` bytes."""
    try:
        status = os.stat(path)
    except ValueError:  # a zero in the name
        raise UnreadableFile(path, "not the name of a file") from None
    if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
        raise UnreadableFile(path, f"{kind}, where a file is needed")
    if most is not None and status.st_size > most:
        raise UnreadableFile(path, f"{status.st_size:,} bytes, and {most:,} are the most")
    return open(path, "rb")


def read_bytes(path: Path | str, most: int = MOST_DATA) -> bytes:
    """Return the content of a file; raises as :func:`open_file`."""
    with open_file(path, most) as file:
        content = file.read(most + 1)
    if len(content) > most:  # the system did not tell its size
        raise UnreadableFile(path, f"more than {most:,} bytes")
    return content


def read_text(path: Path | str, most: int = MOST_TEXT) -> str:
    """Return a text in UTF-8; raises as :func:`open_file`."""
    content = read_bytes(path, most)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line, byte = content.count(b"\n", 0, error.start) + 1, content[error.start]
        why = f"line {line}: byte {byte:#x} is not UTF-8; save the file as UTF-8"
        raise UnreadableFile(path, why) from None
