"""``python -m experiments``: run experiments, check the searches' signature."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from core.cli import Command, Parser, dispatch, seconds, whole_number
from core.settings import ConfigError
from core.shown import visible
from experiments.command_line import as_typed, make_console
from experiments.stopping import RunStopped

if TYPE_CHECKING:
    from experiments.run import RunResult

# What a command needs is imported there: --help and a misspelt command answer at once.

HELP = """\
usage: python -m experiments COMMAND ...

  run [key=value ...]     play a line-up of agents and report   (run --help: all settings)
  run -m key=a,b,c ...    a sweep: one run for each combination, and one report
  study NAME [key=value]  answer a question that one run cannot    (study --help: all of them)
  selfplay [key=value]    positions to learn from, of games played    (selfplay --help)
  positions FILE ...      the same of games in files: WTHOR, GGF, folders of runs
  train NAME [key=value]  learn an evaluation from games, and measure it    (train --help)
  plan elo=30 draws=0.04  how many pairs that takes, and how long    (plan --help)
  players [FOLDER ...]    a page on the players: what each goes by, and what tests say of it
  openings FILE           make balanced openings    (openings --help: all settings)
  resume FOLDER           go on with a run that was interrupted
  extend FOLDER games=N   add games to a run, up to N a pairing
  watch FOLDER            the standings of a run in progress
  list                    all runs and sweeps under results/: when, games, leader, state
  show FOLDER             what came out of one
  compare FOLDER FOLDER   runs side by side: settings that differ, standings, pooled if alike
  report FOLDER ...       write the report anew, or one that compares several
  verify FOLDER           whether what a run's record says is true
  recover FOLDER          what can be read of a damaged record, into a new folder
  export FOLDER FORMAT    a run's games and tables for other programs: ggf, wthor, csv, json, ...
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
    for word in options.overrides:
        group, _, name = word.lstrip("+").partition("=")
        if group in ("study", "train"):
            raise ConfigError(f"{word}: it has a command, python -m experiments {group} {name}")
    folders = [options.config_dir] if options.config_dir else []
    if options.multirun:
        from experiments.sweep.running import sweep

        return sweep(arguments, options.overrides, folders, make_console())
    if options.help:
        from experiments.help import run_help

        print(visible(run_help(folders), keep="\n"), end="")
        return 0
    if options.hydra_help or options.cfg or options.info:
        if options.cfg:
            from agents.config import compose

            compose("run", options.overrides, folders)  # which says in one line what is wrong
        hand_over(parser.prog, arguments, lambda config: None)
        return 0
    from experiments.config import read

    plan = read(options.overrides, folders)
    from experiments.run import run  # after what may be refused, as it takes a while to load

    return _code(run(plan, as_typed(["run", *arguments]), make_console()))


def _refuse(message: str) -> NoReturn:
    raise ConfigError(f"{message}; see python -m experiments run --help")


