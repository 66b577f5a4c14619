"""``list``: all runs, sweeps and studies under a folder of results."""

from __future__ import annotations

import math
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from urllib.parse import quote

from rich.console import Console

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.escaping import plain, visible
from othello_lab.core.system.json_output import print_json
from othello_lab.core.system.settings import unknown_choice
from othello_lab.experiments.config import labelled
from othello_lab.experiments.jobs.kinds import KINDS, RUN, JobSummary, kind_name, kind_of
from othello_lab.experiments.record.reading import DAMAGES, reading
from othello_lab.experiments.report.terminal import terminal_table

RESULTS = Path("results")
_LONGEST = 60  # characters of what is wrong with a run


class ListFilter:
    """The jobs to list, and their order, from words such as ``agents=iago sort=elo``."""

    def __init__(self, words: Sequence[str]) -> None:
        """Raises ConfigError for an unknown word."""
        self._said: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or key not in FILTERS:
                raise ConfigError(
                    f"{word}: list knows {', '.join(f'{key}=' for key in FILTERS)} and a folder"
                )
            self._said[key] = value.strip("[]")
        for key in ("since", "until"):
            if key in self._said:
                self._said[key] = _date(key, self._said[key])
        self.sort = self._said.get("sort", SORTS[0])
        if self.sort not in SORTS:
            raise ConfigError(unknown_choice("sort", self.sort, SORTS))
        if self.sort == "elo" and len(self.agents) != 1:
            raise ConfigError("sort=elo: say whose, such as agents=iago")

    @property
    def agents(self) -> list[str]:
        """The agents that a line-up must have."""
        return _words(self._said.get("agents", ""))

    def fits(self, job: JobSummary) -> bool:
        """Return True if a job is to be listed."""
        said = self._said
        return (
            set(self.agents) <= set(job.lineup)
            and set(_words(said.get("tags", ""))) <= set(job.tags)
            and said.get("name", job.name) == job.name
            and said.get("kind", job.kind) == job.kind
            and said.get("since", "") <= job.started
            and ("until" not in said or job.started[: len(said["until"])] <= said["until"])
        )

    def ordered(self, jobs: Sequence[JobSummary]) -> list[JobSummary]:
        """Return jobs in the order that was asked for; the present one is the latest first."""
        if self.sort == "date":
            return list(jobs)
        if self.sort == "name":
            return sorted(jobs, key=lambda job: job.name)

        def largest_first(job: JobSummary) -> float:
            value = getattr(job, self.sort)
            return math.inf if value is None or math.isnan(value) else -float(value)

        return sorted(jobs, key=largest_first)


FILTERS = {
    "agents": "that all of these are in (agents=iago,mobility)",
    "tags": "with all of these tags",
    "name": "of this name",
    "kind": f"one of {', '.join(KINDS)}",
    "since": "not before this date (2026-01-31)",
    "until": "not after this date",
    "sort": "date (default), name, games, score (of the leader), or elo (of the one agent)",
}
"""Words of ``list``, with their meaning."""
SORTS = ("date", "name", "games", "score", "elo")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _date(key: str, text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ConfigError(f"{key}={text}: a date is needed, such as 2026-01-31") from None


def list_command(arguments: Sequence[str], console: Console) -> int:
    """Print all that is under a folder, the latest first."""
    options = _options(arguments)
    folders = [word for word in options.words if "=" not in word or Path(word).exists()]
    wanted = ListFilter([word for word in options.words if word not in folders])
    if len(folders) > 1:
        raise ConfigError(f"{folders[1]}: one folder of results at a time")
    root = Path(folders[0]) if folders else RESULTS
    if root.is_file():
        raise ConfigError(f"{root} is a file; a folder of results is needed")
    if not root.is_dir():
        raise ConfigError(f"{root}: there is no such folder")
    places = sorted(places_below(root), key=_age)
    found = [job for job in map(look_into, places) if wanted.fits(job)]
    if len(wanted.agents) == 1:
        found = [_with_elo(job, wanted.agents[0]) for job in found]
    found = wanted.ordered(found)[: options.last]
    if options.json:
        print_json([asdict(each) for each in found])
    elif options.page:
        _write_page(root, found, console)
    elif not found:
        console.print(plain(f"{root}: no run is here" + (" that fits" if places else " yet")))
    else:
        _print_table(found, wanted.agents, console)
    return 0


def _options(arguments: Sequence[str]) -> Namespace:
    told = "; ".join(f"{key}=: {meaning}" for key, meaning in FILTERS.items())
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
        help=f"the folder (default: {RESULTS}), and filters. {told}",
    )
    parser.add_argument("--last", type=whole_number(1), metavar="N", help="only the first N")
    parser.add_argument("--json", action="store_true", help="for a program to read")
    parser.add_argument(
        "--page", action="store_true", help="write index.html into the folder, with links"
    )
    return parser.parse_intermixed_args(list(arguments))


