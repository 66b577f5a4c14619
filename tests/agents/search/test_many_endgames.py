"""Many endgames solved in one go."""

from __future__ import annotations

import numpy as np
import pytest
from boards import played_out

from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position


@pytest.fixture(scope="module")
def solver() -> EndgameSolver:
    return EndgameSolver(table_mb=1)


def endgames(rules: str, empties: int, count: int) -> list[Position]:
    """Positions of random games, and where they are over before, their ends."""
    found = []
    for seed in range(count):
        *turns, (last, move) = played_out(rules, seed)
        late = (each for each, _ in [*turns, (last, move)] if each.empties == empties)
        found.append(next(late, last.play(move)))
    return found


@pytest.mark.parametrize(
    ("rules", "empties"),
    [
        pytest.param("standard", 9, marks=pytest.mark.nightly),
        ("standard", 4),
        ("mini4", 8),
        ("mini6", 7),
    ],
)
def test_they_are_those_of_one_after_another(
    solver: EndgameSolver, rules: str, empties: int
) -> None:
    """And what follows is perfect play."""
    positions = endgames(rules, empties, 8)
    mover, opponent = (
        np.array([getattr(each, name) for each in positions], dtype=np.uint64)
        for name in ("mover", "opponent")
    )
    scores, lines = solver.scores(mover, opponent, positions[0].ruleset, lines=True)
    assert scores.tolist() == [solver.solve(each).score for each in positions]
    alone, none = solver.scores(mover, opponent, positions[0].ruleset)
    assert alone.tolist() == scores.tolist() and not len(none.mover)
    rows = iter(zip(*(column.tolist() for column in lines), strict=True))
    for number, position in enumerate(positions):
        own = lines.line == number
        there = set(zip(lines.mover[own], lines.opponent[own], strict=True))
        first, score = position.to_move, int(scores[number])
        while not position.is_over:
            worth = score if position.to_move is first else -score
            turn = int(position.to_move is not first)
            ahead = next(rows)
            assert ahead == (position.mover, position.opponent, worth, turn, number)
            after = [position.play(move) for move in position.moves or (PASS,)]
            best = [each for each in after if solver.solve(each).score == -worth]
            assert best
            position = next(each for each in best if each.is_over or each.masks in there)
        assert position.disc_difference == (score if position.to_move is first else -score)
    assert next(rows, None) is None
