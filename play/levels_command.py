"""``othello-lab play levels``: list the levels, or measure them again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from othello_lab.agents.conf_folder import conf_folder
from othello_lab.agents.config import ConfigError
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.escaping import plain
from othello_lab.experiments.config import read
from othello_lab.play.levels import MEASURED, levels, write_levels

_PLAN = ("agents=levels", "schedule=neighbours", "openings=balanced", "name=levels", "games=500")


def levels_command(arguments: Sequence[str]) -> int:
    """List the levels, or measure them; the exit code."""
    parser = Parser(
        prog="othello-lab play levels",
        description="List the levels: ten opponents for people, each with its Elo, where random "
        "moves have 0. With --measure they play each other, the neighbours in strength, and "
        f"their Elo is written to conf/{MEASURED}.",
    )
    parser.add_argument("--measure", action="store_true", help="play, and write the Elo")
    parser.add_argument("--output", type=Path, help=f"write this file, not conf/{MEASURED}")
    parser.add_argument(
        "words", nargs="*", metavar="key=value", help="settings of the run, such as games=100"
    )
    options = parser.parse_intermixed_args(list(arguments))
    if options.measure:
        command = as_typed(["play", "levels", *arguments])
        return _measure(options.words, options.output, command)
    if options.words or options.output:
        raise ConfigError(f"{options.words[0] if options.words else '--output'}: needs --measure")
    table = Table("level", box=box.SIMPLE_HEAD)
    table.add_column("Elo", justify="right")
    table.add_column("95 %")
    table.add_column("it plays")
    for level in levels():
        table.add_row(level.name, f"{level.elo}", plain(level.interval), level.about)
    console = make_console()
    console.print(table)
    console.print("Play one: othello-lab play terminal white=casual, or in the browser's dialog.")
    return 0


def _measure(words: Sequence[str], output: Path | None, command: str) -> int:
    from othello_lab.experiments.jobs.run import run

    plan = read([*_PLAN, *words])
    path = output or conf_folder() / MEASURED
    if not path.parent.is_dir():
        raise ConfigError(f"--output {path}: no such folder")
    console = make_console()
    result = run(plan, command, console)
    if not result.complete:
        return 130
    found = result.summary.rename(columns={"elo_low": "low", "elo_high": "high"})
    by_name = found.set_index("agent", drop=False)
    rows = by_name.loc[list(plan.settings.agents)].to_dict("records")
    write_levels(rows, int(found["games"].min()), path)
    console.print(plain(f"Elo  {path}"), soft_wrap=True)
    return 0
