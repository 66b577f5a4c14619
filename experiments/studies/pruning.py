"""How much alpha-beta prunes: nodes of minimax and alpha-beta on the same positions, by depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agents.evaluation import Evaluation
from agents.search import AlphaBeta, Minimax
from core.position import Position

if TYPE_CHECKING:
    import pandas as pd

NODE_BUDGET = 60_000_000
"""Nodes that one algorithm may spend on a study: seconds, so that a run's report does not cost
more than the run."""


def count_nodes(
    positions: Sequence[Position], depth: int, evaluation: Evaluation, budget: int = NODE_BUDGET
) -> pd.DataFrame:
    """Nodes of minimax and alpha-beta at depths 1 to ``depth`` on the same positions.

    One row a depth and algorithm: algorithm, depth, nodes (mean a position), positions. A depth
    is left out for an algorithm, with all deeper ones, where it would probably exceed the budget
    (judged by the growth from the depth before, so the result is the same on every machine).
    """
    import pandas as pd

    rows = []
    for name, kind in (("minimax", Minimax), ("alpha-beta", AlphaBeta)):
        spent, totals = 0, [len(positions)]
        for plies in range(1, depth + 1):
            # Alpha-beta grows unevenly from depth to depth, so growth is taken over two of them.
            growth = (totals[-1] / totals[-3]) ** 0.5 if plies > 2 else 10.0
            if spent + totals[-1] * growth > budget:
                break
            agent = kind(plies, evaluation)
            total = sum(agent.search(position).stats.nodes for position in positions)
            spent += total
            totals.append(total)
            rows.append((name, plies, total / len(positions), len(positions)))
    return pd.DataFrame(rows, columns=["algorithm", "depth", "nodes", "positions"])
