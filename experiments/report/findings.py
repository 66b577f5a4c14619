"""The findings of a run, in words: sentences for the terminal and the report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from othello_lab.agents.agent import compiled_player
from othello_lab.agents.external_agent import is_outside
from othello_lab.agents.search import SearchAgent
from othello_lab.core.game import FAIR_ENDS
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.files import read_text
from othello_lab.experiments.config import Plan
from othello_lab.experiments.playing.conditions import ISOLATES_LESS, NONE
from othello_lab.experiments.record.folder import CHECKS
from othello_lab.experiments.record.provenance import BROKEN, differences
from othello_lab.experiments.record.store import CHANGED, LEAST_TIME, Record, starved_side
from othello_lab.experiments.report.elo_lead import FEW, FEW_OPENINGS, lead
from othello_lab.experiments.report.facts import RunFacts, in_sentence, zero_text
from othello_lab.experiments.report.plan_from_record import last_session
from othello_lab.experiments.report.standings import SEATS
from othello_lab.experiments.report.tables import marked, share_text
from othello_lab.experiments.report.two_agents import MIDDLE_GAME, match_findings
from othello_lab.experiments.statistics.intervals import interval_text

if TYPE_CHECKING:
    import pandas as pd

_HARMLESS = 0.5  # of the limit of a move
_LEAST_OUTSIDE = 5.0  # per cent of an agent's own time
_LONGEST_DETAIL = 400  # characters of what a forfeit was for

_LEAST_USED = 0.5  # of the time of a move; the report names searches that use less
_ENDING = ("depth", "playouts")  # settings of searches that end a move

BUSY_SHARE = 0.95
"""Below this share of their thinking time on the processor agents were held up by other work."""


class Findings(NamedTuple):
    """The findings of a run. lead: the report's beginning. remarks: further sentences, warnings
    last."""

    lead: list[str]
    remarks: list[str]

    @property
    def sentences(self) -> list[str]:
        """All of it."""
        return [*self.lead, *self.remarks]


def findings(facts: RunFacts) -> Findings:
    """Everything there is to say."""
    record, plan = facts.record, facts.plan
    remarks = [
        *match_findings(facts),
        *_about_checks(record),
        *_one_strategy(facts),
        *_about_ratings(facts),
        *_about_openings(facts),
        *repeated(facts.matches),
        *_about_record(record),
        *_about_searches(plan),
        *_about_ways(plan),
        *(_about_timed_moves(facts) if plan.limits.timed else ()),
        *(f"{forfeits} (see log.txt)." for forfeits in about_forfeits(record)),
        *_about_isolation(record, plan),
    ]
    return Findings([*[CHANGED] * record.was_changed(), *lead(facts)], remarks)


def _about_checks(record: Record) -> Iterable[str]:
    """Yield the findings on agents that were checked before the run."""
    with suppress(FileNotFoundError):
        yield from read_text(record.path.parent / CHECKS).splitlines()


def _one_strategy(facts: RunFacts) -> Iterable[str]:
    """Yield sentences on agents that count as one, as all their moves are the same."""
    if len(facts.names) == 2 and len(facts.same_positions):
        return  # the same moves were told already, and nobody else is there
    for members, ratings in facts.parts:
        for strategy in np.unique(ratings.strategy):
            same = [facts.names[agent] for agent in members[ratings.strategy == strategy]]
            if len(same) > 1:
                yield (
                    f"{', '.join(same)} play the same moves. They are one strategy with one "
                    "rating; none of them is better than another."
                )


def _about_openings(facts: RunFacts) -> Iterable[str]:
    """Yield the openings' own remark, and warnings of few openings."""
    if remark := facts.plan.openings.remark(facts.plan.rules):
        yield remark
    if facts.matches.empty or facts.openings >= FEW_OPENINGS:
        return
    more = "" if facts.plan.openings.repeats else " More games make more openings."
    if facts.openings > 1:
        yield (
            f"All games come from {facts.openings} openings, so there are no more independent "
            f"results than that, however many games: the intervals are wide.{more}"
        )
    elif facts.matches["pairs"].max() > 1:
        yield (
            "All games come from one opening and differ by chance alone: intervals say nothing of "
            "other openings."
        )
    elif not (facts.standings["split"] | (facts.standings["bound"] != "")).all():
        yield (
            "All games come from one opening, so no interval can be given: another opening may end "
            f"otherwise.{more}"
        )


