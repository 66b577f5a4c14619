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
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.standings import SEATS
from othello_lab.experiments.report.tables import time_text
from othello_lab.experiments.statistics.factorial import combinations, interactions, main_effects
from othello_lab.experiments.statistics.intervals import interval_text, standard_error, student
from othello_lab.experiments.statistics.means import Mean
from othello_lab.experiments.statistics.pairs import FloatArray
from othello_lab.experiments.statistics.ratio import UNKNOWN, ratio_of
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
_DEARER = 0.02
"""Of the mean cost: what costs less than this more is not told by what it costs."""
_RESOLUTION = {"nodes": 10.0, "microseconds": 0.3}
"""Costs below these have no ratio. Asking for the processor's time takes 0.3 microseconds; a few
nodes more may come from the course of the games alone."""
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

    The effect of a switch is its mean over all combinations of the others. Two switches that do
    the same work bring less together than alone. There is no ratio of Elo to a cost that may be 0,
    or is below the clock's 0.3 microseconds. A switch is called the best for its time only if its
    interval lies above all others.

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
            costs = _costs_by_opening(record)
        names = [_free(name, self.opponent) for name in _names(switches)]
        table = strong.reindex(names)
        places = [pool.names.index(name) for name in names]
        effects = _effects(switches, pool, places, costs, seed)
        on = combinations(len(switches))
        columns = {switch.name: on[:, place] for place, switch in enumerate(switches)}
        kept = ["agent", "games", "score", "elo", "low", "high", "bound", "nodes_per_move"]
        combined = table.assign(agent=names)[[*kept, "microseconds"]].assign(**columns)
        return Conclusion(
            list(_findings(effects, combined, self.opponent, pool.openings)),
            [
                _effects_table(effects),
                _ratios_table(effects),
                _combinations_table(combined, self.opponent),
            ],
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
    "The effect of a switch is its mean gain over all combinations of the others. The effect of "
    "two together is the gain of one with the other on, minus its gain with the other off. All "
    "combinations played the same openings; an opening is the independent unit of all intervals. "
    "Costs are means a move; time is processor time. Intervals of costs are Student's over "
    "openings, those of Elo by unit of cost Fieller's. Elo by unit of cost is blank if the "
    "interval of the cost reaches 0, or if a switch makes moves dearer by less than 2 %, less "
    "than 10 nodes, or less than 0.3 microseconds, the time of a look at the clock. "
    "Intervals hold what differs between openings; another machine, or a busy one, has other times."
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


MEASURES = {"nodes": 1000, "microseconds": 1}
"""What a move costs, and the unit of which Elo is told."""


def _costs_by_opening(record: Record) -> pd.DataFrame:
    """Return the sums of moves, nodes and microseconds by agent (its number) and opening. Time is
    that of the processor for an agent that searches."""
    costs = record.query(
        f"""with {SEATS}
            select agent, opening, sum(moves) as moves, sum(nodes) as nodes,
                sum(nanoseconds) / 1000.0 as wall, sum(cpu_nanoseconds) / 1000.0 as processor
            from seats group by agent, opening"""
    )
    searches = costs.groupby("agent")["nodes"].transform("sum") > 0
    has_processor = costs.groupby("agent")["processor"].transform("sum") > 0
    by_processor = searches & has_processor
    return costs.assign(microseconds=costs["processor"].where(by_processor, costs["wall"]))


def cost_effects(
    weights: FloatArray, costs: pd.DataFrame, measure: str
) -> tuple[list[Mean], float]:
    """Return weighted sums of agents' mean costs a move, and the mean cost of all agents weighed.

    weights: shape (sums, agents). costs: columns agent, opening, moves and ``measure``, a row an
    agent and opening. Openings are independent; a mean is a ratio of two sums over them, whose
    error is that of its linear part.
    """
    of_openings = costs.pivot_table(
        index="opening", columns="agent", values=[measure, "moves"], aggfunc="sum", fill_value=0
    )
    agents = range(weights.shape[1])
    spent, moves = (
        of_openings[name].reindex(columns=agents, fill_value=0).to_numpy(dtype=float)
        for name in (measure, "moves")
    )
    number = len(spent)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = spent.sum(axis=0) / moves.sum(axis=0)
        parts = number * (spent - means * moves) / moves.sum(axis=0)
    effects = []
    for row in weights:
        used = row != 0
        value = float(row[used] @ means[used])
        deviations = parts[:, used] @ row[used]
        error = standard_error(deviations, np.ones(number, dtype=int), number, number)
        margin = student(number) * error
        effects.append(Mean(value, value - margin, value + margin))
    return effects, float(means[(weights != 0).any(axis=0)].mean())


def _effects(
    switches: Sequence[AgentSwitch],
    pool: PairPool,
    places: Sequence[int],
    costs: pd.DataFrame,
    seed: int,
) -> pd.DataFrame:
    """Return one row a switch and each two: term, order (1 or 2), and with their intervals Elo,
    additional nodes and microseconds a move, and Elo by 1,000 nodes and by microsecond."""
    import pandas as pd

    terms, together = interactions(len(switches))
    rows = np.vstack([main_effects(len(switches)), together])
    names = [switch.name for switch in switches]
    weights = np.zeros((len(rows), len(pool.names)))
    weights[:, places] = rows
    gains = [Mean(*map(float, row)) for row in zip(*pool.contrasts(weights, seed), strict=True)]
    frame = pd.DataFrame(
        {
            "term": [*names, *(f"{names[i]} with {names[j]}" for i, j in terms)],
            "order": [1] * len(names) + [2] * len(terms),
            **_columns("elo", gains),
        }
    ).rename(columns={"elo_low": "low", "elo_high": "high"})
    for measure, unit in MEASURES.items():
        dearer, mean = cost_effects(weights, costs, measure)
        least = max(_DEARER * mean, _RESOLUTION[measure])
        ratios = [
            ratio_of(Mean(*(unit * end for end in gain)), cost, least) if order == 1 else UNKNOWN
            for gain, cost, order in zip(gains, dearer, frame["order"], strict=True)
        ]
        told = "elo_per_1000_nodes" if measure == "nodes" else "elo_per_microsecond"
        frame = frame.assign(**_columns(measure, dearer), **_columns(told, ratios))
    return frame


def _columns(name: str, means: Sequence[Mean]) -> dict[str, list[float]]:
    """Return the columns of values with intervals: ``elo``, ``elo_low``, ``elo_high``."""
    return {
        f"{name}{end}": [mean[place] for mean in means]
        for place, end in enumerate(("", "_low", "_high"))
    }


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
        yield from _by_time(rated)
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


def _by_time(rated: pd.DataFrame) -> Iterator[str]:
    """Yield the Elo by microsecond of the switches that have one, and their first if it is sure."""
    worth = rated.dropna(subset=["elo_per_microsecond"])
    worth = worth.sort_values("elo_per_microsecond", ascending=False)
    if len(worth) < 2:
        return
    said = ", ".join(f"{row.term} {_by_microsecond(row)}" for row in worth.itertuples())
    yield f"Elo by microsecond a move: {said}."
    best, others = worth.iloc[0], worth.iloc[1:]
    if best["elo_per_microsecond_low"] > others["elo_per_microsecond_high"].max():
        yield f"{best['term']} brings most for its time among these."
    else:
        yield "Which of these brings most for its time is not settled, as the intervals overlap."


def _elo(row: Any) -> str:
    return interval_text(row.elo, row.low, row.high)


def _by_microsecond(row: Any) -> str:
    ends = row.elo_per_microsecond, row.elo_per_microsecond_low, row.elo_per_microsecond_high
    return interval_text(*ends, digits=1)


def _by_nodes(row: Any) -> str:
    ends = row.elo_per_1000_nodes, row.elo_per_1000_nodes_low, row.elo_per_1000_nodes_high
    return interval_text(*ends)


def _effects_table(effects: pd.DataFrame) -> ResultTable:
    rows = [
        [
            row.term,
            _elo(row),
            interval_text(row.nodes, row.nodes_low, row.nodes_high),
            _time_text(row),
        ]
        for row in effects.itertuples()
    ]
    columns = ["switch", "Elo [95 %]", "nodes/move [95 %]", "µs/move [95 %]"]
    return ResultTable("What each switch adds", columns, rows)


def _ratios_table(effects: pd.DataFrame) -> ResultTable:
    rows = [
        [row.term, _by_nodes(row), _by_microsecond(row)]
        for row in effects[effects["order"] == 1].itertuples()
    ]
    columns = ["switch", "Elo by 1000 nodes [95 %]", "Elo by µs [95 %]"]
    return ResultTable("Elo by unit of cost", columns, rows)


def ranked(combined: pd.DataFrame) -> pd.DataFrame:
    """Return the combinations by their points against the opponent they share, the best first. One
    that lost or won everything has only a bound, and that is no rating to sort by."""
    return combined.sort_values(["score", "elo"], ascending=False, kind="stable")


def _time_text(row: Any) -> str:
    """Return an effect on time in microseconds, with three digits."""
    size = abs(row.microseconds)
    digits = 0 if not size < 100 else 1 if size >= 10 else 2
    return interval_text(
        row.microseconds, row.microseconds_low, row.microseconds_high, digits=digits
    )


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
            caption="Mean Elo that a switch adds, over all combinations of the others. "
            "Diamonds: the Elo that two switches add together beyond the sum of both. "
            "Bars are 95 % intervals.",
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
            caption=f"Every combination: Elo against '{opponent}' (0), and the cost of a move. "
            "On the line, and in bold, are the combinations that no other of the same or a lower "
            "cost outrates (the Pareto front).",
            chart=elo_cost_chart(order, context, order["agent"].tolist()),
        )
