"""``othello-lab book``: make an opening book by the lab's own searches.

Each position of the book is searched: the value of a move is the mean of two searches, ``depth``
and ``depth - 1`` plies from the position, since odd and even depths differ by one to two discs.
Values go back through the book by minimax.

The next positions to search are those that the fewest discs lead to: what both sides lose on the
way by their moves, and a part of a disc for each ply. The book's side loses less than ``width``
discs by a move, the other side less than ``replies``. This is the drop-out expansion of T. Lincke,
*Strategies for the Automatic Construction of Opening Books* (2000), with different bounds for the
two sides.

Every search is on disk as soon as it has ended. The same command continues an interrupted book, and
the file is the same as without the interruption.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
from rich.console import Console

from othello_lab.agents.book import UNIT, Key, key_of, write
from othello_lab.agents.config import (
    ConfigError,
    build_agent,
    evaluation_settings,
    fill_open,
    load,
    one_line,
)
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.agents.external_agent import is_outside
from othello_lab.agents.learned.weights import ABOUT, ARRAYS
from othello_lab.agents.search import SearchAgent
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import RULESETS, Color
from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.processes import available_cores, begin_pool_worker
from othello_lab.core.system.settings import Number, Whole, check_settings
from othello_lab.experiments.jobs.job import progress_of
from othello_lab.experiments.jobs.stopping import RunStopped
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.provenance import differences, versions

_EVALUATION = "patterns"
_PLY = 0.5
"""Discs that stand for a ply when the next positions are chosen. More makes a shorter, broader
book."""
_ROUND = 8, 10
"""The positions of a round: at least so many, or one for so many that are known."""
_KEPT = "The searches so far are kept; the same command continues."
_START = Position.start()
_ROOT, _ = key_of(_START)
_RULES = RULESETS["standard"]


@dataclass(frozen=True)
class BookRecipe:
    """The options of a book; it follows from these alone."""

    agent: Annotated[
        str, f"search that values moves; with {_EVALUATION} if it leaves its evaluation open"
    ] = "champion"
    depth: Annotated[int, Whole(3, MAX_DEPTH), "plies of the deeper of the two searches"] = 16
    positions: Annotated[int, Whole(1), "how many positions to search"] = 5000
    plies: Annotated[int, Whole(1, 40), "no position after more plies"] = 24
    width: Annotated[
        float, Number(above=0), "discs; a move that loses so many is not in the book"
    ] = 1.0
    replies: Annotated[
        float, Number(above=0), "discs that moves of the other side may lose to be looked at"
    ] = 3.0

    def check(self) -> None:
        """Raise ConfigError, in the words of the command line, if it cannot be followed."""
        try:
            check_settings(self, "--")
        except ValueError as error:
            raise ConfigError(str(error)) from None


@dataclass(frozen=True)
class BookMove:
    """A move of a position in the book. after: the key of the position after it, its mover the
    opponent. ends: True if the game is over there or the opponent must pass. value: of the search,
    to the mover, in hundredths of a disc."""

    square: int
    after: Key
    ends: bool
    value: int


Searched = dict[Key, list[BookMove]]


def _position(key: Key) -> Position:
    return Position(*key, Color.BLACK, _RULES)


def _discs(key: Key) -> int:
    return (key[0] | key[1]).bit_count()


# ---------------------------------------------------------------------- searching


class MoveSearcher:
    """The work of a worker process on one position. Raises ConfigError for an agent that cannot do
    it."""

    def __init__(self, recipe: BookRecipe) -> None:
        evaluation = evaluation_settings(_EVALUATION)
        settings = {"agent": load("agent", recipe.agent)}
        filled, _ = fill_open(settings, depth=recipe.depth, evaluation=evaluation)
        agent = build_agent(filled["agent"], recipe.agent)
        if not isinstance(agent, SearchAgent) or is_outside(agent):
            raise ConfigError(f"--agent={recipe.agent}: a search of the lab is needed")
        if agent.evaluation.per_disc is None:
            raise ConfigError(
                f"--agent={recipe.agent}: its evaluation {agent.evaluation.name} does not count "
                "discs"
            )
        self._agent, self._per_disc, self._depth = agent, agent.evaluation.per_disc, recipe.depth

    def prepare(self, console: Console) -> None:
        def announce(line: str) -> None:
            console.print(plain(line))

        prepare_rules(announce)
        self._agent.prepare(announce)

    def values(self, key: Key) -> dict[int, int]:
        """Return the value of each legal move in hundredths of a disc."""
        position = _position(key)
        after = {move: position.play(move) for move in position.moves}
        totals = dict.fromkeys(after, 0.0)
        keep = False
        # All moves at one depth before the next, so that the table holds no deeper search of the
        # other parity.
        for plies in (self._depth - 2, self._depth - 1):
            for move, reply in after.items():
                totals[move] -= self._value(reply, plies, keep) / 2
                keep = True
        return {move: round(UNIT * total) for move, total in totals.items()}

    def _value(self, position: Position, plies: int, keep: bool) -> float:
        if position.is_over:
            return float(position.disc_difference)
        value = self._agent.search(position, plies, keep=keep).value
        assert value is not None  # nothing limits the search
        return value / (FINAL_UNIT if abs(value) >= FINAL_UNIT else self._per_disc)


_searcher: MoveSearcher  # of this worker process


def _start_worker(searcher: MoveSearcher, parent: int) -> None:
    global _searcher
    _searcher = searcher
    begin_pool_worker(parent)


def _values(key: Key) -> tuple[Key, dict[int, int]]:
    return key, _searcher.values(key)


def _moves_of(key: Key, values: Mapping[int, int]) -> list[BookMove]:
    """Return the moves of a position, one for each group of symmetric results."""
    position = _position(key)
    moves: dict[Key, BookMove] = {}
    for move in position.moves:
        after = position.play(move)
        reached, _ = key_of(after)
        moves.setdefault(reached, BookMove(move, reached, not after.moves, values[move]))
    return list(moves.values())


# ---------------------------------------------------------------------- the tree


def backed_up(searched: Searched) -> dict[Key, dict[int, int]]:
    """Return the values of all moves, by position and square, by minimax through the book."""
    values: dict[Key, dict[int, int]] = {}
    for key in sorted(searched, key=_discs, reverse=True):
        values[key] = {
            move.square: -max(values[move.after].values()) if move.after in values else move.value
            for move in searched[key]
        }
    return values


def next_positions(searched: Searched, recipe: BookRecipe) -> list[Key]:
    """Return the positions to search in the next round, at the lowest loss first."""
    if not searched:
        return [_ROOT]
    values = backed_up(searched)
    bounds = round(UNIT * recipe.width), round(UNIT * recipe.replies)
    costs: dict[tuple[Key, int], int] = {(_ROOT, 0): 0, (_ROOT, 1): 0}  # 0: the book is to move
    waiting: dict[Key, int] = {}
    for key in sorted(searched, key=lambda each: (_discs(each), each)):
        best = max(values[key].values())
        for turn, bound in enumerate(bounds):
            cost = costs.get((key, turn))
            if cost is None:
                continue
            for move in searched[key]:
                loss = best - values[key][move.square]
                if move.ends or loss >= bound or _discs(key) - _START.discs >= recipe.plies:
                    continue
                reached, total = (move.after, 1 - turn), cost + loss + round(UNIT * _PLY)
                costs[reached] = min(total, costs.get(reached, total))
                if move.after not in searched:
                    waiting[move.after] = min(total, waiting.get(move.after, total))
    least, share = _ROUND
    number = min(max(least, len(searched) // share), recipe.positions - len(searched))
    return sorted(waiting, key=lambda key: (waiting[key], key))[:number]


def good_moves(searched: Searched, width: float) -> dict[Key, dict[int, int]]:
    """Return each position's moves that lose less than ``width`` discs."""
    return {
        key: {
            square: value
            for square, value in moves.items()
            if max(moves.values()) - value < UNIT * width
        }
        for key, moves in backed_up(searched).items()
    }


