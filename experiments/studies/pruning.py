"""The part of the tree that searches leave out, and the part that could be left out at best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from othello_lab.agents.agent import Agent
from othello_lab.agents.external_agent import ExternalAgent, is_outside
from othello_lab.agents.search import Minimax, SearchAgent
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.agents.search.window.proof import prepare_proofs, smallest_tree
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.escaping import counted, listed
from othello_lab.core.system.settings import Each, Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.late_moves import mean_of
from othello_lab.experiments.report.plan_from_record import AbsentAgent
from othello_lab.experiments.report.searches import cost_rows, sample_text
from othello_lab.experiments.report.tables import marked, share_text, time_text
from othello_lab.experiments.studies.positions import PHASES, SampledPosition, SampledStudy
from othello_lab.experiments.studies.study import Conclusion, ResultTable, drawn_by, without_depth

if TYPE_CHECKING:
    import pandas as pd


PLAIN_DEPTH = 3
"""The deepest trees that are counted with a heuristic that is not compiled, which takes a thousand
times as long."""


def kind_of(agent: Agent) -> type | None:
    """The class of an agent; None where it is not the lab's own."""
    return agent.kind if isinstance(agent, ExternalAgent | AbsentAgent) else type(agent)


def prunes(agent: Agent) -> bool:
    """Return True for a search of the lab that may leave something out."""
    kind = kind_of(agent)
    return kind is not None and issubclass(kind, SearchAgent) and not issubclass(kind, Minimax)


def searchers_of(agents: Mapping[str, Agent]) -> dict[str, SearchAgent]:
    """The searches of a line-up that may leave something out, in a worker: those with a heuristic
    from outside the lab are made here, since nobody else is harmed if that breaks."""
    made = {
        name: agent.make() if isinstance(agent, ExternalAgent) else agent
        for name, agent in agents.items()
        if prunes(agent)
    }
    return {name: agent for name, agent in made.items() if isinstance(agent, SearchAgent)}


def trees_of(searchers: Mapping[str, SearchAgent]) -> tuple[dict[str, str], dict[str, Minimax]]:
    """Return the different trees that searches look at, by heuristic and worth of a finished game:
    the name of each agent's tree, and minimax of it by that name; with a number if several have one
    name."""
    kinds: dict[Any, Minimax] = {}
    of_agent = {}
    for name, agent in searchers.items():
        evaluation = agent.evaluation
        of_agent[name] = (
            evaluation.name,
            evaluation.parameters.tobytes(),
            evaluation.compiled,
            agent.final,
        )
        kinds.setdefault(of_agent[name], Minimax(1, evaluation, final=agent.final))
    called = [kind[0] for kind in kinds]
    labels = {
        kind: kind[0] if called.count(kind[0]) == 1 else f"{kind[0]} {number}"
        for number, kind in enumerate(kinds, start=1)
    }
    named = {name: labels[kind] for name, kind in of_agent.items()}
    return named, {labels[kind]: minimax for kind, minimax in kinds.items()}


def _nothing_to_study(agents: Mapping[str, Agent]) -> str:
    foreign = " and ".join(name for name, agent in agents.items() if is_outside(agent))
    if not foreign:
        return (
            "no agent of this line-up is a search of the lab's that may leave something out; "
            "agents=search_family has many"
        )
    return (
        f"{foreign}: the tree of a search from outside cannot be studied, only those of the lab's "
        "own (agents=search_family has many). A sweep compares the nodes that it counts: "
        "othello-lab run -m agents=duel agent@first=./FILE.py:CLASS agent@second=minimax "
        "depth=1,2,3"
    )


