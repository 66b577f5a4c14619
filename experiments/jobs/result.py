"""The result of a run, as a notebook or a program of one's own sees it."""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from othello_lab.core.system.escaping import visible
from othello_lab.experiments.record.store import Record

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from othello_lab.experiments.report.facts import RunFacts

_SUMMARY = {
    "agent": "agent",
    "games": "games",
    "wins": "wins",
    "draws": "draws",
    "losses": "losses",
    "score": "score",
    "elo": "elo",
    "elo_low": "low",
    "elo_high": "high",
    "bound": "bound",
    "discs": "disc_difference",
    "nodes": "nodes_per_move",
    "microseconds": "microseconds",
}
"""Columns of :attr:`RunResult.summary`, and those of the standings that they are."""


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    folder: its results folder. standings: one row an agent, best first (see
    :func:`experiments.report.standings.standings`). complete: True if all scheduled games were
    played. interrupted: True if Ctrl-C, or another signal, ended it. The other tables and the
    figures are read from the record when they are asked for.
    """

    folder: Path
    standings: pd.DataFrame
    complete: bool
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """Of the command."""
        return 130 if self.interrupted else 0

    @property
    def games(self) -> pd.DataFrame:
        """One row a game."""
        with Record.open(self.folder) as record:
            return record.games()

    @property
    def moves(self) -> pd.DataFrame:
        """One row a move."""
        with Record.open(self.folder) as record:
            return record.moves()

    @property
    def matches(self) -> pd.DataFrame:
        """One row a pairing, see :func:`experiments.report.standings.matches`."""
        with self._facts() as facts:
            return facts.matches

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The standings in short, one row an agent. A count that an agent does not make is NaN.

        Columns: agent, games, wins, draws, losses, score (0 to 1), elo with elo_low and elo_high
        (95 %) and bound (``>`` or ``<`` if elo is only a bound), discs (mean difference), nodes and
        microseconds (means a move); of a match also discs_lost, with discs_lost_low and
        discs_lost_high, by a late move against perfect play.
        """
        from othello_lab.experiments.report.late_moves import ALL

        table = self.standings[list(_SUMMARY.values())].set_axis(list(_SUMMARY), axis=1)
        with self._facts() as facts:
            late = facts.late_moves
        if late is None:
            return table
        losses = late.loc[late["empties"] == ALL, ["agent", "loss", "loss_low", "loss_high"]]
        losses.columns = ["agent", "discs_lost", "discs_lost_low", "discs_lost_high"]
        return table.merge(losses, how="left", on="agent")

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """The figures of the report by name (``elo``, ``disagreements``, ...), of matplotlib."""
        from matplotlib.figure import Figure

        from othello_lab.experiments.report.figures import run_figures

        with self._facts() as facts:
            drawn = [figure for kind in run_figures(facts) for figure in kind(facts)]
        return {figure.name: figure.chart for figure in drawn if isinstance(figure.chart, Figure)}

    @cached_property
    def findings(self) -> list[str]:
        """The findings in words, the most important one first."""
        from othello_lab.experiments.report.findings import findings

        with self._facts() as facts:
            return findings(facts).sentences

    @contextmanager
    def _facts(self) -> Iterator[RunFacts]:
        from othello_lab.experiments.report.facts import RunFacts
        from othello_lab.experiments.report.plan_from_record import recorded_plan

        with Record.open(self.folder) as record:
            # The caller has just run all that the record names.
            yield RunFacts(record, recorded_plan(record, trust=True))

    def _repr_html_(self) -> str:
        """The findings and the standings as a notebook shows them."""
        import pandas as pd

        from othello_lab.experiments.report.tables import COLUMNS, cells

        table = pd.DataFrame(cells(COLUMNS, self.standings), columns=list(COLUMNS))
        state = "" if self.complete else " (not complete)"
        where = html.escape(visible(self.folder / "report.html"))
        said = f"<p><b>{html.escape(visible(self.findings[0]))}</b></p>" if self.findings else ""
        return f"{said}{table.to_html(index=False)}<p>{where}{state}</p>"
