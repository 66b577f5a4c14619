"""The results of a sweep, or of a search over settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from othello_lab.agents.config import ConfigError
from othello_lab.experiments.config import TuningConfig, typed
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.standings import pairs_by_opening, rated_as_asked, standings
from othello_lab.experiments.statistics.elo import elo_of_score
from othello_lab.experiments.statistics.intervals import share_interval
from othello_lab.experiments.statistics.pairs import pentanomial
from othello_lab.experiments.sweep.folder import Combination, State, Sweep

if TYPE_CHECKING:
    import pandas as pd  # loaded when a table is made, since a run starts sooner without it


def load(folder: Path | str) -> pd.DataFrame:
    """The runs of a sweep that have games: one row a run and agent.

    Columns: run (the combination's number), folder (its name), one for each key that was varied,
    by its name (``games`` as games_per_pairing), numbers as numbers, then the standings' (see
    :func:`experiments.report.standings.standings`), complete, and for a search objective. Raises
    ConfigError where the folder is no sweep's.
    """
    sweep = Sweep.read(folder)
    known = sweep.combinations()
    if not any(each.has_games for each in known):
        raise ConfigError(f"{folder}: no run of this sweep has any games")
    return table_of(known, sweep.varied(known))


def table_of(known: Sequence[Combination], values: Mapping[str, Mapping[int, Any]]) -> pd.DataFrame:
    """The table of :func:`load`; values: of :meth:`~experiments.sweep.folder.Sweep.varied`."""
    import pandas as pd

    tables = []
    for each in (each for each in known if each.has_games):
        with Record.open(each.folder) as record:
            settings = typed(record.run()["config"])
            table = standings(record, rated_as_asked(record, settings))
        head = {"run": each.number, "folder": each.folder.name}
        tables.append(
            pd.DataFrame(head | {k: v.get(each.number) for k, v in values.items()}, table.index)
            .join(table)
            .assign(complete=each.state is State.FINISHED)
        )
        if each.objective is not None:
            tables[-1]["objective"] = each.objective
    return pd.concat(tables, ignore_index=True).infer_objects()


def grouped(table: pd.DataFrame, keys: Sequence[str]) -> list[list[str]]:
    """The keys of a sweep's table in groups that vary together: one value of any key of a group
    always goes with the same values of its others."""
    runs = table.drop_duplicates("run")
    groups: list[list[str]] = []
    for key in keys:
        for group in groups:
            both = runs[[group[0], key]].astype(str).drop_duplicates()
            if len(both) == both[key].nunique() == both[group[0]].nunique():
                group.append(key)
                break
        else:
            groups.append([key])
    return groups


def elo_of_tuned(folder: Path, tuning: TuningConfig) -> tuple[float, float, float, int]:
    """The tuned agent's Elo above its opponent, the ends of its 95 % interval, and the games.

    With half a pair won and half a pair lost added, so that winning everything is a number too and
    more points are always more Elo.
    """
    with Record.open(folder) as record:
        own = record.agents()["name"].tolist().index(tuning.agent)
        tables, times = pairs_by_opening(record)
    share, low, high, pairs = share_interval(pentanomial(tables[:, own, 1 - own]), times)
    ends = np.clip([(share * pairs + 0.5) / (pairs + 1), low, high], 1e-6, 1 - 1e-6)
    elo, low, high = elo_of_score(ends).tolist()
    return elo, low, high, 2 * pairs


def best_of(known: Sequence[Combination]) -> Combination | None:
    """The combination of a search with the highest objective, the first among equals."""
    tried = [each for each in known if each.objective is not None and each.state is State.FINISHED]
    return max(tried, key=lambda each: each.objective or 0.0, default=None)
