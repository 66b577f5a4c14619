"""What a run's report is made of: everything that is computed from the record, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.search import SearchAgent, WindowSearch
from experiments.config import Plan
from experiments.record.store import Record
from experiments.report.standings import matches, rated_parts, standings
from experiments.report.tables import marked
from experiments.statistics.pairs import IntArray
from experiments.statistics.pool import Ratings
from experiments.studies.searches import compare_searches, search_costs, searched_positions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RunFacts:
    """A run and what was computed of it.

    parts: of the pool, with their ratings; see :func:`~experiments.report.standings.rated_parts`.
    standings, matches: see the functions of these names there.
    costs: of each search, see :func:`~experiments.studies.searches.compare_searches`; None where
        they were not asked for and there is nothing to compare.
    """

    record: Record
    plan: Plan
    parts: Sequence[tuple[IntArray, Ratings]]
    standings: pd.DataFrame
    matches: pd.DataFrame
    costs: pd.DataFrame | None

    @classmethod
    def of(cls, record: Record, plan: Plan) -> RunFacts:
        """All facts of a record; this takes as long as the study of searches takes."""
        rating = plan.settings.rating
        parts = rated_parts(record, plan.settings.seed, rating.anchor, rating.colour_advantage)
        return cls(
            record,
            plan,
            parts,
            standings(record, parts=parts),
            matches(record),
            _search_costs(record, plan),
        )

    @property
    def names(self) -> list[str]:
        """All agents in the order of their numbers, marked."""
        return marked_names(self.record.agents(), "name")

    @property
    def anchor(self) -> str | None:
        """The agent rated 0; None where none is, so that the mean of the pool is 0."""
        held = any(ratings.anchor is not None for _, ratings in self.parts)
        return self.plan.settings.rating.anchor if held else None


def marked_names(frame: pd.DataFrame, column: str = "agent") -> list[str]:
    """The names in a frame with a column ``selective``, marked."""
    return [marked(*row) for row in zip(frame[column], frame["selective"], strict=True)]


def zero_text(anchor: str | None) -> str:
    """What is 0 Elo, in words."""
    return anchor or "the mean of the pool"


def _search_costs(record: Record, plan: Plan) -> pd.DataFrame | None:
    """What each search costs on positions of the run; None unless that was asked for, or there is a
    choice of searches whose costs are settled by their depth alone."""
    study = plan.settings.study
    searchers = {
        name: agent
        for name, agent in plan.agents.items()
        if isinstance(agent, SearchAgent) and (agent.depth > 1 or study.asked)
    }
    limits = plan.limits
    limited = limits.timed or limits.nodes is not None or limits.depth is not None
    choices = [a for a in searchers.values() if isinstance(a, WindowSearch) and not a.bare]
    if not searchers or not (study.asked or (len(choices) >= 2 and not limited)):
        return None
    positions = searched_positions(record, study.positions, plan.settings.seed)
    costs = search_costs(positions, searchers, study.depths)
    return compare_searches(costs, study.baseline, plan.settings.seed)
