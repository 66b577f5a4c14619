"""Blocks of finished games: columns and bytes, from compiled code into the record.

A block is a sequence of :class:`experiments.record.store.PlayedGame` for whoever wants these. The
record takes it as it is, with one statement a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from othello_lab.core.game import FAIR_ENDS, FINISHED
from othello_lab.core.recorded_games import RESULTS, SUMMED
from othello_lab.experiments.record.store import GameRow, PlayedGame, Record
from othello_lab.experiments.record.turns import TurnsRow

SCHEDULED = ("game", "pair", "black", "white", "seed")
"""The columns that a game has before it is played."""
_NUMBERS = (
    *SCHEDULED,
    *("result", "disc_difference", "black_discs", "white_discs"),
    *(f"{color}_{name}" for color in ("black", "white") for name in SUMMED),
)
_VALUES = (*_NUMBERS, "opening", "transcript")
"""Columns of ``games`` that differ from game to game; the result as a place in RESULTS."""
_POINTS = (1.0, 0.0, 0.5)
"""Black's, for each of RESULTS."""
_SAME = GameRow._field_defaults | {"end_reason": FINISHED, "detail": ""}
"""The values of all other columns."""

# Rows of a block's numbers.
_BLACK, _WHITE = SCHEDULED.index("black"), SCHEDULED.index("white")
_RESULT = len(SCHEDULED)


class GameBlock(Sequence[PlayedGame]):
    """Games that were played to their end in compiled code, whole pairs.

    numbers: int64, shape (columns, games): SCHEDULED, then the columns of
    :mod:`core.recorded_games` from RESULT on. content: the bytes of all games, as it says there.
    openings: texts of openings that are no beginning of their game's transcript, by the place of
    the game. moves: True if the bytes have the turns.
    """

    def __init__(
        self, numbers: np.ndarray, content: bytes, openings: Mapping[int, str], moves: bool
    ) -> None:
        self.numbers, self.content, self.openings, self.moves = numbers, content, openings, moves

    def __len__(self) -> int:
        return int(self.numbers.shape[1])

    def __iter__(self) -> Iterator[PlayedGame]:
        all_turns = self._turns() if self.moves else [None] * len(self)
        for values, turns in zip(self._rows(), all_turns, strict=True):
            row = dict(zip(_VALUES, values, strict=True))
            result = row["result"]
            row |= {"result": RESULTS[result], "black_points": _POINTS[result]}
            yield PlayedGame(GameRow(**_SAME | row), turns and TurnsRow(*turns))

    @overload
    def __getitem__(self, index: int) -> PlayedGame: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[PlayedGame]: ...
    def __getitem__(self, index: int | slice) -> PlayedGame | Sequence[PlayedGame]:
        return list(self)[index]

    def count_results(self) -> Counter[tuple[int, int, str]]:
        """Return the number of games of each Black, White and result."""
        columns = self.numbers[[_BLACK, _WHITE, _RESULT]].tolist()
        counts = Counter(zip(*columns, strict=True)).items()
        return Counter({(*agents, RESULTS[result]): n for (*agents, result), n in counts})

    @property
    def games(self) -> list[int]:
        """The numbers of the games."""
        return self.numbers[SCHEDULED.index("game")].tolist()

    def write(self, record: Record) -> None:
        """Add the games to a record."""
        record.write_values("games", _SQL, self._rows())
        if self.moves:
            marks = ", ".join("?" * len(TurnsRow._fields))
            record.write_values("turns", f"values ({marks})", self._turns())

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        *columns, openings, transcripts, turns, _, _ = self.numbers.tolist()
        texts, lines = [], []
        for begin, opening, end in zip([0, *turns], openings, transcripts, strict=False):
            line = self.content[begin:end].decode("ascii")
            lines.append(line)
            texts.append(line[: opening - begin])
        for number, text in self.openings.items():
            texts[number] = text
        return zip(*columns, texts, lines, strict=True)

    def _turns(self) -> Iterator[tuple[int, int, int, bytes]]:
        *_, begins, ends, first, layouts = self.numbers.tolist()
        blobs = [self.content[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return zip(self.games, first, layouts, blobs, strict=True)


def _in_sql() -> str:
    """Return the query that makes a row of ``games`` of a block's values."""
    # Values are named by a query of their own: Python 3.12 warns of numbered ones as "?1".
    given = {name: name for name in _VALUES}
    for name, values in (("result", RESULTS), ("black_points", _POINTS)):
        cases = " ".join(f"when {number} then {value!r}" for number, value in enumerate(values))
        given[name] = f"case result {cases} end"
    columns = ", ".join(given.get(name, repr(_SAME.get(name))) for name in GameRow._fields)
    return f"select {columns} from (select {', '.join(f'? as {name}' for name in _VALUES)})"


_SQL = _in_sql()


def count_results(games: Sequence[PlayedGame]) -> Iterator[tuple[int, int, str, int]]:
    """Yield each Black, White and result of games, and the number of such games."""
    if isinstance(games, GameBlock):
        counts = games.count_results()
    else:
        counts = Counter((row.black, row.white, row.result) for row, _ in games)
    return ((*key, count) for key, count in counts.items())


def count_forfeits(games: Sequence[PlayedGame]) -> int:
    """Return the number of games that were lost by a fault."""
    if isinstance(games, GameBlock):
        return 0
    return sum(row.end_reason not in FAIR_ENDS for row, _ in games)