# ---------------------------------------------------------------------- the log of searches


class SearchLog:
    """The file of all searches so far, a line each; the first line has their origin.

    values: of the moves of each position, in hundredths of a disc. origin: agent, depth, versions,
    and the date of the first search. changed: versions that have changed since then. A last line
    that was cut off is dropped.
    """

    def __init__(self, path: Path, origin: Mapping[str, Any], force: bool = False) -> None:
        """origin: of the searches from now on. force: accept others of other versions. Raises
        ConfigError for a log of other searches."""
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        try:
            lines = [json.loads(line) for line in whole.splitlines()]
            self.origin = lines[0] if lines else dict(origin)
            self.values = dict(map(_values_in, lines[1:]))
            self.changed = differences(self.origin["versions"], origin["versions"])
            others = [
                f"{key} {self.origin[key]} -> {origin[key]}"
                for key in ("agent", "depth")
                if self.origin[key] != origin[key]
            ]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"{path}: no log of searches for a book ({error!r:.100})") from None
        if others:
            raise ConfigError(f"{path}: has other searches ({'; '.join(others)}); delete it")
        if self.changed and not force:
            raise ConfigError(
                f"{path}: changed since its first searches: {'; '.join(self.changed)}; delete it "
                "to begin again, or --force to mix both"
            )
        self._stream = path.open("r+b")
        self._stream.truncate(len(whole))
        self._stream.seek(len(whole))
        if not lines:
            self._write(origin)

    def add(self, key: Key, values: Mapping[int, int]) -> None:
        """Append the values of a position's moves."""
        self.values[key] = dict(values)
        self._write({"position": key, "values": values})

    def close(self) -> None:
        self._stream.close()

    def _write(self, content: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(content).encode() + b"\n")
        self._stream.flush()


def _values_in(line: Mapping[str, Any]) -> tuple[Key, dict[int, int]]:
    """Return a position and the values of its moves, as a line of the log has them."""
    mover, opponent = line["position"]
    values = {int(square): int(value) for square, value in line["values"].items()}
    if values.keys() != set(_position((mover, opponent)).moves):
        raise ValueError(f"not the moves of {mover}, {opponent}")
    return (mover, opponent), values


# ---------------------------------------------------------------------- making it