def _about_ratings(facts: RunFacts) -> Iterable[str]:
    """Yield sentences on the basis of the ratings, if it is unusual."""
    unrated = facts.standings.loc[facts.standings["part"] < 0, "agent"]
    met = {*facts.matches["agent"], *facts.matches["opponent"]}
    forfeited = [in_sentence(name) for name in unrated if name in met]
    rating, parts = facts.plan.settings.rating, facts.parts
    if not facts.plan.schedule.both_colours:
        yield (
            "There are no ratings: agents met in single games, not in pairs with colours swapped."
        )
    elif len(unrated) > len(forfeited) or len(parts) > 1:
        yield (
            "Some agents did not meet, not even through others. So the pool falls into parts, and "
            "ratings of different parts cannot be compared."
        )
    if forfeited:
        yield f"No rating, as none of their pairs is without a forfeit: {', '.join(forfeited)}."
    if rating.anchor is not None and facts.anchor != rating.anchor:
        instead = zero_text(facts.anchor)
        yield (
            f"{in_sentence(rating.anchor)} has no rating to be the anchor, as it won or lost "
            f"everything: {instead if facts.anchor is None else in_sentence(instead)} is 0 Elo."
        )
    if rating.colour_advantage:
        for number, (_, ratings) in enumerate(parts, start=1):
            where = f" in pool {number}" if len(parts) > 1 else ""
            if ratings.advantage is None:
                yield f"The games cannot tell Black's advantage{where}."
            else:
                low, best, high = ratings.advantage
                yield f"Black's advantage{where}: {interval_text(best, low, high)} Elo."


def repeated(matches: pd.DataFrame) -> Iterable[str]:
    """Yield a warning of pairs that repeat earlier ones move for move."""
    rows = matches[matches["pairs"] < matches["all_pairs"]]
    only = "only {:,} of their {:,} pairs are distinct".format
    sentence = f"In {len(rows):,} pairings {only(rows['pairs'].sum(), rows['all_pairs'].sum())}"
    sentence += " (matches.csv): they repeat earlier ones move for move"
    if len(rows) <= FEW:
        sentence = "; ".join(
            f"of {row.agent} and {row.opponent} {only(row.pairs, row.all_pairs)}"
            for row in rows.itertuples()
        )
        sentence = f"Pairs of games repeat earlier ones move for move: {sentence}"
    exhausted = int((rows["pairs"] <= rows["openings"]).sum())
    why = f" In {counted(exhausted, 'pairing')} both play without chance and have no more openings."
    if len(rows):
        yield f"{sentence}.{why * bool(exhausted)} Elo and all intervals count distinct pairs."


def _about_record(record: Record) -> Iterable[str]:
    """Yield sentences on missing pairs, and on mixed versions."""
    if skipped := record.pieces():
        numbers = ", ".join(f"{pair}" for pair in list(skipped)[:20])
        were = "was" if len(skipped) == 1 else "were"
        yield (
            f"{counted(len(skipped), 'pair')} {were} not played, because "
            f"{next(iter(skipped.values()))}: number {numbers}."
        )
    sessions = [json.loads(text) for text in record.sessions()["versions"]]
    changed = sorted({change for last in sessions for change in differences(sessions[0], last)})
    if changed:
        yield (
            f"These games mix versions, since the run was resumed with --force: "
            f"{'; '.join(changed)}."
        )


def _about_searches(plan: Plan) -> Iterable[str]:
    """Yield sentences on agents with counts or values that cannot be compared with the others'."""
    for name, agent in plan.agents.items():
        if isinstance(agent, SearchAgent) and not agent.compiled:
            yield (
                f"{name} searched as ordinary Python (compiled: false): its counts can be compared "
                "with the others', its nodes/s cannot."
            )
    for name, agent in plan.agents.items():
        if agent.selective:
            yield (
                f"{marked(name, True)} searches selectively: it leaves out probably worse "
                "moves, so its values are not minimax's."
            )


