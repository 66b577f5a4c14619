"""Files that carry messages between two programs: one writes a file, the other removes it.

A writer here fills a temporary file and renames it, so a reader never sees half a message. A reader
here trusts nothing: the name may belong to a link, a pipe or a folder.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from othello_lab.core.system.files import UnreadableFile, open_file, write_file

LONGEST = 4096
"""Bytes read at most."""


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
        content = f"{text}\n".encode(errors="replace")
        try:
            write_file(self.path, content)
        except UnreadableFile:
            self.remove()
            write_file(self.path, content)

    def read(self) -> str | None:
        """Return the present text, cut to LONGEST bytes; None if nothing has this name.

        Raises FileNameError.
        """
        try:
            with open_file(self.path, most=None, follow=False) as file:
                return file.read(LONGEST).decode("utf-8-sig", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            kind = str(error.strerror).partition(",")[0]
            what = kind if isinstance(error, UnreadableFile) else f"no file ({kind})"
            raise FileNameError(f"{self.path.name} is {what}") from None

    def remove(self) -> None:
        """Remove the file if it exists; raises OSError, for example for a folder."""
        self.path.unlink(missing_ok=True)


def mailbox_files(folder: Path, name: str) -> tuple[MailboxFile, MailboxFile]:
    """Return the two files of a program of this name: its input and its output."""
    return MailboxFile(folder / f"{name}.in"), MailboxFile(folder / f"{name}.out")
