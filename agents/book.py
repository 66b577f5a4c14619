"""Opening books: positions with good moves, which any agent may play (its setting ``book``).

A book is a file of weights (:mod:`agents.learned.weights`) that ``othello-lab book`` makes by the
lab's own searches. A position stands there once for all that differ by a symmetry of the board.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.conf_folder import BOOK
from othello_lab.agents.learned.weights import ARRAYS, SHIPPED, LearnedWeights
from othello_lab.core.bitboard import symmetric_forms
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

SHIPPED_BOOK = "shipped"
"""The book that comes with the lab; ``true`` means the same."""
KIND, VERSION = "book", 1
"""Of the files, as :class:`LearnedWeights` has them."""
UNIT = 100
"""Units of value a disc."""
SIDE = 8
"""Of the board."""

Key = tuple[int, int]
"""Masks of mover and opponent, the same for all symmetric positions."""


def key_of(position: Position) -> tuple[Key, dict[int, int]]:
    """Return a position's key, and the square of each legal move as the key has it."""
    forms = list(symmetric_forms(position.mover, position.opponent, SIDE))
    best = min(range(len(forms)), key=forms.__getitem__)
    squares = {}
    for move in position.moves:
        mask, _ = list(symmetric_forms(1 << move, 0, SIDE))[best]
        squares[move] = mask.bit_length() - 1
    return forms[best], squares


class Book:
    """Positions with their good moves and the values of these.

    path: its file. positions: for each key the moves, a value in discs by square. width: discs; a
    move that is so much worse than the best is not in the book. about: the origin of the book.
    """

    def __init__(
        self,
        path: Path,
        positions: Mapping[Key, Mapping[int, float]],
        width: float,
        about: Mapping[str, Any],
    ) -> None:
        self.path, self.positions, self.width, self.about = path, positions, width, about
        self._most = max((mover | opponent).bit_count() for mover, opponent in positions)

    def __repr__(self) -> str:
        return f"Book({str(self.path)!r})"

    @classmethod
    def read(cls, name: str | Path) -> Book:
        """Read the book in a file, or the shipped one. Raises ValueError, in one line, for a file
        that is no book."""
        path = path_of(name)
        if path.suffix != ARRAYS:
            raise ValueError(
                f"book={name}: {SHIPPED_BOOK}, or a file of `othello-lab book`, is needed; its "
                f"name ends with {ARRAYS}"
            )
        if not path.is_file():
            raise ValueError(f"book={name}: there is no file {path}")
        status = path.stat()
        return _read(path, (status.st_mtime_ns, status.st_size))

    def moves(self, position: Position) -> dict[int, float]:
        """Return the book's moves in a position, the value of each in discs; none if the position
        is not in the book."""
        if position.discs > self._most or position.ruleset.side != SIDE:
            return {}
        key, squares = key_of(position)
        known = self.positions.get(key, {})
        return {move: known[square] for move, square in squares.items() if square in known}

    def draw(self, position: Position, seed: int) -> int | None:
        """Return a move drawn from the book, None if it has none there.

        A best move is drawn most often. The chance of others falls with their loss, to zero where
        that reaches ``width``. The same seed gives the same move.
        """
        moves = self.moves(position)
        if not moves:
            return None
        best = max(moves.values())
        chances = np.array([self.width - (best - value) for value in moves.values()])
        chances = np.maximum(chances, 0)
        # A generator for each position: a move does not depend on the draws before it.
        rng = np.random.default_rng([seed, position.discs])
        return int(rng.choice(list(moves), p=chances / chances.sum()))


def path_of(name: object) -> Path:
    """Return the file of a book as the setting names it."""
    if name is True or name == SHIPPED_BOOK:
        return SHIPPED / BOOK / f"{BOOK}{ARRAYS}"
    return Path(str(name)).expanduser()


