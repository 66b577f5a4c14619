"""The results of a sweep's runs in one table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from othello_lab.agents.naming import LONGEST
from othello_lab.experiments.config import typed
from othello_lab.experiments.report.question import question_of
from othello_lab.experiments.report.standings import (
    anchor_of,
    matches,
    points_of_agents,
    rated_by_settings,
    standings,
)
from othello_lab.experiments.studies.study import PlayedRun
from othello_lab.experiments.sweep.composing import Values, short_names

if TYPE_CHECKING:
    import pandas as pd  # loaded when a table is made, since a run starts sooner without it

_PLACES = ("first", "second")  # of the agents of a duel, in overrides


def table_of(played: Sequence[PlayedRun], values: Values) -> pd.DataFrame:
    """The table of :func:`experiments.sweep.load`."""
    import pandas as pd

    scores: dict[int, dict[str, float]] = {}
    for run in played:
        with run.record() as record:
            scores[run.number] = points_of_agents(record)
    line_ups = {number: list(score) for number, score in scores.items()}
    names = steady_names(line_ups, values)
    points = [dict(zip(names[run], score.values(), strict=True)) for run, score in scores.items()]
    reference = _reference(points, values)
    tables = []
    for run in played:
        steady = dict(zip(line_ups[run.number], names[run.number], strict=True))
        with run.record() as record:
            settings = typed(record.head()["config"])
            zero = next((name for name in steady if steady[name] == reference), None)
            settings.rating.anchor = zero or settings.rating.anchor
            parts = rated_by_settings(record, settings)
            table = standings(record, parts)
            if zero and anchor_of(record, parts) != zero:
                _compare(table, zero, matches(record, parts))
            head = {"run": run.number, "folder": run.folder.name}
            head |= {key: value.get(run.number) for key, value in values.items()}
            tail = {
                "reference": reference,
                "question": question_of(settings).name.lower(),
                "alike": all(len(set(ratings.strategy)) == 1 for _, ratings in parts),
                "complete": run.complete,
            }
        table["agent"] = table["agent"].map(steady)
        tables.append(pd.DataFrame(head, table.index).join(table).assign(**tail))
    return pd.concat(tables, ignore_index=True).infer_objects()


def steady_names(line_ups: Mapping[int, Sequence[str]], values: Values) -> dict[int, list[str]]:
    """Return the names of the agents of each run. An agent of a duel whose name the sweep changes
    has what its names begin with for a name, or all of them.

    line_ups: names by number of run.

    >>> steady_names({0: ["pvs_d1", "pvs_1"], 1: ["pvs_d3", "pvs_d2"]}, {"first.depth": {}})
    {0: ['pvs', 'pvs_d2'], 1: ['pvs', 'pvs_d2']}
    >>> steady_names({0: ["pvs", "greedy"], 1: ["mtdf", "greedy"]}, {"agent@first": {}})
    {0: ['pvs/mtdf', 'greedy'], 1: ['pvs/mtdf', 'greedy']}
    >>> steady_names({0: ["mcts_1", "mcts_2"], 1: ["playouts 9", "playouts 2"]}, {"first.x": {}})
    {0: ['mcts', 'playouts 2'], 1: ['mcts', 'playouts 2']}
    """
    swept = {key.removeprefix("agent@").split(".")[0] for key in values} & set(_PLACES)
    if not swept or {len(names) for names in line_ups.values()} != {len(_PLACES)}:
        return {number: list(names) for number, names in line_ups.items()}
    names = zip(*line_ups.values(), strict=True)
    steady = [_steady_name(group, at in swept) for at, group in zip(_PLACES, names, strict=True)]
    if steady[0] == steady[1]:
        steady = [f"{name}_{number}" for number, name in enumerate(steady, start=1)]
    return dict.fromkeys(line_ups, steady)


def _compare(table: pd.DataFrame, reference: str, pairings: pd.DataFrame) -> None:
    """Make Elo in the standings, changed in place, that of the matches against one agent."""
    columns = ["elo", "low", "high", "bound", "split"]
    table.loc[table["agent"] == reference, columns] = 0.0, 0.0, 0.0, "", False
    for row in pairings.itertuples():
        if reference not in (row.agent, row.opponent):
            continue
        elo, low, high, bound, name = row.elo, row.elo_low, row.elo_high, row.bound, row.agent
        if name == reference:
            elo, low, high, name = -elo, -high, -low, row.opponent
            bound = bound.translate(str.maketrans("<>", "><"))
        if bound:
            low = high = elo
        table.loc[table["agent"] == name, columns] = elo, low, high, bound, row.split


def _steady_name(names: Sequence[str], swept: bool) -> str:
    """Return one name for an agent with these names; swept: True if its own settings change."""
    # Where both agents of a run are alike, they are numbered.
    alike = [name for name in names if re.search(r"_\d$", name)]
    telling = [name for name in names if name not in alike] or list(names)
    if not swept:
        return max(telling, key=telling.count)
    parts = zip(*(re.findall(r"[_ ]?[^_ ]+", name) for name in names), strict=False)
    common = "".join(part[0] for part in takewhile(lambda part: len(set(part)) == 1, parts))
    return common or (alike[0][:-2] if alike else "/".join(dict.fromkeys(telling))[:LONGEST])


def _reference(scores: Sequence[Mapping[str, float]], values: Values) -> str:
    """Return the agent to which the others are compared in every run, "" if there is none.

    It is in all runs, and if possible won or lost everything in none. If there are several, it is
    one whose own settings are the same in all runs, the one with the least points, the last in the
    line-up. scores: the share of points of each agent, by run.
    """
    present = [name for name in scores[0] if all(name in run for run in scores)]
    everywhere = [name for name in present if all(0 < run[name] < 1 for run in scores)] or present
    swept = {part for key in values for part in key.removeprefix("agent@").split(".")[:2]}
    names = dict(zip(_PLACES, scores[0], strict=False))
    swept |= {names[side] for side in swept & set(names)}
    steady = [name for name in everywhere if name not in swept] or everywhere
    means = {name: round(sum(run[name] for run in scores), 9) for name in reversed(steady)}
    return min(means, key=lambda name: means[name], default="")


def grouped(table: pd.DataFrame, keys: Iterable[str]) -> dict[str, list[str]]:
    """The keys of a sweep's table in groups that vary together, by their short names: one value of
    any key of a group always goes with the same values of its others."""
    runs, short = table.drop_duplicates("run"), short_names(keys)
    groups: list[list[str]] = []
    for key in short:
        for group in groups:
            both = runs[[group[0], key]].astype(str).drop_duplicates()
            if len(both) == both[key].nunique() == both[group[0]].nunique():
                group.append(key)
                break
        else:
            groups.append([key])
    return {", ".join(short[key] for key in group): group for group in groups}
