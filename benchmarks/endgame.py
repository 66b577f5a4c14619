"""Measure the speed of the endgame solver on this machine, the worth of its techniques, and with
``--threads`` how much faster several threads are than one."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from othello_lab.agents.commands.solve import Problem, read_problem
from othello_lab.agents.search.endgame.solver import EndgameSolver, Solution
from othello_lab.agents.search.endgame.sorting import ROUGH
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import RULESETS

FFO = Path(__file__).resolve().parents[1] / "tests" / "data" / "ffo"
LONGER = Path(__file__).with_name("endgames-22-26.obf")
GENERATED, EMPTIES = 20, 16
TECHNIQUES: dict[str, dict[str, Any]] = {
    "everything": {},
    "without fastest first": {"fastest_first": False},
    "without parity": {"parity": False},
    "without stability": {"stability": False},
    "without etc": {"etc": False},
    "without the sorting search": {"sorting_search": False},
    "without the trained evaluation": {"sorting": ROUGH},
}
REPEATS = 3


def read(path: Path) -> list[Problem]:
    """Read the positions of an OBF file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        read_problem(line, RULESETS["standard"])
        for line in lines
        if line.strip() and not line.startswith(("%", "#"))
    ]


def random_positions() -> list[Problem]:
    """Return positions of games of random moves, always the same ones."""
    problems = []
    for seed in range(GENERATED):
        rng = random.Random(seed)
        position = Position.start()
        while position.empties > EMPTIES:
            position = position.play(rng.choice(position.moves or (PASS,)))
        problems.append(Problem(position))
    return problems


def fastest(solver: EndgameSolver, position: Position, repeats: int) -> Solution:
    """Return the fastest of a few solvings, the least disturbed; all take the same nodes."""
    solutions = (solver.solve(position) for _ in range(repeats))
    return min(solutions, key=lambda solution: solution.seconds)


def speed(nodes: int, seconds: float) -> str:
    return f"{nodes / seconds / 1e6:.1f} M"


def print_set(
    name: str, problems: Sequence[Problem], solver: EndgameSolver, repeats: int, console: Console
) -> None:
    """Print a row for each position, and the totals."""
    table = Table(title=name, header_style="bold")
    for title in ("no", "empties", "score", "seconds", "nodes", "nodes/s"):
        table.add_column(title, justify="right")
    seconds, nodes, wrong = 0.0, 0, 0
    for number, problem in enumerate(problems, start=1):
        solution = fastest(solver, problem.position, repeats)
        seconds, nodes = seconds + solution.seconds, nodes + solution.stats.nodes
        differs = bool(problem.scores) and solution.score != max(problem.scores.values())
        wrong += differs
        table.add_row(
            str(number),
            str(problem.position.empties),
            f"{solution.score:+d}" + " wrong" * differs,
            f"{solution.seconds:.3f}",
            f"{solution.stats.nodes:,}",
            speed(solution.stats.nodes, solution.seconds),
        )
    table.add_section()
    scores = f"{wrong} wrong" if wrong else ""
    table.add_row("all", "", scores, f"{seconds:.3f}", f"{nodes:,}", speed(nodes, seconds))
    console.print(table)


def timed(solver: EndgameSolver, position: Position) -> tuple[Solution, float]:
    """Return a solution, and the processor time of all threads in seconds."""
    started = time.process_time()
    solution = solver.solve(position)
    return solution, time.process_time() - started


def print_speedup(
    name: str, problems: Sequence[Problem], table_mb: int, threads: int, console: Console
) -> None:
    """Print how much faster several threads solve each position than one, once each.

    Other programs disturb several threads more than one. So a second figure tells the speedup on
    idle processors, if all threads work all the time: threads times the processor time of one,
    divided by that of all.
    """
    one, team = EndgameSolver(table_mb), EndgameSolver(table_mb, threads=threads)
    team.prepare(console.print)
    for solver in (one, team):
        solver.solve(problems[0].position)  # the table's memory is touched for the first time
    table = Table(title=f"{threads} threads against one: {name}", header_style="bold")
    for title in ("no", "empties", "score", "M nodes", "x nodes", "s", "s all"):
        table.add_column(title, justify="right")
    for title in ("speedup", "if idle"):
        table.add_column(title, justify="right")
    rows, wrong = [], 0
    for number, problem in enumerate(problems, start=1):
        (alone, busy), (together, all_busy) = (timed(s, problem.position) for s in (one, team))
        assert together.score is not None
        differs = alone.score != together.score
        wrong += differs
        nodes, more = alone.stats.nodes, together.stats.nodes / alone.stats.nodes
        speedup, idle = alone.seconds / together.seconds, threads * busy / all_busy
        rows.append((more, alone.seconds, together.seconds, speedup, idle))
        table.add_row(
            str(number),
            str(problem.position.empties),
            f"{together.score:+d}" + " wrong" * differs,
            f"{nodes / 1e6:.1f}",
            *(f"{figure:.2f}" for figure in rows[-1]),
        )
    table.add_section()
    means = (f"{sum(column) / len(rows):.2f}" for column in zip(*rows, strict=True))
    table.add_row("mean", "", f"{wrong} wrong" if wrong else "", "", *means)
    console.print(table)


def print_techniques(
    name: str, problems: Sequence[Problem], table_mb: int, repeats: int, console: Console
) -> None:
    """Print seconds and nodes of a whole set, with each technique left out in turn.

    All solvers solve a position before the next one, so other load disturbs all alike.
    """
    solvers = {title: EndgameSolver(table_mb, **settings) for title, settings in TECHNIQUES.items()}
    seconds, nodes = dict.fromkeys(solvers, 0.0), dict.fromkeys(solvers, 0)
    for problem in problems:
        for title, solver in solvers.items():
            solution = fastest(solver, problem.position, repeats)
            seconds[title] += solution.seconds
            nodes[title] += solution.stats.nodes
    table = Table(title=f"worth of each technique: {name}", header_style="bold")
    table.add_column("solver")
    for column in ("seconds", "nodes", "times the seconds", "times the nodes"):
        table.add_column(column, justify="right")
    everything = next(iter(solvers))
    for title in solvers:
        table.add_row(
            title,
            f"{seconds[title]:.3f}",
            f"{nodes[title]:,}",
            f"{seconds[title] / seconds[everything]:.2f}",
            f"{nodes[title] / nodes[everything]:.2f}",
        )
    console.print(table)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="OBF files (default: the FFO problems)")
    parser.add_argument("--table", type=int, default=64, metavar="MB", help="transposition table")
    parser.add_argument(
        "--repeats", type=int, default=REPEATS, help="solvings of each position; the fastest counts"
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help=f"only compare so many threads with one (default positions: {LONGER.name})",
    )
    parser.add_argument("--mini6", action="store_true", help="only solve 6x6 from the start")
    options = parser.parse_args()
    console = Console()
    prepare_rules(console.print)
    solver = EndgameSolver(options.table)
    solver.prepare(console.print)
    if options.threads:
        for path in options.files or [LONGER]:
            print_speedup(path.name, read(path), options.table, options.threads, console)
        return
    if options.mini6:
        print_set("6x6", [Problem(Position.start("mini6"))], solver, 1, console)
        return
    files = options.files or sorted(FFO.glob("*.obf"))
    sets = {path.name: read(path) for path in files}
    sets[f"{GENERATED} random games, {EMPTIES} empty squares"] = random_positions()
    for name, problems in sets.items():
        print_set(name, problems, solver, options.repeats, console)
    name = next(iter(sets))
    print_techniques(name, sets[name], options.table, options.repeats, console)


if __name__ == "__main__":
    main()