def _print_table(found: Sequence[JobSummary], agents: Sequence[str], console: Console) -> None:
    columns = ["folder", "agents", "games", "leader", "score %", "state"]
    columns += [f"{agent}, Elo" for agent in agents if len(agents) == 1]
    columns += ["tags, note"] * any(each.tags or each.note for each in found)
    table = terminal_table(columns)
    for name in ("folder", "leader", "state", "tags, note"):
        if name in columns:
            table.columns[columns.index(name)].justify = "left"
    table.columns[0].no_wrap = table.columns[5].no_wrap = False
    table.columns[0].overflow = "fold"
    for each in found:
        cells = [each.folder, each.agents, each.games, each.leader, each.score, each.state]
        cells += [each.elo] * (len(agents) == 1)
        cells += [_labels(each)] * ("tags, note" in columns)
        table.add_row(*map(plain, map(_cell, cells)))
    console.print(table)


def _labels(job: JobSummary) -> str:
    return labelled({"tags": job.tags, "note": job.note})


def _with_elo(job: JobSummary, agent: str) -> JobSummary:
    """Return a run with the rating of an agent in it, the mean of the pool being 0."""
    from othello_lab.experiments.report.standings import rated_parts, standings

    if job.kind != RUN:
        return job
    try:
        with reading(Path(job.folder)) as record:
            table = standings(record, rated_parts(record)).set_index("agent")
            row = table.loc[agent]
        return replace(job, elo=None if row["bound"] else float(row["elo"]))
    except (ConfigError, KeyError, OSError, *DAMAGES):
        return job


def _write_page(root: Path, found: Sequence[JobSummary], console: Console) -> None:
    """Write a page with links to the reports."""
    from othello_lab.experiments.report.markdown import link, write_report

    rows = []
    for each in found:
        folder = Path(each.folder)
        name = os.path.relpath(folder, root)
        page = folder / "report.html"
        cells = (each.agents, each.games, each.leader, each.score, each.state, _labels(each))
        shown = link(name, quote(os.path.relpath(page, root))) if page.is_file() else name
        when = each.started.replace("T", " ")
        rows.append([shown, each.kind, when, *map(_cell, cells)])
    columns = ["results", "kind", "started", "agents", "games", "leader", "score %", "state"]
    columns.append("tags, note")
    write_report("index", root, "Results", file="index", columns=columns, rows=rows)
    console.print(plain(f"page  {root / 'index.html'}"), soft_wrap=True)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _age(folder: Path) -> tuple[str, str]:
    """Sorts the latest first: folders are named by date and time."""
    inverted = "".join(chr(0x10FFFF - ord(letter)) for letter in folder.name)
    return inverted, str(folder)


def places_below(folder: Path) -> Iterator[Path]:
    """The folders of runs, sweeps and studies in a folder, however deep; the runs that belong to a
    sweep or study left out."""
    for path, inside, files in os.walk(folder):
        if KINDS[RUN].file in files or kind_name(path) != RUN:
            inside.clear()
            yield Path(path)


def look_into(folder: Path) -> JobSummary:
    """Return the row of a folder. Never raises for a folder that cannot be read."""
    try:
        return kind_of(folder).summary(folder)
    except (ConfigError, OSError, *DAMAGES) as error:
        said = one_line(error).removeprefix(str(folder)).lstrip(":/ ")
        short = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."
        return JobSummary(
            str(folder), kind_name(folder), folder.parent.name, "", state=visible(short)
        )
