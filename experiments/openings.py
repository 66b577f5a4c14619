"""The positions that games begin from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.config import ConfigError
from core.notation import PASS, parse_square, split_transcript, square_name
from core.position import Position
from core.rules import Ruleset

_PURPOSE = 1  # keeps the openings' random numbers apart from those of the games
_TRIES = 1000


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a game begins: after some moves from the start, or at a position of its own.

    moves: made before anybody is asked, one byte each, passes included (a run may have many
        openings). Empty where ``start`` is given.
    start: the position that the game begins from; None for the start of the ruleset.
    """

    moves: bytes = b""
    start: Position | None = None

    @property
    def text(self) -> str:
        """What the record says: an OBF line, or the moves as squares, passes left out."""
        if self.start is not None:
            return self.start.to_obf()
        return "".join(square_name(move) for move in self.moves if move != PASS)

    @classmethod
    def read(cls, text: str, rules: str | Ruleset) -> Opening:
        """The opening that a record's ``text`` stands for; raises NotationError."""
        if is_obf(text):
            return cls(start=Position.from_obf(text, rules))
        position, moves = Position.start(rules), bytearray()
        for word in split_transcript(text):
            move = parse_square(word, position.ruleset.side)
            for ply in (PASS, move) if position.must_pass and move != PASS else (move,):
                position = position.play(ply)
                moves.append(ply)
        return cls(bytes(moves))

    def begin(self, rules: str | Ruleset) -> Position:
        """The position that :attr:`moves` are made from."""
        return self.start or Position.start(rules)

    def reach(self, rules: str | Ruleset) -> Position:
        """The first position in which a player is asked."""
        position = self.begin(rules)
        for move in self.moves:
            position = position.play(move)
        return position


def is_obf(text: str) -> bool:
    """Whether a line is an OBF position rather than a transcript, whose squares have digits."""
    head = text.split(";")[0].strip()
    return bool(head) and not any(letter.isdigit() for letter in head)


def random_openings(count: int, plies: int, rules: Ruleset, seed: int) -> list[Opening]:
    """``count`` openings of ``plies`` random legal plies, all distinct.

    Each ply is drawn uniformly from the legal moves. Two openings that lead to the same position,
    also up to the symmetries of the board, count as the same; games that end within the opening
    are not used. The list depends on nothing but the arguments, and a longer list begins with the
    shorter one. Raises ConfigError where so many cannot be found.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PURPOSE,)))
    openings: list[Opening] = []
    seen: set[int] = set()
    failures = 0
    while len(openings) < count:
        position, moves = Position.start(rules), bytearray()
        while len(moves) < plies and not position.is_over:
            legal = position.moves or (PASS,)
            move = legal[int(rng.integers(len(legal)))]
            moves.append(move)
            position = position.play(move)
        # One number for the position: the hash of a set of numbers costs a tenth of the positions.
        form = position.canonical()
        key = hash((form.mover, form.opponent, form.to_move.value == "black"))
        if position.is_over or key in seen:
            failures += 1
            if failures > _TRIES + 20 * len(openings):
                raise ConfigError(
                    f"games={2 * count}: only {len(openings)} distinct openings of {plies} random "
                    f"plies were found on ruleset {rules.name}; ask for at most "
                    f"games={2 * len(openings)} or change openings.plies={plies}"
                )
            continue
        seen.add(key)
        openings.append(Opening(bytes(moves)))
    return openings
