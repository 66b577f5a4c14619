"""Rows of numbers, one for each of many things: made with a line of progress, and kept in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import Progress

Item = TypeVar("Item")


@dataclass
class RowMaker:
    """Makes rows of numbers, one for each item, in their order.

    console: gets a line of progress. folder: keeps each row as soon as it is made, so that an
    interruption loses none of them. None: rows are kept nowhere.
    """

    console: Console = field(default_factory=lambda: Console(quiet=True))
    folder: Path | None = None

    def __call__(
        self, title: str, items: Sequence[Item], work: Callable[[Sequence[Item]], Iterable[Any]]
    ) -> list[Any]:
        """Return a row for each item.

        title: of the progress, and of the file: unique in its folder. work: yields the row of each
        item that it gets, in order; a row is a number, or a list of numbers.
        """
        path = None if self.folder is None else self.folder / f"{title.replace(' ', '_')}.jsonl"
        made = _read(path)[: len(items)]
        left = items[len(made) :]
        with Progress(console=self.console, disable=self.console.quiet) as progress:
            bar = progress.add_task(title, total=len(items), completed=len(made))
            for row in _kept(work(left) if left else (), path):
                made.append(row)
                progress.advance(bar)
        return made


def _read(path: Path | None) -> list[Any]:
    """Return the rows in a file; what follows the last whole row is cut off."""
    made: list[Any] = []
    if path is None or not path.exists():
        return made
    whole = 0
    with path.open("rb") as file:
        for line in file:
            try:
                row = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                row = None
            if row is None:
                break
            made.append(row)
            whole += len(line)
    with path.open("r+b") as file:
        file.truncate(whole)
    return made


def _kept(rows: Iterable[Any], path: Path | None) -> Iterator[Any]:
    """Yield rows, each after it was added to the file."""
    if path is None:
        yield from rows
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
            file.flush()
            yield row
