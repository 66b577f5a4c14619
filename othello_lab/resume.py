"""Commands that take the folder of any job: ``resume``, ``extend``, ``watch``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from othello_lab.core.system.cli import Parser, seconds, whole_number
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.settings import ConfigError

if TYPE_CHECKING:
    from othello_lab.experiments.jobs.run import RunResult


def resume_command(arguments: Sequence[str]) -> int:
    """``resume``: go on with a run that was interrupted."""
    parser = _resume_parser(
        "resume",
        "Go on with a run, a sweep, a study or a training that was interrupted, by whatever. What "
        "is in its record stays; in the end the record is that of an uninterrupted run.",
    )
    options = vars(parser.parse_args(arguments))
    folder = options.pop("folder")

    from othello_lab.experiments.jobs.run import resume
    from othello_lab.experiments.studies.record import TRAINING, kind_of
    from othello_lab.experiments.sweep.folder import is_sweep
    from othello_lab.training.folder import is_selfplay

    if is_selfplay(folder):
        from othello_lab.training import selfplay

        options.pop("retry_skipped")
        command = as_typed(["resume", *arguments])
        return selfplay.resume(folder, command, make_console(), **options).exit_code
    if is_sweep(folder):
        from othello_lab.experiments.sweep import running

        return running.resume(folder, make_console(), _trust_alone(folder, options))
    if kind := kind_of(folder):
        from othello_lab.experiments.studies import running as studies
        from othello_lab.training import several as trainings

        options["retry_failed"] = options.pop("retry_skipped")
        go_on = trainings.resume if kind == TRAINING else studies.resume
        command = as_typed(["resume", *arguments])
        return go_on(folder, command, make_console(), **options).exit_code
    return _code(resume(folder, as_typed(["resume", *arguments]), make_console(), **options))


def _trust_alone(folder: Path, options: dict[str, Any]) -> bool:
    """Whether to trust a sweep; ConfigError for an option that is for single runs."""
    trust = bool(options.pop("trust"))
    if any(options.values()):
        raise ConfigError(
            f"{folder} is a sweep; options are for single runs, the numbered folders in it"
        )
    return trust


def extend_command(arguments: Sequence[str]) -> int:
    """``extend``: add games to a run."""
    parser = _resume_parser(
        "extend",
        "Add games to a run, or to each run of a sweep: it goes on until every pairing has so many "
        "in all.",
    )
    parser.add_argument("games", metavar="games=N", help="games per pairing in all, an even number")
    options = vars(parser.parse_args(arguments))
    folder, asked = options.pop("folder"), options.pop("games")
    key, _, value = asked.partition("=")
    if key != "games" or not value.isdecimal():
        raise ConfigError(f"{asked}: games=N is needed, an even number of games a pairing")

    from othello_lab.experiments.jobs.run import resume
    from othello_lab.experiments.studies.record import kind_of
    from othello_lab.experiments.sweep.folder import is_sweep
    from othello_lab.training.folder import refuse_selfplay

    if is_sweep(folder):
        from othello_lab.experiments.sweep import running

        return running.extend(folder, int(value), make_console(), _trust_alone(folder, options))
    if kind := kind_of(folder):
        raise ConfigError(f"{folder} is a {kind.word}, which is not extended; start a larger one")
    refuse_selfplay(folder)
    options["games"] = int(value)
    return _code(resume(folder, as_typed(["extend", *arguments]), make_console(), **options))


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
        "--trust",
        action="store_true",
        help="run what the record names from outside the lab, with your rights, without asking",
    )
    return parser


def _code(result: RunResult) -> int:
    """The exit code of a run."""
    return 0 if result.complete else 130


def watch_command(arguments: Sequence[str]) -> int:
    """``watch``: show the standings of a run in progress."""
    parser = Parser(
        prog="othello-lab watch",
        description="Show the standings of a run, or how far a sweep or a study is, from another "
        "terminal, until it has ended. Reading disturbs nothing.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    parser.add_argument("--every", type=seconds, default=2.0, help="seconds from look to look (2)")
    parser.add_argument("--once", action="store_true", help="look once and leave")
    options = parser.parse_args(arguments)

    from othello_lab.experiments.report.watch import look, watch
    from othello_lab.experiments.studies.record import is_study
    from othello_lab.experiments.sweep.folder import is_sweep
    from othello_lab.training.folder import refuse_selfplay

    refuse_selfplay(options.folder)
    look_at = look
    if is_sweep(options.folder):
        from othello_lab.experiments.sweep.watching import look_at_sweep as look_at
    elif is_study(options.folder):
        from othello_lab.experiments.studies.watching import look_at_study as look_at
    watch(options.folder, make_console(), look_at, options.every, options.once)
    return 0
