"""Style of the tables on a terminal, and the end of a job there. Imports nothing that takes long
to load."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from othello_lab.core.system.escaping import plain

NARROW = 100
"""A terminal with less columns shows the paths of folders in two lines."""
_WORDS = 24  # columns to which long names are folded before others move to a further table


class WholeTable(Table):
    """A table that cuts no number: where it is wider than the terminal, columns move to further
    tables below it, each with its first words. Columns on the left hold words."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        free, widths = options.update_width(10_000), list[int]()
        words = [column.justify == "left" for column in self.columns[:2]]
        head = [0, 1] if words == [True, True] else [0]
        parts = [head.copy()]
        for column in self.columns:
            width = self._measure_column(console, free, column)
            widths.append(1 + (width.maximum if column.no_wrap else min(width.minimum, _WORDS)))
        for number in range(len(head), len(widths)):
            wide = 1 + sum(widths[column] for column in [*parts[-1], number]) > options.max_width
            if wide and parts[-1] != head:
                parts.append(head.copy())
            parts[-1].append(number)
        for number, part in enumerate(parts):
            shown = copy.copy(self)
            shown.title = None if number else self.title
            shown.caption = None if number < len(parts) - 1 else self.caption
            shown.columns = [replace(self.columns[n], _index=i) for i, n in enumerate(part)]
            yield from Table.__rich_console__(shown, console, options)


def terminal_table(columns: Iterable[str] = ()) -> Table:
    """An empty table for the terminal. Words go left, numbers right, and headings of two words
    break between them, so that the standings fit into some 90 columns."""
    shown = WholeTable(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for name in columns:
        words = name in ("agent", "settings", "algorithm")
        heading = name.replace("/", "\n/").replace(" ", "\n", 1)
        side = "left" if words else "right"
        shown.add_column(heading, justify=side, no_wrap=not words, overflow="fold")  # type: ignore[arg-type]
    return shown


def short_path(folder: object, console: Console) -> Text:
    """Return the path of a job's folder, in a narrow terminal with its date in a second line."""
    broken = re.sub(r"/(?=\d{4}-\d\d-\d\d_)", "/\n", str(folder))
    return plain(broken if console.width < NARROW else folder, keep="\n")


def print_files(files: Mapping[str, str], folder: Path, console: Console) -> None:
    """Print where the files of a job are. files: names in its folder, by what they hold."""
    for label, name in files.items():
        # Paths are for copying: not wrapped.
        console.print(plain(f"{label:8}{folder / name}"), soft_wrap=True)
