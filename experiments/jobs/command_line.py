"""Commands that take the folder of any job: ``resume``, ``extend``, ``watch``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.settings import ConfigError

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
    description = (
        "Go on with an interrupted run, sweep, study or training. Its record stays; in the end it "
        "is that of an uninterrupted run."
    )
    return _continue("resume", description, arguments)


def extend_command(arguments: Sequence[str]) -> int:
    """``extend``: add games to a run."""
    description = "Add games to a run, or to each run of a sweep, until every pairing has N in all."
    return _continue("extend", description, arguments)


_SWITCHES = {
    "--force": "go on even if the code, a version or an agent has changed since the first games",
    "--retry-skipped": "play again the pairs that were skipped because the worker that played them "
    "died; of a study, do again what failed",
    "--retry-starved": "play again the pairs in which an agent had less than 70 %% of its time on "
    "a processor",
    "--trust": "run what the record names from outside the lab, with your rights, without asking",
}


def _continue(name: str, description: str, arguments: Sequence[str]) -> int:
    parser = Parser(prog=f"othello-lab {name}", description=description)
    parser.add_argument("folder", type=Path, help="the folder, results/NAME/DATE")
    if name == "extend":
        meaning = "games per pairing in all, an even number"
        parser.add_argument("games", metavar="games=N", help=meaning)
    parser.add_argument("--workers", type=whole_number(1), help="processes (default: as before)")
    where = "where to play from now on (default: as before)"
    parser.add_argument("--executor", metavar="KIND", help=where)
    parser.add_argument("--address", help="of a Dask cluster's scheduler, to play there")
    for switch, meaning in _SWITCHES.items():
        parser.add_argument(switch, action="store_true", help=meaning)
    options = vars(parser.parse_args(arguments))
    folder = options.pop("folder")
    if "games" in options:
        key, _, value = (word := options["games"]).partition("=")
        if key != "games" or not value.isdecimal():
            raise ConfigError(f"{word}: games=N is needed, an even number of games a pairing")
        options["games"] = int(value)

    from othello_lab.experiments.jobs.kinds import kind_of
    from othello_lab.experiments.jobs.replan import ResumeOptions

    kind = kind_of(folder)
    do = kind.extend if name == "extend" else kind.resume
    command = as_typed([name, *arguments])
    return do(folder, command, make_console(), ResumeOptions(**options))


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

    from othello_lab.experiments.jobs.kinds import kind_of
    from othello_lab.experiments.report.watch import watch

    watch(options.folder, make_console(), kind_of(options.folder).look, options.once)
    return 0
