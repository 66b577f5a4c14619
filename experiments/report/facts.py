"""Facts of a run's report: everything that is computed from the record, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from othello_lab.agents.search import SearchAgent, WindowSearch
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import PairOutcomes, ResultTable
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.disagreements import disagreements
from othello_lab.experiments.report.late_moves import error_profile, judged_late_moves
from othello_lab.experiments.report.moves import RecordedMoves, recorded_moves
from othello_lab.experiments.report.question import Question, question_of
from othello_lab.experiments.report.searches import (
    compare_searches,
    search_costs,
    searched_positions,
)
from othello_lab.experiments.report.standings import (
    anchor_of,
    matches,
    pair_counts,
    ranked,
    rated_by_settings,
    same_positions,
    scores_by_colour,
    standings,
    tournament_results,
)
from othello_lab.experiments.report.tables import limits_in_words, marked, order_note
from othello_lab.experiments.statistics.pairs import IntArray
from othello_lab.experiments.statistics.pool import Ratings

if TYPE_CHECKING:
    import pandas as pd

DRAWN_GAMES = 20_000
"""Games whose moves figures show, if there are more: a million moves."""


@dataclass(frozen=True, eq=False)
class RunFacts:
    """A run and the facts computed from it, each on demand."""

    record: Record
    plan: Plan

    @cached_property
    def question(self) -> Question:
        """The question that the run answers: that of its settings, or of costs where all agents
        turned out to play the same moves."""
        if self.parts and all(len(set(ratings.strategy)) == 1 for _, ratings in self.parts):
            return Question.COST
        return question_of(self.plan.settings)

    @cached_property
    def parts(self) -> list[tuple[IntArray, Ratings]]:
        """See :func:`experiments.report.standings.rated_parts`."""
        return rated_by_settings(self.record, self.plan.settings)

    @property
    def all_split(self) -> bool:
        """True if both sides took the same in every pair, so that there is nothing to compare."""
        return bool(self.parts) and all(ratings.split.all() for _, ratings in self.parts)

    @cached_property
    def results(self) -> PairOutcomes:
        """See :func:`experiments.report.standings.tournament_results`."""
        return tournament_results(self.record, self.plan.settings, self.plan.schedule)

    @cached_property
    def tournament_columns(self) -> Mapping[str, Sequence[Any]]:
        """See :meth:`experiments.pairing.Schedule.standings`."""
        return self.plan.schedule.standings(self.plan.names, self.results)

    @cached_property
    def standings(self) -> pd.DataFrame:
        """See :func:`experiments.report.standings.standings` and :func:`ranked`. Where the question
        is of costs, the agent with the fewest nodes is the first."""
        table = standings(self.record, self.parts)
        if self.question is Question.COST and len(self.parts) == 1 and not order_note(table):
            table = table.sort_values("nodes_per_move", kind="stable", ignore_index=True)
        return ranked(table, self.plan.names, self.tournament_columns)

    @property
    def tables(self) -> Sequence[ResultTable]:
        """See :meth:`experiments.pairing.Schedule.tables`."""
        return self.plan.schedule.tables(self.plan.names, self.results)

    @cached_property
    def matches(self) -> pd.DataFrame:
        """See :func:`experiments.report.standings.matches`."""
        return matches(self.record, self.parts)

    @cached_property
    def same_positions(self) -> pd.DataFrame:
        """See :func:`experiments.report.standings.same_positions`."""
        return same_positions(self.record)

    @cached_property
    def pair_counts(self) -> IntArray:
        """See :func:`experiments.report.standings.pair_counts`."""
        return pair_counts(self.record)

    @cached_property
    def order(self) -> list[str]:
        """All agents, marked, in the order of the standings: so they stand in every figure."""
        return marked_names(self.standings)

    @cached_property
    def colours(self) -> pd.DataFrame:
        """See :func:`experiments.report.standings.scores_by_colour`."""
        return scores_by_colour(self.record, self.names)

    @cached_property
    def moves(self) -> RecordedMoves:
        """The moves that figures show; see :func:`experiments.report.moves.recorded_moves`."""
        return recorded_moves(self.record, DRAWN_GAMES)

    @cached_property
    def openings(self) -> int:
        """From how many openings there are games."""
        return int(self.record.rows("select count(distinct opening) from games")[0][0])

    @cached_property
    def context(self) -> str:
        """The line over every figure: ``100 games from 50 openings, standard, depth 4``. Limits of
        the run stand in place of the depth, and a depth only if all searches have the same."""
        depths = {agent.depth for agent in self.searchers.values()}
        games = counted(self.record.count_games(), "game")
        parts = [f"{games} from {counted(self.openings, 'opening')}", self.plan.rules.name]
        common = [f"depth {depth}" for depth in depths if len(depths) == 1]
        return ", ".join([*parts, *(limits_in_words(self.plan.limits) or common)])

    @property
    def searchers(self) -> dict[str, SearchAgent]:
        """The agents that search, by name."""
        return {n: agent for n, agent in self.plan.agents.items() if isinstance(agent, SearchAgent)}

    @cached_property
    def costs(self) -> pd.DataFrame | None:
        """Costs of each search on positions of the run; None unless asked for, or if a choice of
        searches has costs that follow from their depth alone."""
        plan, wanted = self.plan, self.plan.settings.searches
        deep = {name: agent for name, agent in self.searchers.items() if agent.depth > 1}
        searchers = self.searchers if wanted.is_set else deep
        limits = plan.limits
        limited = limits.timed or limits.nodes is not None or limits.depth is not None
        choices = [a for a in searchers.values() if isinstance(a, WindowSearch) and not a.bare]
        if not searchers or not (wanted.is_set or (len(choices) >= 2 and not limited)):
            return None
        positions = searched_positions(self.record, wanted.positions, plan.settings.seed)
        if not positions:
            return None
        costs = search_costs(positions, searchers, wanted.depths)
        return compare_searches(costs, wanted.baseline, plan.settings.seed)

    @cached_property
    def late_moves(self) -> pd.DataFrame | None:
        """See :func:`experiments.report.late_moves.error_profile`; None unless asked for."""
        judging, record = self.plan.settings.judging, self.record
        if not judging.late:
            return None
        moves = judged_late_moves(record, judging.late, judging.empties, self.plan.settings.seed)
        if moves.empty:
            return None
        names = dict(zip(record.agents()["name"], self.names, strict=True))
        moves["agent"] = moves["agent"].map(names)
        return error_profile(moves, self.plan.settings.seed)

    @cached_property
    def disagreements(self) -> pd.DataFrame | None:
        """See :func:`experiments.report.disagreements.disagreements`; None unless asked for."""
        judging = self.plan.settings.judging
        if not judging.disagreements:
            return None
        seed = self.plan.settings.seed
        return disagreements(self.record, judging.disagreements, seed, judging.depth)

    @cached_property
    def ends(self) -> list[tuple[int, int, str, str, int]]:
        """The ends of games: Black and White, by number, the result, the reason, and their
        number."""
        return self.record.rows(
            "select black, white, result, end_reason, count(*) from games "
            "group by black, white, result, end_reason"
        )

    @property
    def names(self) -> list[str]:
        """All agents in the order of their numbers, marked."""
        return marked_names(self.record.agents(), "name")

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The place of each agent in the standings, from 0."""
        return {name: rank for rank, name in enumerate(self.standings["agent"])}

    @property
    def anchor(self) -> str | None:
        """See :func:`experiments.report.standings.anchor_of`."""
        return anchor_of(self.record, self.parts)


_WORDS = {"all", "both", "fewer", "more", "none", "nothing", "opponent", "sorted", "static"}


def in_sentence(name: str) -> str:
    """An agent's name as a sentence has it: quoted where it could be read as a word of it.

    >>> in_sentence("none"), in_sentence("alphabeta")
    ("'none'", 'alphabeta')
    """
    return f"'{name}'" if name in _WORDS else name


def marked_names(frame: pd.DataFrame, column: str = "agent") -> list[str]:
    """The names in a frame with a column ``selective``, marked."""
    return [marked(*row) for row in zip(frame[column], frame["selective"], strict=True)]


def zero_text(anchor: str | None) -> str:
    """Return the meaning of 0 Elo, in words."""
    return anchor or "the mean of the pool"
