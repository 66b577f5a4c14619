"""``list``, ``show`` and ``report``: what is under a folder of results, from records alone."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from othello_lab.core.system.cli import Parser
from othello_lab.core.system.escaping import plain, visible
from othello_lab.core.system.json_output import print_json
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import FIGURES, labelled
from othello_lab.experiments.jobs.kinds import JobSummary, kind_name, kind_of
from othello_lab.experiments.record.reading import DAMAGES, OLD
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.report.terminal import short_path, terminal_table

RESULTS = Path("results")
_LONGEST = 60  # characters of what is wrong with a run

FILTERS = {
    "agents": "that all of these are in (agents=iago,mobility)",
    "tags": "with all of these tags",
    "name": "of this name",
}
"""Words of ``list``, with their meaning."""


def _fits(job: JobSummary, wanted: Mapping[str, Collection[str]]) -> bool:
    """Return True if a job has all that the filters want, by their words."""
    agents, tags = ({*wanted.get(key, ())} for key in ("agents", "tags"))
    is_named = wanted.get("name", [job.name]) == [job.name]
    return agents <= {*job.lineup} and tags <= {*job.tags} and is_named


def list_command(arguments: Sequence[str], console: Console) -> int:
    """Print all that is under a folder, the latest first."""
    filters = "; ".join(f"{key}=: {meaning}" for key, meaning in FILTERS.items())
    parser = Parser(
        prog="othello-lab list",
        description="List all runs, sweeps, studies and trainings under a folder, the latest "
        "first: date, games, leader by points, and state. Folders that cannot be read are "
        "named.",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="FOLDER, key=value",
        help=f"the folder (default: {RESULTS}), and filters. {filters}",
    )
    parser.add_argument("--json", action="store_true", help="for a program to read")
    options = parser.parse_intermixed_args(list(arguments))
    folders = [word for word in options.words if "=" not in word or Path(word).exists()]
    if len(folders) > 1:
        raise ConfigError(f"{folders[1]}: one folder of results at a time")
    root = Path(folders[0]) if folders else RESULTS
    if root.is_file():
        raise ConfigError(f"{root} is a file; a folder of results is needed")
    if not root.is_dir():
        raise ConfigError(f"{root}: there is no such folder")
    wanted: dict[str, list[str]] = {}
    for word in options.words:
        key, equals, value = word.partition("=")
        if word in folders:
            continue
        if not equals or key not in FILTERS:
            known = ", ".join(f"{key}=" for key in FILTERS)
            raise ConfigError(f"{word}: list knows {known} and a folder")
        wanted[key] = [part.strip() for part in value.strip("[]").split(",") if part.strip()]
    paths = sorted(places_below(root), key=_age)
    jobs = [job for job in map(look_into, paths) if _fits(job, wanted)]
    if options.json:
        print_json([asdict(job) for job in jobs])
    elif not jobs:
        console.print(plain(f"{root}: no run is here" + (" that fits" if paths else " yet")))
    else:
        _print_table(jobs, console)
    return 0


def _print_table(jobs: Sequence[JobSummary], console: Console) -> None:
    columns = ["folder", "agents", "games", "leader", "score %", "state"]
    columns += ["tags, note"] * any(job.tags or job.note for job in jobs)
    table = terminal_table(columns)
    for name in ("folder", "leader", "state", "tags, note"):
        if name in columns:
            table.columns[columns.index(name)].justify = "left"
    table.columns[5].no_wrap = False
    for job in jobs:
        cells = [job.agents, job.games, job.leader, job.score, job.state]
        cells += [labelled({"tags": job.tags, "note": job.note})] * ("tags, note" in columns)
        table.add_row(short_path(job.folder, console), *map(plain, map(_cell, cells)))
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _age(folder: Path) -> tuple[str, str]:
    inverted = "".join(chr(0x10FFFF - ord(letter)) for letter in folder.name)
    return inverted, str(folder)


def places_below(folder: Path) -> Iterator[Path]:
    """The folders of runs, sweeps and studies in a folder, however deep; the runs that belong to a
    sweep or study left out."""
    for path, inside, files in os.walk(folder):
        if {FILE, *OLD} & {*files}:
            inside.clear()
            yield Path(path)


def look_into(folder: Path) -> JobSummary:
    """Return the row of a folder. Never raises for a folder that cannot be read."""
    try:
        return kind_of(folder).summary(folder)
    except (ConfigError, OSError, *DAMAGES) as error:
        said = one_line(error).removeprefix(str(folder)).lstrip(":/ ")
        short = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."
        facts = str(folder), kind_name(folder), folder.parent.name, ""
        return JobSummary(*facts, state=visible(short))


def _report_parser() -> Parser:
    parser = Parser(
        prog="othello-lab report",
        description="Write report.html, report.md and the figures of a run, a sweep, or a complete "
        "study anew from its record alone. Of several runs: one report that compares them, in "
        "--output. Code from outside the lab is not run for that: the report leaves out what would "
        "have to be searched again with its heuristics, which resume writes.",
    )
    parser.add_argument("folder", type=Path, nargs="+", help="results/NAME/DATE")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="for the comparison of several (default: a new one beside the first, comparison)",
    )
    parser.add_argument(
        "--figures",
        choices=FIGURES,
        help="of a run or sweep: where to draw them (default: as it was asked to)",
    )
    parser.add_argument(
        "--latex",
        action="store_true",
        help="print the tables of a run or sweep for a paper; write nothing",
    )
    parser.add_argument(
        "--bibtex", action="store_true", help="print a reference to a run or sweep for a paper"
    )
    return parser


def report_command(arguments: Sequence[str], console: Console) -> int:
    """Write the report of a run or sweep anew, or one that compares several runs."""
    options = _report_parser().parse_args(arguments)
    if options.latex or options.bibtex:
        for folder in options.folder:
            kind = kind_of(folder)
            if options.latex:
                print(visible(kind.latex(folder, console), keep="\n"))
            if options.bibtex:
                print(visible(kind.bibtex(folder, console), keep="\n"))
        return 0
    if len(options.folder) > 1:
        from othello_lab.experiments.results.compare import compare, write_comparison

        comparison = compare(options.folder)
        write_comparison(comparison, options.output, console)
        return 0
    if options.output:
        raise ConfigError("--output is for the comparison of several runs")
    (folder,) = options.folder
    try:
        kind_of(folder).write_report(folder, console, options.figures)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({one_line(error)})") from error
    return 0


def show_command(arguments: Sequence[str], console: Console) -> int:
    """Print the results of a run, or of a sweep."""
    parser = Parser(
        prog="othello-lab show",
        description="Print the standings of a run, or the runs of a sweep, and what there is to "
        "say of them. Nothing is written, and a run in progress is not disturbed.",
    )
    parser.add_argument("folder", type=Path, help="results/NAME/DATE")
    parser.add_argument("--json", action="store_true", help="for a program to read")
    options = parser.parse_args(arguments)
    kind_of(options.folder).show(options.folder, console, options.json)
    return 0
