"""Rows of numbers, one for each of many things: made with a line of progress, and kept in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from rich.console import Console
from rich.progress import Progress

from othello_lab.core.system.files import make_folder, open_to_add

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
        with nullcontext() if self.folder is None else _opened(self.folder, title) as file:
            made = [] if file is None else _whole_rows(file)[: len(items)]
            left = items[len(made) :]
            with Progress(console=self.console, disable=self.console.quiet) as progress:
                bar = progress.add_task(title, total=len(items), completed=len(made))
                for row in work(left) if left else ():
                    if file is not None:
                        file.write(json.dumps(row).encode() + b"\n")
                        file.flush()
                    made.append(row)
                    progress.advance(bar)
        return made


def _opened(folder: Path, title: str) -> BinaryIO:
    make_folder(folder)
    return open_to_add(folder / f"{title.replace(' ', '_')}.jsonl")


def _whole_rows(file: BinaryIO) -> list[Any]:
    """Return the rows in a file; what follows the last whole row is cut off."""
    made: list[Any] = []
    whole = 0
    for line in file:
        try:
            row = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            row = None
        if row is None:
            break
        made.append(row)
        whole += len(line)
    file.truncate(whole)
    return made