def _about_ways(plan: Plan) -> Iterable[str]:
    """Yield sentences on agents with times that cannot be compared, as some games were played in
    compiled code alone."""
    if not plan.settings.compiled_games or plan.executor.workers == 0:
        return
    searchers = [name for name, agent in plan.agents.items() if isinstance(agent, SearchAgent)]
    fast = [
        name
        for name, agent in plan.agents.items()
        if compiled_player(agent, plan.rules, plan.limits) is not None
    ]
    slow = [name for name in searchers if name not in fast]
    if len(fast) > 1 and slow:
        who = ", ".join(fast) if len(fast) <= FEW else f"{len(fast)} agents"
        yield (
            f"Games between {who} were played in compiled code. In all other games each move "
            "passed through Python and took some 20 microseconds more. To compare times below 100 "
            "microseconds, use compiled_games=false."
        )


def _about_timed_moves(facts: RunFacts) -> Iterable[str]:
    """Yield sentences on a run with a limit on time."""
    yield from _about_time(facts.record, facts.plan)
    yield from _about_unused_time(facts)
    for sentences in (_about_late_moves, _about_starved, _about_ponder):
        yield from sentences(facts.record, facts.plan)


def _about_time(record: Record, plan: Plan) -> Iterable[str]:
    """Yield a sentence if a run with a time limit did not have the machine to itself."""
    cores = last_session(record)[1].get("cores", plan.executor.workers)
    if plan.executor.workers > cores:
        yield (
            f"The machine was oversubscribed: {counted(plan.executor.workers, 'worker')} on "
            f"{counted(cores, 'core')}; agents had less time than their limit says."
        )
    clocked = [name for name, agent in plan.agents.items() if agent.watches_clock]
    if not clocked:
        return
    share = record.query(
        f"""with {SEATS}
            select 1.0 * sum(cpu_nanoseconds) / sum(nanoseconds) as share from seats
            join agents using (agent)
            where nodes > 0 and name in ({", ".join("?" * len(clocked))})""",
        clocked,
    )["share"].iloc[0]
    if share is not None and share < BUSY_SHARE:
        yield (
            f"The machine was oversubscribed: agents had the processor for {100 * share:.0f} % of "
            "their thinking time; other programs, or too many workers, had the rest."
        )
    yield (
        f"Time was limited, so the games of {', '.join(clocked)} cannot be reproduced move for "
        "move."
    )


def _about_unused_time(facts: RunFacts) -> Iterable[str]:
    """Yield sentences on searches that end their moves by their own settings, long before the limit
    on time. Endgames solved early and forced moves do not count: the median of the middle game
    decides."""
    limits = facts.plan.limits
    if limits.per_move is None or limits.nodes is not None or limits.depth is not None:
        return
    moves, (first, last) = facts.moves, MIDDLE_GAME
    middle = (first <= moves.ply) & (moves.ply <= last)
    if limits.cpu_seconds is None:
        usable = 1e9 * limits.per_move - moves.waited_nanoseconds
        shares = moves.nanoseconds / np.maximum(usable, 1)
    else:
        shares = moves.cpu_nanoseconds / 1e9 / limits.per_move
    for number, (name, agent) in enumerate(facts.plan.agents.items()):
        ends = {key: getattr(agent, key, None) for key in _ENDING}
        words = ", ".join(f"{key} {value:,}" for key, value in ends.items() if value is not None)
        chosen = shares[middle & (moves.agent == number)]
        if words and len(chosen) and (share := float(np.median(chosen))) < _LEAST_USED:
            yield (
                f"In the middle game {in_sentence(name)} used {share_text(share)} of its time "
                f"(median): its own settings end its moves ({words})."
            )


def _about_late_moves(record: Record, plan: Plan) -> Iterable[str]:
    """Yield a sentence on moves that stand although they came too late by the wall clock."""
    late = record.query(
        f"""with {SEATS}
            select name, sum(late) as moves from seats join agents using (agent)
            where late > 0 group by name order by name"""
    )
    if late.empty:
        return
    said = ", ".join(f"{row.name} {row.moves:,}" for row in late.itertuples())
    yield (
        f"Moves that were late by the wall clock, but not by the time that the agent could use: "
        f"{said}. They stand: the machine was busy, or stopped."
    )


