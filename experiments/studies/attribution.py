"""Gain and cost of each feature of an evaluation, or of any other switch of an agent."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from othello_lab.agents.config import unknown
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Text
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.tables import time_text
from othello_lab.experiments.statistics.factorial import combinations, interactions, main_effects
from othello_lab.experiments.statistics.intervals import interval_text
from othello_lab.experiments.studies.pools import PairPool, strengths
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

MOST_SWITCHES = 6
"""Their combinations, 64, play in one run."""

_NOTHING = {"disc_count": 1e-9}  # weights whose sum is rounded to 0: every position is worth alike
_COMPOSITE = "Composite"
_DEARER = 0.02  # of the mean cost: what costs less than this more is not told by what it costs
_DRAWN = 24  # combinations of which a figure can be read

Settings = dict[str, Any]


@dataclass(frozen=True)
class AgentSwitch:
    """A switch of an agent: a setting, by its path, and its values; or, without a path, a feature
    of its composite evaluation."""

    name: str
    path: Sequence[str] = ()
    off: Any = None
    on: Any = None

    def turn(self, agent: Settings, on: bool) -> None:
        """Set it in an agent's settings."""
        if self.path:
            *way, last = self.path
            node = agent
            for key in way:
                node = node[key]
            node[last] = self.on if on else self.off
        elif not on:
            evaluation = agent["evaluation"]
            for weights in _weights(evaluation):
                weights.pop(self.name, None)
            if not any(any(weights.values()) for weights in _weights(evaluation)):
                evaluation["weights"] = dict(_NOTHING)


def _weights(evaluation: Settings) -> Iterator[Settings]:
    """The weights of a composite: everywhere, and in each of its stages."""
    for part in (evaluation, *(evaluation.get("stages") or ())):
        if part.get("weights") is None:
            part["weights"] = {}
        yield part["weights"]


@dataclass(frozen=True, kw_only=True)
class Attribution(MatchStudy):
    """One agent with every combination of some switches on and off, against a common opponent, all
    from the same openings (a full factorial design).

    agent: the agent with the switches. opponent: its opponent. switches: settings of the agent, by
    their paths, with the values for off and on, as in study.switches={iterative: [false, true],
    evaluation.weights.mobility: [0, 8]}; None for the features of its composite evaluation that
    have a weight, off with the weight 0. Up to 6; all their combinations play, twice as many with
    each more.
    """

    agent: Annotated[str, Text(r".+", "a name of the line-up")]
    opponent: Annotated[str, Text(r".+", "a name of the line-up")]
    switches: Mapping[str, Any] | None = None

    def check(self, plan: Plan) -> None:
        for key, name in (("study.agent", self.agent), ("study.opponent", self.opponent)):
            if name not in plan.agents:
                raise unknown(key, name, plan.names)
        if self.agent == self.opponent:
            raise ValueError(f"study.opponent={self.opponent}: another agent than study.agent")
        switches = self._switches(plan.settings.agents[self.agent])
        if not 1 <= len(switches) <= MOST_SWITCHES:
            raise ValueError(
                f"switches: {len(switches)}; 1 to {MOST_SWITCHES} can be combined; "
                "study.switches={SETTING: [OFF, ON]} names them"
            )

    def runs(self, plan: Plan, played: Sequence[PlayedRun]) -> Sequence[RunRequest]:
        agents = plan.settings.agents
        switches = self._switches(agents[self.agent])
        line_up = {self.opponent: agents[self.opponent]}
        for name, settings in zip(
            _names(switches), _settings(agents[self.agent], switches), strict=True
        ):
            line_up[_free(name, self.opponent)] = settings
        schedule = {
            "_target_": "othello_lab.experiments.pairing.Gauntlet",
            "champion": self.opponent,
        }
        made = changed(plan.settings, agents=line_up, schedule=schedule)
        return [RunRequest(made, counted(len(line_up) - 1, "combination"))]

    def conclude(self, plan: Plan, played: Sequence[PlayedRun]) -> Conclusion:
        switches = self._switches(plan.settings.agents[self.agent])
        seed = plan.settings.seed
        with played[0].record() as record:
            pool = PairPool.of(record)
            strong = strengths(record, seed, self.opponent)
        names = [_free(name, self.opponent) for name in _names(switches)]
        table = strong.reindex(names)
        places = [pool.names.index(name) for name in names]
        effects = _effects(switches, pool, places, table, seed)
        on = combinations(len(switches))
        columns = {switch.name: on[:, place] for place, switch in enumerate(switches)}
        kept = ["agent", "games", "score", "elo", "low", "high", "bound", "nodes_per_move"]
        combined = table.assign(agent=names)[[*kept, "microseconds"]].assign(**columns)
        return Conclusion(
            list(_findings(effects, combined, self.opponent, pool.openings)),
            [_effects_table(effects), _combinations_table(combined, self.opponent)],
            {"effects": effects, "combinations": combined},
            lambda: _figures(effects, combined, self.opponent, pool),
            [_NOTE],
        )

    def _switches(self, agent: Settings) -> list[AgentSwitch]:
        """The switches of an agent with these settings; ValueError."""
        if self.switches is None:
            evaluation = agent.get("evaluation")
            target = str(evaluation.get("_target_", "")) if isinstance(evaluation, Mapping) else ""
            if target.rpartition(".")[2] != _COMPOSITE:
                raise ValueError(
                    f"agent '{self.agent}' has no composite evaluation whose features could be "
                    "switched; study.switches={SETTING: [OFF, ON]} names others"
                )
            parts = _weights(copy.deepcopy(agent)["evaluation"])
            used = {name for weights in parts for name, weight in weights.items() if weight}
            return [AgentSwitch(name) for name in sorted(used)]
        ends = [key.rpartition(".")[2] for key in self.switches]
        return [
            self._switch(agent, key, values, end if ends.count(end) == 1 else key)
            for (key, values), end in zip(self.switches.items(), ends, strict=True)
        ]

    def _switch(self, agent: Settings, key: str, values: Any, name: str) -> AgentSwitch:
        """Return one of ``switches``; it must be a setting of the agent. ``name``: its name in the
        report."""
        if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 2:
            raise ValueError(f"study.switches.{key}={values}: [OFF, ON], two values, are needed")
        path = key.split(".")
        node: Any = agent
        for part in path:
            if not isinstance(node, Mapping) or part not in node:
                raise unknown(f"setting of agent '{self.agent}' in study.switches", key, agent)
            node = node[part]
        return AgentSwitch(name, path, *values)


