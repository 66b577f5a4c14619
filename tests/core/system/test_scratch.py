"""Folders are removed whatever a stranger has put into them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from othello_lab.core.system.scratch import remove_tree


@pytest.mark.integration
def test_thousands_of_folders_in_each_other_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    folder_descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=folder_descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder_descriptor)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=inner))
        os.close(folder_descriptor)
        folder_descriptor = inner
    os.close(folder_descriptor)
    remove_tree(folder)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_entered_is_removed_and_links_are_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "kept"
    other.mkdir()
    (other / "file").write_text("mine")
    folder = tmp_path / "folder"
    (folder / "closed" / "inside" / "more").mkdir(parents=True)
    (folder / "closed" / "inside" / "link").symlink_to(other)
    (folder / "link").symlink_to(other, target_is_directory=True)
    (folder / "nowhere").symlink_to(tmp_path / "nothing")
    os.mkfifo(folder / "pipe")
    for path in (folder / "closed" / "inside" / "more", folder / "closed" / "inside"):
        path.chmod(0)
    (folder / "closed").chmod(0)
    folder.chmod(0o500)
    remove_tree(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (other / "file").read_text() == "mine"
    with pytest.raises(NotADirectoryError):
        remove_tree(other / "file")
    with pytest.raises(FileNotFoundError):
        remove_tree(folder)
