"""``othello-lab players``: the pages on the players, made anew."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from rich.console import Console

from othello_lab.agents.config import ConfigError
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import counted, plain
from othello_lab.experiments.results.papers.evidence import Evidence, evidence_in
from othello_lab.experiments.results.papers.evidence_builder import (
    PAGE,
    EvidenceBuilder,
    PageContent,
)
from othello_lab.experiments.results.papers.page import line_ups_of, sections_of, write_pages

RESULTS = Path("results/players")
OUTPUT = "pages"


def players_command(arguments: Sequence[str], console: Console) -> int:
    """Write the pages; the exit code."""
    options, extra = _options(arguments)
    folders = [str(options.config_dir)] if options.config_dir else []
    page, command = PageContent.read(options.page, folders), as_typed(["players", *arguments])
    line_ups = line_ups_of(page, extra, folders)
    places = options.folders
    if not places and not options.static:
        tests = EvidenceBuilder(page, options.results, extra, folders, options.force)
        if not (extra or options.yes or options.page):
            raise ConfigError(
                f"players would make {tests.told()} in {options.results}; --yes does it, a size "
                "for all, such as games=10, is a quick look, and --static leaves out the tests"
            )
        made = tests.make(command, console)
        if made is None:
            console.print(plain(f"go on with  {command}"), soft_wrap=True)
            return 130
        places = made
    evidence: list[Evidence] = evidence_in(places, console, options.trust) if places else []
    sections = sections_of(line_ups, evidence)
    output = options.output or options.results / OUTPUT
    write_pages(output, sections, evidence, command, f"{date.today()}", options.figures)
    papers = counted(sum(len(section.papers) for section in sections), "player")
    told = f"{papers} by {counted(len(evidence), 'test')}" if evidence else f"{papers}, no tests"
    console.print(plain(f"{told}  {output}"), soft_wrap=True)
    return 0


def _options(arguments: Sequence[str]) -> tuple[PapersOptions, list[str]]:
    """The options, and the settings of runs and studies."""
    parser = Parser(
        prog="othello-lab players",
        description="Write a page on each player: its evaluation, search, test results, strengths "
        "and weaknesses. Without FOLDERs, and with --yes or a size, missing tests are "
        "made; after Ctrl-C the same command continues.",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="FOLDER, key=value",
        help="runs, studies of errors, pruning and scaling, or folders that have such in them, to "
        "go by instead; settings for all tests, such as games=10",
    )
    parser.add_argument("--static", action="store_true", help="without tests")
    parser.add_argument("--yes", action="store_true", help="make all tests, as large as they are")
    parser.add_argument(
        "--output", type=Path, help=f"folder of the pages (default: {OUTPUT} in --results)"
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help=f"where tests are made (default: {RESULTS})"
    )
    parser.add_argument(
        "--page", type=Path, metavar="YAML", help=f"line-ups and tests (default: conf/{PAGE})"
    )
    parser.add_argument("--config-dir", type=Path, help="a further folder of YAMLs")
    parser.add_argument(
        "--no-figures", dest="figures", action="store_false", help="draw no figures"
    )
    parser.add_argument(
        "--force", action="store_true", help="go on with tests of another version of the lab"
    )
    parser.add_argument(
        "--trust", action="store_true", help="run what a record names from outside the lab"
    )
    options = parser.parse_intermixed_args(list(arguments), namespace=PapersOptions())
    folders = [word for word in options.words if "=" not in word or Path(word).exists()]
    options.folders = [Path(word) for word in folders]
    extra = [word for word in options.words if word not in folders]
    if options.static and options.folders:
        raise ConfigError(f"--static writes pages without tests; leave out {options.folders[0]}")
    return options, extra


class PapersOptions:
    """The command's options as they are typed."""

    words: list[str]
    folders: list[Path]
    static: bool
    yes: bool
    output: Path | None
    results: Path
    page: Path | None
    config_dir: Path | None
    figures: bool
    force: bool
    trust: bool
