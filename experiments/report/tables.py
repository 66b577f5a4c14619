"""The tables of a run: their columns, how a row fills them, and how a terminal shows them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from othello_lab.agents.config import short_name
from othello_lab.core.game import FINISHED, Limits
from othello_lab.core.system.escaping import counted, plain
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.standings import MATCH_STATISTICS, OUTCOME_COLUMNS
from othello_lab.experiments.report.terminal import WholeTable, terminal_table
from othello_lab.experiments.statistics.intervals import EVERY_SPLIT, interval_text
from othello_lab.experiments.statistics.match import MatchStatistics

if TYPE_CHECKING:
    import pandas as pd

# ---------------------------------------------------------------------- agents


SELECTIVE_MARK = "\N{DAGGER}"
"""Follows the names of agents that search selectively wherever their results are shown."""


def marked(name: str, selective: bool) -> str:
    """An agent's name, with the mark if it searches selectively."""
    return f"{name} {SELECTIVE_MARK}" if selective else name


def described(agents: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return each agent's settings in a line: ``AlphaBeta, depth 4, evaluation SquareWeights``.
    Default values are left out, unless the agents differ in them; parts with settings of their own
    are counted."""
    values: dict[str, set[str]] = {}
    for settings in agents.values():
        for key, value in settings.items():
            values.setdefault(key, set()).add(str(value))
    differing = {key for key, texts in values.items() if len(texts) > 1}
    return {name: _in_words(settings, differing) for name, settings in agents.items()}


def _in_words(settings: Mapping[str, Any], differing: Collection[str] = ()) -> str:
    target = str(settings.get("_target_") or settings.get("object", ""))
    defaults = _defaults(target)
    words = [short_name(target)]
    for key, value in settings.items():
        off = (value is None or value is False) and not defaults.get(key)
        if off or key in ("_target_", "object"):
            continue
        if isinstance(value, Mapping) and ("_target_" in value or "object" in value):
            words.append(f"{key} {_in_words(value)}")
        elif isinstance(value, Mapping):
            parts = (f"{name} {part}" for name, part in value.items() if part)
            words.append(f"{key} {' '.join(parts)}")
        elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
            words.append(f"{len(value)} {key}")  # such as weights for each; the settings have them
        elif key in differing or key not in defaults or defaults[key] != value:
            words.append(f"{key} {value}")
    return ", ".join(words)


def _defaults(target: str) -> dict[str, Any]:
    """The default values of a class's settings; none where it is out of reach by its name. A module
    that nobody has imported yet stays so: its name may come from a foreign record."""
    try:
        module, _, name = target.rpartition(".")
        line = getattr(sys.modules[module], name).__mro__
    except (KeyError, AttributeError):
        return {}
    makers = [kind.__init__ for kind in reversed(line) if "__init__" in vars(kind)]
    signatures = [inspect.signature(make).parameters for make in makers]
    return {name: parameter.default for part in signatures for name, parameter in part.items()}


# ---------------------------------------------------------------------- standings


def elo_text(row: Any) -> str:
    """Return ``+123 [103, 145]``, ``> +620`` for an agent that won everything, or a word in place
    of a rating."""
    if np.isnan(row.elo):
        return "-"
    if row.split:
        return EVERY_SPLIT
    if not row.bound and row.elo == row.low == row.high == 0:
        return "0 (anchor)"
    return interval_text(row.elo, row.low, row.high, row.bound)


def _count(value: float) -> str:
    """Return a number in words, ``-`` for one that an agent without a search lacks."""
    return "-" if np.isnan(value) or not value else f"{value:,.0f}"


def _per_second(nodes: float) -> str:
    if nodes < 1e3 or np.isnan(nodes):
        return _count(nodes)
    if nodes < 1e6:
        return f"{nodes / 1e3:.0f}\N{NO-BREAK SPACE}k"
    return f"{nodes / 1e6:.1f}\N{NO-BREAK SPACE}M"


def time_text(microseconds: float) -> str:
    """A time in three digits: ``30 µs``, ``1.25 ms``, ``2 s``; ``-`` for none."""
    if np.isnan(microseconds):
        return "-"
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if (number := microseconds / size) >= 0.9995:
            digits = f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"
            return f"{digits}\N{NO-BREAK SPACE}{unit}"
    return "< 1\N{NO-BREAK SPACE}µs"


def limits_in_words(limits: Limits) -> list[str]:
    """Return the limits of a run as figures and captions have them.

    >>> limits_in_words(Limits(nodes=2000, depth=12))
    ['at most 2,000 nodes a move', 'depth at most 12']
    """
    times = {
        "a move": limits.seconds,
        "of processor time a move": limits.cpu_seconds,
        "a game": limits.clock,
    }
    words = [f"{time_text(1e6 * limit)} {what}" for what, limit in times.items() if limit]
    if limits.nodes:
        nodes = counted(limits.nodes, "node")
        words.insert(0, f"at most {nodes} a move")
    if limits.depth:
        words.append(f"depth at most {limits.depth}")
    return words


def share_text(ratio: float) -> str:
    """A share in words: "12 %", "3.4 %", below one in a hundred "1/250", and "0 %" for none."""
    if 0 < ratio < 0.01:
        return f"1/{1 / ratio:,.0f}"
    return f"{100 * ratio:.{1 if 0 < ratio < 0.0995 else 0}f} %"


RATING = "Elo [95 %]"

COLUMNS: dict[str, Callable[[Any], str]] = {
    "agent": lambda row: marked(row.agent, row.selective),
    RATING: elo_text,
    "score %": lambda row: f"{100 * row.score:.1f}",
    "games": lambda row: f"{row.games:,}",
    "wins": lambda row: f"{row.wins:,}",
    "draws": lambda row: f"{row.draws:,}",
    "losses": lambda row: f"{row.losses:,}",
    "discs": lambda row: "-" if np.isnan(row.disc_difference) else f"{row.disc_difference:+.1f}",
    "nodes/move": lambda row: _count(row.nodes_per_move),
    "nodes/s": lambda row: _per_second(row.nodes_per_second),
    "evals/move": lambda row: _count(row.evaluations_per_move),
    "time/move": lambda row: time_text(row.median_microseconds),
    "95 % within": lambda row: time_text(row.p95_microseconds),
}
"""The columns of every standings table, and how a row fills them."""

LONGEST_SHOWN = 16
"""Rows of a tournament's table that a terminal shows."""

LESS_NEEDED = ("95 % within", "evals/move", "nodes/s", "discs", "time/move", "draws", "games")
"""What a narrow terminal does without, in this order."""


def columns_of(
    standings: pd.DataFrame, tournament_columns: Iterable[str] = ()
) -> dict[str, Callable[[Any], str]]:
    """Return the columns of a standings table. tournament_columns: those that the schedule
    has added; with any, columns in which no agent has a value are left out."""
    if not tournament_columns:
        return COLUMNS
    columns = {"agent": COLUMNS["agent"]} | {
        name: partial(_merit, name) for name in tournament_columns
    }
    columns |= COLUMNS
    rows = list(standings.itertuples())
    return {name: cell for name, cell in columns.items() if {*map(cell, rows)} != {"-"}}


def _merit(name: str, row: Any) -> str:
    value = getattr(row, name)
    return value if isinstance(value, str) else f"{value:g}"


def standings_by_part(
    standings: pd.DataFrame,
    tournament_columns: Iterable[str] = (),
    columns: Mapping[str, Callable[[Any], str]] | None = None,
) -> list[tuple[str, list[list[str]]]]:
    """Return the cells for each part of the pool that met, with a heading if there are several
    parts; all in one table if the schedule ranks the agents (``tournament_columns``), or points
    rank those of a single part. columns: default those of :func:`columns_of`."""
    columns = columns_of(standings, tournament_columns) if columns is None else columns
    if tournament_columns or (order_note(standings) and standings["part"].max() < 1):
        return [("", cells(columns, standings))]
    parts = [
        ("without a rating" if part < 0 else f"pool {part + 1}", cells(columns, rows))
        for part, rows in standings.groupby("part", sort=False)
    ]
    return parts if len(parts) > 1 else [("", parts[0][1])]


def order_note(standings: pd.DataFrame, tournament_columns: Collection[str] = ()) -> str:
    """Return the sentence on a table with forfeits: its order, and the reason; else ""."""
    if not (games := int(standings["forfeits"].sum())):
        return ""
    order = "" if tournament_columns else "Ordered by points: "
    return (
        f"{order}{counted(games, 'game')} ended by a forfeit. That counts as points, but shows no "
        "strength: ratings leave out pairs with such a game."
    )


def cells(columns: Mapping[str, Callable[[Any], str]], frame: pd.DataFrame) -> list[list[str]]:
    """Return the cells of a table with these columns, by row."""
    return [[cell(row) for cell in columns.values()] for row in frame.itertuples()]


def by_agent(frame: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Return a table with its agents in this order; rows of the same one stay as they are."""
    places = {name: rank for rank, name in enumerate(order)}
    return frame.sort_values("agent", key=lambda names: names.map(places), kind="stable")


# ---------------------------------------------------------------------- matches


def _statistics(row: Any) -> MatchStatistics:
    statistics = {name: getattr(row, name) for name in MATCH_STATISTICS}
    return MatchStatistics(row.pairs, row.score, **statistics)


def _dashes(row: Any, *names: str) -> str:
    return "-".join(f"{getattr(row, name):,}" for name in names)


MATCH_COLUMNS: dict[str, Callable[[Any], str]] = {
    "agent": lambda row: row.agent,
    "opponent": lambda row: row.opponent,
    "games": lambda row: f"{row.games:,}",
    "W-D-L": lambda row: _dashes(row, "wins", "draws", "losses"),
    "as Black": lambda row: _dashes(row, "black_wins", "black_draws", "black_losses"),
    "as White": lambda row: _dashes(row, "white_wins", "white_draws", "white_losses"),
    "score %": lambda row: f"{100 * row.score:.1f}",
    "pairs": lambda row: f"{row.pairs:,}",
    "pairs by points": lambda row: _dashes(row, *OUTCOME_COLUMNS),
    RATING: lambda row: _statistics(row).elo_text,
    "nElo [95 %]": lambda row: _statistics(row).nelo_text,
    "LOS": lambda row: _statistics(row).los_text,
    "discs [95 %]": lambda row: interval_text(row.discs, row.discs_low, row.discs_high, digits=1),
    "ends": lambda row: FINISHED if row.ends == f"{FINISHED} {row.games}" else str(row.ends),
}
"""The columns of the table of matches, and how a row fills them."""

_IDLE = {"nElo [95 %]": "-", "LOS": "-", "ends": FINISHED}
"""Columns of matches that a table does without if all rows have this in them."""


def match_columns(matches: pd.DataFrame) -> dict[str, Callable[[Any], str]]:
    """Return those of MATCH_COLUMNS that say something in this table: ``pairs`` if some repeat
    others, or have a forfeit, so that they are not half of the games."""
    rows = list(matches.itertuples())
    idle = {name for name, text in _IDLE.items() if {*map(MATCH_COLUMNS[name], rows)} == {text}}
    if (2 * matches["pairs"] == matches["games"]).all():
        idle.add("pairs")
    return {name: cell for name, cell in MATCH_COLUMNS.items() if name not in idle}


# ---------------------------------------------------------------------- on the terminal


def standings_tables(
    standings: pd.DataFrame, console: Console, tournament_columns: Collection[str] = ()
) -> Iterable[Table]:
    """Return the standings for a terminal, a table for each part of the pool that met, as in
    :func:`standings_by_part`. A narrow terminal leaves out some columns rather than cut numbers,
    and refers to the report."""
    unbounded = console.options.update(width=10_000)
    note = order_note(standings, tournament_columns)
    columns = columns_of(standings, tournament_columns)
    for heading, rows in standings_by_part(standings, tournament_columns):
        for left_out in range(len(LESS_NEEDED) + 1):
            wanted = [name not in LESS_NEEDED[:left_out] for name in columns]
            shown = terminal_table(compress(columns, wanted))
            shown.title = heading or None
            for row in rows:
                shown.add_row(*map(plain, compress(row, wanted)))
            # asked of a console without an edge, or it would never be more
            if console.measure(shown, options=unbounded).maximum <= console.width:
                break
        missing = ", ".join(name for name in columns if name in LESS_NEEDED[:left_out])
        notes = [note, f"no room here for {missing}: see the report" if missing else ""]
        shown.caption = Text("\n").join(map(plain, filter(None, notes)))
        yield shown


def result_table(table: ResultTable, end: bool = True) -> Table:
    """A table of a tournament, or of a study: of a long one the end, or the beginning."""
    shown = WholeTable(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    shown.title = plain(table.title)
    for number, name in enumerate(table.columns):
        side = "left" if number in table.words else "right"
        shown.add_column(plain(name), justify=side, no_wrap=side == "right")  # type: ignore[arg-type]
    if len(table.rows) > LONGEST_SHOWN:
        which = "last" if end else "first"
        shown.caption = f"the {which} {LONGEST_SHOWN} of {len(table.rows)} rows: see the report"
    for row in table.rows[-LONGEST_SHOWN:] if end else table.rows[:LONGEST_SHOWN]:
        shown.add_row(*map(plain, row))
    return shown


def matches_table(matches: pd.DataFrame) -> Table:
    """The table of a few matches on its side: one column a pairing."""
    shown = terminal_table()
    shown.add_column("agent -\nopponent")
    rows = cells(MATCH_COLUMNS, matches)
    for agent, opponent, *_ in rows:
        names = Text("\n").join([plain(f"{agent} -"), plain(opponent)])
        shown.add_column(names, justify="right", no_wrap=True)
    for name, *values in list(zip(MATCH_COLUMNS, *rows, strict=True))[2:]:
        shown.add_row(name, *map(plain, values))
    return shown
