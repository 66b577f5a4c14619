"""Comparison of sets of openings: the fewest games that show a difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from othello_lab.core.system.settings import Number
from othello_lab.experiments.config import Plan, chosen, plan_of
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.standings import matches, pairs_by_opening
from othello_lab.experiments.statistics.intervals import INSIDE
from othello_lab.experiments.statistics.match import MatchStatistics, match_statistics
from othello_lab.experiments.statistics.pairs import OUTCOMES, IntArray, pentanomial
from othello_lab.experiments.statistics.resolution import ALPHA, POWER, Resolution, resolution
from othello_lab.experiments.studies.study import (
    Conclusion,
    MatchStudy,
    PlayedRun,
    RunRequest,
    changed,
)

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure


@dataclass(frozen=True)
class _SetResult:
    """The result of a set. all_pairs, distinct: pairs played, and the distinct ones among them.
    draws, split: shares of drawn games, and of pairs in which the same colour won twice."""

    name: str
    openings: int
    all_pairs: int
    distinct: int
    draws: float
    split: float
    match: MatchStatistics
    black: MatchStatistics
    shows: Resolution

    @property
    def repeats(self) -> float:
        """Pairs to be played for each new one."""
        return self.all_pairs / self.distinct

    @property
    def needed(self) -> tuple[float, float, float]:
        """Pairs to be played, and the ends of the interval."""
        shows = self.shows
        return self.repeats * shows.pairs, self.repeats * shows.low, self.repeats * shows.high


@dataclass(frozen=True, kw_only=True)
class OpeningSets(MatchStudy):
    """The same two agents, best of nearly equal strength, from several sets of openings.

    The less the pairs of a set vary, the fewer of them show a difference. Pairs that repeat
    earlier ones cost time and add no evidence.

    sets: names in ``conf/openings``, or settings with such a name as ``kind`` and one of their own,
    as ``{name: mine, kind: file, file: mine.txt}``. elo: the difference to be seen, in Elo.
    """

    sets: Any
    elo: Annotated[float, Number(above=0, high=400)] = 30

    def check(self, plan: Plan) -> None:
        if len(plan.agents) != 2:
            raise ValueError(f"two agents are needed; this line-up has {len(plan.agents)}")
        for settings in self._sets().values():
            plan_of(changed(plan.settings, openings=settings)).choose_openings()

    def _sets(self) -> dict[str, dict[str, Any]]:
        """The settings of each set; ValueError."""
        if not isinstance(self.sets, Sequence) or isinstance(self.sets, str) or not self.sets:
            raise ValueError(f"study.sets={self.sets}: a list of sets of openings is needed")
        found: dict[str, dict[str, Any]] = {}
        for asked in self.sets:
            settings = dict(asked) if isinstance(asked, Mapping) else {"kind": str(asked)}
            name = str(settings.pop("name", settings.get("kind", "")))
            if name in found:
                raise ValueError(f"study.sets: two are called {name}; {{name: NAME, ...}} says how")
            made = chosen("openings", settings)
            # A set may have fewer openings than there are pairs; what that costs is the question.
            found[name] = made | ({"repeats": True} if "repeats" in made else {})
        return found

    def runs(self, plan: Plan, played: Sequence[PlayedRun]) -> Sequence[RunRequest]:
        return [
            RunRequest(changed(plan.settings, openings=settings), name)
            for name, settings in self._sets().items()
        ]

    def conclude(self, plan: Plan, played: Sequence[PlayedRun]) -> Conclusion:
        found = []
        for each in played:
            with each.record() as record:
                if (about := self._of(each.asked.about, record, plan.settings.seed)) is not None:
                    found.append(about)
        frame = _frame(found)
        return Conclusion(
            list(self._findings(found, plan.names)),
            [self._shows_table(found), _sets_table(found)],
            {"openings": frame},
            lambda: self._figures(frame, found, plan.names),
            [
                f"Pairs needed: of a fixed match that finds a difference of {self.elo:g} Elo with "
                f"{100 * POWER:g} % probability at an error rate of {100 * ALPHA:g} %, one-sided, "
                "from the spread of the pairs' scores in this set; pairs that repeat an earlier "
                "one move for move are paid for and say nothing. A set that leaves less to be "
                "decided can also make the agents' own difference smaller: that is the column of "
                "their normalised Elo."
            ],
        )

    def _of(self, name: str, record: Record, seed: int) -> _SetResult | None:
        """Return the result of a set; None without a complete pair."""
        table = matches(record)
        if table.empty:
            return None
        row = table.iloc[0]
        tables, times = pairs_by_opening(record)
        by_colour = tables[:, 0, 1]
        counts = pentanomial(by_colour)
        return _SetResult(
            name,
            int(row["openings"]),
            int(row["all_pairs"]),
            int(row["pairs"]),
            float(row["draws"] / row["games"]),
            float((times @ (by_colour[:, 2, 0] + by_colour[:, 0, 2])) / row["pairs"]),
            match_statistics(counts, times),
            match_statistics(_blacks(by_colour), times),
            resolution(counts, times, self.elo, seed),
        )

    # ------------------------------------------------------------------ words

    def _findings(self, found: Sequence[_SetResult], names: Sequence[str]) -> Iterator[str]:
        known = sorted((each for each in found if each.shows.pairs > 0), key=lambda f: f.needed)
        if known:
            told = ", ".join(f"{each.name} {_pairs_text(each)}" for each in known)
            yield f"Pairs needed to see {self.elo:g} Elo between such agents: {told}."
        if len(known) > 1:
            best, others = known[0], known[1:]
            open_ = [each.name for each in others if not _fewer(best, each)]
            yield (
                f"{best.name} needs the fewest."
                if not open_
                else f"Whether {best.name} needs fewer than {', '.join(open_)} is not settled."
            )
        for each in known:
            if each.openings == 1 and each.distinct > 1:
                yield (
                    f"{each.name} is a single opening: what it shows holds for games from there."
                )
        for each in found:
            if each.distinct < each.all_pairs:
                yield (
                    f"From {each.name} only {each.distinct:,} of {each.all_pairs:,} pairs were "
                    "different ones: the others repeat them move for move."
                )
            if not each.shows.pairs > 0:
                yield f"{each.name} says nothing of the spread: {_why(each)}."
        for each in found:
            if each.black.elo_low > 0 or each.black.elo_high < 0:
                who = "Black" if each.black.elo > 0 else "White"
                yield f"From {each.name} {who} has the better chances: {each.black.elo_text} Elo."

    def _shows_table(self, found: Sequence[_SetResult]) -> ResultTable:
        rows = [
            [
                each.name,
                _pairs_text(each),
                _number(each.shows.nelo, 1),
                _number(each.shows.evidence / each.repeats**0.5, 2),
                each.match.nelo_text,
                each.match.elo_text,
            ]
            for each in found
        ]
        told = f"{self.elo:g} Elo"
        columns = ["set", "pairs needed", f"{told}, nElo", "errors/1,000 games"]
        columns += ["nElo [95 %]", "Elo [95 %]"]
        return ResultTable(
            "What a set shows", columns, rows,
            note=f"Pairs needed to see {told}; what {told} are in normalised Elo, and how many "
            "standard errors they are after 1,000 games: the more, the better the set. At the "
            "right the difference between these agents, as measured.",
        )  # fmt: skip

    def _figures(
        self, frame: pd.DataFrame, found: Sequence[_SetResult], names: Sequence[str]
    ) -> Iterator[ReportFigure]:
        from othello_lab.experiments.report.figures.drawing import ReportFigure
        from othello_lab.experiments.studies.figures.openings import openings_chart

        if frame["pairs_needed"].notna().any():
            yield ReportFigure(
                name="openings",
                title="Pairs needed, by set of openings",
                caption=f"How many pairs of games it takes to see {self.elo:g} Elo between "
                f"'{names[0]}' and '{names[1]}', with 95 % intervals; and the games drawn, the "
                "pairs that the opening decided (the same colour won twice), and Black's "
                "advantage.",
                chart=openings_chart(frame, f"{names[0]} against {names[1]}"),
                data=frame,
            )


def _blacks(by_colour: IntArray) -> IntArray:
    """Pairs by the half points that Black made in them, shape (m, 5); by_colour: shape (m, 3, 3),
    by the first agent's with Black and with White."""
    made = np.zeros((len(by_colour), OUTCOMES), dtype=np.int64)
    for black in range(3):
        for white in range(3):
            made[:, black + 2 - white] += by_colour[:, black, white]
    return made


