"""Files opened once, by descriptor: whatever another program puts under a name, reading it neither
hangs nor fills the memory, and writing changes no other file."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from othello_lab.core.system.settings import ConfigError

MOST_TEXT = 4 << 20
"""Bytes of a text that a person writes."""
MOST_DATA = 1 << 30
"""Bytes of data: archives of games, weights."""
_KINDS = {"d": "a folder", "p": "a FIFO (a named pipe)", "s": "a socket", "l": "a link"}


class UnreadableFile(OSError, ConfigError):
    """A file of a kind, size or encoding that is not read."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def _check_kind(path: Path | str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.filemode(mode)[0], "a device")
        raise UnreadableFile(path, f"{kind}, where a file is needed")


def check_file(path: Path | str, follow: bool = True) -> None:
    """Raise UnreadableFile for what is no file; OSError. follow: True for a link to a file, too."""
    _check_kind(path, os.stat(path, follow_symlinks=follow).st_mode)


def _opened(path: Path | str, flags: int, follow: bool, most: int | None = None) -> int:
    flags |= os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags, 0o666)
    except ValueError:  # a zero in the name
        raise UnreadableFile(path, "not the name of a file") from None
    except OSError:
        with suppress(FileNotFoundError):
            check_file(path, follow)  # which says more of a socket, or of a link
        raise
    try:
        status = os.fstat(descriptor)
        _check_kind(path, status.st_mode)
        if most is not None and status.st_size > most:
            raise UnreadableFile(path, f"{status.st_size:,} bytes, and {most:,} are the most")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_file(path: Path | str, most: int | None = MOST_DATA, follow: bool = True) -> BinaryIO:
    """Open a file for reading. Raises OSError: UnreadableFile at once, in words, for all that is no
    file, and for a file of more than ``most`` bytes. follow: False refuses a link, too."""
    return open(_opened(path, os.O_RDONLY, follow, most), "rb")


def open_to_add(path: Path | str) -> BinaryIO:
    """Open a file, made if need be, for reading and for adding to its end; raises as
    :func:`open_file`, for a link too."""
    return open(_opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, follow=False), "r+b")


def read_bytes(path: Path | str, most: int = MOST_DATA) -> bytes:
    """Return the content of a file; raises as :func:`open_file`."""
    content = b""
    with open_file(path, most) as file:
        size = max(1 << 16, os.fstat(file.fileno()).st_size)
        while len(content) <= most and (part := file.read(size)):
            content += part
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


# ---------------------------------------------------------------------- writing


@contextmanager
def writing(path: Path, durable: bool = False, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Write a file anew: it has its name once all of it is written, or nothing is left of it.
    Raises OSError: UnreadableFile if the name belongs to a link, or to what is no file.

    durable: wait until it is on disk. mode: its permissions, less the user's umask.
    """
    new = f".{secrets.token_hex(8)}.new"
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(FileNotFoundError):
            status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
            _check_kind(path, status.st_mode)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(new, flags, mode, dir_fd=folder), "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        with suppress(OSError):  # not all systems can
            if durable:
                os.fsync(folder)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(new, dir_fd=folder)
        if isinstance(error, OSError) and error.filename in (new, path.name):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        os.close(folder)


def write_file(path: Path, content: str | bytes, durable: bool = False, mode: int = 0o666) -> None:
    """Write a text or bytes into a file; as :func:`writing`."""
    with writing(path, durable, mode) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def make_folder(path: Path) -> None:
    """Make a folder inside another one, and what is missing above it, unless it is there; raises
    OSError, UnreadableFile for a link to another place."""
    if path.is_symlink():
        raise UnreadableFile(path, "a link, where a folder is needed")
    path.mkdir(parents=True, exist_ok=True)
