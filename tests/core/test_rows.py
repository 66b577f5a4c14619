"""Rows of numbers that an interruption does not lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from othello_lab.core.system.rows import RowMaker


class Squares:
    """Yields the square of each item, and stops working after so many."""

    def __init__(self, until: int = 100) -> None:
        self.requests: list[int] = []
        self.until = until

    def __call__(self, items: Sequence[int]) -> Iterator[list[int]]:
        for item in items:
            if len(self.requests) == self.until:
                raise KeyboardInterrupt
            self.requests.append(item)
            yield [item, item * item]


WANTED = [[n, n * n] for n in range(10)]


def test_made_rows_are_not_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = Squares(until=4), Squares(), Squares()
    with pytest.raises(KeyboardInterrupt):
        RowMaker(folder=tmp_path / "rows")("of ten", range(10), first)
    assert RowMaker(folder=tmp_path / "rows")("of ten", range(10), second) == WANTED
    assert first.requests == [0, 1, 2, 3] and second.requests == [4, 5, 6, 7, 8, 9]
    assert RowMaker(folder=tmp_path / "rows")("of ten", range(10), third) == WANTED
    assert not third.requests
    assert RowMaker(folder=tmp_path / "rows")("others", [3], third) == [[3, 9]]
    assert not capsys.readouterr().out  # it is silent without a console


@pytest.mark.parametrize("tail", [b"[4, ", b"[4, 16]", b"\0\0\0\n[5, 25]\n", b"{]\n"])
def test_a_line_that_was_not_finished_is_made_again(tmp_path: Path, tail: bytes) -> None:
    with pytest.raises(KeyboardInterrupt):
        RowMaker(folder=tmp_path)("rows", range(10), Squares(until=4))
    with (tmp_path / "rows.jsonl").open("ab") as file:
        file.write(tail)
    again = Squares()
    assert RowMaker(folder=tmp_path)("rows", range(10), again) == WANTED
    assert again.requests[0] == 4
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 10


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert RowMaker()("rows", range(10), Squares()) == WANTED
    assert not list(tmp_path.iterdir())
