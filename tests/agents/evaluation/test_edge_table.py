"""The table of edge stability, against a slow twin written from its description."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from othello_lab.agents.evaluation import EdgeStability
from othello_lab.agents.evaluation.edge_stability import EDGES, edge_values

#
# An edge is a word of ten letters: an X-square, the eight squares from corner to corner, the other
# X-square. "m" is the mover's disc, "o" the opponent's, "." an empty square.

KINDS = ["X", "K", "C", "A", "B", "B", "A", "C", "K", "X"]
WORTH = {  # stable, semi-stable, unstable
    "K": {"stable": 700},
    "C": {"stable": 1200, "semi": 200, "unstable": -25},
    "A": {"stable": 1000, "semi": 200, "unstable": 75},
    "B": {"stable": 1000, "semi": 200, "unstable": 50},
    "X": {"semi": 0, "unstable": -2000},
}
CORNER_OF, X_OF = {0: 1, 9: 8}, {1: 0, 8: 9}
OTHER = {"m": "o", "o": "m", ".": "."}


def swapped(edge: str) -> str:
    """The edge as the opponent sees it."""
    return edge.translate(str.maketrans("mo", "om"))


def edge_of(number: int) -> str:
    """The edge with this index of the table: base 3, the first square lowest."""
    return "".join(".mo"[number // 3**digit % 3] for digit in range(10))


def value(edge: str) -> int:
    return int(edge_values()[int(edge[::-1].translate(str.maketrans(".mo", "012")), 3)])


def stability(edge: str, square: int) -> str:
    """How safe the disc on this square is."""
    kind, colour = KINDS[square], edge[square]
    if kind == "X":
        return "unstable" if edge[CORNER_OF[square]] == "." else "semi"
    if kind == "K":
        return "stable"
    row = edge[1:9]
    right = row[square - 1 :].lstrip(colour)[:1]
    left = row[:square].rstrip(colour)[-1:]
    ends = {left, right}
    if ends == {".", OTHER[colour]}:
        return "unstable"
    if ends == {"."} or (ends == {OTHER[colour]} and "." in row):
        return "semi"
    return "stable"


def static(edge: str) -> int:
    """What the discs are worth before any move is thought of."""
    total = 0
    for square, disc in enumerate(edge):
        if disc != ".":
            worth = WORTH[KINDS[square]][stability(edge, square)]
            total += worth if disc == "m" else -worth
    return total


def played(edge: str, square: int, colour: str = "m") -> str:
    """The edge after a move, with what it flips along the eight squares."""
    left, row, right = edge[0], list(edge[1:9]), edge[9]
    if square in CORNER_OF:
        return edge[:square] + colour + edge[square + 1 :]
    index = square - 1
    row[index] = colour
    for beyond in (range(index + 1, 8), range(index - 1, -1, -1)):
        run = []
        for at in beyond:
            if row[at] == colour:
                for flipped in run:
                    row[flipped] = colour
            if row[at] != OTHER[colour]:
                break
            run.append(at)
    return left + "".join(row) + right


def captures(edge: str, square: int, colour: str) -> bool:
    """Whether a move there flips anything on the edge."""
    return played(edge, square, colour) != edge[:square] + colour + edge[square + 1 :]


LIKELY = {(0, 0): 0.1, (0, 1): 0.4, (0, 2): 0.7, (1, 0): 0.05, (1, 1): 0.3, (2, 0): 0.01}
"""By the mover's and the opponent's neighbours."""


def chance(edge: str, square: int) -> float:
    """How likely it is that the mover can play there."""
    if KINDS[square] == "X":
        return 0.5
    if captures(edge, square, "m"):
        return 1.0
    if KINDS[square] == "K":
        return {"o": 0.9, ".": 0.1, "m": 0.001}[edge[X_OF[square]]]
    beside = edge[square - 1] + edge[square + 1]
    likely = LIKELY[beside.count("m"), beside.count("o")]
    return likely / 2 if captures(edge, square, "o") else likely


def combined(possible: list[tuple[float, float]]) -> int:
    """Values with their probabilities, each taken if nothing better could be."""
    value, left = 0.0, 1.0
    for worth, likely in sorted(possible, reverse=True):
        value += left * likely * worth
        left -= left * likely
    return round(value)


def twin(fewest_discs: int) -> dict[str, int]:
    """The values of all edges with at least so many discs."""
    chosen = [edge for edge in map(edge_of, range(EDGES)) if 10 - edge.count(".") >= fewest_discs]
    chosen.sort(key=lambda edge: edge.count("."))
    moves = {
        edge: [
            (swapped(played(edge, square)), chance(edge, square))
            for square in range(10)
            if edge[square] == "."
        ]
        for edge in chosen
    }
    values = {edge: static(edge) for edge in chosen}
    for _ in range(5):
        for edge in chosen:
            if 0 < edge.count(".") < 10:
                no_move = (values[edge], 1.0)
                values[edge] = combined([no_move, *((-values[e], p) for e, p in moves[edge])])
    return values


@pytest.mark.parametrize("fewest_discs", [9, pytest.param(0, marks=pytest.mark.integration)])
def test_every_edge_is_as_the_description_says(fewest_discs: int) -> None:
    values = twin(fewest_discs)
    assert len(values) == (EDGES if fewest_discs == 0 else 1024 + 10 * 512)
    wrong = {edge: (value(edge), worth) for edge, worth in values.items() if value(edge) != worth}
    assert not wrong, list(wrong.items())[:10]


VALUES = {
    # Full edges keep their static value: 2 x (700 + 1200 + 1000 + 1000), X-squares 0.
    "mmmmmmmmmm": 7800,
    "oooooooooo": -7800,
    "ommmmmmmmo": 7800,
    # A lone disc on a full edge is stable: its 1000 instead of the opponent's.
    "mooomooooo": -5800,
    # The corner captures all six between: what it was (-1500) no longer matters.
    "m.oooooomm": 7800,
    # One C-square left between own discs, probability 0.01, from 6600 to 7800:
    # 6600 -> 6612 -> 6624 (6623.88) -> 6636 (6635.76) -> 6648 (6647.64) -> 6660 (6659.52)
    "mm.mmmmmmm": 6660,
    # The same hole in the opponent's edge, 0.7: -6600 -> -5760 -> -5508 -> -5432 (-5432.4)
    # -> -5410 (-5409.6) -> -5403
    "oo.ooooooo": -5403,
    # The opponent could capture there, so 0.3 is halved; after the move -3400, before it
    # -700 + 75 - 4900 = -5525: -> -5206 -> -4935 -> -4705 -> -4509 -> -4343
    "oo.moooooo": -4343,
    "..........": 0,
}


def test_values_by_hand() -> None:
    assert {edge: value(edge) for edge in VALUES} == VALUES


def test_the_range_of_four_edges_together() -> None:
    """What it is declared to be. The corners and X-squares, which edges share, are decided in all
    ways, the rest at its best."""
    digits = np.arange(EDGES)[:, None] // 3 ** np.arange(10) % 3
    shared = digits[:, 0], digits[:, 1], digits[:, 8], digits[:, 9]
    best = np.full((3, 3, 3, 3), -(10**9))
    worst = -best
    np.maximum.at(best, shared, edge_values())
    np.minimum.at(worst, shared, edge_values())

    def totals(of: np.ndarray) -> list[int]:
        return [
            int(of[b2, a1, h1, g2] + of[b7, a8, h8, g7] + of[b2, a1, a8, b7] + of[g2, h1, h8, g7])
            for a1, h1, a8, h8, b2, g2, b7, g7 in itertools.product(range(3), repeat=8)
        ]

    declared = EdgeStability.as_features[0].largest
    assert -min(totals(worst)) < max(totals(best)) == declared
