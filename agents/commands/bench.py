"""The signature of the searches: total nodes over fixed positions.

A refactoring of a search leaves the signature unchanged. Times are printed too, but never tested.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from othello_lab.agents.evaluation import DiscCount, Iago, SquareWeights
from othello_lab.agents.search import PVS, AlphaBeta, Minimax, MTDf, SearchAgent
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Announce

# Random games cut at 0, 8, 16, ... 48 discs after the start.
POSITIONS = (
    "",
    "e6d6c4f6g7d3c3b3",
    "e6f6f5d6d7f7e7c7e8g4g5e3g7g6c5f8",
    "f5f6e6d6e7f8g6e3c6f7d3b6d8h5f3c5b7d2a7g5g7e8h7e2",
    "d3c5f6d2c3e3b5f5f4c6f2g4c1a4d6d7g5f3a5h6e8b3a3b7h5g7e7e1b2f1g1g6",
    "c4c3e6b4a4a5a6c5d2f5g4g5c6d3f3b3a2d1g6a3e2f2f1c7c2g2f4b2f6b5a1c1d7h7b1c8e3f7e7a7",
    "c4e3f2b4b3e2f5e6d3f4d7f6g4d6b5h4f3g3g5a6c6g6h3b7h7g1c7h2a4g7c3e7f8h5b8b6c5e8g2f1"
    "a7a3d8a5f7a8a2g8",
)


@dataclass(frozen=True)
class BenchRow:
    """One algorithm's totals over :data:`POSITIONS`."""

    algorithm: str
    nodes: int
    evaluations: int
    seconds: float


def algorithms() -> dict[str, Callable[[], SearchAgent]]:
    """Return makers of the searches, each at a depth of a fraction of a second."""
    family: dict[str, Any] = dict(ordering="tt+mobility+static", table_mb=16, iterative=True)
    return {
        "minimax depth 5, square weights": lambda: Minimax(5, SquareWeights()),
        "minimax depth 5, disc count": lambda: Minimax(5, DiscCount()),
        "alpha-beta depth 8, square weights": lambda: AlphaBeta(8, SquareWeights()),
        "alpha-beta depth 8, disc count": lambda: AlphaBeta(8, DiscCount()),
        "alpha-beta depth 6, iago": lambda: AlphaBeta(6, Iago()),
        **{
            f"alpha-beta depth 7, {name}": partial(AlphaBeta, 7, SquareWeights(), ordering=name)
            for name in ("static", "sorted", "killer", "history", "mobility")
        },
        **{
            f"{name} depth 9, table": partial(kind, 9, SquareWeights(), etc=True, **family)
            for name, kind in (("alpha-beta", AlphaBeta), ("PVS", PVS), ("MTD(f)", MTDf))
        },
        "PVS depth 9, ProbCut": lambda: PVS(9, SquareWeights(), probcut=True, **family),
    }


def bench(announce: Announce | None = None) -> list[BenchRow]:
    """Search all positions with all algorithms; one row an algorithm."""
    positions = [Position.from_transcript(transcript) for transcript in POSITIONS]
    rows = []
    for name, make in algorithms().items():
        agent = make()
        agent.prepare(announce)
        started = time.perf_counter()
        decisions = [agent.search(position) for position in positions]
        seconds = time.perf_counter() - started
        nodes = sum(decision.stats.nodes for decision in decisions)
        evaluations = sum(decision.stats.evaluations for decision in decisions)
        rows.append(BenchRow(name, nodes, evaluations, seconds))
    return rows


def signature(rows: list[BenchRow]) -> int:
    """Return the total of nodes."""
    return sum(row.nodes for row in rows)
