"""The part of the tree that searches leave out, from their counts and minimax's on the same
positions: pure functions of frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from othello_lab.experiments.report.late_moves import mean_columns
from othello_lab.experiments.report.searches import COUNTS
from othello_lab.experiments.report.tables import by_agent
from othello_lab.experiments.statistics.means import mean_interval

ALL = "all"
"""Stands for all phases together."""
MINIMAX, FLOOR = "minimax", "smallest tree"
"""What minimax and the smallest tree are called among the searches, followed by the heuristic where
there are several."""


def compared(searches: pd.DataFrame, trees: pd.DataFrame) -> pd.DataFrame:
    """Return each search's counts on a position, beside minimax's tree there and the smallest one.

    searches: one row a position (``piece``), agent and depth, with ``evaluation``, the columns of
    :data:`COUNTS`, and ``solved``, true if the position was solved exactly instead.

    trees: one row a position, evaluation and depth, minimax's counts and ``smallest``, in leaves.

    The columns are those of ``searches``, with ``minimax_nodes``, ``minimax_leaves``,
    ``minimax_value``, ``smallest`` (nan if minimax was too expensive), ``room``, the logarithm of
    minimax's leaves minus that of the smallest tree's, and ``efficiency``: 0 for minimax's leaves,
    1 for those of the smallest tree, by their logarithms; nan if these two are the same, and if the
    position was solved instead.
    """
    keys = ["piece", "evaluation", "depth"]
    named = {count: f"minimax_{count}" for count in ("nodes", "leaves", "value")}
    beside = trees[[*keys, *named, "smallest"]].rename(columns=named)
    table = searches.merge(beside, on=keys, how="left")
    whole, least = np.log(table["minimax_leaves"]), np.log(table["smallest"])
    room = (whole - least).where(whole > least)
    looked_at = np.log(table["leaves"].where(~table["solved"].astype(bool)))
    return table.assign(room=room, efficiency=(whole - looked_at) / room)


def summary(table: pd.DataFrame, trees: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return the costs of each search by depth, in all phases together and in each.

    table: of :func:`compared`; positions that were solved instead are left out. trees: see there.

    One row a phase (or ALL), agent and depth, the agents with the fewest leaves first, MINIMAX and
    the smallest tree (FLOOR, with known leaves alone) among them. Columns: positions, openings;
    means of the counts a position, and the median of ``seconds``, since the first search of a
    process takes a hundred times as long; ``nodes_share``, of minimax's nodes; ``efficiency``, the
    mean weighted by room, with its 95 % interval over openings, ``efficiency_low`` and
    ``efficiency_high``: where next to nothing can be left out, a few leaves more would make it any
    number; ``ebf``, the
    effective branching factor: that of the even tree of this depth with as many leaves, so the
    depth-th root of the leaves, as a geometric mean over positions; ``first_move_share``, the share
    of cutoffs by the first move. nan if there is no number.
    """
    whole = trees.assign(agent=MINIMAX, minimax_nodes=trees["nodes"], efficiency=0.0, room=1.0)
    least = trees[["piece", "opening", "phase", "evaluation", "depth"]].assign(
        agent=FLOOR, leaves=trees["smallest"], efficiency=1.0, minimax_nodes=np.nan, room=1.0
    )
    if len(set(trees["evaluation"])) > 1:
        whole["agent"] = f"{MINIMAX}, " + whole["evaluation"]
        least["agent"] = f"{FLOOR}, " + least["evaluation"]
    known = (whole["leaves"] > whole["smallest"]).to_numpy()
    for frame in (whole, least):
        frame["efficiency"] = frame["efficiency"].where(known)
    searched = table[~table["solved"].astype(bool)]
    every = pd.concat([searched, whole, least], ignore_index=True)
    one = every.assign(phase=ALL)
    parts = [one, every] if len(set(every["phase"])) > 1 else [one]
    rows = [
        {"phase": phase, "agent": agent, "depth": depth, **_row(group, int(depth), seed)}
        for part in parts
        for (phase, agent, depth), group in part.groupby(["phase", "agent", "depth"], sort=False)
    ]
    table_of_costs = pd.DataFrame(rows)
    deepest = table_of_costs[
        (table_of_costs["phase"] == ALL)
        & (table_of_costs["depth"] == table_of_costs["depth"].max())
    ]
    order = list(dict.fromkeys([*deepest.sort_values("leaves")["agent"], *table_of_costs["agent"]]))
    return by_agent(table_of_costs, order).reset_index(drop=True)


def is_reference(name: str) -> bool:
    """Return True for minimax or the smallest tree of :func:`summary`, False for an agent."""
    return name.startswith((MINIMAX, FLOOR))


def of_agents(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`summary` that are of agents."""
    return table[~table["agent"].map(is_reference).astype(bool)]


def _row(group: pd.DataFrame, depth: int, seed: int) -> dict[str, float]:
    beside = group.dropna(subset=["minimax_nodes"])
    cuts = group["cutoffs"].sum()
    efficiency = mean_interval(group["efficiency"], group["opening"], seed, weights=group["room"])
    return {
        "positions": len(group),
        "openings": group["opening"].nunique(),
        **{count: group[count].mean() for count in COUNTS},
        "seconds": group["seconds"].median(),
        "nodes_share": beside["nodes"].sum() / beside["minimax_nodes"].sum()
        if len(beside)
        else np.nan,
        **mean_columns("efficiency", efficiency),
        "ebf": float(np.exp(np.log(group["leaves"].clip(lower=1)).mean() / depth)),
        "first_move_share": group["first_move_cutoffs"].sum() / cuts if cuts else np.nan,
    }


def unequal(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of :func:`compared` in which a search for minimax's value has another value
    than minimax, or, if that was too expensive, than the first of the searches of its kind.
    Selective searches, and searches that solved the position instead, may have any value."""
    exact = table[~(table["selective"].astype(bool) | table["solved"].astype(bool))]
    groups = exact.groupby(["piece", "evaluation", "depth"])["value"]
    wanted = exact["minimax_value"].fillna(groups.transform("first"))
    return exact[exact["value"] != wanted]
