"""``report`` and ``show``: the results of a job, from its record alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from othello_lab.agents.config import one_line
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import FIGURES
from othello_lab.experiments.jobs.kinds import kind_of


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
