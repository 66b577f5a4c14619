"""Files by which programs talk."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from othello_lab.agents.external.mailbox import LONGEST, FileNameError, MailboxFile, mailbox_files


@pytest.fixture
def file(tmp_path: Path) -> MailboxFile:
    return MailboxFile(tmp_path / "x")


def test_a_message_is_written_read_and_removed(tmp_path: Path) -> None:
    incoming, outgoing = mailbox_files(tmp_path, "anna")
    assert incoming.path.name == "anna.in" and outgoing.path.name == "anna.out"
    assert not incoming.is_there and incoming.read() is None
    incoming.write("W")
    assert incoming.is_there and incoming.read() == "W\n" and 0 <= incoming.age < 100
    incoming.write("(B D 3)")
    assert incoming.read() == "(B D 3)\n"
    assert [path.name for path in tmp_path.iterdir()] == ["anna.in"]
    assert incoming.path.stat().st_mode & 0o777 == 0o644  # others may have to read it
    incoming.remove()
    incoming.remove()
    assert not incoming.is_there and incoming.age == 0 and not outgoing.is_there


def test_nobody_ever_sees_half_of_it(file: MailboxFile) -> None:
    seen: set[str | None] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.add(file.read())

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(100):
        file.write("(W D 3)")
    done.set()
    reader.join()
    assert seen <= {None, "(W D 3)\n"}


def test_what_is_no_file_is_told(file: MailboxFile, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("(W D 3)")
    for make, what in (
        (lambda: os.mkdir(file.path), "x is a folder"),
        (lambda: os.mkfifo(file.path), "x is a FIFO"),
        (lambda: file.path.symlink_to("there"), "x is a link"),
        (lambda: file.path.symlink_to("nowhere"), "x is a link"),
    ):
        make()
        assert file.is_there
        with pytest.raises(FileNameError, match=what):
            file.read()
        if file.path.is_dir():
            for touch in (lambda: file.write("W"), file.remove):
                with pytest.raises(OSError, match="x"):
                    touch()
            file.path.rmdir()
        else:
            file.write("W")  # in its place
            assert file.read() == "W\n" and not file.path.is_symlink()
            file.remove()
    assert (tmp_path / "there").read_text() == "(W D 3)"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_what_others_write_is_cut_to_what_could_be_meant(file: MailboxFile) -> None:
    file.path.write_bytes(b"\xff" * (LONGEST + 1000))
    assert len(file.read() or "") == LONGEST
    file.path.write_text("(W D 3)", encoding="utf-8-sig")  # with a byte order mark
    assert file.read() == "(W D 3)"
