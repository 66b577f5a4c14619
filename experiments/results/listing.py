"""``list``: all runs, sweeps and studies under a folder of results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.escaping import plain, visible
from othello_lab.core.system.json_output import print_json
from othello_lab.experiments.jobs.kinds import KINDS, RUN, JobSummary, kind_name, kind_of
from othello_lab.experiments.record.reading import DAMAGES
from othello_lab.experiments.report.terminal import terminal_table

RESULTS = Path("results")
_LONGEST = 60  # characters of what is wrong with a run


def list_command(arguments: Sequence[str], console: Console) -> int:
    """Print all that is under a folder, the latest first."""
    parser = Parser(
        prog="othello-lab list",
        description="All runs and sweeps under a folder, the latest first: what, when, how many "
        "games, who leads by points, and whether it is complete. What cannot be read is told.",
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", default=RESULTS, help=f"(default: {RESULTS})"
    )
    parser.add_argument("--last", type=whole_number(1), metavar="N", help="only the N latest")
    parser.add_argument("--json", action="store_true", help="for a program to read")
    options = parser.parse_args(arguments)
    if options.folder.is_file():
        raise ConfigError(f"{options.folder} is a file; a folder of results is needed")
    if not options.folder.is_dir():
        raise ConfigError(f"{options.folder}: there is no such folder")
    places = sorted(places_below(options.folder), key=_age)
    found = [look_into(folder) for folder in places[: options.last]]
    if options.json:
        print_json([asdict(each) for each in found])
        return 0
    if not found:
        console.print(plain(f"{options.folder}: no run is here yet"))
        return 0
    table = terminal_table(["folder", "agents", "games", "leader", "score %", "state"])
    for number in (0, 3, 5):
        table.columns[number].justify = "left"
    table.columns[0].no_wrap = table.columns[5].no_wrap = False
    table.columns[0].overflow = "fold"
    for each in found:
        cells = (each.folder, each.agents, each.games, each.leader, each.score, each.state)
        table.add_row(*map(plain, map(_cell, cells)))
    console.print(table)
    return 0


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
