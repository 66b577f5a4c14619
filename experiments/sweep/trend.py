"""The trend of a sweep in sentences: differences over the values of a setting, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from othello_lab.core.system.escaping import counted, listed
from othello_lab.experiments.report.facts import in_sentence
from othello_lab.experiments.report.question import Question
from othello_lab.experiments.report.tables import order_note, share_text
from othello_lab.experiments.statistics.intervals import elo_words
from othello_lab.experiments.sweep.composing import Values, in_a_line
from othello_lab.experiments.sweep.results import grouped

if TYPE_CHECKING:
    import pandas as pd

MOST_AGENTS = 3
"""Agents that are told one by one: those whose lead, or share of nodes, changes most."""

_MOST_VALUES = 8  # of a setting that are listed; of more the first and the last

Runs = Sequence[tuple[str, int]]
"""A setting's values in words, with the numbers of their runs, in order."""


def findings(table: pd.DataFrame, values: Values) -> Iterator[str]:
    """Yield the trend over the settings that were varied."""
    if note := order_note(table):
        yield note
    groups, name, ordered = grouped(table, values), "", False
    runs: Runs = [(in_a_line(values, run), run) for run in dict.fromkeys(table["run"])]
    if len(groups) == 1 and len(runs) > 1:
        ((name, group),) = groups.items()
        runs, ordered = values_in_order(table, values, group)
    said = list(trends(table, runs, name, ordered and name != "seed"))
    if not said and (table["split"] | (table["agent"] == table["reference"])).all():
        said = ["In every run every pair was split, so these games cannot tell who is better."]
    yield from said


def trends(table: pd.DataFrame, runs: Runs, name: str, ordered: bool) -> Iterator[str]:
    """Yield the trend over the values of one setting, a run each; over those of several the least
    and the greatest numbers, and who stands highest.

    table: of :func:`experiments.sweep.results.table_of`. runs: of the values. name: the setting's,
    "" for several. ordered: true if the values are numbers, so that a change has a direction.
    """
    if asks_for_costs(table):
        yield from _node_trends(table, runs, name)
        return
    if table["reference"].iloc[0]:
        yield from _elo_trends(table, runs, name, ordered)
    rated = table[(table["part"] == 0) & table["elo"].notna()]
    decided = rated.groupby("run")["elo"].transform("nunique") > 1
    first = rated[decided].drop_duplicates("run")["agent"]  # the standings begin with the highest
    often = [f"{in_sentence(name)} in {number}" for name, number in first.value_counts().items()]
    if often and not name:
        yield f"Of {counted(len(runs), 'run')} these stand highest: {listed(often[:_MOST_VALUES])}."


def asks_for_costs(table: pd.DataFrame) -> bool:
    """Return True if the runs compare costs, or show nothing but costs."""
    costs, reference = table["question"] == Question.COST.name.lower(), table["reference"]
    return bool((costs | table["split"] | (table["agent"] == reference)).all())


def _node_trends(table: pd.DataFrame, runs: Runs, name: str) -> Iterator[str]:
    """Yield each agent's share of the nodes of the most expensive one on average, by value."""
    nodes = table.pivot_table("nodes_per_move", "agent", "run", sort=False)
    nodes = nodes.reindex(columns=[run for _, run in runs])  # none may count any
    nodes = nodes[nodes.fillna(0).min(axis=1) > 0]
    if len(nodes) < 2:
        return
    means = nodes.mean(axis=1).sort_values(kind="stable")
    base = means.index[-1]
    cost = (table["question"] == Question.COST.name.lower()).all()
    same = "for the same values" if cost else "with every pair split"
    same = "for the same moves" if table["alike"].all() else same
    for agent in means.index[:-1][:MOST_AGENTS]:
        shares = (nodes.loc[agent] / nodes.loc[base]).set_axis([value for value, _ in runs])
        words, where = listed([*map(share_text, shares)]), f"at {name} = {listed(shares.index)}"
        if not name:
            ends = dict.fromkeys((shares.idxmin(), shares.idxmax()))
            words = " to ".join(f"{share_text(shares[value])} ({value})" for value in ends)
            where = f"in {counted(len(runs), 'run')}"
        whose = f"of the nodes of {in_sentence(base)}"
        yield f"{in_sentence(agent)} visits {words} {whose} {where}, {same}."
    if len(nodes) > MOST_AGENTS + 1:
        yield f"These are the {MOST_AGENTS} of {len(nodes)} agents that visit the fewest."


