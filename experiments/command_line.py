"""Commands that play, measure and report."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from othello_lab.core.system.cli import Command, Parser
from othello_lab.core.system.console import as_typed, command_of, make_console
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.command_line import (
    SettingsParser,
    extend_command,
    resume_command,
    watch_command,
)
from othello_lab.experiments.jobs.stopping import RunStopped

# What a command needs is imported there: --help and a misspelt command answer at once.


def run_command(arguments: Sequence[str]) -> int:
    """``run``: one run, a sweep (``-m``), or the configuration of one (``--cfg job``)."""
    parser = SettingsParser("run")
    parser.add_argument("--cfg", "-c", choices=["job"])
    parser.add_argument("--multirun", "-m", action="store_true")
    options = parser.parsed(arguments)
    words, folders = options.words, options.folders
    for word in words:
        group, _, name = word.lstrip("+").partition("=")
        if group in ("study", "train"):
            raise ConfigError(f"{word}: it has a command, othello-lab {group} {name}")
    if any(".py:" in word for word in words):
        from othello_lab.agents.sides import with_open_settings

        words = with_open_settings(words)
    if options.multirun:
        from othello_lab.experiments.sweep.sweep import sweep

        return sweep(arguments, words, folders, make_console())
    if options.help:
        from othello_lab.experiments.help import run_help

        print(visible(run_help(folders), keep="\n"), end="")
        return 0
    from othello_lab.agents.composing import compose

    config = compose("run", words, folders)
    if options.cfg:
        from othello_lab.agents.composing import format_config

        print(format_config(config), end="")
        return 0
    # After what may be refused, as these take a while to load.
    from othello_lab.experiments.config import check

    plan = check(config, words)
    from othello_lab.experiments.jobs.run import run

    return run(plan, as_typed(["run", *arguments]), make_console()).exit_code


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


COMMANDS: dict[str, Command] = {
    "match": command_of("experiments.jobs.two_sides", "match_command"),
    "run": run_command,
    "resume": resume_command,
    "extend": extend_command,
    "watch": watch_command,
    "list": command_of("experiments.results.listing", "list_command"),
    "show": command_of("experiments.results.listing", "show_command"),
    "compare": command_of("experiments.results.compare", "compare_command"),
    "report": command_of("experiments.results.listing", "report_command"),
    "verify": command_of("experiments.results.verify.verify_command", "verify_command"),
    "recover": command_of("experiments.results.recover", "recover_command"),
    "export": command_of("experiments.results.export", "export_command"),
    "study": command_of("experiments.studies.study_command", "study_command"),
    "plan": command_of("experiments.jobs.sample_size", "run_plan"),
    "bench": bench_command,
    "openings": command_of("experiments.pairing.balanced", "openings_command"),
}
"""What each does, the help of ``othello-lab`` says."""

FAILURES: dict[type[Exception], int] = {ConfigError: 2, RunStopped: 1}
"""What commands raise, and the exit code of each."""
