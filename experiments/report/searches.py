"""Costs of searches on the very same positions."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.search import AlphaBeta, SearchAgent
from othello_lab.core.game import SearchStats
from othello_lab.core.perft import tree_size
from othello_lab.core.position import Position
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.statistics.intervals import bootstrap_intervals

if TYPE_CHECKING:
    import pandas as pd

_COUNTED = tuple(field.name for field in fields(SearchStats))
_LEFT_OUT = {"probcut_returns", "stability_returns", "playouts"}  # most searches have none
COUNTS = tuple(name for name in _COUNTED if name not in _LEFT_OUT)
"""What is counted: columns of ``searches.csv``."""

MEASURES = ("nodes", "made", "evaluations")
"""What is compared with a baseline."""
REPLICATES = 1000
"""Of the bootstrap over openings."""
NODE_BUDGET = 60_000_000
"""Nodes that one algorithm may spend on a study: seconds, so that a run's report does not cost
more than the run."""


def _minimax_nodes(depth: int, evaluation: Evaluation) -> Callable[[Position], int]:
    return functools.partial(tree_size, depth=depth)


def _alphabeta_nodes(depth: int, evaluation: Evaluation) -> Callable[[Position], int]:
    agent = AlphaBeta(depth, evaluation)
    return lambda position: agent.search(position).stats.nodes


ALGORITHMS = {"minimax": _minimax_nodes, "alpha-beta": _alphabeta_nodes}
"""What :func:`count_nodes` compares; alpha-beta with moves from a1 to h8."""

Sample = list[tuple[str, Position]]
"""Positions, each with the opening of its game: what comes from one opening is much alike."""


def searched_positions(record: Record, count: int | str, seed: int) -> Sample:
    """Return positions in which searching agents had to decide: up to ``count``, no two of them
    from the same game, drawn with ``seed``; or ``all`` there are. All are distinct."""
    rules = record.head()["ruleset"]
    rng = np.random.default_rng(seed)
    every = [game for (game,) in record.rows("select game from turns order by game")]
    openings: dict[Position, str] = {}
    for game in every if count == "all" else rng.permutation(every):
        if len(openings) == count:
            break
        ((opening,),) = record.rows("select opening from games where game = ?", [int(game)])
        turns = record.turns([int(game)]).rows()
        decided = np.flatnonzero([turn.depth is not None for turn in turns])
        if not decided.size:
            continue
        wanted = decided.tolist() if count == "all" else [int(rng.choice(decided))]
        position = Opening.read(opening, rules).reach(rules)
        for number, turn in enumerate(turns[: wanted[-1] + 1]):
            if number in wanted:
                openings.setdefault(position, opening)
            position = position.play(turn.square)
    return [(opening, position) for position, opening in openings.items()]


def search_costs(
    positions: Sample, searchers: Mapping[str, SearchAgent], depths: Sequence[int] | None = None
) -> pd.DataFrame:
    """Return every agent's cost at these depths, or at its own; each position searched afresh.

    One row an agent, depth and opening. Columns: agent, depth, selective, opening, and totals over
    the opening's positions: positions, and :data:`COUNTS`.
    """
    import pandas as pd

    rows = [
        {"opening": opening, "positions": 1, **row}
        for opening, position in positions
        for row in cost_rows(position, searchers, depths)
    ]
    heads = ["agent", "depth", "selective", "opening"]
    table = pd.DataFrame(rows, columns=[*heads, "positions", *COUNTS])
    return table.groupby(heads, sort=False, as_index=False).sum()


def game_costs(record: Record, searchers: Mapping[str, SearchAgent], plies: int) -> pd.DataFrame:
    """Return every agent's cost, at its own depth, in the first ``plies`` turns after each opening,
    of one game an opening; openings without such a long game are left out.

    Columns as those of :func:`search_costs`.
    """
    rules = record.head()["ruleset"]
    games = record.rows("select opening, min(game) from games group by opening order by min(game)")
    sample: Sample = []
    for opening, game in games:
        position = Opening.read(opening, rules).reach(rules)
        turns = record.turns([int(game)]).rows()[:plies]
        if len(turns) == plies:
            for turn in turns:
                sample.append((opening, position))
                position = position.play(turn.square)
    return search_costs([sampled for sampled in sample if sampled[1].moves], searchers)


def cost_rows(
    position: Position, searchers: Mapping[str, SearchAgent], depths: Sequence[int] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield every agent's cost on one position at these depths, or at its own, each searched
    afresh: agent, depth, selective, value, counts, and seconds."""
    for name, agent in searchers.items():
        for depth in depths or [agent.depth]:
            started = time.perf_counter()
            decision = agent.search(position, depth)
            seconds = time.perf_counter() - started
            row = {"agent": name, "depth": depth, "selective": agent.selective}
            counts = {name: getattr(decision.stats, name) for name in _COUNTED}
            yield {**row, "value": decision.value, **counts, "seconds": seconds}


