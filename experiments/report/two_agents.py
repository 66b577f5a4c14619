"""Tables and sentences on a match of two agents: by colour, by phase, and their judged moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.disagreements import JUDGE, judged_gap, judges_alike
from othello_lab.experiments.report.facts import RunFacts, in_sentence
from othello_lab.experiments.report.late_moves import ALL, ERROR_COLUMNS, error_cells, mean_of
from othello_lab.experiments.report.tables import time_text
from othello_lab.experiments.statistics.intervals import standard_error, student
from othello_lab.experiments.statistics.means import NO_MEAN, Mean

if TYPE_CHECKING:
    import pandas as pd

MIDDLE_GAME = 21, 40
"""Its first and its last ply."""
PHASES = (("opening", 1, 20), ("middle game", *MIDDLE_GAME), ("endgame", 41, 60))
"""Phases by plies from the start of the game, passes not counted."""


def match_sections(facts: RunFacts) -> Iterator[ResultTable]:
    """The tables that a match of two agents gives; none for other line-ups."""
    if len(facts.names) != 2:
        return
    yield _by_colour(facts)
    yield from _by_phase(facts)
    yield from _late(facts)


def match_findings(facts: RunFacts) -> Iterator[str]:
    """Yield sentences on the judged moves of a match."""
    if (late := facts.late_moves) is not None:
        rows = late[late["empties"] == ALL].to_dict("records")
        losses = ", ".join(
            f"{in_sentence(row['agent'])} {mean_of(row, 'loss').text()}" for row in rows
        )
        yield (
            f"With {facts.plan.settings.judging.empties} or fewer empty squares a move lost this "
            f"many discs against perfect play: {losses}."
        )
    judged = facts.disagreements
    if judged is not None and len(judged):
        yield _of_disagreements(facts, judged)


def _of_disagreements(facts: RunFacts, judged: pd.DataFrame) -> str:
    first, second = map(in_sentence, facts.names)
    better, worse = int((judged["gap"] > 0).sum()), int((judged["gap"] < 0).sum())
    mean = judged_gap(judged, facts.plan.settings.seed)
    if mean.value < 0:
        first, second, better, worse = second, first, worse, better
        mean = Mean(-mean.value, -mean.high, -mean.low)
    whose = f"{first}'" if first.endswith("'") else f"{first}'s"
    partial = [name for name, agent in facts.searchers.items() if judges_alike(agent)]
    caution = f" The judge has the evaluation of {' and '.join(partial)}." if partial else ""
    return (
        f"In {counted(len(judged), 'position')} both agents moved, and differently: by the {JUDGE} "
        f"at depth {facts.plan.settings.judging.depth} {first} found the better move in {better}, "
        f"{second} in {worse}; {whose} moves are better by {mean.text(1)} discs.{caution}"
    )


# ------------------------------------------------------------------ colours


# How many openings of a Black gave so many discs, in so many games.
_SUMS = """
    with of_openings as (
        select black, coalesce(sum(disc_difference), 0) as discs,
            count(disc_difference) as finished
        from games group by black, opening)
    select black, discs, finished, count(*) as times from of_openings
    group by black, discs, finished
"""


def _by_colour(facts: RunFacts) -> ResultTable:
    sums = np.array(facts.record.rows(_SUMS), dtype=float)
    scores = facts.colours.set_index(["agent", "side"])[["score", "low", "high"]]
    most, rows = facts.plan.rules.squares, []
    for agent, name in enumerate(facts.names):
        for colour, black in (("Black", agent), ("White", 1 - agent)):
            results = Counter[str]()
            for of, _, result, _, count in facts.ends:
                results[result] += count * (of == black)
            lost = "white" if colour == "Black" else "black"
            discs, finished, times = sums[sums[:, 0] == black, 1:].T
            discs = discs if black == agent else -discs
            number, openings = int(times @ finished), int(times[finished > 0].sum())
            mean = (times @ discs) / number if number else np.nan
            error = standard_error(discs - mean * finished, times.astype(int), number, openings)
            ends = np.array([mean, *(mean + side * student(openings) * error for side in (-1, 1))])
            share = Mean(*scores.loc[name, colour]) if len(scores) else NO_MEAN
            rows.append(
                [
                    name,
                    colour,
                    *(f"{results[result]:,}" for result in (colour.lower(), "draw", lost)),
                    share.text(1, 100),
                    Mean(*np.clip(ends, -most, most)).text(1),
                ]
            )
    repeats = bool((facts.matches["pairs"] < facts.matches["all_pairs"]).any())
    return ResultTable(
        "By colour",
        ("agent", "as", "wins", "draws", "losses", "score % [95 %]", "discs [95 %]"),
        rows,
        (0, 1),
        "*Discs* is the mean disc difference, the agent's minus the opponent's."
        + " *Score* leaves out pairs that repeat an earlier one move for move." * repeats,
    )


# ------------------------------------------------------------------ phases


def _by_phase(facts: RunFacts) -> Iterator[ResultTable]:
    """Return costs, and judged moves, of both agents in each phase."""
    moves, judged = facts.moves, facts.disagreements
    if not len(moves.agent):
        return
    rows = []
    for phase, begin, end in PHASES:
        within = (begin <= moves.ply) & (moves.ply <= end)
        row = [f"{phase} ({begin} to {end})"]
        for agent in (0, 1):
            chosen = within & (moves.agent == agent)
            nodes = moves.nodes[chosen]
            row.append(f"{nodes.mean():,.0f}" if nodes.any() else "-")
            times = moves.nanoseconds[chosen] / 1000
            row.append(time_text(float(np.median(times))) if len(times) else "-")
        if judged is not None:
            gaps = judged.loc[judged["ply"].between(begin, end), "gap"]
            row.append(f"{(gaps > 0).sum()} : {(gaps < 0).sum()}" if len(gaps) else "-")
        rows.append(row)
    columns = ["plies"]
    columns += [f"{name} {what}" for name in facts.names for what in ("nodes/move", "time/move")]
    columns += ["better moves"] * (judged is not None)
    note = "Means of nodes and medians of times."
    if judged is not None:
        depth = facts.plan.settings.judging.depth
        note += (
            f" *Better moves*: in positions where both moved, and differently, as often the move "
            f"of {facts.names[0]} and of {facts.names[1]} was the better one by {JUDGE} at depth "
            f"{depth}."
        )
    yield ResultTable("By phase of the game", columns, rows, note=note)


# ------------------------------------------------------------------ late moves


def _late(facts: RunFacts) -> Iterator[ResultTable]:
    """Return the loss of each agent against perfect play."""
    if (late := facts.late_moves) is None:
        return
    yield ResultTable(
        "Late moves against perfect play",
        ERROR_COLUMNS,
        error_cells(late[late["empties"] == ALL]),
        (0,),
        f"Moves with a choice and at most {facts.plan.settings.judging.empties} empty squares, by "
        "the exact solver. *Discs lost* is the mean of discs given away by a move; a *turning "
        "move* changes the outcome. Intervals are from a bootstrap over openings.",
    )
