"""Test results of players: runs, and the studies of single agents."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.record.reading import DAMAGES, reading
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.report.late_moves import ALL, error_profile
from othello_lab.experiments.report.tables import SELECTIVE_MARK
from othello_lab.experiments.results.listing import places_below
from othello_lab.experiments.studies import load
from othello_lab.experiments.studies.record import STUDY, StudyRecord, is_study
from othello_lab.experiments.studies.study_session import GAMES
from othello_lab.experiments.sweep.folder import is_sweep

if TYPE_CHECKING:
    import pandas as pd

BANDS = 3
"""Parts of the last squares that losses are told of."""
_TABLES = {"pruning": "pruning", "scaling": "doublings"}
"""Of the other studies that say something of single agents, the table that does."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A test. kind: run, or the study's name. agents: the settings of its agents, by name. command,
    started, versions, machine: from its record. what: its size in few words."""

    kind: str
    folder: Path
    name: str
    agents: Mapping[str, Mapping[str, Any]]
    command: str
    started: str
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    what: str

    @property
    def comparable(self) -> set[str]:
        """The agents with numbers that can be compared with all others': those that met at least
        half of them, and not, as in a gauntlet, a single one."""
        return set(self.agents)


def _comparable(met: Mapping[str, int], agents: int) -> set[str]:
    """Return the agents that met at least half of the others. met: number of others, by name."""
    return {name for name, others in met.items() if 2 * others >= agents - 1}


@dataclass(frozen=True, eq=False)
class RunEvidence(Evidence):
    """A run. standings, matches: tables of its report, see :mod:`experiments.report.standings`."""

    standings: pd.DataFrame
    matches: pd.DataFrame

    @property
    def places(self) -> dict[str, int]:
        """The place of each agent by its rating, or by its points where there is none; equal ones
        share it."""
        rated = self.standings.set_index("agent")
        worth = rated["elo"] if rated["elo"].notna().all() else rated["score"]
        return dict(worth.rank(ascending=False, method="min").astype(int))

    @property
    def comparable(self) -> set[str]:
        met = Counter([*self.matches["first"], *self.matches["second"]])
        return _comparable(met, len(self.standings))

    def against(self, name: str) -> list[dict[str, Any]]:
        """The matches of an agent as it sees them, the hardest opponent first: opponent, score, and
        the interval of the difference in Elo, low and high; open where all was won or lost, nan
        where nothing can be said."""
        found = []
        for row in self.matches.to_dict("records"):
            if name not in (row["first"], row["second"]):
                continue
            low, high, score = row["elo_low"], row["elo_high"], row["score"]
            if row["bound"]:
                low, high = (row["elo"], np.inf) if row["bound"] == ">" else (-np.inf, row["elo"])
            opponent = row["second"]
            if name == row["second"]:
                low, high, score, opponent = -high, -low, 1 - score, row["first"]
            found.append({"opponent": opponent, "score": score, "low": low, "high": high})
        return sorted(found, key=lambda match: match["score"])


@dataclass(frozen=True, eq=False)
class ErrorsEvidence(Evidence):
    """A study of errors. moves: one row a move, see :func:`experiments.studies.errors.judged`.
    met: how many others each agent met in the games."""

    moves: pd.DataFrame
    met: Mapping[str, int]

    @property
    def comparable(self) -> set[str]:
        return _comparable(self.met, len(self.agents))

    @cached_property
    def whole(self) -> pd.DataFrame:
        """The quality of each agent's moves, the smallest loss first."""
        profile = error_profile(self.moves)
        return profile[profile["empties"] == ALL].reset_index(drop=True)

    @cached_property
    def bands(self) -> pd.DataFrame:
        """The same by parts of the game, those with the most empty squares first; the column
        ``band`` has the range of empty squares."""
        empties = self.moves["empties"].to_numpy(int)
        ends = np.linspace(empties.max(), empties.min() - 1, BANDS + 1).round().astype(int)
        names = {
            number: f"{high} to {low + 1}" if high > low + 1 else f"{high}"
            for number, (high, low) in enumerate(itertools.pairwise(ends))
            if high > low
        }
        part = np.clip(np.searchsorted(-ends, -empties, side="right") - 1, 0, BANDS - 1)
        profile = error_profile(self.moves.assign(empties=part))
        profile = profile[profile["empties"] != ALL].sort_values("empties", kind="stable")
        return profile.assign(band=profile["empties"].map(names)).reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class TableEvidence(Evidence):
    """Another study of single agents. table: the table with numbers of each; its column ``agent``
    has their names."""

    table: pd.DataFrame