def compare_searches(
    costs: pd.DataFrame, baseline: str | None = None, seed: int = 0
) -> pd.DataFrame:
    """Return the counts of :func:`search_costs`, as means a position, and relative to one agent.

    One row an agent and depth, the cheapest of each depth first. Columns: agent, depth, selective;
    means a position of the counts; positions; openings; and with a baseline, for each of
    :data:`MEASURES`, ``nodes_ratio`` with its 95 % interval ``nodes_low`` and ``nodes_high`` and so
    on: totals divided by the baseline's at the same depth (blank if it was not counted), from a
    bootstrap over openings, drawn with ``seed``; nan if there are fewer than two.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    openings = sorted(set(costs["opening"]))
    weights = rng.standard_exponential((REPLICATES, len(openings)))
    rows = []
    for (name, depth), group in costs.groupby(["agent", "depth"], sort=False):
        positions = group["positions"].sum()
        row = {"agent": name, "depth": depth, "selective": group["selective"].iloc[0]}
        row |= {count: group[count].sum() / positions for count in COUNTS}
        row |= {"positions": positions, "openings": len(openings)}
        base = costs[(costs["agent"] == baseline) & (costs["depth"] == depth)]
        for measure in MEASURES if len(base) else ():
            ours, theirs = (
                table.set_index("opening")[measure].reindex(openings).to_numpy()
                for table in (group, base)
            )
            ratio = ours.sum() / theirs.sum()
            sample = np.log((weights @ ours) / (weights @ theirs))[:, None]
            ends = bootstrap_intervals(sample, np.log([ratio]), np.array([len(openings)]))
            row[f"{measure}_ratio"] = ratio
            row[f"{measure}_low"], row[f"{measure}_high"] = (np.exp(end[0]) for end in ends)
        rows.append(row)
    return pd.DataFrame(rows).sort_values(["depth", "nodes"], ignore_index=True, kind="stable")


def sample_text(costs: pd.DataFrame) -> str:
    """Return the positions behind costs, with their openings, in words."""
    openings = counted(int(costs["openings"].max()), "opening")
    return f"{counted(int(costs['positions'].max()), 'position')} from {openings}"


def count_nodes(
    positions: Sequence[Position],
    depth: int,
    evaluation: Evaluation,
    budget: int = NODE_BUDGET,
    algorithms: Sequence[str] = tuple(ALGORITHMS),
) -> pd.DataFrame:
    """Nodes of minimax and alpha-beta at depths 1 to ``depth`` on the same positions.

    One row a depth and algorithm: algorithm, depth, nodes (mean a position), positions. A depth
    is left out for an algorithm, with all deeper ones, where it would probably exceed the budget
    (judged by the growth from the depth before, so the result is the same on every machine).
    """
    import pandas as pd

    rows = []
    for name in algorithms:
        spent, totals = 0, [len(positions)]
        for plies in range(1, depth + 1):
            # Alpha-beta grows unevenly from depth to depth, so growth is taken over two of them.
            growth = (totals[-1] / totals[-3]) ** 0.5 if plies > 2 else 10.0
            if spent + totals[-1] * growth > budget:
                break
            total = sum(map(ALGORITHMS[name](plies, evaluation), positions))
            spent += total
            totals.append(total)
            rows.append((name, plies, total / len(positions), len(positions)))
    return pd.DataFrame(rows, columns=["algorithm", "depth", "nodes", "positions"])
