"""Commands that take the folder of any job: ``resume``, ``extend``, ``watch``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.settings import ConfigError

if TYPE_CHECKING:
    from othello_lab.experiments.jobs.kinds import JobKind

# What a command needs is imported there: --help and a misspelt command answer at once.


class SettingsParser(Parser):
    """The parser of a command that takes settings, ``key=value``, and further folders of YAMLs."""

    def __init__(self, command: str) -> None:
        super().__init__(prog=f"othello-lab {command}", add_help=False)
        self.add_argument("words", nargs="*")
        self.add_argument("--config-dir", "-cd", dest="folders", nargs=1, default=[])
        self.add_argument("--help", "-h", action="store_true")

    def parsed(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return the options: ``words``, ``folders``, ``help``; ConfigError."""
        options, rest = self.parse_known_intermixed_args(list(arguments))
        if rest:
            self.error(f"unknown option {rest[0]}")
        return options

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; see {self.prog} --help")


def resume_command(arguments: Sequence[str]) -> int:
    """``resume``: continue a job that was interrupted."""
    parser = _resume_parser(
        "resume",
        "Go on with an interrupted run, sweep, study or training. Its record stays; in the end it "
        "is that of an uninterrupted run.",
    )
    return _continue("resume", parser, arguments)


def extend_command(arguments: Sequence[str]) -> int:
    """``extend``: add games to a run."""
    parser = _resume_parser(
        "extend", "Add games to a run, or to each run of a sweep, until every pairing has N in all."
    )
    parser.add_argument("games", metavar="games=N", help="games per pairing in all, an even number")
    return _continue("extend", parser, arguments)


def _games(word: str) -> int:
    key, _, value = word.partition("=")
    if key != "games" or not value.isdecimal():
        raise ConfigError(f"{word}: games=N is needed, an even number of games a pairing")
    return int(value)


def _continue(name: str, parser: Parser, arguments: Sequence[str]) -> int:
    """Run the command of this name; return the exit code."""
    options = vars(parser.parse_args(arguments))
    folder = options.pop("folder")
    if "games" in options:
        options["games"] = _games(options["games"])

    from othello_lab.experiments.jobs.replan import ResumeOptions

    kind, console = _kind_of(folder), make_console()
    do = kind.extend if name == "extend" else kind.resume
    return do(folder, as_typed([name, *arguments]), console, ResumeOptions(**options))


def _kind_of(folder: Path) -> JobKind:
    from othello_lab.experiments.jobs.kinds import kind_of

    return kind_of(folder)


def _resume_parser(command: str, description: str) -> Parser:
    parser = Parser(prog=f"othello-lab {command}", description=description)
    parser.add_argument("folder", type=Path, help="the folder, results/NAME/DATE")
    parser.add_argument("--workers", type=whole_number(1), help="processes (default: as before)")
    parser.add_argument(
        "--executor", metavar="KIND", help="where to play from now on (default: as before)"
    )
    parser.add_argument("--address", help="of a Dask cluster's scheduler, to play there")
    parser.add_argument(
        "--force",
        action="store_true",
        help="go on even if the code, a version or an agent has changed since the first games",
    )
    parser.add_argument(
        "--retry-skipped",
        action="store_true",
        help="play again the pairs that were skipped because the worker that played them died; of "
        "a study, do again what failed",
    )
    parser.add_argument(
        "--retry-starved",
        action="store_true",
        help="play again the pairs in which an agent had less than 70 %% of its time on a "
        "processor",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="run what the record names from outside the lab, with your rights, without asking",
    )
    return parser


def watch_command(arguments: Sequence[str]) -> int:
    """``watch``: show the progress of a job."""
    parser = Parser(
        prog="othello-lab watch",
        description="Show the standings of a run, or how far a sweep or a study is, from another "
        "terminal, until it has ended. Reading disturbs nothing.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    parser.add_argument("--once", action="store_true", help="look once and leave")
    options = parser.parse_args(arguments)

    from othello_lab.experiments.report.watch import watch

    look_at = _kind_of(options.folder).look
    watch(options.folder, make_console(), look_at, options.once)
    return 0
