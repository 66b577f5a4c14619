"""How much of the tree searches leave out, and how much could be left out at best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from agents.search import SearchAgent
from agents.search.context import MAX_DEPTH
from agents.simple import Maximizer
from core.compile import Announce
from core.position import Position
from core.rules import ruleset
from core.settings import Each, Whole
from experiments.config import Plan
from experiments.playing.pieces import Tables, Workplace
from experiments.record.store import Record
from experiments.studies.base import Conclusion, PositionStudy, ResultTable
from experiments.studies.searches import cost_rows

if TYPE_CHECKING:
    import pandas as pd


def searchers_of(agents: Mapping[str, Any]) -> dict[str, SearchAgent]:
    """The agents of a line-up that look ahead as deep as they are told."""
    return {
        name: agent
        for name, agent in agents.items()
        if isinstance(agent, SearchAgent) and not isinstance(agent, Maximizer)
    }


@dataclass(frozen=True, kw_only=True)
class Pruning(PositionStudy):
    """Every search of the line-up on the same positions, at each of these depths."""

    depths: Annotated[list[int], Each(Whole(1, MAX_DEPTH))]

    def check(self, plan: Plan) -> None:
        if not searchers_of(plan.agents):
            raise ValueError("no agent of this line-up searches; agents=search_family has many")

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        openings = plan.openings.find(10, plan.rules, plan.settings.seed)
        return [(plan.rules.name, each.reach(plan.rules).to_obf()) for each in openings]

    def work(self, place: Workplace, piece: Any) -> Tables:
        rules, line = piece
        position = Position.from_obf(line, ruleset(rules))
        searchers = searchers_of(place.conditions.line_up)
        return {"searches": list(cost_rows(position, searchers, self.depths))}

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        frame = tables["searches"]
        means = frame.groupby(["agent", "depth"], sort=False)["nodes"].mean().reset_index()
        rows = [[row.agent, str(row.depth), f"{row.nodes:,.0f}"] for row in means.itertuples()]
        table = ResultTable("Nodes by depth", ["agent", "depth", "nodes"], rows)
        return Conclusion(["Positions: 10."], [table], {"searches": frame})


_ = Announce
