"""Files by which two programs talk: one writes a file, the other reads and removes it.

Whoever writes here writes a temporary file and gives it its name, so that it is there as a whole or
not at all. Whoever reads here expects nothing of what is there.
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
"""Bytes that are read."""
_EVERYBODY_READS = 0o644


class FileNameError(ValueError):
    """What stands under a file's name is none; the message says what it is."""


class MailboxFile:
    """A file, which may be there or not."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_there(self) -> bool:
        """Whether there is anything of this name."""
        return os.path.lexists(self.path)

    @property
    def age(self) -> float:
        """Seconds since it was written, by the clock of the day; 0 if it is not there."""
        try:
            return max(0.0, time.time() - self.path.lstat().st_mtime)
        except OSError:
            return 0.0

    def write(self, text: str) -> None:
        """Put a line there, in the place of what is there; raises OSError."""
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(f"{text}\n")
                os.fchmod(file.fileno(), _EVERYBODY_READS)
            os.replace(name, self.path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def read(self) -> str | None:
        """What stands there by now, cut where it is long; None if there is nothing of this name.
        Raises NoFile."""
        try:
            # A pipe would be waited for; a link may lead anywhere.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self.path, flags)
        except FileNotFoundError:
            return None
        except OSError as error:
            what = "a link" if error.errno == errno.ELOOP else f"no file ({error.strerror})"
            raise FileNameError(f"{self.path.name} is {what}") from None
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
        """Remove it, if it is there; raises OSError, as for a folder."""
        self.path.unlink(missing_ok=True)


_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}


def slips_of(folder: Path, name: str) -> tuple[MailboxFile, MailboxFile]:
    """The two files of a program of this name: what it reads, and what it writes."""
    return MailboxFile(folder / f"{name}.in"), MailboxFile(folder / f"{name}.out")
