"""``python -m experiments``: run experiments, check the searches' signature."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from agents.config import ConfigError, compose, unknown
from core.cli import Parser, whole_number
from experiments.command_line import as_typed, make_console
from experiments.config import read
from experiments.run import RunStopped, resume, run
from experiments.sweep.folder import is_sweep

# What only one command needs is imported there: Hydra, pandas, what draws and what compiles.

HELP = """\
usage: python -m experiments COMMAND ...

  run [key=value ...]     play a line-up of agents and report   (run --help: all settings)
  run -m key=a,b,c ...    a sweep: one run for each combination, and one report
  plan elo=30 draws=0.04  how many pairs that takes, and how long    (plan --help)
  openings FILE           make balanced openings    (openings --help: all settings)
  resume FOLDER           go on with a run that was interrupted
  extend FOLDER games=N   add games to a run, up to N a pairing
  watch FOLDER            the standings of a run in progress
  bench                   nodes of every search over fixed positions, and their signature

Start with:

  python -m experiments run agents=ab_vs_minimax
  python -m experiments run agents=classics games=200
  python -m experiments run agents=duel agent@first=alphabeta agent@second=greedy
  python -m experiments run -m agents=ab_vs_minimax depth=1,2,3,4

python -m agents list explains the agents, evaluations and line-ups. Results go to results/.
"""


def run_command(arguments: Sequence[str]) -> int:
    """``run``: one run, a sweep (``-m``), or one of Hydra's own questions (``--cfg``, ...)."""
    from agents.hydra_parts import command_line_parser, hand_over

    parser = command_line_parser()
    parser.prog = "python -m experiments run"
    parser.error = _refuse  # type: ignore[method-assign]
    options, rest = parser.parse_known_intermixed_args(list(arguments))
    if rest:
        raise ConfigError(f"unknown option {rest[0]}; see python -m experiments run --help")
    folders = [options.config_dir] if options.config_dir else []
    if options.multirun:
        from experiments.sweep.running import sweep

        return sweep(arguments, options.overrides, folders, make_console())
    if options.help:
        from experiments.help import run_help

        print(run_help(folders), end="")
        return 0
    if options.hydra_help or options.cfg or options.info:
        if options.cfg:
            compose("run", options.overrides, folders)  # which says in one line what is wrong
        hand_over(parser.prog, arguments, lambda config: None)
        return 0
    plan = read(options.overrides, folders)
    result = run(plan, as_typed(["run", *arguments]), make_console())
    return 0 if result.complete else 130


def _refuse(message: str) -> NoReturn:
    raise ConfigError(f"{message}; see python -m experiments run --help")


def bench_command(arguments: Sequence[str]) -> int:
    """``bench``: print each algorithm's nodes over the fixed positions, and the signature."""
    from experiments.bench import POSITIONS, bench, signature
    from experiments.report.tables import terminal_table

    if arguments:
        if list(arguments) in (["--help"], ["-h"]):
            print(
                "usage: python -m experiments bench\n\n"
                f"Search {len(POSITIONS)} fixed positions with every algorithm; print its nodes.\n"
                "The signature is their sum: it changes only when a search does something else\n"
                "than before."
            )
            return 0
        raise ConfigError(f"bench takes no arguments, not {arguments[0]}")
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


def resume_command(arguments: Sequence[str]) -> int:
    """``resume``: go on with a run that was interrupted."""
    parser = _resume_parser(
        "resume",
        "Go on with a run, or a sweep, that was interrupted, by whatever. What is in its record "
        "stays; in the end the record is that of an uninterrupted run.",
    )
    options = parser.parse_args(arguments)
    if is_sweep(options.folder):
        if any(_resume_settings(options).values()):
            raise ConfigError(
                f"{options.folder} is a sweep; options are for single runs, the numbered folders "
                "in it"
            )
        from experiments.sweep import running

        return running.resume(options.folder, make_console())
    return _go_on(options, ["resume", *arguments])


def extend_command(arguments: Sequence[str]) -> int:
    """``extend``: add games to a run."""
    parser = _resume_parser(
        "extend", "Add games to a run: it goes on until every pairing has so many in all."
    )
    parser.add_argument("games", metavar="games=N", help="games per pairing in all, an even number")
    options = parser.parse_args(arguments)
    _check_single(options.folder)
    key, _, value = options.games.partition("=")
    if key != "games" or not value.isdecimal():
        raise ConfigError(f"{options.games}: games=N is needed, an even number of games a pairing")
    return _go_on(options, ["extend", *arguments], games=int(value))


def _check_single(folder: Path) -> None:
    if is_sweep(folder):
        raise ConfigError(f"{folder} is a sweep; its runs are the numbered folders in it")


def _resume_parser(command: str, description: str) -> Parser:
    parser = Parser(prog=f"python -m experiments {command}", description=description)
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
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
    return parser


def _go_on(options: Namespace, typed: Sequence[str], **more: int) -> int:
    settings = _resume_settings(options) | more
    result = resume(options.folder, as_typed(typed), make_console(), **settings)
    return 0 if result.complete else 130


def _resume_settings(options: Namespace) -> dict[str, Any]:
    return {key: getattr(options, key) for key in ("workers", "executor", "address", "force")}


def watch_command(arguments: Sequence[str]) -> int:
    """``watch``: show the standings of a run in progress."""
    parser = Parser(
        prog="python -m experiments watch",
        description="Show the standings of a run in progress from another terminal, until it has "
        "ended. Reading disturbs nothing.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    parser.add_argument("--every", type=float, default=2.0, help="seconds from look to look (2)")
    parser.add_argument("--once", action="store_true", help="look once and leave")
    options = parser.parse_args(arguments)
    if not options.every > 0:
        raise ConfigError(f"--every {options.every:g}: more than 0 seconds are needed")

    from experiments.report.watch import watch

    _check_single(options.folder)
    watch(options.folder, make_console(), options.every, options.once)
    return 0


def openings_command(arguments: Sequence[str]) -> int:
    """``openings``: make balanced openings."""
    from experiments.pairing.balanced import openings_command

    return openings_command(arguments)


def plan_command(arguments: Sequence[str]) -> int:
    """``plan``: how many pairs of games a question needs, and how long they take here."""
    from experiments.sample_size import run_plan

    return run_plan(arguments, make_console())


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": run_command,
    "resume": resume_command,
    "extend": extend_command,
    "watch": watch_command,
    "plan": plan_command,
    "bench": bench_command,
    "openings": openings_command,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 2 for bad input, 130 after Ctrl-C."""
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if command in ("--help", "-h"):
        print(HELP, end="")
        return 0
    try:
        if command not in COMMANDS:
            raise unknown("command", command, COMMANDS)
        return COMMANDS[command](rest)
    except ConfigError as error:
        print(f"python -m experiments: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except RunStopped as error:
        print(f"python -m experiments: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