def _about_starved(record: Record, plan: Plan) -> Iterable[str]:
    """Yield a sentence on games in which an agent did not get its time. Searches that keep a limit
    on processor time always get it, and no harm is done where all moves of the game together took
    less than a part of the limit of one."""
    by_processor = plan.limits.cpu_seconds is not None
    unharmed = {n for n, agent in plan.agents.items() if by_processor and not is_outside(agent)}
    starved = record.query(
        f"""select name, count(*) as games from (
                select black as agent from games
                where {starved_side("black")} and black_nanoseconds >= ?
                union all select white from games
                where {starved_side("white")} and white_nanoseconds >= ?
            ) join agents using (agent) group by name order by games desc, name""",
        2 * [round(_HARMLESS * 1e9 * (plan.limits.per_move or 0.0))],
    )
    starved = starved[~starved["name"].isin(unharmed)]
    if not starved.empty:
        said = ", ".join(f"{row.name} in {row.games:,}" for row in starved.itertuples())
        again = "resume FOLDER --retry-starved plays these pairs again"
        if plan.schedule.listens:
            again = "this schedule goes by results, so they cannot be played again alone; "
            again += "executor.workers=1 and an idle machine give every agent its time"
        yield (
            f"Games in which an agent had less than {100 * LEAST_TIME:.0f} % of its time on a "
            f"processor: {said}; {again}."
        )


def _about_ponder(record: Record, plan: Plan) -> Iterable[str]:
    """Yield a sentence on processor time that agents used outside of their own moves."""
    used = record.query(
        """select name, sum(outside) / 1e9 as seconds, sum(outside) * 100.0 / sum(wall) as share
           from (
                select black as agent, black_outside_nanoseconds as outside,
                    black_nanoseconds as wall from games
                union all select white, white_outside_nanoseconds, white_nanoseconds from games
           ) join agents using (agent) group by name
           having share >= ? and seconds >= 0.1 order by seconds desc, name""",
        [_LEAST_OUTSIDE],
    )
    if not used.empty:
        said = ", ".join(
            f"{row.name} {row.seconds:.3g} s ({row.share:.0f} % of its own time)"
            for row in used.itertuples()
        )
        allowed = (
            "limits.ponder=true allows it" if plan.settings.limits.ponder else "it was stopped"
        )
        yield f"Processor time used outside of one's own moves: {said}; {allowed}."


def _about_isolation(record: Record, plan: Plan) -> Iterable[str]:
    """Yield a sentence if agents could reach the judge and each other, or more than they should."""
    isolation = plan.settings.isolation
    if any(map(isolation.closes, plan.agents.values())):
        machine = json.loads(record.rows("select machine from job")[0][0])
        if lacking := machine.get(BROKEN):
            yield f"{ISOLATES_LESS} {'; '.join(lacking)}."
    for name, agent in plan.agents.items():
        if isolation.closes(agent) and name in isolation.children:
            yield f"{name} could start other programs: time and memory watched, not bounded."
        elif getattr(agent, "children", False):
            yield f"{name} asks to start other programs; isolation.children=[{name}] allows it."
    if plan.settings.isolation.kind == NONE:
        yield (
            "Nobody was isolated (isolation=none): agents shared a process with the judge and with "
            "each other, and could have changed these results."
        )


def about_forfeits(record: Record) -> Iterable[str]:
    """Yield the forfeits of each agent with their reasons; sentences without their full stop."""
    forfeits = record.query(
        f"""select name, end_reason, substr(detail, 1, ?) as detail, count(*) as games from games
           join agents on agent = case result when 'black' then white else black end
           where end_reason not in {FAIR_ENDS}
           group by name, end_reason, detail order by games desc""",
        [_LONGEST_DETAIL],
    )
    for (name, reason), rows in forfeits.groupby(["name", "end_reason"], sort=False):
        total, most = rows["games"].sum(), rows.iloc[0]
        often = "most often " if most["games"] > 1 else "for example "
        often = "" if most["games"] == total else often
        detail = f", {often}{most['detail']}" if most["detail"] else ""
        yield f"{name} forfeited {counted(total, 'game')}: {reason}{detail}"
