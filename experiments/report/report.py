"""The end of a run: the tables on the terminal, the figures, ``report.html`` and ``report.md``, all
from the record."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from rich.console import Console

from othello_lab.core.system.escaping import counted, plain
from othello_lab.experiments.config import Plan, labelled, match_name
from othello_lab.experiments.record.folder import write_table
from othello_lab.experiments.record.provenance import machine_in_words
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.report.citing import pinned
from othello_lab.experiments.report.elo_lead import FEW
from othello_lab.experiments.report.facts import RunFacts, zero_text
from othello_lab.experiments.report.findings import Findings, findings
from othello_lab.experiments.report.games import game_sample
from othello_lab.experiments.report.markdown import drawn_figures, link, write_report
from othello_lab.experiments.report.page import Drawing
from othello_lab.experiments.report.programs import write_programs
from othello_lab.experiments.report.published import beside_original
from othello_lab.experiments.report.question import Question
from othello_lab.experiments.report.sections import highest_matches, sections, without_costs
from othello_lab.experiments.report.tables import (
    RATING,
    cells,
    columns_of,
    described,
    match_columns,
    matches_table,
    order_note,
    result_table,
    standings_by_part,
    standings_tables,
)
from othello_lab.experiments.report.terminal import print_files
from othello_lab.experiments.report.two_agents import match_sections
from othello_lab.experiments.statistics.intervals import EVERY_SPLIT

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure


def conclude(record: Record, plan: Plan, folder: Path, console: Console) -> pd.DataFrame:
    """Print the standings, draw the figures and write the reports; returns the standings."""
    facts = RunFacts(record, plan)
    said = findings(facts)
    tell(facts, said, console)
    write(facts, said, folder, console)
    return facts.standings


def tell(facts: RunFacts, said: Findings, console: Console) -> None:
    """Print the standings, the tables of a tournament, a few matches, and the findings."""
    for shown in standings_tables(facts.standings, console, facts.tournament_columns):
        console.print(shown)
    for table in facts.tables:
        console.print(result_table(table))
    if 0 < len(facts.matches) <= FEW:
        console.print(matches_table(facts.matches))
    for finding in said.sentences:
        console.print(plain(finding))


def write(facts: RunFacts, said: Findings, folder: Path, console: Console) -> None:
    """Write the tables, figures and reports of a run, and print where they are."""
    write_table(facts.standings, folder / "standings.csv")
    write_table(facts.matches, folder / "matches.csv")
    if facts.costs is not None:
        write_table(facts.costs, folder / "searches.csv")
    setting = facts.plan.settings.figures
    figures = drawn_figures(lambda: _figures(facts), setting, folder, console)
    _write(facts, said, figures, folder)
    names = {"report": "report.html", "record": FILE}
    if files := [figure.name for figure in figures if figure.file]:
        every = ",".join(files)
        names["figures"] = f"{{{every}}}.png, .svg" if len(files) > 1 else f"{every}.png, .svg"
    print_files(names, folder, console)


def _figures(facts: RunFacts) -> Iterator[ReportFigure]:
    from othello_lab.experiments.report.figures import run_figures

    for kind in run_figures(facts):
        yield from kind(facts)


def _write(facts: RunFacts, said: Findings, figures: Sequence[Drawing], folder: Path) -> None:
    head = facts.record.head()
    programs = write_programs(facts, folder)
    columns = without_costs(columns_of(facts.standings, facts.tournament_columns))
    games = game_sample(facts)
    agents = head["config"]["agents"]
    others = {name: agents[name] for name in agents if name not in programs}
    tables = standings_by_part(facts.standings, facts.tournament_columns, columns)
    matches = highest_matches(facts).sort_values(
        ["agent", "opponent"], key=lambda names: names.map(facts.ranks)
    )
    pairings = cells(match_columns(matches), matches)
    write_report(
        "report",
        folder,
        title=_title(head["name"], facts.plan.names),
        games_data=games.data,
        labels=labelled(head["config"]),
        lead=said.lead,
        columns=columns,
        tables=_linked(tables, programs),
        order=order_note(facts.standings, facts.tournament_columns),
        rounds=facts.tables,
        zero=zero_text(facts.anchor) if RATING in columns else "",
        two=facts.anchor is None and len(facts.names) == 2,
        match_columns=list(match_columns(matches)),
        matches=pairings,
        split=any(EVERY_SPLIT in row for _, rows in tables for row in rows),
        split_match=any(EVERY_SPLIT in row for row in pairings),
        pairings=len(facts.matches),
        agents=described(others),
        findings=said.remarks,
        sections=[*beside_original(facts), *match_sections(facts), *sections(facts)],
        games=games,
        replay=f"othello-lab play replay {shlex.quote(str(folder))} game=0",
        review=f"othello-lab play review {shlex.quote(str(folder))} game=0",
        figures=figures,
        figures_first=facts.question is Question.COST,
        details=_details(facts),
        openings=facts.openings,
        packages=pinned(head["versions"]),
        command=head["command"],
        settings=yaml.safe_dump(head["config"], sort_keys=False, allow_unicode=True),
    )


def _title(name: str, agents: Sequence[str]) -> str:
    """Return the title of a run; that of a match has the names of its sides.

    >>> _title("mine_vs_iago", ["mine", "iago"]), _title("classics", ["greedy", "random"])
    ('mine against iago', 'classics')
    """
    return " against ".join(agents) if name == match_name(agents) else name


def _linked(
    tables: Sequence[tuple[str, list[list[str]]]], pages: Mapping[str, str]
) -> list[tuple[str, list[list[str]]]]:
    """The standings, names leading to their pages."""
    return [
        (
            heading,
            [[link(name, pages[name]) if name in pages else name, *cells] for name, *cells in rows],
        )
        for heading, rows in tables
    ]


def _details(facts: RunFacts) -> dict[str, str]:
    """Return the settings behind the games, by name."""
    record, plan = facts.record, facts.plan
    head = record.head()
    ((played, different),) = record.rows(
        "select count(*), count(distinct fingerprint(opening, transcript)) from games"
    )
    wanted = f"{plan.games:,}" if plan.games else "an unknown number"
    of_all = "" if head["complete"] else f" of {wanted} (stopped early)"
    if plan.schedule.may_end_early:
        of_all = f" of at most {plan.games:,}"
    again = "again and again, " if plan.openings.repeats else ""
    paired = plan.schedule.both_colours
    how_often = "twice with colours swapped" if paired else "in single games"
    independent = {}
    if paired:
        independent["independent results"] = f"{_independent(facts)}; all intervals rest on these"
    return {
        "games": f"{counted(played, 'game')}{of_all}",
        "openings": f"{facts.openings:,} ({plan.openings.text}), each played {again}{how_often}",
        "distinct games": f"{different:,}, move for move; two pairings may play the same game",
        **independent,
        "forfeits": f"{facts.standings['forfeits'].sum():,}",
        "ruleset": head["ruleset"],
        "seed": head["seed"],
        "started": datetime.fromisoformat(head["started"]).strftime("%Y-%m-%d %H:%M:%S"),
        "wall time": "unknown" if (wall := head["wall_seconds"]) is None else f"{wall:.1f} s",
        "workers": plan.executor.text,
        "machine": machine_in_words(head["machine"]),
        "versions": ", ".join(f"{key} {value}" for key, value in head["versions"].items()),
    }


def _independent(facts: RunFacts) -> str:
    """Return the unit of the run's intervals, and the number of units."""
    if facts.openings == 1 and len(facts.matches):
        most = int(facts.matches["pairs"].max())
        return f"1 opening, with up to {counted(most, 'distinct pair')} of a pairing"
    return f"{counted(facts.openings, 'opening')}, shared by all pairings"
