"""Measure the techniques of the search family: nodes and speed on midgame positions."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from othello_lab import PVS, AlphaBeta, MTDf, SquareWeights
from othello_lab.agents.search import WindowSearch
from othello_lab.agents.search.window.probcut_fit import sample_positions

BEST: dict[str, Any] = {
    "ordering": "tt+mobility+static",
    "table_mb": 256,
    "etc": True,
    "iterative": True,
    "step": 2,
}
SEARCHES: dict[str, tuple[type[WindowSearch], dict[str, Any]]] = {
    "alpha-beta, static": (AlphaBeta, {"ordering": "static"}),
    "alpha-beta, table": (AlphaBeta, BEST),
    "PVS, table, without etc": (PVS, BEST | {"etc": False}),
    "PVS, table, tt+static": (PVS, BEST | {"ordering": "tt+static"}),
    "PVS, table, every depth": (PVS, BEST | {"step": 1}),
    "PVS, table": (PVS, BEST),
    "MTD(f), table, every depth": (MTDf, BEST | {"step": 1}),
    "MTD(f), table": (MTDf, BEST),
}


class Row(NamedTuple):
    """A search's nodes and seconds over all positions.

    fewer: nodes of the first search divided by these nodes.
    """

    search: str
    nodes: int
    fewer: float
    seconds: float


def compare(depth: int, number: int, only: Sequence[str] = ()) -> Iterator[Row]:
    """Compare the first search and those with one of the words ``only`` in their names.

    They search ``number`` positions of 20 to 48 empties and must agree on every value.
    """
    evaluation = SquareWeights()
    games = sample_positions(AlphaBeta(2, evaluation), 8 * number, seed=1)
    positions = [position for position in games if 20 <= position.empties <= 48][:number]
    first: tuple[int, list[Any]] | None = None
    for name, (kind, settings) in SEARCHES.items():
        if only and first and not any(word in name for word in only):
            continue
        search = kind(depth, evaluation, **settings)
        search.prepare()
        search.search(positions[0], 4)
        started = time.perf_counter()
        decisions = [search.search(position) for position in positions]
        seconds = time.perf_counter() - started
        nodes = sum(decision.stats.nodes for decision in decisions)
        values = [decision.value for decision in decisions]
        first = first or (nodes, values)
        assert values == first[1], f"{name} finds other values"
        yield Row(name, nodes, first[0] / nodes, seconds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--positions", type=int, default=50)
    parser.add_argument("--only", nargs="*", default=[], help="words in the names of searches")
    options = parser.parse_args()
    title = f"depth {options.depth}, {options.positions} positions of 20 to 48 empties"
    table = Table(title=title)
    for heading in ("search", "nodes", "of the first", "seconds", "M nodes/s"):
        table.add_column(heading, justify="left" if heading == "search" else "right")
    for name, nodes, fewer, seconds in compare(options.depth, options.positions, options.only):
        speed = f"{nodes / seconds / 1e6:.1f}"
        table.add_row(name, f"{nodes:,}", f"1/{fewer:.1f}", f"{seconds:.1f}", speed)
    Console().print(table)


if __name__ == "__main__":
    main()
