"""``python -m agents``: what there is to play with, and what it thinks of a position."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents.config import ConfigError, choices, load_evaluation
from agents.evaluation import Evaluation
from agents.solve import read_position, solve
from core.cli import Parser, whole_number
from core.compile import Address, kernel
from core.position import Position
from core.rules import RULESETS, ruleset
from core.vector import call_evaluation

_GROUPS = {
    "agents": ("agent", "agents", "agent@first=NAME, or in a line-up"),
    "evaluations": ("evaluation", "evaluations", "evaluation=NAME"),
    "lineups": ("agents", "line-ups", "agents=NAME"),
}
NEEDS_A_TARGET = "function"
TIMED_ROUNDS = 20


def announce(line: str) -> None:
    """Say on the error stream what is being compiled, so that results stay clean."""
    print(line, file=sys.stderr)


# ---------------------------------------------------------------------- list


@kernel
def _call_all(
    address: Address, movers: np.ndarray, opponents: np.ndarray, parameters: Address, rounds: int
) -> int:
    """Evaluate all positions ``rounds`` times."""
    total = 0
    for _ in range(rounds):
        for i in range(len(movers)):
            total += call_evaluation(address, movers[i], opponents[i], parameters)
    return total


def nanoseconds_a_call(evaluation: Evaluation, positions: Sequence[Position]) -> float:
    """Mean time of one call from compiled code, one core, the fastest of five measurements."""
    movers = np.array([position.mover for position in positions], dtype=np.uint64)
    opponents = np.array([position.opponent for position in positions], dtype=np.uint64)
    address, parameters = np.intp(evaluation.address), np.intp(evaluation.parameters_address)

    def seconds(rounds: int) -> float:
        started = time.perf_counter()
        _call_all(address, movers, opponents, parameters, rounds)
        return time.perf_counter() - started

    seconds(1)
    return min(seconds(TIMED_ROUNDS) for _ in range(5)) / TIMED_ROUNDS / len(positions) * 1e9


def list_choices(kinds: list[str], folders: list[str], console: Console) -> None:
    """Print names and descriptions; for our evaluations also what a call costs on this machine."""
    from agents.evaluation.function import check_positions

    for kind in kinds:
        group, title, use = _GROUPS[kind]
        table = Table.grid(padding=(0, 2))
        ours = choices(group)
        for name, description in choices(group, folders).items():
            cost = ""
            if kind == "evaluations" and name in ours and name != NEEDS_A_TARGET:
                evaluation = load_evaluation(name)
                evaluation.prepare(announce)
                cost = f"{nanoseconds_a_call(evaluation, check_positions()):.0f} ns"
            table.add_row(f"  [bold]{name}", cost, escape(description))
        note = "; with the time of a call on this machine" if kind == "evaluations" else ""
        console.print(f"[bold]{title}[/]  ({use}{note})")
        console.print(table)
        console.print()


# ---------------------------------------------------------------------- evaluate


def _worth(evaluation: Evaluation, position: Position) -> tuple[int | None, str]:
    """The value of a position to its mover and what it is made of; no value once it is over."""
    if position.is_over:
        return None, f"game over: {position.disc_difference:+d} discs"
    parts = evaluation.parts(position)
    return evaluation(position), "; ".join(f"{name} = {term:+g}" for name, term in parts.items())


def evaluate(position: Position, evaluations: dict[str, Evaluation], console: Console) -> None:
    """Print the board, and each evaluation's value of it and after each move, best move first."""
    console.print(str(position), highlight=False)
    for name, evaluation in evaluations.items():
        console.print()
        value, made_of = _worth(evaluation, position)
        table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
        table.add_column(name)
        table.add_column("value", justify="right")
        if made_of:
            table.add_column("made of")
        now = ("now", "-" if value is None else f"{value:+d}", made_of)
        table.add_row(*now[: len(table.columns)])
        table.add_section()
        rows: list[tuple[float, str, str, str]] = []
        for move in position.legal_moves():
            after = position.play(move)
            theirs, made_of = _worth(evaluation, after)
            if theirs is None:
                # A finished game counts more than any promise, and is told in discs.
                discs = -after.disc_difference
                rows.append((discs * 1e9, move, f"{discs:+d} discs", "the game is over"))
            else:
                note = f"to the opponent: {made_of}" if made_of else ""
                rows.append((-theirs, move, f"{-theirs:+d}", note))
        for _, *cells in sorted(rows, key=lambda row: -row[0]):
            table.add_row(*cells[: len(table.columns)])
        console.print(table)
    if not position.is_over:
        console.print("Values are to the side to move now; after a move, minus the opponent's.")


# ---------------------------------------------------------------------- the command line


