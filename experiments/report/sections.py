"""Further tables of a run's report: scores between agents, costs of agents, and ends of games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from othello_lab.core.game import FINISHED
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.pairing.schedule import Pairing
from othello_lab.experiments.record.turns import COUNTS
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.tables import COLUMNS, time_text

if TYPE_CHECKING:
    import pandas as pd

MOST_ACROSS = 30
"""Agents up to which a crosstable has all of them; of more it has those that stand highest."""

MOST_MATCHES = 200
"""Pairings up to which a report has all of them; of more it has those of the agents that stand
highest, and all are in matches.csv."""

COST_COLUMNS = ("agent", "nodes/move", "evals/move", "nodes/s", "time/move", "95 % within")
"""Columns of the standings that say what an agent's moves cost."""


def sections(facts: RunFacts) -> list[ResultTable]:
    """The tables that a run gives, in the order of the report."""
    parts = (_crosstable(facts), _costs(facts), _counts(facts))
    return [*chain.from_iterable(parts), _ends(facts)]


def without_costs(columns: dict[str, Callable[[Any], str]]) -> dict[str, Callable[[Any], str]]:
    """The columns of the standings that the table of costs does not have."""
    return {name: cell for name, cell in columns.items() if name not in COST_COLUMNS[1:]}


def highest_matches(facts: RunFacts) -> pd.DataFrame:
    """The rows of :func:`experiments.report.standings.matches` that a report has room for, in the
    order of the line-up."""
    matches = facts.matches
    if len(matches) <= MOST_MATCHES:
        return matches
    ranks = facts.ranks
    lower = matches["agent"].map(ranks).combine(matches["opponent"].map(ranks), max)
    return matches.loc[sorted(lower.sort_values(kind="stable").index[:MOST_MATCHES])]


# ---------------------------------------------------------------------- who against whom


def _crosstable(facts: RunFacts) -> Iterator[ResultTable]:
    """Points of each against each, in the order of the standings."""
    numbers = {name: number for number, name in enumerate(facts.record.agents()["name"])}
    order = [numbers[name] for name in facts.standings["agent"]][:MOST_ACROSS]
    if len(order) < 3:
        return  # the standings say it all
    points, games = Counter[Pairing](), Counter[Pairing]()
    for black, white, result, _, count in facts.ends:
        for seats, winner in (((black, white), "black"), ((white, black), "white")):
            games[seats] += count
            points[seats] += 2 * count * (result == winner) + count * (result == "draw")
    equal = set(games.values())
    rows = []
    for rank, agent in enumerate(order, start=1):
        cells = [
            _points_text(points[agent, other], games[agent, other], len(equal) > 1)
            if (agent, other) in games
            else ("" if agent == other else "-")
            for other in order
        ]
        rows.append([f"{rank}", facts.names[agent], *cells])
    whole = f", of {equal.pop():,} games each" if len(equal) == 1 else ""
    cut = f" Of {len(numbers)} agents the first {len(order)} are shown." * (
        len(numbers) > len(order)
    )
    yield ResultTable(
        "Crosstable",
        ("place", "agent", *(f"{rank}" for rank in range(1, len(order) + 1))),
        rows,
        (1,),
        f"Points of the agent in the row against the one on the place of the column{whole}.{cut}",
    )


def _points_text(halves: int, games: int, with_games: bool) -> str:
    """Half points as ``13½``, or ``13½/20``."""
    whole, half = divmod(halves, 2)
    text = f"{whole or ('' if half else 0)}{'½' * half}"
    return f"{text}/{games}" if with_games else text


# ---------------------------------------------------------------------- costs


def _costs(facts: RunFacts) -> Iterator[ResultTable]:
    """Return the table of the costs of each agent's moves; nothing if nobody has decided
    anything."""
    rows = []
    for row in facts.standings.itertuples():
        name, *cells = (COLUMNS[column](row) for column in COST_COLUMNS)
        total = time_text(row.moves * row.microseconds) if row.moves else "-"
        rows.append([name, f"{row.moves:,}" if row.moves else "-", *cells, total])
    if any(row[1] != "-" for row in rows):
        yield ResultTable(
            "Cost per agent",
            ("agent", "moves", *COST_COLUMNS[1:], "time in all"),
            rows,
            (0,),
            "A node is a position entered by the search, root and leaves included; an evaluation "
            "is a call of the heuristic. *nodes/s* is by processor time; *time/move* is the median "
            "time of a move, without time that its player could not use. 95 of 100 moves were "
            "within the time of the next column. *Time in all* is by the wall clock.",
        )


# ---------------------------------------------------------------------- further counts


COUNTED_GAMES = 20
"""So many games of each agent are read for their counts: a few milliseconds each."""


def _counts(facts: RunFacts) -> Iterator[ResultTable]:
    """Return the mean of each further counter that is not 0 everywhere, if moves are recorded."""
    names = facts.record.agents()["name"].tolist()
    games: set[int] = set()
    for number in range(len(names)):
        first = "select game from turns join games using (game) where ? in (black, white)"
        some = facts.record.rows(f"{first} order by game limit {COUNTED_GAMES}", [number])
        games.update(game for (game,) in some)
    turns = facts.record.turns(sorted(games))
    agents = turns.column("agent")[turns.decided]
    moves = np.bincount(agents, minlength=len(names))
    sums = {
        name: np.bincount(agents, turns.column(name)[turns.decided], minlength=len(names))
        for name in COUNTS
        if name not in ("nodes", "evaluations")
    }
    further = [name for name in sums if sums[name].any()]
    rows = [
        [name, *(_mean(sums[counter][number], moves[number]) for counter in further)]
        for name in facts.standings["agent"]
        if moves[number := names.index(name)]
    ]
    if further:
        yield ResultTable(
            "Further counts per move",
            ("agent", *(name.replace("_", " ") for name in further)),
            rows,
            (0,),
            f"Means over the moves of up to {COUNTED_GAMES} games of each agent. *Made* are the "
            "positions made by moves; *first move cutoffs* are the cutoffs after the first move "
            "of a node; *returns* are nodes answered without a search.",
        )


def _mean(total: float, moves: int) -> str:
    return f"{total / moves:,.1f}" if total else "-"


# ---------------------------------------------------------------------- how games ended


def _ends(facts: RunFacts) -> ResultTable:
    names = facts.record.agents()["name"].tolist()
    finished, draws, lost = 0, 0, Counter[tuple[str, str]]()
    for black, white, result, reason, count in facts.ends:
        if reason == FINISHED:
            finished += count
            draws += count * (result == "draw")
        else:
            lost[reason, names[white if result == "black" else black]] += count
    plural = "" if draws == 1 else "s"
    if not lost:
        return ResultTable(
            "How games ended",
            note=f"All {finished:,} games were played to the end; {draws:,} draw{plural}.",
        )
    losses = [(reason, name, f"{count:,}") for (reason, name), count in lost.most_common()]
    return ResultTable(
        "How games ended",
        ("end", "lost by", "games"),
        [(FINISHED, "-", f"{finished:,}"), *losses],
        (0, 1),
        f"{counted(draws, 'draw')} among the finished games." if finished else "",
    )
