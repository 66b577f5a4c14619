"""The conclusion of a sweep: one table of all its runs, findings and figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from othello_lab.core.system.escaping import plain
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.citing import LATEX_PACKAGES, latex_table
from othello_lab.experiments.report.markdown import link
from othello_lab.experiments.report.tables import COLUMNS, cells
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.experiments.studies.study import Conclusion
from othello_lab.experiments.sweep.composing import COLUMN_OF, Values, in_a_line, short_names
from othello_lab.experiments.sweep.results import grouped
from othello_lab.experiments.sweep.trend import findings

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure

_SHOWN = ("agent", "games", "score %", "Elo [95 %]", "discs", "nodes/move", "evals/move")
_PRINTED = ("agent", "Elo [95 %]", "score %", "games", "nodes/move")  # in a paper
_NOTES = {
    True: "Elo is the difference to {} in the same run, in brackets its 95 % interval.",
    False: "Elo is relative to the mean of the agents of its run, in brackets its 95 % interval: "
    "no agent is in all runs with a rating, to be the same reference in each.",
}


def concluded(table: pd.DataFrame, values: Values, total: int) -> Conclusion:
    """Return the conclusion of a sweep of ``total`` runs. table: of
    :func:`experiments.sweep.load`."""
    finished = int(table.drop_duplicates("run")["complete"].sum())
    state = f"{finished:,} of {total:,} finished"
    warning = [f"Runs of this sweep: {state}."] if finished < total else []
    reference = table["reference"].iloc[0]
    note = f"{_NOTES[bool(reference)].format(reference)} More columns are in sweep.csv."
    runs = [link(name, f"{name}/report.md") for name in table["folder"]]
    texts = zip(runs, _in_words(table, values, _SHOWN), strict=True)
    rows = [[run, *row] for run, row in texts]
    columns = ["run", *short_names(values).values(), *_SHOWN]
    return Conclusion(
        [*findings(table, values), *warning],
        [ResultTable("All runs", columns, rows, note=note)],
        {"sweep": table},
        lambda: _figures(table, values),
        agents={},
        details={"runs": state},
        screen=sweep_table(table, values),
    )


def sweep_table(table: pd.DataFrame, values: Values) -> Table:
    """Return all runs of a sweep as a table for the terminal."""
    drawn = terminal_table(["settings", *_SHOWN])
    for number, rows in table.groupby("run"):
        for texts in cells({name: COLUMNS[name] for name in _SHOWN}, rows):
            drawn.add_row(*map(plain, (in_a_line(values, number), *texts)))
        drawn.add_section()
    return drawn


def latex_of_sweep(name: str, table: pd.DataFrame, values: Values) -> str:
    """Return all runs of a sweep as a LaTeX table."""
    reference = table["reference"].iloc[0] or "the mean of the agents of its run"
    caption = f"Sweep {name}; {reference} has 0 Elo."
    settings = (COLUMN_OF.get(name, name) for name in short_names(values).values())
    rows = _in_words(table, values, _PRINTED)
    text = latex_table([*settings, *_PRINTED], rows, caption, "sweep")
    return "\n".join([LATEX_PACKAGES, text])


def _in_words(table: pd.DataFrame, values: Values, names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a table with a column for each setting. names: of its other columns."""
    texts = cells({name: COLUMNS[name] for name in names}, table)
    return [
        [*(str(value.get(run, "")) for value in values.values()), *row]
        for run, row in zip(table["run"], texts, strict=True)
    ]


def _figures(table: pd.DataFrame, values: Values) -> Iterator[ReportFigure]:
    from othello_lab.experiments.sweep.figures import setting_figures

    return setting_figures(table, grouped(table, values))
