"""Strength against effort: how much each agent gains by looking deeper, or for longer."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.core.system.settings import Choice, Each, Number
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.tables import elo_text, time_text
from othello_lab.experiments.statistics.elo import doubling_weights, step_weights
from othello_lab.experiments.statistics.intervals import interval_text
from othello_lab.experiments.studies import study
from othello_lab.experiments.studies.pools import PairPool, strengths

if TYPE_CHECKING:
    from pandas import DataFrame as Frame

    from othello_lab.experiments.report.figures.drawing import ReportFigure

DEPTH, NODES, SECONDS = "depth", "nodes", "seconds"
EFFORTS = {DEPTH: "depth", NODES: "nodes a move", SECONDS: "seconds a move"}
"""What may be doubled, in words."""

MEASURED = {"nodes_per_move": "nodes searched", "microseconds": "time used"}
"""What a doubling of is told too: columns of the levels."""

_DRAWN = 24  # agents at their levels of which a figure can be read


@dataclass(frozen=True, kw_only=True)
class Scaling(study.MatchStudy):
    """Each agent of the line-up at each level of effort, all of them in one pool.

    Elo by doubling is the slope of an agent's ratings over the logarithm of its effort: of the
    level, of the nodes searched, and of the time used.

    by: the unit of the levels: ``depth`` (plies), or a limit of ``nodes`` or ``seconds`` a move,
    for agents that deepen iteratively (agents.NAME.iterative=true; their depth is then as large as
    can be). levels: at least two, ascending, best so that each is twice the one before.
    """

    by: Annotated[str, Choice(*EFFORTS)] = DEPTH
    levels: Annotated[list[float], Each(Number(above=0))]

    def check(self, plan: Plan) -> None:
        levels = list(self.levels)
        if len(levels) < 2 or any(high <= low for low, high in pairwise(levels)):
            raise ValueError(f"study.levels={levels}: two or more, ascending, are needed")
        if self.by != SECONDS and any(level != int(level) for level in levels):
            raise ValueError(f"study.levels={levels}: whole numbers are needed with by={self.by}")
        for name, agent in plan.agents.items():
            if self.by != DEPTH and isinstance(agent, ExternalAgent):
                raise ValueError(
                    f"agent '{name}' is from outside the lab, where limits are those of the run; "
                    "study.by=depth is for agents with a depth"
                )
            if self.by == DEPTH and "depth" not in plan.settings.agents[name]:
                raise ValueError(f"agent '{name}' has no depth that could be varied")
            if self.by != DEPTH and plan.settings.agents[name].get("iterative") is False:
                raise ValueError(
                    f"agent '{name}' does not deepen iteratively, so a limit of {self.by} would "
                    "cut its search anywhere: agents.NAME.iterative=true, or of a duel "
                    "first.iterative=true second.iterative=true"
                )
        if self.by == DEPTH and max(levels) > MAX_DEPTH:
            raise ValueError(f"study.levels={levels}: a depth is {MAX_DEPTH} at most")

    def runs(self, plan: Plan, played: Sequence[study.PlayedRun]) -> Sequence[study.RunRequest]:
        agents = {
            _name(name, level): self._at(agent, level)
            for name, agent in plan.settings.agents.items()
            for level in self.levels
        }
        levels = ", ".join(f"{level:g}" for level in self.levels)
        return [
            study.RunRequest(
                study.changed(plan.settings, agents=agents), f"{EFFORTS[self.by]} {levels}"
            )
        ]

    def conclude(self, plan: Plan, played: Sequence[study.PlayedRun]) -> study.Conclusion:
        seed, kinds = plan.settings.seed, list(plan.settings.agents)
        with played[0].record() as record:
            pool, table = PairPool.of(record), strengths(record, seed)
        levels = self._levels(table, kinds, pool, seed)
        gains = self._gains(levels, kinds, pool, seed)
        between = self._between(gains, levels, kinds, pool, seed)
        return study.Conclusion(
            list(self._findings(gains, between, levels)),
            [self._gains_table(gains), self._levels_table(levels)],
            {"doublings": gains, "levels": levels, "differences": between},
            lambda: self._figures(levels, pool.openings),
            [_NOTE],
            agents=study.without_depth(plan.settings.agents),
        )

    def _at(self, agent: Mapping[str, Any], level: float) -> dict[str, Any]:
        made = copy.deepcopy(dict(agent))
        if self.by == DEPTH:
            return made | {"depth": int(level)}
        if "depth" in made:
            made["depth"] = MAX_DEPTH
        limit = {self.by: level if self.by == SECONDS else int(level)}
        return {"_target_": "othello_lab.agents.limited.Limited", "agent": made, **limit}

    def _levels(self, table: Frame, kinds: Sequence[str], pool: PairPool, seed: int) -> Frame:
        """Return a row for each agent and level: strength, cost, and gain from the level before."""
        import pandas as pd

        rows = []
        for kind in kinds:
            names = [_name(kind, level) for level in self.levels]
            steps = np.zeros((len(names) - 1, len(pool.names)))
            steps[:, [pool.names.index(name) for name in names]] = step_weights(self.levels)
            gain = np.column_stack([*pool.contrasts(steps, seed)])
            for number, (name, level) in enumerate(zip(names, self.levels, strict=True)):
                strength = table.loc[name]
                row = {"agent": kind, "level": level, "name": name, "games": strength["games"]}
                for column in ("elo", "low", "high", "bound", "split", *MEASURED):
                    row[column] = strength[column]
                step = gain[number - 1] if number else np.full(3, np.nan)
                row |= dict(zip(("gain", "gain_low", "gain_high"), step, strict=True))
                rows.append(row)
        return pd.DataFrame(rows)

    def _weights(self, levels: Frame, kind: str, effort: str, pool: PairPool) -> np.ndarray:
        """Return weights of the pool's agents in a gain by doubling; 0 if too few are rated."""
        rows = levels[(levels["agent"] == kind) & (levels["bound"] == "") & (levels[effort] > 0)]
        weights = np.zeros(len(pool.names))
        if len(set(rows[effort])) > 1:
            places = [pool.names.index(name) for name in rows["name"]]
            weights[places] = doubling_weights(rows[effort].to_numpy(dtype=float))
        return weights

    def _gains(self, levels: Frame, kinds: Sequence[str], pool: PairPool, seed: int) -> Frame:
        """Elo by doubling, one row an agent and kind of effort: agent, effort, elo, low, high."""
        import pandas as pd

        rows = []
        for effort in ("level", *MEASURED):
            weights = np.array([self._weights(levels, kind, effort, pool) for kind in kinds])
            words = self.by if effort == "level" else MEASURED[effort]
            known = [bool(row.any()) for row in weights]
            for kind, is_known, *ends in zip(
                kinds, known, *pool.contrasts(weights, seed), strict=True
            ):
                values = ends if is_known else [np.nan] * 3
                rows.append((kind, words, *values))
        return pd.DataFrame(rows, columns=["agent", "effort", "elo", "low", "high"])

    def _between(
        self,
        gains: Frame,
        levels: Frame,
        kinds: Sequence[str],
        pool: PairPool,
        seed: int,
    ) -> Frame:
        """Return the differences between the agents' gains by doubling the level."""
        import pandas as pd

        of_level = gains[gains["effort"] == self.by].dropna(subset=["elo"])
        order = of_level.sort_values("elo", ascending=False)["agent"].tolist()
        pairs = list(combinations(order, 2))
        weights = {kind: self._weights(levels, kind, "level", pool) for kind in order}
        rows = np.array([weights[first] - weights[second] for first, second in pairs])
        contrasts = pool.contrasts(rows.reshape(len(pairs), len(pool.names)), seed) if pairs else ()
        columns = dict(zip(("elo", "low", "high"), contrasts, strict=False))
        names = {"agent": [pair[0] for pair in pairs], "other": [pair[1] for pair in pairs]}
        return pd.DataFrame(names | columns, columns=["agent", "other", "elo", "low", "high"])

    def _findings(self, gains: Frame, between: Frame, levels: Frame) -> Iterator[str]:
        of_level = gains[gains["effort"] == self.by].dropna(subset=["elo"])
        of_level = of_level.sort_values("elo", ascending=False)
        if len(of_level):
            gained = ", ".join(f"{row.agent} {_elo(row)}" for row in of_level.itertuples())
            yield f"Elo gained by each doubling of {EFFORTS[self.by]}: {gained}."
        if len(between):
            best = between[between["agent"] == of_level["agent"].iloc[0]]
            shown = best[best["low"] > 0]
            if len(shown) == len(best):
                nearest = best.loc[best["elo"].idxmin()]
                yield (
                    f"{nearest['agent']} profits most from more search: by each doubling "
                    f"{_elo(nearest)} Elo more than {nearest['other']}."
                )
            else:
                open_ = ", ".join(best.loc[~(best["low"] > 0), "other"])
                yield (
                    f"Who profits most is not settled: {of_level['agent'].iloc[0]} gained most, "
                    f"but its lead over {open_} may be chance."
                )
        last = levels.dropna(subset=["gain_high"])
        for kind, rows in last.groupby("agent", sort=False):
            final = rows.iloc[-1]
            if final["gain_low"] <= 0 <= final["gain_high"]:
                sure = (
                    "seems to be a gain, which is not certain"
                    if final["gain"] > 0
                    else "shows no gain"
                )
                yield (
                    f"The last step of {kind}, to {final['level']:g}, {sure}: "
                    f"{interval_text(final['gain'], final['gain_low'], final['gain_high'])} Elo by "
                    "doubling."
                )
        if bounds := levels.loc[levels["bound"].isin([">", "<"]), "name"].tolist():
            yield f"{', '.join(bounds)} won or lost everything, and are left out of the gains."

    def _gains_table(self, gains: Frame) -> ResultTable:
        efforts = list(dict.fromkeys(gains["effort"]))
        rows = [
            [kind, *(_elo(row) for row in of_agent.itertuples())]
            for kind, of_agent in gains.groupby("agent", sort=False)
        ]
        columns = ["agent", *(f"by {effort}" for effort in efforts)]
        return ResultTable("Elo gained by a doubling [95 %]", columns, rows)

    def _levels_table(self, levels: Frame) -> ResultTable:
        rows = [
            [
                row.agent,
                f"{row.level:g}",
                f"{row.games:,}",
                elo_text(row),
                "-" if not row.nodes_per_move > 0 else f"{row.nodes_per_move:,.0f}",
                time_text(row.microseconds),
                interval_text(row.gain, row.gain_low, row.gain_high),
            ]
            for row in levels.itertuples()
        ]
        columns = ["agent", self.by, "games", "Elo [95 %]", "nodes/move", "time/move"]
        return ResultTable("Every level", [*columns, "Elo by doubling, from the one before"], rows)

    def _figures(self, levels: Frame, openings: int) -> Iterator[ReportFigure]:
        from othello_lab.experiments.report.figures.cost import elo_cost_chart
        from othello_lab.experiments.report.figures.drawing import ReportFigure
        from othello_lab.experiments.studies.figures.scaling import scaling_chart

        rated = levels[levels["elo"].notna() & (levels["bound"] == "")]
        context = f"{openings:,} openings"
        if len(rated):
            yield ReportFigure(
                name="scaling",
                title="Elo by doubling",
                caption=f"Rating by {EFFORTS[self.by]}, and by the nodes and the time that a move "
                "took; from one line of the grid to the next the effort doubles. The mean of the "
                "pool is 0; bars are 95 % intervals.",
                chart=scaling_chart(rated, self.by, context),
                data=levels,
            )
        shown = rated[rated["microseconds"] > 0].assign(agent=rated["name"])
        if 2 <= len(shown) <= _DRAWN:
            shown = shown.sort_values("elo", ascending=False)
            yield ReportFigure(
                name="cost",
                title="Elo against cost",
                caption="Every agent at every level. Along the line, and in bold, are those than "
                "which none that costs less, or as much, is rated higher (the Pareto front).",
                chart=elo_cost_chart(shown, context, shown["agent"].tolist()),
            )


_NOTE = (
    "Elo by doubling is the slope of the straight line through the ratings over log2 of the effort "
    "by least squares; its interval comes from the same bootstrap over openings as the ratings'. "
    "Time is that of this machine, under the load it had."
)


def _name(kind: str, level: float) -> str:
    return f"{kind} {level:g}"


def _elo(row: Any) -> str:
    return interval_text(row.elo, row.low, row.high)