_NOTE = (
    "The effect of a switch is what it adds on average over all combinations of the others; that "
    "of two together is what the one adds more where the other is on than where it is off. All "
    "combinations played the same openings, which intervals take for the independent unit. Costs "
    "are means a move, time that of the processor. Elo by unit of cost is left blank where a "
    "switch makes moves cheaper, or dearer by less than 2 %."
)


def _names(switches: Sequence[AgentSwitch]) -> list[str]:
    """Return the names of all combinations: ``mobility+corners``, or ``all off``."""
    return [
        "+".join(switch.name for switch, is_on in zip(switches, row, strict=True) if is_on)
        or "all off"
        for row in combinations(len(switches))
    ]


def _free(name: str, opponent: str) -> str:
    """The name of a combination, other than the opponent's."""
    return f"{name} on" if name == opponent else name


def _settings(agent: Settings, switches: Sequence[AgentSwitch]) -> Iterator[Settings]:
    """The agent's settings with each combination."""
    for row in combinations(len(switches)):
        made = copy.deepcopy(agent)
        for switch, is_on in zip(switches, row, strict=True):
            switch.turn(made, bool(is_on))
        yield made


# ---------------------------------------------------------------------- numbers


def _effects(
    switches: Sequence[AgentSwitch],
    pool: PairPool,
    places: Sequence[int],
    table: pd.DataFrame,
    seed: int,
) -> pd.DataFrame:
    """Return one row a switch and each two: term, order (1 or 2), Elo with its interval, additional
    nodes and microseconds a move, and Elo by 1,000 nodes and by microsecond."""
    import pandas as pd

    terms, together = interactions(len(switches))
    rows = np.vstack([main_effects(len(switches)), together])
    names = [switch.name for switch in switches]
    weights = np.zeros((len(rows), len(pool.names)))
    weights[:, places] = rows
    elo, low, high = pool.contrasts(weights, seed)
    frame = pd.DataFrame(
        {
            "term": [*names, *(f"{names[i]} with {names[j]}" for i, j in terms)],
            "order": [1] * len(names) + [2] * len(terms),
            "elo": elo,
            "low": low,
            "high": high,
            "nodes": rows @ table["nodes_per_move"].to_numpy(dtype=float),
            "microseconds": rows @ table["microseconds"].to_numpy(dtype=float),
        }
    )
    for column, measure, unit, name in (
        ("nodes", "nodes_per_move", 1000, "elo_per_1000_nodes"),
        ("microseconds", "microseconds", 1, "elo_per_microsecond"),
    ):
        dearer = (frame[column] > _DEARER * table[measure].mean()) & (frame["order"] == 1)
        frame[name] = (frame["elo"] * unit / frame[column]).where(dearer)
    return frame


# ---------------------------------------------------------------------- words