def _fewer(one: _SetResult, other: _SetResult) -> bool:
    """Return True if one is shown to need fewer pairs than the other: their intervals do not meet.
    With few openings intervals are wide and often do."""
    if not one.needed[2] < other.needed[1]:
        return False
    size = min(len(one.shows.sample), len(other.shows.sample))
    gap = np.log(other.repeats / one.repeats)
    return bool((one.shows.sample[:size] < other.shows.sample[:size] + gap).mean() > INSIDE)


def _why(found: _SetResult) -> str:
    if found.openings < 2:
        return "all its pairs come from one opening"
    return "every pair went alike"


def _pairs_text(found: _SetResult) -> str:
    if not found.shows.pairs > 0:
        return "-"
    needed, low, high = found.needed
    return f"{needed:,.0f} [{low:,.0f}, {high:,.0f}]"


def _number(value: float, digits: int) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def _sets_table(found: Sequence[_SetResult]) -> ResultTable:
    rows = [
        [
            each.name,
            f"{each.all_pairs:,}",
            f"{each.distinct:,}",
            f"{each.openings:,}",
            f"{100 * each.draws:.1f}",
            f"{100 * each.split:.1f}",
            each.black.elo_text,
        ]
        for each in found
    ]
    columns = ["set", "pairs", "different", "openings", "draws %", "one colour won both %"]
    return ResultTable("What a set is like", [*columns, "Black, Elo [95 %]"], rows)


def _frame(found: Sequence[_SetResult]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for each in found:
        needed, low, high = each.needed
        rows.append(
            {
                "openings": each.name,
                "pairs": each.all_pairs,
                "different_pairs": each.distinct,
                "from_openings": each.openings,
                "pairs_needed": needed,
                "needed_low": low,
                "needed_high": high,
                "nelo_of_difference": each.shows.nelo,
                "standard_errors": each.shows.evidence / each.repeats**0.5,
                "draws": each.draws,
                "same_colour": each.split,
                **{name: getattr(each.match, name) for name in _MATCH},
                **{f"black_{name}": getattr(each.black, name) for name in _MATCH[:3]},
            }
        )
    return pd.DataFrame(rows)


_MATCH = ("elo", "elo_low", "elo_high", "nelo", "nelo_low", "nelo_high")
