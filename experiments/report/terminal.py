"""Style of the tables on a terminal. Imports nothing that takes long to load."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.table import Table


def terminal_table(columns: Iterable[str] = ()) -> Table:
    """An empty table for the terminal. Words go left, numbers right, and headings of two words
    break between them, so that the standings fit into some 90 columns."""
    shown = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for name in columns:
        words = name in ("agent", "settings", "algorithm")
        heading = name.replace("/", "\n/").replace(" ", "\n", 1)
        shown.add_column(heading, justify="left" if words else "right", no_wrap=True)
    return shown
