"""The finished part of a self-play, on disk: piece after piece, each with its length and a
checksum, so that an interruption loses no more than the piece under way."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from othello_lab.core.system.files import open_file, open_to_add
from othello_lab.training.labels import ROW

_HEAD = struct.Struct("<4sIII")  # mark, number of the piece, length, CRC-32
_MARK = b"lab2"


class TaskCounts(NamedTuple):
    """The counts of a piece. games: their number; left_out: of these, by reason."""

    number: int
    games: int
    left_out: dict[str, int]
    rows: np.ndarray


class TaskLog:
    """The file of pieces, open for adding to it; a piece that was cut off is dropped."""

    def __init__(self, path: Path) -> None:
        self._stream = open_to_add(path)
        self.done = set()
        end = 0
        for number, _, behind in _pieces(self._stream):
            self.done.add(number)
            end = behind
        self._stream.truncate(end)

    def __enter__(self) -> TaskLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()

    def add(self, number: int, row: Mapping[str, Any]) -> None:
        """Append a worker's result of a piece."""
        about = {"games": row["games"], "left_out": row["left_out"]}
        content = json.dumps(about).encode() + b"\n" + row["rows"]
        self._stream.write(_HEAD.pack(_MARK, number, len(content), zlib.crc32(content)))
        self._stream.write(content)
        self.done.add(number)

    def flush(self) -> None:
        """Wait until all is on disk."""
        self._stream.flush()
        os.fsync(self._stream.fileno())


def read_log(path: Path) -> list[TaskCounts]:
    """Return the content of a file of pieces, in the order of their numbers."""
    made = []
    with open_file(path, None) as stream:
        for number, content, _ in _pieces(stream):
            about, _, rows = content.partition(b"\n")
            told = json.loads(about)
            made.append(
                TaskCounts(number, told["games"], told["left_out"], np.frombuffer(rows, dtype=ROW))
            )
    return sorted(made, key=lambda each: each.number)


def _pieces(stream: BinaryIO) -> Iterator[tuple[int, bytes, int]]:
    """The whole pieces at the beginning of a file: number, content, and where each ends."""
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        mark, number, length, check = _HEAD.unpack(head)
        content = stream.read(length) if mark == _MARK else b""
        if len(content) < length or zlib.crc32(content) != check or mark != _MARK:
            return
        yield number, content, stream.tell()
