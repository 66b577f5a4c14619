"""Measure the speed of the lab on this machine: kernels, search, and the whole pipeline."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from othello_lab import AlphaBeta, SquareWeights
from othello_lab.agents.commands.listing import nanoseconds_a_call
from othello_lab.agents.composing import NEEDS_A_TARGET, choices
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import FunctionEvaluation, Iago
from othello_lab.agents.evaluation.function import check_positions
from othello_lab.agents.evaluation.square_weights import CORNER_TO_CENTRE, full_board
from othello_lab.core.bitboard import VECTORISED
from othello_lab.core.perft import perft
from othello_lab.core.position import Position
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.record.provenance import machine, versions
from othello_lab.experiments.record.store import Record

REPEATS = 5
DEPTH = 12


def best_of(work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of a few runs, the least disturbed by other processes."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def rust_reversi_seconds() -> float | None:
    """Return the seconds of the same search by the PyPI package rust-reversi, if installed."""
    try:
        from rust_reversi import AlphaBetaSearch, Board, MatrixEvaluator
    except ImportError:
        return None
    matrix = full_board(CORNER_TO_CENTRE).tolist()
    search = AlphaBetaSearch(MatrixEvaluator(matrix), DEPTH, 1 << 30)
    return best_of(lambda: search.get_move(Board()))


def evaluation_rows() -> list[tuple[str, str]]:
    """Measure each heuristic's nanoseconds a call, and alpha-beta with a costly one.

    A call is the mean over 10,000 fixed positions; alpha-beta is measured in nodes a second.
    """
    positions = check_positions(10_000)
    rows = []
    for name in choices("evaluation"):
        if name != NEEDS_A_TARGET:
            evaluation = load_evaluation(name)
            evaluation.prepare()
            cost = nanoseconds_a_call(evaluation, positions)
            rows.append((f"evaluation {name}, a call", f"{cost:.1f} ns"))
    function = FunctionEvaluation(f"{Path(__file__).with_name('own_heuristic.py')}:freedom")
    cost = nanoseconds_a_call(function, positions)
    rows.append(("  a user's function with mobility's body, a call", f"{cost:.1f} ns"))
    search = AlphaBeta(10, Iago())
    search.prepare()
    nodes = search.search(Position.start()).stats.nodes
    seconds = best_of(lambda: search.search(Position.start()))
    rows.append(("alpha-beta depth 10, iago", f"{nodes / seconds / 1e6:,.1f} M nodes/s"))
    return rows


def kernel_rows() -> Iterator[tuple[str, str]]:
    """Measure perft, alpha-beta and heuristics, on one core."""
    start, alphabeta = Position.start(), AlphaBeta(DEPTH, SquareWeights())
    alphabeta.prepare()
    perft(start, 8)
    leaves = perft(start, 11) / best_of(lambda: perft(start, 11))
    yield "perft(11), one core", f"{leaves / 1e6:,.0f} M leaves/s"
    nodes = alphabeta.search(start).stats.nodes
    seconds = best_of(lambda: alphabeta.search(start))
    what = f"alpha-beta with square weights, depth {DEPTH} from the start, moves a1 to h8"
    yield what, f"{seconds:.3f} s, {nodes / seconds / 1e6:.1f} M nodes/s"
    if (theirs := rust_reversi_seconds()) is not None:
        yield "the same question to rust-reversi (the move alone)", f"{theirs:.3f} s"
    yield from evaluation_rows()


def whole_run(overrides: list[str]) -> tuple[float, int]:
    """Run a line-up as a user does, in a process of its own.

    Returns games a second while playing, record written, and the driver's largest memory in MiB,
    with report and figures.
    """
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.run(
            [sys.executable, __file__, "--child", f"results={folder}", *overrides],
            check=True,
            capture_output=True,
            text=True,
        )
    speed, memory = child.stdout.split()[-2:]
    return float(speed), int(memory)


def child(overrides: list[str]) -> None:
    """Play a configured run, and print games a second and this process's peak memory."""
    plan = read(overrides)
    result = run(plan, "benchmark", Console(quiet=True))
    with Record.open(result.folder) as record:
        facts = record.query("select count(*) as games, wall_seconds as seconds from games, run")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    speed = facts["games"].iloc[0] / facts["seconds"].iloc[0]
    print(speed, peak // (1024 if sys.platform == "linux" else 1024**2))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="store_true", help="also 1,000 against 20,000 games")
    parser.add_argument("--child", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        child(options.child)
        return
    rows = list(kernel_rows())
    mirror = ["agents=ab_mirror", "depth=4", "games=4000"]
    duel = ["agents=duel", "agent@first=random", "agent@second=greedy"]
    rows.append(("ab_mirror depth 4, all cores", f"{whole_run(mirror)[0]:,.0f} games/s"))
    rows.append(
        ("random - greedy, all cores", f"{whole_run([*duel, 'games=8000'])[0]:,.0f} games/s")
    )
    if options.memory:
        for games in (1000, 20_000):
            memory = whole_run([*duel, f"games={games}"])[1]
            rows.append((f"driver's peak memory, {games:,} games", f"{memory} MiB"))
    table = Table(title="speed", header_style="bold")
    table.add_column("what")
    table.add_column("on this machine", justify="right")
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.print(table)
    facts = {**machine(), "vector kernels": VECTORISED, **versions({})}
    console.print(", ".join(f"{key} {value}" for key, value in facts.items()), highlight=False)


if __name__ == "__main__":
    main()
