"""What each search of a line-up costs on the very same positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agents.base import Agent
from agents.search import SearchAgent
from core.position import Position

if TYPE_CHECKING:
    import pandas as pd


def compare_searches(positions: Sequence[Position], agents: Mapping[str, Agent]) -> pd.DataFrame:
    """Every searching agent's cost at its own depth, each position searched afresh.

    One row an agent, the cheapest first. Columns: agent, depth, selective, and means a position of
    nodes, evaluations, leaves, cutoffs, first_move_cutoffs and table_returns; positions.
    """
    import pandas as pd

    counts = ["nodes", "evaluations", "leaves", "cutoffs", "first_move_cutoffs", "table_returns"]
    rows = []
    for name, agent in agents.items():
        if isinstance(agent, SearchAgent):
            stats = [agent.search(position).stats for position in positions]
            means = [sum(getattr(s, count) for s in stats) / len(stats) for count in counts]
            rows.append((name, agent.depth, agent.selective, *means, len(stats)))
    columns = ["agent", "depth", "selective", *counts, "positions"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("nodes", ignore_index=True, kind="stable")