def _parser() -> Parser:
    parser = Parser(prog="python -m agents", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    listing = commands.add_parser(
        "list",
        help="agents, evaluations and line-ups, a line each",
        description="List agents, evaluations and line-ups: what each is, and how it is chosen in "
        "python -m experiments run. Each is a YAML in conf/.",
    )
    listing.add_argument("kind", nargs="?", choices=sorted(_GROUPS), help="only these")
    listing.add_argument(
        "--config-dir", metavar="DIR", help="also list the YAMLs in DIR, a folder of your own"
    )
    judging = commands.add_parser(
        "evaluate",
        help="what heuristics think of a position, and why",
        description="Print a position and each evaluation's value of it, with the terms it is made "
        "of, now and after each legal move, best first.",
    )
    judging.add_argument("position", help='an OBF line ("---...XO... X") or a transcript (f5d6c3)')
    judging.add_argument(
        "--evaluation",
        default="all",
        metavar="NAME",
        help="one of python -m agents list evaluations, path/to/file.py:function, or all (default)",
    )
    judging.add_argument(
        "--ruleset", default="standard", metavar="NAME", help=f"one of {', '.join(RULESETS)}"
    )
    fitting = commands.add_parser(
        "fit-probcut",
        help="fit Multi-ProbCut's parameters for an evaluation",
        description="Search positions of self-played games at every depth, fit how well shallow "
        "values foretell deep ones, and write the file that an agent's setting probcut names. In "
        "conf/probcut it is found by probcut=true.",
    )
    fitting.add_argument("file", type=Path, help="the YAML to write")
    fitting.add_argument(
        "--evaluation",
        required=True,
        metavar="NAME",
        help="one of python -m agents list evaluations, or path/to/file.py:function",
    )
    fitting.add_argument("--depth", type=whole_number(3), default=10, help="deepest (default 10)")
    fitting.add_argument(
        "--positions", type=whole_number(1), default=1000, help="how many (default 1000)"
    )
    fitting.add_argument("--seed", type=whole_number(0), default=1, help="of games (default 1)")
    solving = commands.add_parser(
        "solve",
        help="exact scores of endgame positions",
        description="Solve positions exactly: the best move, its score (discs to the side to move, "
        "empty squares to the winner), the principal variation and what it cost. Of a file, each "
        "line is an OBF position; blank lines and lines that begin with % or # are skipped, and "
        "scores behind the position (X; G8:+18; H1:+12;) are checked. The exit code is 1 if one "
        "differs, 2 if a line cannot be read.",
    )
    solving.add_argument(
        "position", help="an OBF line, a transcript (f5d6c3...), or a file of OBF lines"
    )
    solving.add_argument("--all", action="store_true", help="the exact score of each legal move")
    solving.add_argument(
        "--ruleset", default="standard", metavar="NAME", help=f"one of {', '.join(RULESETS)}"
    )
    solving.add_argument(
        "--table",
        type=whole_number(1),
        default=64,
        metavar="MB",
        help="size of the transposition table (default 64)",
    )
    return parser


def _chosen(name: str, side: int) -> dict[str, Evaluation]:
    if name == "all":
        known = [known for known in choices("evaluation") if known != NEEDS_A_TARGET]
        found = {known: load_evaluation(known) for known in known}
        return {known: each for known, each in found.items() if side in each.sides}
    settings: dict[str, Any] = {}
    if ":" in name:
        name, settings = NEEDS_A_TARGET, {"target": name}
    evaluation = load_evaluation(name, **settings)
    if side not in evaluation.sides:
        raise ConfigError(f"evaluation {name} is not made for a board of {side}x{side}")
    return {settings.get("target", name): evaluation}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code, 2 for bad input (see also ``agents.solve``)."""
    options = _parser().parse_args(arguments)
    console = Console()
    commands: dict[str, Callable[[], int | None]] = {
        "list": lambda: _list(options, console),
        "evaluate": lambda: _evaluate(options, console),
        "fit-probcut": lambda: _fit_probcut(options, console),
        "solve": lambda: _solve(options, console),
    }
    try:
        code = commands[options.command]()
    except ValueError as error:
        print(f"python -m agents {options.command}: {error}", file=sys.stderr)
        return 2
    return code or 0


def _list(options: Any, console: Console) -> None:
    folders = [options.config_dir] if options.config_dir else []
    list_choices([options.kind] if options.kind else list(_GROUPS), folders, console)


def _evaluate(options: Any, console: Console) -> None:
    rules = ruleset(options.ruleset)
    position = read_position(options.position, rules.name)
    evaluations = _chosen(options.evaluation, rules.side)
    for evaluation in evaluations.values():
        evaluation.prepare(announce)
    evaluate(position, evaluations, console)


def _fit_probcut(options: Any, console: Console) -> None:
    import shlex

    from rich.progress import track

    from agents.search.window.probcut_fit import fit

    (name, evaluation), *rest = _chosen(options.evaluation, 8).items()
    if rest:
        raise ConfigError("--evaluation all: parameters are fitted for one evaluation")
    if not options.file.parent.is_dir():
        raise ConfigError(f"{options.file}: there is no folder {options.file.parent}")
    evaluation.prepare(announce)
    command = f"python -m agents fit-probcut {shlex.quote(options.file.name)} --evaluation {name}"
    for option in ("depth", "positions", "seed"):
        command += f" --{option} {getattr(options, option)}"

    def progress(positions: Sequence[Position]) -> Any:
        return track(positions, f"searching to depth {options.depth}", console=console)

    numbers = options.depth, options.positions, options.seed
    found = fit(evaluation, name, *numbers, command, progress)
    found.save(options.file)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for heading in ("depth", "check", "discs", "slope", "intercept", "sigma", "positions"):
        table.add_column(heading, justify="right")
    for check in found.checks:
        table.add_row(*(f"{each:g}" for each in astuple(check)))
    console.print(table)
    console.print(f"written to {options.file}", soft_wrap=True, highlight=False, markup=False)


def _solve(options: Any, console: Console) -> int:
    return solve(
        options.position,
        ruleset(options.ruleset),
        console,
        every=options.all,
        table_mb=options.table,
        announce=announce,
    )


if __name__ == "__main__":
    sys.exit(main())