@functools.lru_cache(maxsize=4)
def _read(path: Path, stamp: tuple[int, int]) -> Book:
    """Read a book, once for each state of its file (``stamp``)."""
    names = ("positions", "counts", "squares", "values")
    weights = LearnedWeights.read(path, KIND, VERSION, names)
    positions, counts, squares, values = (weights.arrays[name] for name in names)
    width: Any = weights.about.get("width")
    fits = (
        positions.dtype == np.uint64
        and positions.shape == (len(counts), 2)
        and len(counts)
        and counts.dtype == squares.dtype == np.uint8
        and values.dtype == np.int16
        and counts.min() > 0
        and squares.shape == values.shape == (counts.sum(),)
        and isinstance(width, int | float)
        and width > 0
    )
    if not fits:
        raise ValueError(f"{path}: its arrays, or its width, are not those of a book")
    ends = np.cumsum(counts, dtype=np.int64).tolist()
    moves = list(zip(squares.tolist(), (values / weights.unit).tolist(), strict=True))
    found = {
        (mover, opponent): dict(moves[end - count : end])
        for (mover, opponent), count, end in zip(
            positions.tolist(), counts.tolist(), ends, strict=True
        )
    }
    return Book(path, found, float(width), weights.about)


def write(
    path: Path,
    positions: Mapping[Key, Mapping[int, int]],
    width: float,
    about: Mapping[str, Any],
) -> Path:
    """Write a book and its YAML; return the path.

    positions: values in hundredths of a disc. width, about: as in :class:`Book`.
    """
    keys = sorted(positions)
    moves = [sorted(positions[key].items()) for key in keys]
    arrays: dict[str, np.ndarray] = {
        "positions": np.array(keys, dtype=np.uint64).reshape(-1, 2),
        "counts": np.array([len(each) for each in moves], dtype=np.uint8),
        "squares": np.array([square for each in moves for square, _ in each], dtype=np.uint8),
        "values": np.array([value for each in moves for _, value in each], dtype=np.int16),
    }
    return LearnedWeights(KIND, VERSION, UNIT, arrays, {"width": width, **about}).write(path)


# ---------------------------------------------------------------------- agents with a book


def takes_book(target: object) -> bool:
    """Return True for a class of agents with no setting ``book`` of its own."""
    return (
        isinstance(target, type)
        and issubclass(target, Agent)
        and BOOK not in inspect.signature(target).parameters
    )


def named_books(settings: Any) -> Iterator[object]:
    """Yield the books that agents in plain settings name, also agents inside agents."""
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            if key == BOOK and "_target_" in settings and value not in (None, False):
                yield value
            else:
                yield from named_books(value)
    elif isinstance(settings, list | tuple):
        for value in settings:
            yield from named_books(value)


def with_book(agent: Agent, name: object) -> Agent:
    """Return the agent, which from now on plays from this book as long as it can.

    Raises ValueError for a file that is no book, or an agent that must make every move itself.
    """
    if agent.from_start:
        raise ValueError(
            f"book={name}: {type(agent).__name__} makes every move of a game itself; it has no book"
        )
    agent.__class__ = _class_with_book(type(agent))
    agent._book = Book.read(SHIPPED_BOOK if name is True else str(name))  # type: ignore[attr-defined]
    return agent


def book_of(agent: Agent) -> Book | None:
    """Return the book of an agent, None if it has none."""
    return agent._book if isinstance(agent, _PlaysBook) else None


class _PlaysBook(Agent):
    """The part of an agent that plays from a book. Its other base is the agent's own class."""

    _book: Book

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self._book_seed = seed
        super().begin_game(color, start, seed)

    def decide(self, position: Position, limits: Limits) -> Decision:
        move = self._book.draw(position, self._book_seed)
        if move is None:
            return super().decide(position, limits)  # type: ignore[safe-super]
        return Decision(move, pv=(move,))


@functools.cache
def _class_with_book(kind: type[Agent]) -> type[Agent]:
    """Return a subclass of this name that plays from a book.

    So an agent stays all that it is: reports, hints and studies ask its search without the book.
    """
    return type(kind.__name__, (_PlaysBook, kind), {"__module__": kind.__module__})