@dataclass(frozen=True, kw_only=True)
class Pruning(SampledStudy):
    """Every search of the line-up on the same positions at each depth, beside minimax's tree and
    the smallest one that proves the value.

    The smallest tree is counted on the position's own tree, without transpositions. To prove that
    a move is worth at least v, one good answer to each reply is enough; to prove that nothing is
    worth more, every move needs one good reply. Efficiency is 0 for the leaves of minimax and 1
    for those of the smallest tree, by their logarithms. A search with another value than minimax
    is named, and the exit code is 1.

    depths: plies; every position is searched at each of them. tree_depth: the deepest at which
    minimax's tree and the smallest one are counted too.
    """

    depths: Annotated[list[int], Each(Whole(1, MAX_DEPTH))]
    tree_depth: Annotated[int, Whole(0, MAX_DEPTH)] = 7

    def check(self, plan: Plan) -> None:
        if not any(map(prunes, plan.agents.values())):
            raise ValueError(_nothing_to_study(plan.agents))
        if not self.depths:
            raise ValueError("study.depths is empty; study.depths=[1,2,3] counts at these plies")
        limits = plan.limits
        if limits.timed or limits.nodes is not None or limits.depth is not None:
            raise ValueError("limits do not go with it: the depths are what searches are told")

    def prepare(self, plan: Plan, announce: Announce) -> None:
        super().prepare(plan, announce)
        ours = {name: a for name, a in plan.agents.items() if not isinstance(a, ExternalAgent)}
        for minimax in trees_of(searchers_of(ours))[1].values():
            minimax.prepare(announce)
            prepare_proofs(minimax.evaluation, announce)

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        return self.sampled(plan, record, max(self.depths))

    def work(self, context: WorkerContext, piece: SampledPosition) -> Tables:
        position = piece.position
        searchers = searchers_of(context.conditions.line_up)
        named, wholes = trees_of(searchers)
        searches = [
            {
                **piece.columns(),
                "evaluation": named[row["agent"]],
                "solved": getattr(searchers[row["agent"]], "endgame", 0) >= position.empties,
                **row,
            }
            for row in cost_rows(position, searchers, sorted(self.depths))
        ]
        trees = []
        for label, minimax in wholes.items():
            most = self.tree_depth if minimax.compiled else min(self.tree_depth, PLAIN_DEPTH)
            depths = [depth for depth in sorted(self.depths) if depth <= most]
            for row in cost_rows(position, {"minimax": minimax}, depths) if depths else ():
                question = position, row["depth"], row["value"], minimax.evaluation, minimax.final
                row["smallest"] = smallest_tree(*question)
                trees.append({**piece.columns(), "evaluation": label, **row})
        return {
            "positions": [{**piece.columns(), "position": piece.line}],
            "searches": searches,
            "trees": trees,
        }

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        from othello_lab.experiments.studies.efficiency import compared, summary, unequal

        searches = tables["searches"]
        trees = tables.get("trees", searches.iloc[:0].assign(smallest=0))
        table = compared(searches, trees)
        costs = summary(table, trees, plan.settings.seed)
        selective = set(searches.loc[searches["selective"].astype(bool), "agent"])
        costs["agent"] = [marked(name, name in selective) for name in costs["agent"]]
        wrong = unequal(table)
        left_out = [  # minimax is counted with any line-up
            name
            for name, agent in plan.agents.items()
            if kind_of(agent) is not Minimax and name not in set(searches["agent"])
        ]
        return Conclusion(
            findings=list(_findings(costs, table, wrong, left_out)),
            tables=[_costs(costs), *_efficiencies(costs), *_by_phase(costs)],
            frames={
                "pruning": costs,
                "searches": table,
                "trees": trees,
                "positions": tables["positions"],
            },
            figures=drawn_by("pruning:pruning_figures", costs, plan.rules.name),
            notes=[_NOTE],
            agents=without_depth(plan.settings.agents),
            exit_code=int(len(wrong) > 0),
        )


_NOTE = """\
A *leaf* is a position that is not looked beyond. *Efficiency* compares leaves by their logarithms:
0 is minimax's tree, 1 the smallest one that proves the position's value (Knuth and Moore's critical
tree, counted on this very position's tree); a search with a transposition table may pass 1, since
it need not look at the same position twice. The *effective branching factor* (ebf) is that of an
even tree of the same depth with as many leaves. Every position was searched afresh; intervals are
95 %, from a bootstrap over openings."""


def _at(costs: pd.DataFrame, depth: int, phase: str = "all") -> pd.DataFrame:
    """The rows of one depth and phase, the searches with the fewest leaves first."""
    rows = costs[(costs["depth"] == depth) & (costs["phase"] == phase)]
    return rows.sort_values("leaves", kind="stable")


def _findings(
    costs: pd.DataFrame, table: pd.DataFrame, wrong: pd.DataFrame, left_out: Sequence[str]
) -> Iterable[str]:
    from othello_lab.experiments.studies.efficiency import of_agents

    deepest = int(costs["depth"].max())
    with_trees = costs.dropna(subset=["efficiency"])
    depth = int(with_trees["depth"].max()) if len(with_trees) else deepest
    agents = of_agents(_at(costs, depth))
    if agents.empty:
        yield "Every position was solved exactly, so there is nothing to compare."
        return
    where = sample_text(agents.iloc[:1])
    measure = "leaves" if len(with_trees) else "nodes"
    agents = agents.sort_values(measure, kind="stable")
    best, worst = agents.iloc[0], agents.iloc[-1]
    least = listed(agents.loc[agents[measure] == best[measure], "agent"].tolist())
    if len(with_trees):
        yield (
            f"At depth {depth}, on {where}, {least} looked at the fewest leaves: "
            f"{share_text(best['nodes_share'])} of minimax's nodes, with an efficiency of "
            f"{_efficiency(best)}, where 1 is the smallest tree that proves the value."
        )
        if elsewhere := list(_best_elsewhere(agents)):
            yield f"In other counts others are best: {', '.join(elsewhere)}."
        if worst["leaves"] > best["leaves"]:
            yield (
                f"{worst['agent']} prunes least: {share_text(worst['nodes_share'])} of minimax's "
                f"nodes, efficiency {_efficiency(worst)}; that is "
                f"{worst['nodes'] / best['nodes']:.1f} times the nodes of {best['agent']}."
            )
    elif worst["nodes"] > best["nodes"]:
        yield (
            f"At depth {depth}, on {where}, {least} visited the fewest nodes, "
            f"{best['nodes'] * best['positions']:,.0f}; "
            f"{worst['agent']} {worst['nodes'] * worst['positions']:,.0f}."
        )
    elif len(agents) > 1:
        yield f"At depth {depth}, on {where}, all visited as many nodes: nothing tells them apart."
    yield _values(table, wrong)
    solved = table[table["solved"].astype(bool)]
    for name, rows in solved.groupby("agent", sort=False):
        number = counted(len(set(rows["piece"])), "position")
        yield f"{name} solved {number} exactly instead, which its means leave out."
    if left_out:
        are = "is no search" if len(left_out) == 1 else "are no searches"
        yield f"{', '.join(left_out)} {are} of the lab's that may leave something out."