def bench_command(arguments: Sequence[str]) -> int:
    """``bench``: print each algorithm's nodes over the fixed positions, and the signature."""
    from rich.console import Console

    from experiments.bench import POSITIONS, bench, signature
    from experiments.report.terminal import terminal_table

    Parser(
        prog="python -m experiments bench",
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


def resume_command(arguments: Sequence[str]) -> int:
    """``resume``: go on with a run that was interrupted."""
    parser = _resume_parser(
        "resume",
        "Go on with a run, a sweep, a study or a training that was interrupted, by whatever. What "
        "is in its record stays; in the end the record is that of an uninterrupted run.",
    )
    options = vars(parser.parse_args(arguments))
    folder = options.pop("folder")

    from experiments.run import resume
    from experiments.studies.record import TRAINING, kind_of
    from experiments.sweep.folder import is_sweep
    from experiments.training.folder import is_selfplay

    if is_selfplay(folder):
        from experiments.training import selfplay

        options.pop("retry_skipped")
        command = as_typed(["resume", *arguments])
        return selfplay.resume(folder, command, make_console(), **options).exit_code
    if is_sweep(folder):
        from experiments.sweep import running

        return running.resume(folder, make_console(), _trust_alone(folder, options))
    if kind := kind_of(folder):
        from experiments.studies import running as studies
        from experiments.training import several as trainings

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

    from experiments.run import resume
    from experiments.studies.record import kind_of
    from experiments.sweep.folder import is_sweep
    from experiments.training.folder import refuse_selfplay

    if is_sweep(folder):
        from experiments.sweep import running

        return running.extend(folder, int(value), make_console(), _trust_alone(folder, options))
    if kind := kind_of(folder):
        raise ConfigError(f"{folder} is a {kind.word}, which is not extended; start a larger one")
    refuse_selfplay(folder)
    options["games"] = int(value)
    return _code(resume(folder, as_typed(["extend", *arguments]), make_console(), **options))


def _resume_parser(command: str, description: str) -> Parser:
    parser = Parser(prog=f"python -m experiments {command}", description=description)
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
        prog="python -m experiments watch",
        description="Show the standings of a run, or how far a sweep or a study is, from another "
        "terminal, until it has ended. Reading disturbs nothing.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    parser.add_argument("--every", type=seconds, default=2.0, help="seconds from look to look (2)")
    parser.add_argument("--once", action="store_true", help="look once and leave")
    options = parser.parse_args(arguments)

    from experiments.report.watch import look, watch
    from experiments.studies.record import is_study
    from experiments.sweep.folder import is_sweep
    from experiments.training.folder import refuse_selfplay

    refuse_selfplay(options.folder)
    look_at = look
    if is_sweep(options.folder):
        from experiments.sweep.watching import look_at_sweep as look_at
    elif is_study(options.folder):
        from experiments.studies.watching import look_at_study as look_at
    watch(options.folder, make_console(), look_at, options.every, options.once)
    return 0


def verify_command(arguments: Sequence[str]) -> int:
    """``verify``: whether what a record says is true."""
    from experiments.verify.command import verify_command

    return verify_command(arguments, make_console())


def list_command(arguments: Sequence[str]) -> int:
    """``list``: all runs under a folder."""
    from experiments.looking.listing import list_command

    return list_command(arguments, make_console())


def show_command(arguments: Sequence[str]) -> int:
    """``show``: what came out of a run."""
    from experiments.looking.showing import show_command

    return show_command(arguments, make_console())


def compare_command(arguments: Sequence[str]) -> int:
    """``compare``: runs side by side."""
    from experiments.looking.comparing import compare_command

    return compare_command(arguments, make_console())


def report_command(arguments: Sequence[str]) -> int:
    """``report``: write the report of a run anew, or compare several."""
    from experiments.looking.showing import report_command

    return report_command(arguments, make_console())


def study_command(arguments: Sequence[str]) -> int:
    """``study``: answer a question that one run cannot."""
    from experiments.studies.command import study_command

    return study_command(arguments, make_console())


def selfplay_command(arguments: Sequence[str]) -> int:
    """``selfplay``: positions to learn from, of games that are played."""
    from experiments.training.selfplay_command import selfplay_command

    return selfplay_command(arguments, make_console())


def positions_command(arguments: Sequence[str]) -> int:
    """``positions``: positions to learn from, of games that are read."""
    from experiments.training.selfplay_command import positions_command

    return positions_command(arguments, make_console())


def train_command(arguments: Sequence[str]) -> int:
    """``train``: learn an evaluation."""
    from experiments.training.command import train_command

    return train_command(arguments, make_console())


def players_command(arguments: Sequence[str]) -> int:
    """``players``: a page on the players."""
    from experiments.players.command import players_command

    return players_command(arguments, make_console())


def openings_command(arguments: Sequence[str]) -> int:
    """``openings``: make balanced openings."""
    from experiments.pairing.balanced import openings_command

    return openings_command(arguments)


def plan_command(arguments: Sequence[str]) -> int:
    """``plan``: how many pairs of games a question needs, and how long they take here."""
    from experiments.sample_size import run_plan

    return run_plan(arguments, make_console())


def recover_command(arguments: Sequence[str]) -> int:
    """``recover``: save what can be read of a damaged record."""
    from experiments.recover import recover_command

    return recover_command(arguments, make_console())


def export_command(arguments: Sequence[str]) -> int:
    """``export``: write the games of a run for other programs."""
    from experiments.export import export_command

    return export_command(arguments, make_console())


COMMANDS: dict[str, Command] = {
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
    "selfplay": selfplay_command,
    "positions": positions_command,
    "train": train_command,
    "players": players_command,
    "plan": plan_command,
    "bench": bench_command,
    "openings": openings_command,
}


FAILURES: dict[type[Exception], int] = {ConfigError: 2, RunStopped: 1}
"""What commands raise, and the exit code of each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 2 for bad input, 130 after Ctrl-C."""
    return dispatch("python -m experiments", HELP, COMMANDS, arguments, FAILURES)


if __name__ == "__main__":
    sys.exit(main())