def _elo_trends(table: pd.DataFrame, runs: Runs, name: str, ordered: bool) -> Iterator[str]:
    """Yield the lead of agents over the reference by value, and its change."""
    reference = table["reference"].iloc[0]
    leads_of = {}
    for agent, rows in table[table["agent"] != reference].groupby("agent", sort=False):
        by_run = {row.run: row for row in rows.itertuples() if not math.isnan(row.elo)}
        points = [(value, by_run[run]) for value, run in runs if run in by_run]
        if len(points) > 1 or not name:
            leads_of[agent] = points
    changes = {agent: _change(points, ordered) for agent, points in leads_of.items()}
    chosen = sorted(leads_of, key=lambda agent: -abs(changes[agent][0]))[:MOST_AGENTS]
    for agent in chosen:
        points = leads_of[agent]
        shown = points if len(points) <= _MOST_VALUES else [points[0], points[-1]]
        leads = listed([f"{_in_words(row)} at {name} = {value}" for value, row in shown])
        who = f"{in_sentence(str(agent))} above {in_sentence(reference)}, Elo:"
        yield (
            f"{who} {leads}. {_change_text(changes[agent], ordered)}"
            if name
            else (f"{who} {_least_and_greatest(points)}.")
        )
    if len(leads_of) > len(chosen):
        known = all(math.isfinite(low) for _, low, *_ in changes.values())
        most = " whose lead changes most" if known else ""
        yield f"These are {len(chosen)} of {len(leads_of)} agents{most}."


def _in_words(row: Any) -> str:
    return elo_words(row.elo, row.low, row.high, row.bound, row.split)


def _least_and_greatest(points: Sequence[tuple[str, Any]]) -> str:
    """Return the ends of leads in words, bounds apart from numbers."""
    parts = []
    for bounded in (False, True):
        part = [point for point in points if bool(point[1].bound) is bounded]
        part.sort(key=lambda point: point[1].elo)
        ends = dict.fromkeys([*part[:1], *part[-1:]])
        parts += [" to ".join(f"{_in_words(row)} ({value})" for value, row in ends)] * bool(ends)
    return " and ".join(parts)


def _change(points: Sequence[tuple[str, Any]], ordered: bool) -> tuple[float, float, float, str]:
    """Return the change of a lead, the ends of its 95 % interval, and the two values: the first and
    the last, or without an order those with the least and with the greatest lead. The runs count as
    independent. The ends are nan where fewer than two leads are known."""
    known = [(value, row) for value, row in points if not row.bound and not row.split]
    if not ordered:
        known.sort(key=lambda point: point[1].elo)
    if len(known) < 2:
        return 0.0, math.nan, math.nan, ""
    (before, one), (after, other) = known[0], known[-1]
    change = other.elo - one.elo
    low = change - math.hypot(other.elo - other.low, one.high - one.elo)
    high = change + math.hypot(other.high - other.elo, one.elo - one.low)
    some = "" if ordered or len(known) == len(points) else "of leads with an interval, "
    return change, low, high, f"{some}from {before} to {after}"


def _change_text(change: tuple[float, float, float, str], ordered: bool) -> str:
    value, low, high, where = change
    if math.isnan(low):
        return "These runs do not show how it changes."
    sure = low > 0 or high < 0
    if ordered:
        kind, words = "change", ("surely more" if value > 0 else "surely less") if sure else ""
    else:
        kind, words = "greatest difference", "surely different" if sure else ""
    return f"The {kind} {where}: {value:+z.0f} [{low:z.0f}, {high:z.0f}], {words or 'undecided'}."


def values_in_order(table: pd.DataFrame, values: Values, group: Sequence[str]) -> tuple[Runs, bool]:
    """Return the values of settings that vary together, and True if they are numbers of one
    setting. group: keys of ``values``."""
    numbers = [int(run) for run in dict.fromkeys(table["run"])]
    values_of: dict[int, list[Any]] = {n: [values[key].get(n) for key in group] for n in numbers}
    ordered = len(group) == 1 and all(_is_number(value) for (value,) in values_of.values())
    if ordered:
        numbers.sort(key=lambda run: float(values_of[run][0]))
    return [(", ".join(map(str, values_of[run])), run) for run in numbers], ordered


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
