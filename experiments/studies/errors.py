"""Loss of agents in late positions, measured by the exact solver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.elo_lead import FEW_OPENINGS
from othello_lab.experiments.report.late_moves import (
    ALL,
    ERROR_COLUMNS,
    LateGame,
    LateMove,
    costliest,
    error_cells,
    error_profile,
    judged_moves,
    late_games,
    mean_of,
)
from othello_lab.experiments.report.tables import marked
from othello_lab.experiments.studies.positions import RecordedStudy
from othello_lab.experiments.studies.study import Conclusion, ResultTable, drawn_by

if TYPE_CHECKING:
    import pandas as pd

MOST_EMPTIES = 30
"""The solver may take minutes for a position with more."""
_TABLE_MB = 16
_WORST = 10  # moves that are listed
DRAWN = 6
"""Moves that are drawn."""


@dataclass(frozen=True, kw_only=True)
class Errors(RecordedStudy):
    """Moves of the agents of a run against perfect play. Forced moves are left out.

    The loss of a move is the number of discs of the final result that it gives away. A turning
    move changes the outcome.

    empties: the largest number of empty squares. positions: the most moves of each agent, from
    whole games; or ``all``.
    """

    empties: Annotated[int, Whole(1, MOST_EMPTIES)] = 14
    positions: Annotated[int | str, Whole(1, word="all")] = 1000

    def prepare(self, plan: Plan, announce: Announce) -> None:
        EndgameSolver(table_mb=1).prepare(announce)

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        assert record is not None
        games = late_games(record, self.positions, self.empties, plan.settings.seed)
        if not games:
            raise ValueError(
                f"no agent had a choice with {self.empties} or fewer empty squares in these games"
            )
        return games

    def work(self, context: WorkerContext, piece: LateGame[LateMove]) -> Tables:
        rows = judged_moves(piece, EndgameSolver(_TABLE_MB))
        return {"moves": rows}

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        moves = tables["moves"].rename(columns={"blunder": "turning"})  # as it was called before
        run = self.judged_run(plan)
        moves["agent"] = [marked(name, bool(run.selective.get(name))) for name in moves["agent"]]
        profile = error_profile(moves, plan.settings.seed)
        whole = profile[profile["empties"] == ALL]
        table = ResultTable("Moves against perfect play", ERROR_COLUMNS, error_cells(whole))
        sample = f"{counted(len(moves), 'move')} with {self.empties} or fewer empty squares"
        drawn = costliest(moves, DRAWN)
        return Conclusion(
            findings=list(_findings(whole, sample, moves["opening"].nunique())),
            tables=[table, *worst_moves(moves)],
            frames={"errors": profile, "moves": moves},
            figures=drawn_by("errors:error_figures", profile, drawn, run.rules, sample),
            notes=[_NOTE],
            agents=run.agents,
            details=run.details,
        )


_NOTE = """\
The loss of a move is how many discs of the final difference it gives away against perfect play of
both sides, by the exact solver. A turning move changes the outcome: a won position becomes drawn or
lost, a drawn one lost. Only moves with a choice count. Intervals are 95 %, from a bootstrap over
openings."""


def _findings(whole: pd.DataFrame, sample: str, openings: int) -> Iterable[str]:
    rows = whole.to_dict("records")
    best, worst = rows[0], rows[-1]
    alike = len(rows) > 1 and best["loss"] == worst["loss"]
    who = "all agents made equally good ones" if alike else f"{best['agent']} made the best"
    yield (
        f"Of {sample}, from {counted(openings, 'opening')}, {who}: "
        f"{mean_of(best, 'loss').text()} discs lost a move against perfect play, "
        f"a best move in {mean_of(best, 'best_share').text(0, 100)} %."
    )
    if len(rows) > 1 and not alike:
        apart = worst["loss_low"] > best["loss_high"]
        sure = "" if apart else " The intervals overlap, so these two may be alike."
        yield (
            f"{worst['agent']} lost most: {mean_of(worst, 'loss').text()} discs a move, a best "
            f"move in {mean_of(worst, 'best_share').text(0, 100)} %.{sure}"
        )
    turning = sorted(rows, key=lambda row: -row["turning_share"])
    shares = ", ".join(f"{row['agent']} {100 * row['turning_share']:.1f} %" for row in turning[:6])
    more = f", and {len(rows) - 6} more agents with fewer" if len(rows) > 6 else ""
    yield f"Moves that changed the outcome: {shares}{more}."
    yield from few_openings_warning(openings)


def few_openings_warning(openings: int) -> Iterable[str]:
    """Yield a sentence if moves come from so few openings that their intervals say too much."""
    if openings < FEW_OPENINGS:
        yield (
            f"All moves come from {counted(openings, 'opening')}, and moves from the same opening "
            "are much alike: so few may agree by chance, and the intervals say too much. More "
            "games (games=...) have more openings."
        )


def worst_moves(moves: pd.DataFrame, form: str = "+d") -> Iterable[ResultTable]:
    """Yield a table of the costliest moves, if any costs something. form: of a number of discs."""
    costly = costliest(moves, _WORST)
    if costly.empty:
        return
    rows = [
        [
            row["agent"],
            str(row["game"]),
            str(row["empties"]),
            f"{row['move']} ({row['score'] - row['loss']:{form}})",
            f"{row['best']} ({row['score']:{form}})",
            row["position"],
        ]
        for row in costly.to_dict("records")
    ]
    columns = ["agent", "game", "empties", "move", "best", "position"]
    yield ResultTable("The costliest moves", columns, rows, words=(0, 3, 4, 5), code=(5,))
