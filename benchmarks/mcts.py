"""Measure the playouts a second of Monte-Carlo tree search from the start, one core."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from othello_lab import MCTS, SquareWeights
from othello_lab.core.bitboard import VECTORISED
from othello_lab.core.position import Position
from othello_lab.experiments.record.provenance import machine, versions

ROUNDS = 5
RUST = "rust-reversi, random"


def ours(playouts: int, **settings: object) -> Callable[[], object]:
    """Return a search with ``playouts`` playouts, its kernels loaded and its memory touched."""
    agent = MCTS(playouts=playouts, **settings)  # type: ignore[arg-type]
    agent.prepare()
    agent.search(Position.start())
    return lambda: agent.search(Position.start())


def theirs(playouts: int) -> Callable[[], object] | None:
    """Return the same search by the PyPI package rust-reversi, if installed."""
    try:
        from rust_reversi import Board, MctsSearch
    except ImportError:
        return None
    # Its recommended exploration constant, and visits before a node is expanded.
    search = MctsSearch(playouts, 1.0, 10)
    return lambda: search.get_move(Board())


def measure(playouts: int) -> dict[str, list[float]]:
    """Return the seconds of each round of each search.

    The searches take turns, so a busy moment disturbs all.
    """
    searches = {
        "random": ours(playouts),
        "random, reward win": ours(playouts, reward="win"),
        "random, nothing proven": ours(playouts, solve=False),
        "epsilon-greedy 0.1, square weights": ours(
            playouts, rollout="greedy", evaluation=SquareWeights()
        ),
        "epsilon-greedy 0.5, square weights": ours(
            playouts, rollout="greedy", evaluation=SquareWeights(), epsilon=0.5
        ),
    }
    if other := theirs(playouts):
        searches[RUST] = other
    seconds: dict[str, list[float]] = {name: [] for name in searches}
    for _ in range(ROUNDS):
        for name, search in searches.items():
            started = time.perf_counter()
            search()
            seconds[name].append(time.perf_counter() - started)
    return seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--playouts", type=int, default=100_000)
    playouts = parser.parse_args().playouts
    seconds = measure(playouts)
    table = Table(title=f"{playouts:,} playouts from the start, {ROUNDS} rounds, one core")
    table.add_column("rollouts")
    table.add_column("playouts/s, best", justify="right")
    table.add_column("median", justify="right")
    for name, times in seconds.items():
        best, median = min(times), statistics.median(times)
        table.add_row(name, f"{playouts / best:,.0f}", f"{playouts / median:,.0f}")
    console = Console()
    console.print(table)
    if RUST not in seconds:
        console.print("rust-reversi is not installed: pip install -e '.[benchmarks]'")
    facts = {**machine(), "vector kernels": VECTORISED, **versions({})}
    console.print(", ".join(f"{key} {value}" for key, value in facts.items()), highlight=False)


if __name__ == "__main__":
    main()