def evidence_in(folders: Sequence[Path], console: Console, trust: bool = False) -> list[Evidence]:
    """Return the tests in these folders: runs, studies, or folders with such in them. Studies
    without numbers of single agents are left out. The latest last. Raises ConfigError."""
    found: list[Evidence] = []
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"{folder}: there is no such folder")
        alone = (folder / FILE).is_file() or is_study(folder) or is_sweep(folder)
        places = [folder] if alone else sorted(places_below(folder))
        if not places:
            raise ConfigError(f"{folder}: there is neither a run nor a study in it")
        for place in places:
            if alone or _speaks(place):
                found.append(_evidence(place, console, trust))
    return sorted(found, key=lambda each: each.started)


def _speaks(folder: Path) -> bool:
    """Return True if something in a folder of others is a test of single players."""
    if is_sweep(folder):
        return False
    if not is_study(folder):
        with reading(folder) as record:
            return record.count_games() > 0
    with StudyRecord.open(folder) as record:
        about = record.study()
    return bool(about["complete"]) and about["name"] in ("errors", *_TABLES)


def _evidence(folder: Path, console: Console, trust: bool) -> Evidence:
    if is_sweep(folder):
        raise ConfigError(f"{folder} is a sweep; the runs in it are tests of their own")
    return _of_study(folder) if is_study(folder) else _of_run(folder, console, trust)


def _of_run(folder: Path, console: Console, trust: bool) -> RunEvidence:
    with facts_of(folder, console, trust) as facts:
        head = facts.record.run()
        return RunEvidence(
            "run",
            folder,
            head["name"],
            facts.plan.settings.agents,
            head["command"],
            head["started"],
            head["versions"],
            head["machine"],
            facts.context,
            facts.standings,
            facts.matches,
        )


def _of_study(folder: Path) -> Evidence:
    with StudyRecord.open(folder) as record:
        head, tables = record.study(), record.tables()
    if head["name"] != "errors" and head["name"] not in _TABLES:
        raise ConfigError(
            f"{folder}: study {head['name']} says nothing of single players; "
            f"{', '.join(('errors', *_TABLES))} do"
        )
    if not head["complete"]:
        raise ConfigError(f"{folder}: this study is not complete; resume goes on with it")
    kind, config = head["name"], head["config"]
    try:
        agents, met = _players_of(folder, config)
        about: dict[str, Any] = {
            "kind": kind,
            "folder": folder,
            "name": config["name"],
            "agents": agents,
            **{key: head[key] for key in ("command", "started", "versions", "machine")},
        }
        if kind == "errors":
            moves, most = tables["moves"], config[STUDY.group]["empties"]
            what = f"{counted(len(moves), 'move')} with {most} or fewer empty squares"
            return ErrorsEvidence(**about, what=what, moves=moves, met=met)
        table = load(folder)[_TABLES[kind]]
        names = table["agent"].str.removesuffix(f" {SELECTIVE_MARK}")
        what = f"{counted(int(table['positions'].max()), 'position')}" if kind == "pruning" else ""
        return TableEvidence(**about, what=what, table=table.assign(agent=names))
    except ConfigError:
        raise
    except (*DAMAGES, OSError) as error:
        raise ConfigError(f"{folder} is damaged: {one_line(error)}") from error


def _players_of(
    folder: Path, config: Mapping[str, Any]
) -> tuple[Mapping[str, Mapping[str, Any]], Mapping[str, int]]:
    """The settings of the agents that a study looked at, and how many others each met: in the run
    that it was given, or the one that it played first; in neither if there was none."""
    run = config[STUDY.group].get("run")
    games = Path(run) if run else folder / GAMES
    if not run and not games.is_dir():
        return dict(config["agents"]), {}
    with reading(games) as record:
        names = dict(record.rows("select agent, name from agents"))
        pairs = record.rows("select min(black, white), max(black, white) from games group by 1, 2")
        met = Counter(names[agent] for pair in pairs for agent in pair)
        return dict(record.run()["config"]["agents"]), met


def named(evidence: Sequence[Evidence], kind: type[Any]) -> Iterator[Any]:
    """Return the tests of a kind."""
    return (each for each in evidence if isinstance(each, kind))
