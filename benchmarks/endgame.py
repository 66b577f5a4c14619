"""Compare the endgame solver with itself: without each of its techniques, or with more threads.

python benchmarks/endgame.py [FILE ...] [--threads 2] [--table MB] [--mini6]

A row sums up the positions of OBF files (by default the FFO problems, with ``--threads`` positions
of 22 to 26 empty squares). ``othello-lab agents solve FILE`` prints a row for each position.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from othello_lab.agents.commands.shared import empty_table
from othello_lab.agents.search.endgame.solver import EndgameSolver, Solution
from othello_lab.agents.search.endgame.sorting import ROUGH
from othello_lab.core.position import Position, prepare_rules

FFO = Path(__file__).resolve().parents[1] / "tests" / "data" / "ffo"
LONGER = Path(__file__).with_name("endgames-22-26.obf")
TECHNIQUES: dict[str, dict[str, Any]] = {
    "everything": {},
    "without fastest first": {"fastest_first": False},
    "without parity": {"parity": False},
    "without stability": {"stability": False},
    "without etc": {"etc": False},
    "without the sorting search": {"sorting_search": False},
    "without the trained evaluation": {"sorting": ROUGH},
}
REPEATS = 2


def read(path: Path) -> list[Position]:
    """Read the positions of an OBF file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Position.from_obf(line) for line in lines if line and line[0] in "-XO"]


def fastest(
    solver: EndgameSolver, position: Position, repeats: int = REPEATS
) -> tuple[Solution, float]:
    """Return the fastest of a few solvings, and the processor time of all its threads."""
    solutions = []
    for _ in range(repeats):
        began = time.process_time()
        solution = solver.solve(position)
        solutions.append((solution, time.process_time() - began))
    return min(solutions, key=lambda pair: pair[0].seconds)


def compare(
    title: str, solvers: dict[str, EndgameSolver], positions: Sequence[Position], repeats: int
) -> None:
    """Print the costs of each solver, in all and as means of the ratios to the first one's.

    All solve a position before the next one, so that other programs disturb all alike; their scores
    must be equal. Other programs disturb several threads more than one. So a last figure is the
    speed on idle processors if all threads work all the time: threads times the ratio of processor
    times.
    """
    console = Console()
    costs = np.zeros((3, len(solvers), len(positions)))
    for solver in solvers.values():
        solver.prepare(console.print)
        solver.solve(positions[0])  # the table's memory is touched for the first time
    for number, position in enumerate(positions):
        scores = set()
        for row, solver in enumerate(solvers.values()):
            solution, busy = fastest(solver, position, repeats)
            costs[:, row, number] = solution.stats.nodes, solution.seconds, busy
            scores.add(solution.score)
        assert len(scores) == 1, f"scores differ: {scores}\n{position}"
    columns = ("seconds", "M nodes", "M nodes/s", "x nodes", "speedup", "if idle")
    table = empty_table("solver", *columns, left=["solver"])
    table.title = f"{title}, {len(positions)} positions"
    for row, (name, solver) in enumerate(solvers.items()):
        nodes, seconds, _ = costs[:, row].sum(axis=1)
        ratios = (costs[:, 0] / costs[:, row]).mean(axis=1)
        more = (costs[0, row] / costs[0, 0]).mean()
        figures = seconds, nodes / 1e6, nodes / seconds / 1e6, more, ratios[1]
        idle = solver.threads * ratios[2]
        table.add_row(name, *(f"{figure:,.2f}" for figure in (*figures, idle)))
    console.print(table)


def main() -> None:
    """Print a table for each file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--table", type=int, default=64, metavar="MB", help="transposition table")
    parser.add_argument("--threads", type=int, metavar="N", help="compare so many with one")
    parser.add_argument("--mini6", action="store_true", help="only solve 6x6 from the start")
    options = parser.parse_args()
    variants = TECHNIQUES
    files = options.files or sorted(FFO.glob("*.obf"))
    if options.threads:
        variants = {f"{number} threads": {"threads": number} for number in (1, options.threads)}
        files = options.files or [LONGER]
    prepare_rules()
    sets = {path.name: read(path) for path in files}
    if options.mini6:
        variants, sets = {"everything": {}}, {"6x6": [Position.start("mini6")]}
    for name, positions in sets.items():
        solvers = {key: EndgameSolver(options.table, **kind) for key, kind in variants.items()}
        repeats = 1 if options.threads or options.mini6 else REPEATS
        compare(name, solvers, positions, repeats)


if __name__ == "__main__":
    main()
