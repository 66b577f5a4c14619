"""The end of a sweep: one table of all its runs, and one report that compares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from othello_lab.core.system.escaping import plain
from othello_lab.experiments.config import IN_REPORT, figures_choice
from othello_lab.experiments.record.folder import write_table
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.citing import LATEX_PACKAGES, latex_table
from othello_lab.experiments.report.markdown import drawn_figures, link, write_report
from othello_lab.experiments.report.page import Drawing
from othello_lab.experiments.report.tables import COLUMNS, cells, order_note
from othello_lab.experiments.report.terminal import print_files, terminal_table
from othello_lab.experiments.sweep.composing import COLUMN_OF, in_a_line, short_names
from othello_lab.experiments.sweep.folder import Combination, State, about
from othello_lab.experiments.sweep.results import grouped, table_of
from othello_lab.experiments.sweep.trend import Runs, trends, values_in_order

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure

SHOWN = {
    name: COLUMNS[name]
    for name in ("agent", "games", "score %", "Elo [95 %]", "discs", "nodes/move", "evals/move")
}

PRINTED = {
    name: COLUMNS[name] for name in ("agent", "Elo [95 %]", "score %", "games", "nodes/move")
}
"""The columns of a sweep's table in a paper, after those of its settings."""


def conclude(
    folder: Path,
    known: Sequence[Combination],
    values: Mapping[str, Mapping[int, Any]],
    console: Console,
    figures_in: str | None = None,
) -> None:
    """Print all runs of a sweep in one table, write it as ``sweep.csv`` (and ``sweep.parquet`` if
    its runs export that), and write ``report.html`` and ``report.md``.

    known: its combinations, one of them with games. values: the varied settings, see
    :func:`experiments.sweep.composing.varied`. figures_in: where to draw figures, as in
    ``run figures=...``; None as the sweep was asked.
    """
    table = table_of(known, values)
    console.print(sweep_table(table, values))
    write_table(table, folder / "sweep.csv")
    with Record.open(next(each for each in known if each.has_games).folder) as record:
        head = record.head()
    if "parquet" in head["config"].get("export", ()):
        write_table(table, folder / "sweep.parquet")
    said = list(_findings(table, values))
    wanted = figures_in or figures_choice(head["config"].get("figures", IN_REPORT))
    figures = drawn_figures(lambda: _figures(table, list(values)), wanted, folder, console)
    _write(folder, table, known, values, said, figures)
    for finding in said:
        console.print(plain(finding))
    print_files({"report": "report.html", "table": "sweep.csv"}, folder, console)


def sweep_table(table: pd.DataFrame, values: Mapping[str, Mapping[int, Any]]) -> Table:
    """All runs of a sweep for the terminal; the arguments as :func:`conclude` has them."""
    drawn = terminal_table(["settings", *SHOWN])
    for number, rows in table.groupby("run"):
        for texts in cells(SHOWN, rows):
            drawn.add_row(*map(plain, (in_a_line(values, number), *texts)))
        drawn.add_section()
    return drawn


def latex_of_sweep(
    folder: Path, known: Sequence[Combination], values: Mapping[str, Mapping[int, Any]]
) -> str:
    """Return all runs of a sweep as one LaTeX table; the arguments as :func:`conclude` has them."""
    table = table_of(known, values)
    rows = [
        [*(str(value.get(row.run, "")) for value in values.values()), *texts]
        for row, texts in zip(table.itertuples(), cells(PRINTED, table), strict=True)
    ]
    reference = table["reference"].iloc[0] or "the mean of the agents of its run"
    caption = f"Sweep {folder.parent.name}; {reference} has 0 Elo."
    settings = (COLUMN_OF.get(name, name) for name in short_names(values).values())
    columns = [*settings, *PRINTED]
    return "\n".join([LATEX_PACKAGES, latex_table(columns, rows, caption, "sweep")])


def _findings(table: pd.DataFrame, values: Mapping[str, Mapping[int, Any]]) -> Iterator[str]:
    """Yield the trend over the settings that were varied."""
    if note := order_note(table):
        yield note
    groups, short, name = grouped(table, list(values)), short_names(values), ""
    runs: Runs = [(in_a_line(values, run), run) for run in dict.fromkeys(table["run"])]
    ordered = False
    if len(groups) == 1 and len(runs) > 1:
        runs, ordered = values_in_order(table, values, groups[0])
        name = ", ".join(short[key] for key in groups[0])
    said = list(trends(table, runs, name, ordered and name != "seed"))
    if not said and (table["split"] | (table["agent"] == table["reference"])).all():
        said = ["In every run every pair was split, so these games cannot tell who is better."]
    yield from said


def _figures(table: pd.DataFrame, keys: Sequence[str]) -> Iterator[ReportFigure]:
    from othello_lab.experiments.sweep.figures import setting_figures

    short = short_names(keys)
    varied = {", ".join(short[key] for key in group): group for group in grouped(table, keys)}
    return setting_figures(table, varied)


def _write(
    folder: Path,
    table: pd.DataFrame,
    known: Sequence[Combination],
    values: Mapping[str, Mapping[int, Any]],
    said: Sequence[str],
    figures: Sequence[Drawing],
) -> None:
    rows = []
    for row, texts in zip(table.itertuples(), cells(SHOWN, table), strict=True):
        settings = [value.get(row.run, "") for value in values.values()]
        run = link(row.folder, f"{row.folder}/report.md")
        rows.append([run, *settings, *texts])
    states = [each.state for each in known]
    counts = {state: states.count(state) for state in State}
    write_report(
        "sweep",
        folder,
        title=f"{folder.parent.name}, {folder.name}",
        columns=["run", *short_names(values).values(), *SHOWN],
        rows=rows,
        failed=[
            (each.number, in_a_line(values, each.number), each.failure)
            for each in known
            if each.state is State.FAILED
        ],
        states=", ".join(f"{number} {state}" for state, number in counts.items() if number),
        findings=said,
        reference=table["reference"].iloc[0],
        figures=figures,
        command=about(folder)["command"],
    )