_OTHER = {"nodes": "nodes", "made": "boards made", "evaluations": "evaluations"}
"""What else may be least, a mean a position, and what it is called."""


def _best_elsewhere(agents: pd.DataFrame) -> Iterable[str]:
    """Yield other searches that are the most efficient or have the least of a count."""
    best = agents.iloc[0]
    ways = {name: (agents[name].idxmin(), f"fewest {words}") for name, words in _OTHER.items()}
    if agents["efficiency"].notna().any():
        ways["efficiency"] = (agents["efficiency"].idxmax(), "highest efficiency")
    for name, (index, words) in ways.items():
        row = agents.loc[index]
        if row[name] != best[name]:
            digits = 2 if name == "efficiency" else 0
            yield f"{row['agent']} has the {words} ({row[name]:,.{digits}f})"


def _efficiency(row: Any) -> str:
    return mean_of(row, "efficiency").text()


def _values(table: pd.DataFrame, wrong: pd.DataFrame) -> str:
    exact = table[~(table["selective"].astype(bool) | table["solved"].astype(bool))]
    if len(wrong):
        first = wrong.iloc[0]
        return (
            f"Values differ: {counted(len(wrong), 'search')} of {len(exact):,} that ought to find "
            f"minimax's value did not; the first is {first['agent']}, position {first['piece']}, "
            f"depth {first['depth']}: {first['value']}, not {first['minimax_value']}."
        )
    said = f"All {len(exact):,} searches that ought to find minimax's value found it."
    chosen = table[table["selective"].astype(bool) & table["minimax_value"].notna()]
    if len(chosen):
        names = ", ".join(dict.fromkeys(chosen["agent"]))
        share = 100 * (chosen["value"] != chosen["minimax_value"]).mean()
        said += f" Selective searches ({names}) found another one in {share:.1f} % of cases."
    return said


def _costs(costs: pd.DataFrame) -> ResultTable:
    depth = int(costs["depth"].max())
    rows = _at(costs, depth)
    counts = [name for name in ("nodes", "made", "evaluations", "leaves") if name in rows]
    columns = [
        "agent",
        *counts,
        "median time",
        "% of minimax's nodes",
        "ebf",
        "first-move cutoffs %",
    ]
    cells = [
        [
            row["agent"],
            *(_number(row[name]) for name in counts),
            time_text(1e6 * row["seconds"]),
            _number(100 * row["nodes_share"], 2),
            f"{row['ebf']:.2f}",
            _number(100 * row["first_move_share"], 1),
        ]
        for row in rows.to_dict("records")
    ]
    return ResultTable(f"Means a position at depth {depth}", columns, cells)


def _number(value: float, digits: int = 0) -> str:
    return "-" if value != value else f"{value:,.{digits}f}"


def _efficiencies(costs: pd.DataFrame) -> Iterable[ResultTable]:
    from othello_lab.experiments.studies.efficiency import of_agents

    rows = of_agents(costs[(costs["phase"] == "all") & ~costs["efficiency"].isna()])
    depths = sorted(set(rows["depth"]))
    if not depths:
        return
    cells = []
    for name in _at(rows, depths[-1])["agent"]:
        of_agent = {row["depth"]: row for row in rows[rows["agent"] == name].to_dict("records")}
        shown = [_number(of_agent[depth]["efficiency"], 2) for depth in depths[:-1]]
        cells.append([name, *shown, _efficiency(of_agent[depths[-1]])])
    heads = [f"depth {depth}" for depth in depths[:-1]]
    columns = ["agent", *heads, f"depth {depths[-1]} [95 %]"]
    yield ResultTable("Efficiency by depth", columns, cells)


def _by_phase(costs: pd.DataFrame) -> Iterable[ResultTable]:
    phases = [phase for phase in PHASES if phase in set(costs["phase"])]
    if len(phases) < 2:
        return
    depth = int(costs["depth"].max())
    cells = []
    for name in _at(costs, depth)["agent"]:
        ebf = [_at(costs, depth, phase).set_index("agent")["ebf"].get(name) for phase in phases]
        cells.append([name, *("-" if value is None else f"{value:.2f}" for value in ebf)])
    title = f"Effective branching factor by phase, at depth {depth}"
    yield ResultTable(title, ["agent", *phases], cells)
