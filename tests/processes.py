"""What tests ask of the processes of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def descendants(process: int) -> Iterator[int]:
    """The processes below one, nearest first; needs /proc."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == process:
            yield int(path.parent.name)
            yield from descendants(int(path.parent.name))
