"""Files that carry messages between two programs: one writes a file, the other removes it.

A writer here fills a temporary file and renames it, so a reader never sees half a message. A reader
here trusts nothing: the name may belong to a link, a pipe or a folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from pathlib import Path

LONGEST = 4096
"""Bytes read at most."""
_EVERYBODY_READS = 0o644


class FileNameError(ValueError):
    """Something under a file's name that is no regular file; the message names its kind."""


class MailboxFile:
    """A file that may exist or not."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_there(self) -> bool:
        """True if anything of this name exists."""
        return os.path.lexists(self.path)

    @property
    def age(self) -> float:
        """Seconds since the last write, by the system clock; 0 if there is no file."""
        try:
            return max(0.0, time.time() - self.path.lstat().st_mtime)
        except OSError:
            return 0.0

    def write(self, text: str) -> None:
        """Write a line and replace any older message; raises OSError."""
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(f"{text}\n")
                with contextlib.suppress(PermissionError):  # its reader has the same rights
                    os.fchmod(file.fileno(), _EVERYBODY_READS)
            os.replace(name, self.path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def read(self) -> str | None:
        """Return the present text, cut to LONGEST bytes; None if nothing has this name.

        Raises FileNameError.
        """
        try:
            # Opening a pipe could block; a link may lead anywhere.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self.path, flags)
        except FileNotFoundError:
            return None
        except OSError as error:
            kind = "a link" if error.errno == errno.ELOOP else f"no file ({error.strerror})"
            raise FileNameError(f"{self.path.name} is {kind}") from None
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise FileNameError(
                    f"{self.path.name} is {_KINDS.get(stat.S_IFMT(mode), 'a device')}"
                )
            return os.read(descriptor, LONGEST).decode("utf-8-sig", errors="replace")
        finally:
            os.close(descriptor)

    def remove(self) -> None:
        """Remove the file if it exists; raises OSError, for example for a folder."""
        self.path.unlink(missing_ok=True)


_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}


def mailbox_files(folder: Path, name: str) -> tuple[MailboxFile, MailboxFile]:
    """Return the two files of a program of this name: its input and its output."""
    return MailboxFile(folder / f"{name}.in"), MailboxFile(folder / f"{name}.out")
