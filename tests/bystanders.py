"""An agent from outside the lab that keeps the contract, and to which something happens."""

from __future__ import annotations

from typing import Any

from othello_lab import Decision, Limits, Position, RandomAgent


class Remembers(RandomAgent):
    """Its moves depend on all that it was told of the game, and on how often it was asked."""

    def begin_game(self, *args: Any) -> None:
        super().begin_game(*args)
        self.observed: list[tuple[int, int]] = []

    def observe(self, move: int, position: Position) -> None:
        self.observed.append((move, position.mover))

    def decide(self, position: Position, limits: Limits) -> Decision:
        lot = int(self.rng.integers(1 << 30))
        moves = position.moves
        return Decision(moves[hash((lot, *self.observed)) % len(moves)])
