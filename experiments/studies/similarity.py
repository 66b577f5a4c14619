"""Similar decisions: all agents on the same positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from othello_lab.core.game import PlayerFailure
from othello_lab.core.notation import square_name
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.playing.game import in_a_line
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.tables import marked
from othello_lab.experiments.statistics.means import Mean
from othello_lab.experiments.studies.positions import SampledPosition, SampledStudy
from othello_lab.experiments.studies.study import Conclusion, ResultTable

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure

_SEEDS = 7  # keeps random numbers apart
_CLOSEST = 10  # pairs of agents that are shown


class PositionQuestion(NamedTuple):
    """A position, and where the chance that agents have in it comes from: the first one's seed is
    ``seed``, the next one's ``seed + 1`` and so on."""

    sampled: SampledPosition
    seed: int


@dataclass(frozen=True, kw_only=True)
class Similarity(SampledStudy):
    """Every agent of the line-up on the same positions, each with a choice.

    Agents that choose alike are also hard to tell apart by games.

    drawn: number of positions drawn, those in which the agents differ most.
    """

    positions: Annotated[int, Whole(1)] = 20
    drawn: Annotated[int, Whole(0, 12)] = 6

    def check(self, plan: Plan) -> None:
        for name, agent in plan.agents.items():
            if agent.from_start:
                raise ValueError(
                    f"agent '{name}' knows whole games only, and cannot be asked of a position"
                )

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        found = self.sampled(plan, record, 1, choices=2)
        rng = np.random.default_rng([plan.settings.seed, _SEEDS])
        seeds = rng.integers(1 << 62, size=len(found))
        return [PositionQuestion(each, int(seed)) for each, seed in zip(found, seeds, strict=True)]

    def work(self, place: WorkerContext, piece: PositionQuestion) -> Tables:
        position = piece.sampled.position
        rows = []
        for number, name in enumerate(place.conditions.names):
            move, why = "", ""
            try:
                move = square_name(place.decide(number, position, piece.seed + number).move)
            except PlayerFailure as error:
                why = f"{error.reason}: {in_a_line(error.detail)}"
            except Exception as error:  # of the agent, whose other answers count all the same
                why = f"{type(error).__name__}: {error}"
            if move and move not in position.legal_moves():
                move, why = "", f"{move} is no legal move"
            rows.append({"agent": name, "move": move or None, "failure": why})
        about = {**piece.sampled.about(), "choices": len(position.moves)}
        return {"positions": [{**about, "position": piece.sampled.line}], "moves": rows}

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        from othello_lab.experiments.studies.agreement import agreements, disagreement

        positions = tables["positions"].set_index("piece")
        moves = tables["moves"]
        moves["agent"] = [marked(name, plan.agents[name].selective) for name in moves["agent"]]
        names = list(dict.fromkeys(moves["agent"]))
        answers = moves.set_index(["piece", "agent"])["move"].unstack()[names]  # noqa: PD010
        pairs = agreements(answers, positions["opening"], plan.settings.seed)
        apart = (
            disagreement(answers)
            .join(positions)
            .sort_values("entropy", ascending=False, kind="stable")
        )
        disputed = apart[apart["different"] > 1].head(self.drawn)
        failed = moves[moves["failure"] != ""]
        chance = float((1 / positions["choices"]).mean())
        return Conclusion(
            findings=list(_findings(pairs, len(answers), chance, failed)),
            tables=[_closest(pairs), *_differing(disputed, answers)],
            frames={
                "similarity": pairs,
                "positions": apart.reset_index(),
                "moves": moves,
            },
            figures=lambda: _figures(pairs, disputed, answers, plan),
            notes=[_NOTE.format(chance=100 * chance)],
        )


_NOTE = """\
Two agents agree in a position if they choose the same move; only positions with two or more legal
moves count. Two that draw their moves by lot would agree in {chance:.0f} %. Intervals are 95 %,
from a bootstrap over openings."""


def _text(row: Mapping[str, Any]) -> str:
    return f"{Mean(row['agreement'], row['low'], row['high']).text(0, 100)} %"


def _findings(
    pairs: pd.DataFrame, positions: int, chance: float, failed: pd.DataFrame
) -> Iterable[str]:
    rows = pairs.dropna(subset=["agreement"]).sort_values("agreement", kind="stable")
    if rows.empty:
        yield "No two agents have answered in the same position."
        return
    least, most = rows.iloc[0].to_dict(), rows.iloc[-1].to_dict()
    yield (
        f"Asked for a move in the same {counted(positions, 'position')}, {most['first']} and "
        f"{most['second']} agree in {_text(most)}"
        + (", more than any other two." if len(rows) > 1 else ".")
    )
    if len(rows) > 1:
        yield (
            f"{least['first']} and {least['second']} agree least, in {_text(least)}; the median of "
            f"all {len(rows):,} pairs is {100 * rows['agreement'].median():.0f} %, and two that "
            f"draw their moves by lot would agree in {100 * chance:.0f} %."
        )
    alike = rows[rows["agreement"] == 1]
    if len(alike):
        told = ", ".join(f"{row.first} and {row.second}" for row in alike.head(5).itertuples())
        more = f" and {len(alike) - 5} more pairs" if len(alike) > 5 else ""
        yield f"Alike in every position: {told}{more}."
    for name, rest in failed.groupby("agent"):
        yield (
            f"{name} gave no move in {counted(len(rest), 'position')}; the first time: "
            f"{rest['failure'].iloc[0]:.200}"
        )


def _closest(pairs: pd.DataFrame) -> ResultTable:
    rows = pairs.dropna(subset=["agreement"]).sort_values(
        "agreement", ascending=False, kind="stable"
    )
    short = len(rows) <= 2 * _CLOSEST
    ends = [rows] if short else [rows.head(_CLOSEST), rows.tail(_CLOSEST)]
    cells = [
        [row["first"], row["second"], str(row["positions"]), _text(row)]
        for part in ends
        for row in part.to_dict("records")
    ]
    title = "Agreement" if short else f"Agreement: the {_CLOSEST} most and least alike"
    return ResultTable(
        title, ["agent", "and", "positions", "same move [95 %]"], cells, words=(0, 1)
    )


def _differing(apart: pd.DataFrame, answers: pd.DataFrame) -> Iterable[ResultTable]:
    cells = []
    for piece, row in apart.iterrows():
        chosen = answers.loc[piece].value_counts()
        most = f"{chosen.index[0]} ({chosen.iloc[0]} of {chosen.sum()})"
        cells.append([str(row["empties"]), str(row["different"]), most, row["position"]])
    columns = ["empties", "different moves", "most often", "position"]
    if cells:
        yield ResultTable("The most disputed positions", columns, cells, words=(2, 3), code=(3,))


def _figures(
    pairs: pd.DataFrame, apart: pd.DataFrame, answers: pd.DataFrame, plan: Plan
) -> Iterable[ReportFigure]:
    from othello_lab.experiments.studies.figures.similarity import similarity_figures

    return similarity_figures(pairs, apart, answers, plan.rules)
