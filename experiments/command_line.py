"""Commands that play, measure and report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from othello_lab.core.system.cli import Command, Parser
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.command_line import (
    extend_command,
    resume_command,
    run_parser,
    watch_command,
)
from othello_lab.experiments.jobs.stopping import RunStopped

if TYPE_CHECKING:
    from othello_lab.experiments.jobs.run import RunResult

# What a command needs is imported there: --help and a misspelt command answer at once.


def run_command(arguments: Sequence[str]) -> int:
    """``run``: one run, a sweep (``-m``), or the configuration of one (``--cfg job``)."""
    parser = run_parser()
    options, rest = parser.parse_known_intermixed_args(list(arguments))
    if rest:
        raise ConfigError(f"unknown option {rest[0]}; see othello-lab run --help")
    for word in options.overrides:
        group, _, name = word.lstrip("+").partition("=")
        if group in ("study", "train"):
            raise ConfigError(f"{word}: it has a command, othello-lab {group} {name}")
    folders = [options.config_dir] if options.config_dir else []
    if any(".py:" in word for word in options.overrides):
        from othello_lab.agents.sides import with_open_settings

        options.overrides = with_open_settings(options.overrides)
    if options.multirun:
        from othello_lab.experiments.sweep.sweep_session import sweep

        return sweep(arguments, options.overrides, folders, make_console())
    if options.help:
        from othello_lab.experiments.help import run_help

        print(visible(run_help(folders), keep="\n"), end="")
        return 0
    from othello_lab.agents.config import compose

    config = compose("run", options.overrides, folders)
    if options.cfg:
        from othello_lab.agents.hydra_parts import format_config

        print(format_config(config), end="")
        return 0
    # After what may be refused, as these take a while to load.
    from othello_lab.experiments.config import check

    plan = check(config, options.overrides)
    from othello_lab.experiments.jobs.run import run

    return _code(run(plan, as_typed(["run", *arguments]), make_console()))


def bench_command(arguments: Sequence[str]) -> int:
    """``bench``: print each algorithm's nodes over the fixed positions, and the signature."""
    from rich.console import Console

    from othello_lab.agents.commands.bench import POSITIONS, bench, signature
    from othello_lab.experiments.report.terminal import terminal_table

    Parser(
        prog="othello-lab bench",
        description=f"Search {len(POSITIONS)} fixed positions with every algorithm; print its "
        "nodes. The signature is their sum: it changes only when a search does something else than "
        "before.",
    ).parse_args(arguments)
    rows = bench(lambda line: print(line, file=sys.stderr))
    drawn = terminal_table(["algorithm", "nodes", "evaluations", "seconds", "nodes/s"])
    for row in rows:
        speed = f"{row.nodes / row.seconds / 1e6:.1f} M"
        drawn.add_row(
            row.algorithm, f"{row.nodes:,}", f"{row.evaluations:,}", f"{row.seconds:.3f}", speed
        )
    Console().print(drawn)
    print("signature", signature(rows))
    return 0


def _code(result: RunResult) -> int:
    """The exit code of a run."""
    return 130 if result.interrupted else 0


def match_command(arguments: Sequence[str]) -> int:
    """``match``: play two sides against each other until it is decided which is better."""
    from othello_lab.experiments.jobs.match_command import match_command

    return match_command(arguments, make_console())


def verify_command(arguments: Sequence[str]) -> int:
    """``verify``: check that a record is true."""
    from othello_lab.experiments.results.verify.verify_command import verify_command

    return verify_command(arguments, make_console())


def list_command(arguments: Sequence[str]) -> int:
    """``list``: all runs under a folder."""
    from othello_lab.experiments.results.listing import list_command

    return list_command(arguments, make_console())


def show_command(arguments: Sequence[str]) -> int:
    """``show``: print the results of a run."""
    from othello_lab.experiments.results.show import show_command

    return show_command(arguments, make_console())


def compare_command(arguments: Sequence[str]) -> int:
    """``compare``: runs side by side."""
    from othello_lab.experiments.results.compare import compare_command

    return compare_command(arguments, make_console())


def report_command(arguments: Sequence[str]) -> int:
    """``report``: write the report of a run anew, or compare several."""
    from othello_lab.experiments.results.show import report_command

    return report_command(arguments, make_console())


def study_command(arguments: Sequence[str]) -> int:
    """``study``: answer a question that one run cannot."""
    from othello_lab.experiments.studies.study_command import study_command

    return study_command(arguments, make_console())


def openings_command(arguments: Sequence[str]) -> int:
    """``openings``: make balanced openings."""
    from othello_lab.experiments.pairing.balanced import openings_command

    return openings_command(arguments)


def plan_command(arguments: Sequence[str]) -> int:
    """``plan``: how many pairs of games a question needs, and how long they take here."""
    from othello_lab.experiments.jobs.sample_size import run_plan

    return run_plan(arguments, make_console())


def recover_command(arguments: Sequence[str]) -> int:
    """``recover``: save the readable part of a damaged record."""
    from othello_lab.experiments.results.recover import recover_command

    return recover_command(arguments, make_console())


def export_command(arguments: Sequence[str]) -> int:
    """``export``: write the games of a run for other programs."""
    from othello_lab.experiments.results.export import export_command

    return export_command(arguments, make_console())


COMMANDS: dict[str, Command] = {
    "match": match_command,
    "run": run_command,
    "resume": resume_command,
    "extend": extend_command,
    "watch": watch_command,
    "list": list_command,
    "show": show_command,
    "compare": compare_command,
    "report": report_command,
    "verify": verify_command,
    "recover": recover_command,
    "export": export_command,
    "study": study_command,
    "plan": plan_command,
    "bench": bench_command,
    "openings": openings_command,
}


FAILURES: dict[type[Exception], int] = {ConfigError: 2, RunStopped: 1}
"""What commands raise, and the exit code of each."""