def log_of(path: Path) -> Path:
    """Return the file of the searches for a book."""
    return path.with_suffix(".searches")


def make(
    recipe: BookRecipe,
    path: Path,
    workers: int,
    command: str,
    console: Console,
    force: bool = False,
) -> Searched:
    """Make a book, or go on with it; return its searches. Raises ConfigError.

    workers: processes. command: the one typed. force: go on with searches of other versions.
    """
    recipe.check()
    searcher = MoveSearcher(recipe)
    searcher.prepare(console)
    begun = date.today().isoformat()
    origin = {
        "agent": recipe.agent,
        "depth": recipe.depth,
        "begun": begun,
        "versions": versions({}),
    }
    log_of(path).touch()
    with (
        locked(log_of(path)),
        closing(SearchLog(log_of(path), origin, force)) as log,
        # The workers are forked from this process, so compiled kernels are there.
        ProcessPoolExecutor(
            workers, multiprocessing.get_context("fork"), _start_worker, (searcher, os.getpid())
        ) as pool,
    ):
        try:
            searched = _search(recipe, log, pool, console)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        about = {
            "command": command,
            "begun": log.origin["begun"],
            "searched": len(searched),
            "start": max(backed_up(searched)[_ROOT].values()) / UNIT,
            "settings": asdict(recipe),
            "versions": log.origin["versions"],
            **({"changed": log.changed} if log.changed else {}),
        }
        write(path, good_moves(searched, recipe.width), recipe.width, about)
    return searched


def _search(recipe: BookRecipe, log: SearchLog, pool: Executor, console: Console) -> Searched:
    """Search round after round, and return all that belongs to the book."""
    searched: Searched = {}
    with progress_of(console, "positions") as progress:
        bar = progress.add_task("book", total=recipe.positions)
        while batch := next_positions(searched, recipe):
            missing = [key for key in batch if key not in log.values]
            progress.advance(bar, len(batch) - len(missing))
            # The order of the log does not matter.
            for future in as_completed([pool.submit(_values, key) for key in missing]):
                log.add(*future.result())
                progress.advance(bar)
            searched |= {key: _moves_of(key, log.values[key]) for key in batch}
    return searched


def _parser() -> Parser:
    parser = Parser(
        prog="othello-lab book",
        description="Make an opening book by the lab's own searches, for any agent (first.book=FILE"
        ".npz). Searches stay in FILE.searches: the same command continues an interrupted book, "
        "and one with more positions makes only the new searches.",
    )
    parser.add_argument("file", type=Path, help=f"the book, a name that ends with {ARRAYS}")
    kinds = {str: ("NAME", str), int: ("N", whole_number(0)), float: ("DISCS", float)}
    for name, hint in get_type_hints(BookRecipe, include_extras=True).items():
        default = getattr(BookRecipe, name)
        metavar, kind = kinds[type(default)]
        words = f"{hint.__metadata__[-1]} (default {default})"
        parser.add_argument(f"--{name}", type=kind, default=default, metavar=metavar, help=words)
    parser.add_argument(
        "--force", action="store_true", help="go on with searches that other versions made"
    )
    parser.add_argument("--workers", type=whole_number(1), help="processes (default: all cores)")
    return parser


def book_command(arguments: Sequence[str]) -> int:
    """``book FILE``: make an opening book."""
    options = _parser().parse_args(list(arguments))
    recipe = BookRecipe(**{each.name: getattr(options, each.name) for each in fields(BookRecipe)})
    path, console = options.file, make_console()
    if path.suffix != ARRAYS or path.is_dir() or not path.parent.is_dir():
        raise ConfigError(f"{path}: a file that can be written is needed, with the end {ARRAYS}")
    words = [word for name, value in asdict(recipe).items() for word in (f"--{name}", str(value))]
    command = as_typed(["book", path.name, *words])
    try:
        workers = options.workers or available_cores()
        searched = make(recipe, path, workers, command, console, options.force)
    except KeyboardInterrupt:
        console.print(_KEPT)
        raise
    except BrokenExecutor as error:
        raise RunStopped(f"{one_line(error)} {_KEPT}") from error
    for line in summary(searched, recipe):
        console.print(plain(line), soft_wrap=True)
    console.print(
        plain(f"written to {path}, and how it was made to {path.with_suffix(ABOUT)}"),
        soft_wrap=True,
    )
    return 0


def summary(searched: Searched, recipe: BookRecipe) -> Iterator[str]:
    """Yield the content of a book, in words."""
    values, plies = backed_up(searched), [_discs(key) - _START.discs for key in searched]
    kept = good_moves(searched, recipe.width)
    moves = sum(len(each) for each in kept.values())
    missing = recipe.positions - len(searched)
    yield (
        f"{len(searched):,} positions of up to {max(plies)} plies, half of them of at least "
        f"{int(np.median(plies))}, with {moves / len(kept):.1f} moves each; the start is worth "
        f"{max(values[_ROOT].values()) / UNIT:+.2f} discs to Black"
    )
    if missing > 0:
        bounds = "--plies, --width and --replies"
        yield f"no more positions are within {bounds}; {missing:,} fewer than asked"
