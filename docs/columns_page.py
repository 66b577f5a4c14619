"""The reference of columns, made from the rows that a record declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from othello_lab.core.game import SearchStats
from othello_lab.core.system.settings import documented, paragraphs
from othello_lab.experiments.record import store, turns
from othello_lab.experiments.report import standings


def columns_text() -> str:
    """Return the tables of a record, and two tables of a report, each with its columns."""
    parts = []
    for table, row in store.TABLES.items():
        about = {name: setting.text for name, setting in documented(row).items()}
        parts.append(_section(f"Table {table}", paragraphs(str(row.__doc__))[0], about))
    counts = {name: setting.text for name, setting in documented(SearchStats).items()}
    moves = {name: turns.MOVE_MEANINGS.get(name) or counts[name] for name in turns.MOVE_COLUMNS}
    parts.append(
        _section(
            "Table moves",
            "A turn after the opening. Of a forced pass only the first four columns are filled. "
            "The same holds for a game in which an agent hung or its process died. With "
            "`record=games` the table is empty. The file packs it by game as `turns` (see "
            "`core/turn_layouts.py`); `Record.moves()` and `export FOLDER sqlite` unpack it.",
            moves,
        )
    )
    tables = (("standings.csv", standings.standings), ("matches.csv", standings.matches))
    for title, function in tables:
        name = f"{function.__module__}.{function.__name__}"
        parts.append(f"## {title}\n\n```{{eval-rst}}\n.. autofunction:: {name}\n```")
    return "\n\n".join(parts) + "\n"


def _section(title: str, about: str, columns: Mapping[str, Any]) -> str:
    return f"## {title}\n\n{about}\n\n" + "\n".join(_listed(columns))


def _listed(columns: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each column, or for several if those after the first have no text."""
    names: list[str] = []
    told = ""
    for name, about in [*columns.items(), ("", "end")]:
        if about and names:
            yield f"- {', '.join(f'**`{each}`**' for each in names)}: {told}"
            names = []
        told = " ".join(paragraphs(about)) if about else told
        names.append(name)
