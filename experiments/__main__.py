"""``python -m experiments``: run experiments, check the searches' signature."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console

from agents.config import ConfigError, compose, conf_folder

if TYPE_CHECKING:
    import pandas as pd

HELP = """\
usage: python -m experiments COMMAND ...

  run [key=value ...]     play a line-up of agents and report   (run --help: all settings)
  run -m key=a,b,c ...    a sweep: one run for each combination
  plan elo=30 draws=0.04  how many pairs that takes, and how long    (plan --help)
  openings FILE           make balanced openings    (openings --help: all settings)
  bench                   nodes of every search over fixed positions, and their signature

Start with:

  python -m experiments run agents=ab_vs_minimax
  python -m experiments run agents=classics games=200
  python -m experiments run agents=duel agent@first=alphabeta agent@second=greedy
  python -m experiments run -m agents=ab_vs_minimax depth=1,2,3,4

python -m agents list explains the agents, evaluations and line-ups. Results go to results/.
"""

WIDTH_OF_FILES = 120  # columns where the output is no terminal that would tell its own


def make_console() -> Console:
    """The console for results: wide enough for the tables also when written to a file."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH_OF_FILES)


def run_command(arguments: Sequence[str]) -> int:
    """``run``: one run, a sweep (``-m``), or one of Hydra's own questions (``--cfg``, ...)."""
    from hydra._internal.utils import get_args_parser

    parser = get_args_parser()
    parser.prog = "python -m experiments run"
    parser.error = _refuse  # type: ignore[method-assign]
    options, rest = parser.parse_known_args(list(arguments))
    if rest:
        raise ConfigError(f"unknown option {rest[0]}; see python -m experiments run --help")
    folders = [options.config_dir] if options.config_dir else []
    if options.multirun:
        return _sweep(arguments, options.overrides, folders)
    if options.help or options.hydra_help or options.cfg or options.info:
        if options.cfg:
            compose("run", options.overrides, folders)
        _hydra(arguments, lambda config: None)
        return 0

    from experiments.config import read
    from experiments.run import as_typed, run

    plan = read(options.overrides, folders)
    result = run(plan, as_typed(["run", *arguments]), make_console())
    return 0 if result.complete else 130


def _refuse(message: str) -> NoReturn:
    raise ConfigError(f"{message}; see python -m experiments run --help")


def _hydra(arguments: Sequence[str], task: Callable[[Any], Any]) -> None:
    """Hand over to Hydra's own command line."""
    import hydra

    sys.argv = ["python -m experiments run", *arguments]
    hydra.main(config_path=str(conf_folder()), config_name="run", version_base="1.3")(task)()


def _sweep(arguments: Sequence[str], overrides: Sequence[str], folders: Sequence[str]) -> int:
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig

    from experiments.config import check
    from experiments.run import as_typed, run

    _check_combinations(overrides, folders)
    console = make_console()
    extra = [f"--config-dir={folder}" for folder in folders]
    swept: list[tuple[list[str], Path, pd.DataFrame]] = []

    def task(config: DictConfig) -> None:
        job = HydraConfig.get()
        own = list(job.overrides.task)
        console.rule(" ".join(own) or job.job.name)
        folder = Path(job.runtime.output_dir)
        result = run(check(config, own), as_typed(["run", *extra, *own]), console, folder)
        swept.append((own, folder, result.standings))
        if not result.complete:
            raise KeyboardInterrupt

    try:
        _hydra(arguments, task)
    finally:
        if swept:
            _conclude_sweep(swept, console)
    return 0


def _check_combinations(overrides: Sequence[str], folders: Sequence[str]) -> None:
    """Check every run of a sweep before the first one starts, so that nothing is half-done."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from experiments.config import read

    if any(override.lstrip("+").startswith("hydra/sweeper") for override in overrides):
        return  # another sweeper chooses its combinations as it goes
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    for combination in BasicSweeper.split_arguments(parsed, max_batch_size=None)[0]:
        read(combination, folders)


SWEEP_COLUMNS = ("agent", "games", "score %", "Elo ± 95 %", "discs", "nodes/move", "evals/move")


def _conclude_sweep(
    swept: Sequence[tuple[list[str], Path, pd.DataFrame]], console: Console
) -> None:
    """Print all runs of a sweep in one table, and write it as sweep.csv: one row a run and agent,
    with what was varied."""
    import pandas as pd

    from experiments.report import COLUMNS, terminal_table

    everywhere = set.intersection(*(set(overrides) for overrides, _, _ in swept))
    if len(swept) == 1:
        everywhere = set()  # one run alone does not show what was to be varied
    varied = [[o for o in overrides if o not in everywhere] for overrides, _, _ in swept]
    tables = []
    drawn = terminal_table(["settings", *SWEEP_COLUMNS])
    for number, (settings, (_, folder, table)) in enumerate(zip(varied, swept, strict=True)):
        values = dict(setting.split("=", 1) for setting in settings)
        tables.append(table.assign(run=number, folder=folder.name, **values))
        for row in table.itertuples():
            drawn.add_row(" ".join(settings), *(COLUMNS[name](row) for name in SWEEP_COLUMNS))
        drawn.add_section()
    console.print(drawn)
    whole = pd.concat(tables)
    head = [name for name in whole if name not in swept[0][2]]
    path = swept[0][1].parent / "sweep.csv"
    whole.set_index(head).to_csv(path)
    console.print(f"table   {path}", soft_wrap=True, highlight=False, markup=False)


def bench_command(arguments: Sequence[str]) -> int:
    """``bench``: print each algorithm's nodes over the fixed positions, and the signature."""
    from experiments.bench import POSITIONS, bench, signature
    from experiments.report import terminal_table

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


def openings_command(arguments: Sequence[str]) -> int:
    """``openings``: make balanced openings."""
    from experiments.balanced import openings_command

    return openings_command(arguments)


def plan_command(arguments: Sequence[str]) -> int:
    """``plan``: how many pairs of games a question needs, and how long they take here."""
    from experiments.plan import run_plan

    return run_plan(arguments, make_console())


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": run_command,
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
            from agents.config import unknown

            raise unknown("command", command, COMMANDS)
        return COMMANDS[command](rest)
    except ConfigError as error:
        print(f"python -m experiments: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
