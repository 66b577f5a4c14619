"""The turns of games in a record: written game by game, read for many games at once."""

from __future__ import annotations

import json
import struct
from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from othello_lab.core.notation import PASS
from othello_lab.core.turn_layouts import (
    COLUMNS,
    COUNTER_NAMES,
    DECIDED,
    DEEP,
    FLOAT,
    LATE,
    LAYOUTS,
    VALUED,
    WHITE,
    pack,
)
from othello_lab.core.whole_games import MOST_TURNS
from othello_lab.experiments.statistics.pairs import BoolArray, IntArray

COUNTS = COUNTER_NAMES
"""The columns of moves that say what a decision cost, as :class:`core.game.SearchStats` has
them."""

TIMES = ("nanoseconds", "cpu_nanoseconds", "waited_nanoseconds", "late")
"""The columns of moves that say how long it took, as :class:`core.game.Ply` has them."""

MOVE_COLUMNS = (
    *("game", "ply", "agent", "square", "value", "depth"),
    *(*TIMES[:2], *COUNTS, *TIMES[2:]),
)
MOVE_MEANINGS = {
    "game": "Number of the game.",
    "ply": "Number of the turn from 1 at the start of the game, opening and passes included.",
    "agent": "The mover, by its number; in DataFrames and exports by its name.",
    "square": "a1 = 0, b1 = 1, ... h8 = 63 (8 to a row on every board); 64 is a pass.",
    "value": "The worth of the move to the mover, in its evaluation's units. A finished game is "
    "its disc difference times 2^24, or with `final: win` that one's sign.",
    "depth": "Plies searched.",
    "nanoseconds": "Wall time of the decision. In compiled games it includes making the move "
    "before, some 15 ns.",
    "cpu_nanoseconds": "The part of that time in which the agent's process had the processor. In "
    "compiled games it is measured from 50 microseconds on, and below taken to be all.",
    "waited_nanoseconds": "The part of the wall time that is not the agent's, as its process stood "
    "ready but was not run, or everything was stopped. Measured where time is limited.",
    "late": "0: in time. 1: late by the wall clock alone; the move stands. 2: too late; the move "
    "lost the game and was not made.",
}
"""The meanings of the columns of moves that are no counts; SearchStats explains those."""
_made: Any = namedtuple  # mypy wants its fields written out; they are those of SearchStats
MoveRow = _made("MoveRow", MOVE_COLUMNS, defaults=[None] * (len(MOVE_COLUMNS) - 4))
"""One turn of a game. Of a forced pass, which is nobody's decision, only the first four are set."""

LAYOUTS_TEXT = json.dumps(
    [{name: layout[name].str for name in layout.names or ()} for layout in LAYOUTS]
)
"""All layouts as a record describes them: the types of their columns, as numpy writes them."""


class TurnsRow(NamedTuple):
    """The turns of a game, which :class:`Turns` reads. first: ply of the first one; the others
    follow one by one. layout: a place in :data:`core.turn_layouts.LAYOUTS`."""

    game: int
    first: int
    layout: int
    turns: bytes


def written(game: int, black: int, turns: Sequence[Any]) -> TurnsRow:
    """Return the turns of a game as a record keeps them.

    black: the agent with Black, by number. turns: MoveRows of consecutive plies.
    """
    numbers = [_as_numbers(turn, black) for turn in turns]
    rows = np.array(numbers, dtype=np.int64).reshape(-1, len(COLUMNS))
    return TurnsRow(game, turns[0].ply if turns else 1, *pack(rows))


def _as_numbers(turn: Any, black: int) -> list[int]:
    value = turn.value
    flags = DECIDED * (turn.nodes is not None) | VALUED * (value is not None)
    flags |= DEEP * (turn.depth is not None) | LATE * (turn.late or 0)
    if type(value) is float:
        flags |= FLOAT
        (value,) = struct.unpack("<q", struct.pack("<d", value))
    flags |= WHITE * (turn.agent != black)
    numbers = turn._asdict() | {"flags": flags, "value": value}
    return [numbers[name] or 0 for name in COLUMNS]


READ = "select game, first, layout, turns, black, white from turns join games using (game)"
"""The query of the rows that :class:`Turns` reads."""
_UNREADABLE = "game {}: its turns cannot be read"


class Turns:
    """The turns of some games, in columns of shape (turns,).

    black: True if the turn was Black's. decided: False for forced passes, and for the turns of a
    game in which an agent hung or died.
    """

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        """rows: of :data:`READ`. Raises ValueError if they cannot be read."""
        rows = list(rows)
        lengths = np.array([_length(*row[:4]) for row in rows], dtype=np.int64)
        numbers = np.array([(*row[:3], *row[4:]) for row in rows], dtype=np.int64).reshape(-1, 5)
        game, first, layouts, black, white = np.repeat(numbers, lengths, axis=0).T
        begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
        self._made = {"game": game, "ply": first + np.arange(len(first)) - begins}
        self._parts = []  # of each layout, the places of its turns among all, and these turns
        for layout in np.unique(layouts).tolist():
            joined = b"".join(row[3] for row in rows if row[2] == layout)
            self._parts.append((layouts == layout, np.frombuffer(joined, LAYOUTS[layout])))
        self._flags = flags = self.column("flags")
        self.black, self.decided = flags & WHITE == 0, flags & DECIDED != 0
        self._made |= {"agent": np.where(self.black, black, white), "late": flags // LATE & 3}
        wrong = (flags < 0) | (self.column("square") < 0) | (self.column("square") > PASS)
        wrong |= ~np.isfinite(self.column("value").view(np.float64)) & (flags & FLOAT != 0)
        if wrong.any():
            raise ValueError(_UNREADABLE.format(game[np.argmax(wrong)]))

    def column(self, name: str) -> IntArray:
        """Return one of MOVE_COLUMNS; 0 where it is not known. Of values these are the bits."""
        if name in self._made:
            return self._made[name]
        numbers = np.zeros(len(self._made["game"]), dtype=np.int64)
        for where, part in self._parts:
            if name in (part.dtype.names or ()):
                numbers[where] = part[name]
        return numbers

    def known(self, name: str) -> BoolArray:
        """Return True for each turn that has one of MOVE_COLUMNS beyond the square."""
        return self._flags & {"value": VALUED, "depth": DEEP}.get(name, DECIDED) != 0

    def objects(self, name: str) -> Any:
        """Return one of MOVE_COLUMNS as Python's numbers, None where it is not known."""
        numbers = self.column(name)
        objects = numbers.astype(object)
        if name == "value":
            floats = self._flags & FLOAT != 0
            objects[floats] = numbers.view(np.float64)[floats]
        if name not in MOVE_COLUMNS[:4]:
            objects[~self.known(name)] = None
        return objects

    def rows(self) -> list[Any]:
        """Return the turns as MoveRows."""
        return list(map(MoveRow, *(self.objects(name).tolist() for name in MOVE_COLUMNS)))


def _length(game: int, first: Any, layout: Any, turns: Any) -> int:
    """Return the number of a game's turns; ValueError if its row cannot be read."""
    if list(map(type, (first, layout, turns))) == [int, int, bytes] and 0 <= layout < len(LAYOUTS):
        length, rest = divmod(len(turns), LAYOUTS[layout].itemsize)
        if not rest and length <= MOST_TURNS and 0 < first <= MOST_TURNS + 1:
            return length
    raise ValueError(_UNREADABLE.format(game))