def _findings(
    effects: pd.DataFrame, combined: pd.DataFrame, opponent: str, openings: int
) -> Iterator[str]:
    main = effects[effects["order"] == 1]
    rated = main.dropna(subset=["elo"]).sort_values("elo", ascending=False)
    if len(rated):
        told = (f"{row.term} {_elo(row)}" for row in rated.itertuples())
        yield f"What each switch adds, in Elo against '{opponent}': {', '.join(told)}."
        useless = [row.term for row in rated.itertuples() if not row.low > 0 and not row.high < 0]
        if useless:
            which = "this switch does" if len(useless) == 1 else "these switches do"
            yield (
                f"Not shown to matter from {openings} openings: {', '.join(useless)}; whether "
                + (f"{which} anything takes more games to say.")
            )
        worth = rated.dropna(subset=["elo_per_microsecond"])
        worth = worth[worth["elo"] > 0].sort_values("elo_per_microsecond", ascending=False)
        if len(worth) > 1:
            best = worth.iloc[0]
            yield (
                f"{best.term} brings most for its time: {best.elo_per_microsecond:,.1f} Elo by "
                f"microsecond a move, {worth.iloc[-1].term} least "
                f"({worth.iloc[-1].elo_per_microsecond:,.1f})."
            )
    pairs = effects[(effects["order"] == 2) & ((effects["low"] > 0) | (effects["high"] < 0))]
    for row in pairs.itertuples():
        how = "more" if row.elo > 0 else "less"
        yield f"Together they are worth {how} than the sum of both: {row.term} {_elo(row)} Elo."
    for bound, did in (("<", "lost"), (">", "won")):
        if unrated := combined.loc[combined["bound"] == bound, "agent"].tolist():
            names = ", ".join(f"'{name}'" for name in unrated)
            yield (
                f"With {names} every game against '{opponent}' was {did}, which has no rating; an "
                "effect is a mean over all combinations, so none can be told: take an opponent "
                "nearer to them, or more games."
            )


def _elo(row: Any) -> str:
    return interval_text(row.elo, row.low, row.high)


def _effects_table(effects: pd.DataFrame) -> ResultTable:
    def cost(value: float, told: str) -> str:
        return "-" if np.isnan(value) else told

    rows = [
        [
            row.term,
            _elo(row),
            cost(row.nodes, f"{row.nodes:+,.0f}"),
            cost(row.microseconds, _signed_time(row.microseconds)),
            cost(row.elo_per_1000_nodes, f"{row.elo_per_1000_nodes:+,.0f}"),
            cost(row.elo_per_microsecond, f"{row.elo_per_microsecond:+,.1f}"),
        ]
        for row in effects.itertuples()
    ]
    columns = ["switch", "Elo [95 %]", "nodes/move", "time/move", "Elo/1000 nodes", "Elo/µs"]
    return ResultTable("What each switch adds", columns, rows)


def ranked(combined: pd.DataFrame) -> pd.DataFrame:
    """Return the combinations by their points against the opponent they share, the best first. One
    that lost or won everything has only a bound, and that is no rating to sort by."""
    return combined.sort_values(["score", "elo"], ascending=False, kind="stable")


def _signed_time(microseconds: float) -> str:
    if abs(microseconds) < 1:
        return f"{1000 * microseconds:+z.0f}\N{NO-BREAK SPACE}ns"
    return ("-" if microseconds < 0 else "+") + time_text(abs(microseconds))


def _combinations_table(combined: pd.DataFrame, opponent: str) -> ResultTable:
    rows = [
        [
            row.agent,
            f"{row.games:,.0f}",
            interval_text(row.elo, row.low, row.high, row.bound),
            "-" if np.isnan(row.nodes_per_move) else f"{row.nodes_per_move:,.0f}",
            time_text(row.microseconds),
        ]
        for row in ranked(combined).itertuples()
    ]
    return ResultTable(
        "Every combination", ["on", "games", "Elo [95 %]", "nodes/move", "time/move"], rows,
        note=f"Elo against '{opponent}', who is rated 0.",
    )  # fmt: skip


def _figures(
    effects: pd.DataFrame, combined: pd.DataFrame, opponent: str, pool: PairPool
) -> Iterator[ReportFigure]:
    from othello_lab.experiments.report.figures.cost import elo_cost_chart
    from othello_lab.experiments.report.figures.drawing import ReportFigure
    from othello_lab.experiments.studies.figures.matches import effects_chart

    context = f"{counted(pool.openings, 'opening')}, against '{opponent}'"
    if effects["elo"].notna().any():
        yield ReportFigure(
            name="effects",
            title="What each switch adds",
            caption="Elo that a switch adds on average over all combinations of the others, and "
            "(diamonds) that two add together beyond the sum of both; bars are 95 % intervals.",
            chart=effects_chart(effects, context),
            data=effects,
        )
    rated = combined.dropna(subset=["elo"])
    rated = rated[rated["microseconds"] > 0]
    if 2 <= len(rated) <= _DRAWN:
        order = ranked(rated)
        yield ReportFigure(
            name="cost",
            title="Elo against cost",
            caption=f"Every combination: Elo against '{opponent}' (0), and what a move costs. "
            "Along the line, and in bold, are those than which none that costs less, or as much, "
            "is rated higher (the Pareto front).",
            chart=elo_cost_chart(order, context, order["agent"].tolist()),
        )
