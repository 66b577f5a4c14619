"""The positions that agents learn from: each with its score, and split by game.

A position and its mirror images are one: of the eight, the least pair *(mover, opponent)* is kept,
with the mean score of all games that reached it. A hash of a game's positions puts it into
training, validation or test. So its side is the same in all files, and two equal games are on the
same side. A position that games of several sides have reached stays in the first of these sides
only, with the scores of that side alone: no position is both learned from and measured on.

They are kept as Parquet, with their provenance in the file's metadata and in a YAML next to it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from othello_lab.core.bitboard import symmetric_forms
from othello_lab.core.system.files import read_bytes, writing
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.job import write_yaml

log = logging.getLogger("lab.training")

TRAIN, VALIDATION, TEST = 0, 1, 2
SPLITS = ("train", "validation", "test")
"""Names of the three sides, by their numbers."""
FILE = "positions.parquet"
"""The file of positions in a folder that was made by ``selfplay``."""
DOCUMENTED = "lab"
"""The key of the provenance, as JSON, in the metadata of a Parquet file."""

_COLUMNS = {
    "mover": np.uint64,
    "opponent": np.uint64,
    "score": np.float32,
    "games": np.int32,
    "exact": np.bool_,
    "game": np.int64,
    "split": np.uint8,
}
_MAGIC = b"PAR1"
_TAIL = 8  # bytes: length of the footer, magic
_ROWS = 1 << 17  # of a row group
_CHUNK = 1 << 16  # positions whose images are made at a time: what fits the processor's cache

Tell = Callable[[str], None]
"""Receives one line about what was left out."""


@dataclass(frozen=True, eq=False)
class Positions:
    """Distinct positions with their scores, as equally long arrays, in the order of their masks.

    mover, opponent: uint64 masks, the least of the eight images. score: float32, the final disc
    difference to the mover, the empty squares to the winner; the mean if several games of the split
    reached the position. games: int32, the number of these games. exact: bool, True if the score is
    that of perfect play. game: int64, the number of the first game that reached it. split: uint8,
    TRAIN, VALIDATION or TEST. side: of the board.
    """

    mover: np.ndarray
    opponent: np.ndarray
    score: np.ndarray
    games: np.ndarray
    exact: np.ndarray
    game: np.ndarray
    split: np.ndarray
    side: int = field(default=8, kw_only=True)

    def __post_init__(self) -> None:
        for name, kind in _COLUMNS.items():
            column = getattr(self, name)
            assert column.dtype == kind and column.shape == self.mover.shape, (name, column)

    def __len__(self) -> int:
        return len(self.mover)

    def __getitem__(self, rows: Any) -> Positions:
        """Return the positions of a mask, a slice, or an array of row numbers."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _COLUMNS})

    @functools.cached_property
    def empties(self) -> np.ndarray:
        """Empty squares of each position, int64."""
        discs = np.bitwise_count(self.mover | self.opponent)
        return self.side * self.side - discs.astype(np.int64)

    def part(self, split: int) -> Positions:
        """Return those of one split: TRAIN, VALIDATION or TEST."""
        return self[self.split == split]

    def stage(self, low: int, high: int) -> Positions:
        """Return those with ``low`` to ``high`` empty squares, both included."""
        return self[(self.empties >= low) & (self.empties <= high)]

    def sample(self, count: int, rng: np.random.Generator) -> Positions:
        """Return this number of them, none twice, in an order drawn by ``rng``; all if there are
        fewer."""
        return self[rng.choice(len(self), min(count, len(self)), replace=False)]

    @functools.cached_property
    def data_hash(self) -> str:
        """12 hexadecimal digits that are the same for the same positions, scores and splits."""
        digest = hashlib.sha256(str(self.side).encode())
        for name in _COLUMNS:
            digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return digest.hexdigest()[:12]

    # ------------------------------------------------------------------ made of games

    @classmethod
    def none(cls, side: int = 8) -> Positions:
        """Return no positions."""
        columns: dict[str, Any] = {name: np.zeros(0, dtype=kind) for name, kind in _COLUMNS.items()}
        return cls(**columns, side=side)

    @classmethod
    def of_games(
        cls,
        mover: np.ndarray,
        opponent: np.ndarray,
        score: np.ndarray,
        exact: np.ndarray,
        game: np.ndarray,
        *,
        validation: float = 0.1,
        test: float = 0.1,
        side: int = 8,
    ) -> Positions:
        """Return the distinct positions of games.

        mover, opponent: uint64 masks of all their positions. score: to the mover, in discs. exact:
        True if it is that of perfect play. game: the number of each position's game; those of a
        game stand together. validation, test: the shares of games on these sides.
        """
        mover, opponent = canonical(mover, opponent, side)
        first = np.flatnonzero(np.r_[len(game) > 0, game[1:] != game[:-1]])
        length = np.diff(np.r_[first, len(game)]).astype(np.int64)
        columns = {
            "mover": mover,
            "opponent": opponent,
            "score": score,
            "games": np.ones(len(mover)),
            "exact": exact,
            "game": game,
            "split": np.repeat(splits(mover, opponent, first, validation, test), length),
        }
        typed: dict[str, Any] = {
            name: np.asarray(columns[name], dtype=kind) for name, kind in _COLUMNS.items()
        }
        return cls(**typed, side=side)._distinct()

    @classmethod
    def together(cls, several: Sequence[Positions]) -> Positions:
        """The positions of several collections; the games of each are numbered on from those before
        it. Raises ValueError where they are of different boards, or none."""
        sides = {positions.side for positions in several}
        if len(sides) != 1:
            raise ValueError(f"positions of one board are needed, not of {sorted(sides)}")
        if len(several) == 1:
            return several[0]
        columns = {name: np.concatenate([getattr(p, name) for p in several]) for name in _COLUMNS}
        ends = np.cumsum([int(positions.game.max(initial=-1)) + 1 for positions in several])
        columns["game"] += np.repeat(np.r_[0, ends[:-1]], list(map(len, several)))
        return cls(**columns, side=sides.pop())._distinct()

    def _distinct(self) -> Positions:
        """One row for each position: of its first split, and of exact scores alone where there
        are any."""
        order = np.lexsort((~self.exact, self.split, self.opponent, self.mover))
        rows = self[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (rows.mover[1:] != rows.mover[:-1]) | (rows.opponent[1:] != rows.opponent[:-1])
        first = np.flatnonzero(new)
        if len(first) == len(rows):
            return rows
        head = first[np.cumsum(new) - 1]  # the first row of the same position
        meant = (rows.split == rows.split[head]) & (rows.exact == rows.exact[head])
        games = np.add.reduceat(np.where(meant, rows.games, 0), first)
        total = np.add.reduceat(np.where(meant, rows.score.astype(float) * rows.games, 0), first)
        least = np.minimum.reduceat(np.where(meant, rows.game, np.iinfo(np.int64).max), first)
        return replace(
            rows[first],
            score=(total / games).astype(np.float32),
            games=games.astype(np.int32),
            game=least,
        )

    # ------------------------------------------------------------------ files

    def write(self, path: Path, provenance: Mapping[str, Any]) -> None:
        """Write them as Parquet, with a YAML of the provenance (numbers, texts, lists and
        mappings), the number of positions and :attr:`data_hash`. Raises ConfigError."""
        needs_pyarrow()
        import pyarrow as pa
        import pyarrow.parquet as pq

        facts = {
            **provenance,
            "positions": len(self),
            "splits": dict(zip(SPLITS, np.bincount(self.split, minlength=3).tolist(), strict=True)),
            "board": self.side,
            "data_hash": self.data_hash,
        }
        table = pa.table({name: getattr(self, name) for name in _COLUMNS})
        table = table.replace_schema_metadata({DOCUMENTED: json.dumps(facts)})
        how = {"row_group_size": _ROWS, "compression": "zstd", "write_page_checksum": True}
        try:
            with writing(path, durable=True) as file:
                pq.write_table(table, file, **how)
            write_yaml(beside(path), facts)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written ({error.strerror or error})") from error

    @classmethod
    def read(
        cls,
        paths: str | Path | Iterable[str | Path],
        partly: bool = False,
        tell: Tell | None = None,
    ) -> Positions:
        """Return the positions of Parquet files, or of folders that ``selfplay`` made.

        partly: if a part of a file cannot be read, use the rest, and report the omissions to
        ``tell`` (by default the log). Raises ConfigError with the file, the byte and the expected
        content there; also if nothing is left.
        """
        needs_pyarrow()
        several = [paths] if isinstance(paths, str | Path) else list(paths)
        tell = tell or log.warning
        files = []
        for path in map(Path, several):
            try:
                files.append(_read(_file_in(path), partly, tell))
            except ConfigError as error:
                if not partly:
                    raise
                tell(f"left out: {error}")
        if not sum(map(len, files)):
            named = ", ".join(str(path) for path in several) or "no file"
            raise ConfigError(f"{named}: there are no positions to learn from")
        sides = sorted({positions.side for positions in files})
        if len(sides) > 1:
            raise ConfigError(f"positions of boards {sides}; those of one board are needed")
        return cls.together(files)


def provenance(path: str | Path) -> dict[str, Any]:
    """Return the provenance of a file of positions, or of a folder that ``selfplay`` made, from the
    file's metadata. Raises ConfigError."""
    needs_pyarrow()
    path = _file_in(Path(path))
    return _metadata(path, _opened(path))


def _file_in(path: Path) -> Path:
    return path / FILE if path.is_dir() else path


def beside(path: Path) -> Path:
    """The YAML that goes with a file of positions."""
    return path.with_suffix(".yaml")


def needs_pyarrow() -> None:
    """Raise ConfigError where positions can be neither written nor read."""
    needs("a file of positions", "pyarrow", "learn")


# ---------------------------------------------------------------------- positions and games


def canonical(mover: np.ndarray, opponent: np.ndarray, side: int = 8) -> tuple[np.ndarray, ...]:
    """Of the eight images of each position the least pair (arrays of uint64)."""
    least = np.empty_like(mover), np.empty_like(opponent)
    for begin in range(0, len(mover), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        best, other = mover[part], opponent[part]
        for a, b in symmetric_forms(mover[part], opponent[part], side):
            less = (a < best) | ((a == best) & (b < other))
            best, other = np.where(less, a, best), np.where(less, b, other)
        least[0][part], least[1][part] = best, other
    return least


def splits(
    mover: np.ndarray, opponent: np.ndarray, first: np.ndarray, validation: float, test: float
) -> np.ndarray:
    """The split of each game, uint8.

    mover, opponent: masks of canonical positions, those of a game together. first: where each game
    begins. The hash of a game is a sum over its positions, so a game and its mirror image agree.
    """
    if not len(first):
        return np.zeros(0, dtype=np.uint8)
    sums = np.add.reduceat(_mixed(mover + _mixed(opponent)), first)
    share = _mixed(sums).astype(float) / 2.0**64
    return np.select([share < test, share < test + validation], [TEST, VALIDATION], TRAIN).astype(
        np.uint8
    )


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Each number as another one that looks random (SplitMix64's finish: Steele, Lea, Flood, "Fast
    Splittable Pseudorandom Number Generators", 2014)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


# ---------------------------------------------------------------------- reading files


def _read(path: Path, partly: bool, tell: Tell) -> Positions:
    """The positions of one file; ConfigError."""
    file = _opened(path)
    side = _metadata(path, file).get("board", 8)
    groups = [Positions.none(side)]
    for number in range(file.metadata.num_row_groups):
        try:
            groups.append(Positions(**_group(path, file, number, side), side=side))
        except ConfigError as error:
            if not partly:
                raise
            tell(f"left out: {error}")
    columns = {name: np.concatenate([getattr(g, name) for g in groups]) for name in _COLUMNS}
    return Positions(**columns, side=side)


def _opened(path: Path) -> Any:
    """The Parquet file, its frame and columns checked; ConfigError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    size, tail = len(content), content[-_TAIL:]
    if not content.startswith(_MAGIC):
        raise ConfigError(
            f"{path}: byte 0: {_MAGIC.decode()}, which a Parquet file begins with, is expected"
        )
    if size < len(_MAGIC) + _TAIL or tail[4:] != _MAGIC:
        raise ConfigError(
            f"{path}: byte {max(0, size - len(_MAGIC))}: {_MAGIC.decode()}, which a Parquet file "
            f"ends with, is expected; the file is cut off, or still being written"
        )
    footer = size - _TAIL - int.from_bytes(tail[:4], "little")
    try:
        file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise ConfigError(
            f"{path}: byte {max(0, footer)}: the footer of a Parquet file is expected "
            f"({_line(error)})"
        ) from error
    for name, kind in _COLUMNS.items():
        index = file.schema_arrow.get_field_index(name)
        wanted = pa.from_numpy_dtype(kind)
        if index < 0 or file.schema_arrow.field(index).type != wanted:
            there = "missing" if index < 0 else f"of type {file.schema_arrow.field(index).type}"
            raise ConfigError(
                f"{path}: byte {footer}: column {name} of type {wanted} is expected, and it is "
                f"{there}"
            )
    return file


def _metadata(path: Path, file: Any) -> dict[str, Any]:
    try:
        facts = json.loads((file.schema_arrow.metadata or {}).get(DOCUMENTED.encode(), b"{}"))
    except ValueError as error:
        raise ConfigError(f"{path}: its metadata are no JSON ({_line(error)})") from error
    return facts if isinstance(facts, dict) else {}


def _group(path: Path, file: Any, number: int, side: int) -> dict[str, np.ndarray]:
    """The columns of a row group; ConfigError."""
    import pyarrow as pa

    group = file.metadata.row_group(number)
    chunks = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    # The first byte of each column.
    begins = {
        n: chunk.dictionary_page_offset or chunk.data_page_offset for n, chunk in chunks.items()
    }
    columns = {}
    for name, kind in _COLUMNS.items():
        try:
            column = file.read_row_group(number, columns=[name]).column(0)
            columns[name] = column.to_numpy().astype(kind, copy=False)
            if column.null_count:
                raise pa.ArrowInvalid(f"{column.null_count} values are missing")
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ConfigError(
                f"{path}: byte {begins[name]}: column {name} of {group.num_rows:,} positions (row "
                f"group {number}) is expected, {chunks[name].total_compressed_size:,} bytes "
                f"({_line(error)})"
            ) from error
    for row, why in _wrong(columns, side):
        row += sum(file.metadata.row_group(i).num_rows for i in range(number))
        why = f"row {row}: {why} (row group {number})"
        raise ConfigError(f"{path}: byte {begins['mover']}: {why}")
    return columns


def _wrong(columns: Mapping[str, np.ndarray], side: int) -> Iterator[tuple[int, str]]:
    """Yield violated rules of rows, with the first row of each."""
    mover, opponent, squares = columns["mover"], columns["opponent"], side * side
    corner = sum(((1 << side) - 1) << (8 * row) for row in range(side))
    with np.errstate(invalid="ignore"):
        rules = {
            "two masks without a common square are expected": (mover & opponent) == 0,
            f"squares of a board of {side}x{side} are expected": (
                (mover | opponent) & ~np.uint64(corner)
            )
            == 0,
            f"a score from {-squares} to {squares} is expected": np.abs(columns["score"])
            <= squares,
            "one game or more is expected": columns["games"] > 0,
            f"a split from 0 to {len(SPLITS) - 1} is expected": columns["split"] < len(SPLITS),
        }
    for why, holds in rules.items():
        if not holds.all():
            yield int(np.argmin(holds)), why


def _line(error: BaseException) -> str:
    """The message of another library in one line."""
    return " ".join(str(error).split()).rstrip(".")
