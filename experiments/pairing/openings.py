"""The positions that games begin from."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, reduce
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np

from othello_lab.core.bitboard import symmetric_forms
from othello_lab.core.lines import LineDrawer, follow_line
from othello_lab.core.notation import PASS, NotationError, is_obf, split_transcript, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.files import MOST_DATA, open_file, read_text
from othello_lab.core.system.settings import ConfigError, Nameable, Switch, Whole, check_settings
from othello_lab.experiments.pairing.game_archives import ArchivedGame, Refusals, games_in

BALANCED = Path(__file__).parent / "data" / "balanced_8.txt"
"""The balanced openings that come with the project; the YAML beside it tells how they were made
(see :mod:`experiments.pairing.balanced`)."""
ENUMERABLE = 100_000
"""Distinct positions of one ply up to which all of them are listed; a few seconds."""

_PURPOSE = 1  # keeps the openings' random numbers apart from those of the games
_TRIES = 1000
_FIRST_LINES, _MORE_LINES = 256, 4096  # drawn at a time
_COMMENTS = ("#", "%")
log = logging.getLogger("lab.openings")
_PASSED = bytes([PASS])
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a game: some moves from the start, or a position of its own.

    moves: made before the first question to an agent, one byte each, passes included (a run may
    have many openings). Empty if ``start`` is given.

    start: the position that the game begins from; None for the start of the ruleset.
    """

    moves: bytes = b""
    start: Position | None = None

    @property
    def text(self) -> str:
        """The opening in the record: an OBF line, or the moves as squares.

        Passes are left out, except one at the end, because no later move would show it.
        """
        if self.start is not None:
            return self.start.to_obf()
        moves = [move for move in self.moves[:-1] if move != PASS]
        return "".join(square_name(move) for move in (*moves, *self.moves[-1:]))

    @property
    def begins_transcript(self) -> bool:
        """True if :attr:`text` is the beginning of the transcript of every game from it."""
        return self.start is None and not self.moves.endswith(_PASSED)

    @classmethod
    def read(cls, text: str, rules: str | Ruleset, plies: int | None = None) -> Opening:
        """The opening that an OBF line or a transcript stands for, such as a record's ``text``.

        plies: how many of a transcript's to keep, passes counted; None for all. Raises ValueError
        (NotationError) naming the bad part.
        """
        if is_obf(text):
            return cls(start=Position.from_obf(text, rules))
        _, moves = Position.start(rules).follow(split_transcript(text))
        return cls(bytes(moves[:plies]))

    def begin(self, rules: str | Ruleset) -> Position:
        """The position that :attr:`moves` are made from."""
        return self.start or Position.start(rules)

    def reach(self, rules: str | Ruleset) -> Position:
        """Return the first position with a decision of a player."""
        begin = self.begin(rules)
        moves = np.frombuffer(self.moves, dtype=np.uint8)
        mover, opponent, made = follow_line(*begin.masks, np.uint64(begin.ruleset.board), moves)
        if made < len(self.moves):
            reduce(Position.play, self.moves, begin)  # raises IllegalMove
        color = begin.to_move if made % 2 == 0 else begin.to_move.other
        return Position(int(mover), int(opponent), color, begin.ruleset)

    def __reduce__(self) -> Any:  # pickles four times as fast as a dataclass does
        return Opening, (self.moves, self.start)


@dataclass(frozen=True)
class Openings(Nameable, ABC):
    """The openings of a run: an object named by ``_target_`` in ``conf/openings``.

    A subclass lists its openings in :meth:`find`.

    repeats: more pairs of games than openings: false refuses them, true uses the openings again.
    """

    _: KW_ONLY
    repeats: Annotated[bool, Switch()] = False

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    @abstractmethod
    def text(self) -> str:
        """A description in a few words."""

    @abstractmethod
    def find(self, count: int, rules: Ruleset, seed: int) -> list[Opening]:
        """The openings there are, in their order; ``count`` of them are enough.

        The list depends on nothing but the arguments, and a longer one begins with the shorter.
        Raises ValueError where there are none.
        """

    def check(self, rules: Ruleset) -> None:
        """Raise ValueError if there are none for this ruleset."""

    def remark(self, rules: Ruleset) -> str:
        """Return a sentence on the openings for the report; "" for none."""
        return ""

    def choose(self, count: int, rules: Ruleset, seed: int, settled: bool = False) -> list[Opening]:
        """Return the openings of ``count`` pairs of games, in their order.

        settled: True if fewer games are impossible.

        Unless ``repeats`` is set, no two of them lead to the same position, also up to the
        symmetries of the board. With it the list is used again and again.

        Raises ConfigError if there are not enough, and as :meth:`find`.
        """
        try:
            openings = self.find(count, rules, seed)
        except ValueError as error:
            raise ConfigError(str(error)) from None
        if count > len(openings) and not self.repeats:
            number = f"are only {len(openings):,} distinct openings"
            there = f"there {number if len(openings) > 1 else 'is only one opening'} ({self.text}, "
            there += f"ruleset {rules.name})"
            if settled:
                need = f"openings: this schedule may need {count:,}, and {there}"
                raise ConfigError(f"{need}; set openings.repeats=true")
            most = f"ask for at most games={2 * len(openings)}, or set openings.repeats=true"
            raise ConfigError(f"games={2 * count}: {there}, to be played twice; {most}")
        return list(islice(cycle(openings), count))


@dataclass(frozen=True)
class StartOpening(Openings):
    """The start itself."""

    text = "the start"

    def find(self, count: int, rules: Ruleset, seed: int) -> list[Opening]:
        return [Opening()]


@dataclass(frozen=True)
class RandomOpenings(Openings):
    """Random legal plies from the start, all distinct up to the symmetries of the board.

    Each ply is drawn uniformly from the legal moves; games that end within the opening are not
    used. There are fewer openings than requested where many tries have found no other one.

    plies: number of plies.
    """

    plies: Annotated[int, Whole(0)]

    @property
    def text(self) -> str:
        return f"{self.plies} random plies"

    def find(self, count: int, rules: Ruleset, seed: int) -> list[Opening]:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PURPOSE,)))
        openings: list[Opening] = []
        seen: set[bytes] = set()
        failures = 0
        for line, end in _drawn(LineDrawer(rng, rules, self.plies)):
            if len(openings) == count or failures > _TRIES + 20 * len(openings):
                break
            if end is None or end in seen:
                failures += 1
                continue
            seen.add(end)
            openings.append(Opening(line))
        if not openings:
            raise ValueError(_too_long(self.plies, rules))
        return openings


@dataclass(frozen=True)
class AllOpenings(Openings):
    """Every distinct position at a ply, in an order drawn from the run's seed.

    plies: number of plies.
    """

    plies: Annotated[int, Whole(0)]

    @property
    def text(self) -> str:
        return f"every position at ply {self.plies}"

    def find(self, count: int, rules: Ruleset, seed: int) -> list[Opening]:
        openings = [opening for opening, _ in all_openings(self.plies, rules)]
        if not openings:
            raise ValueError(_too_long(self.plies, rules))
        return _shuffled(openings, seed)


@dataclass(frozen=True)
class BalancedOpenings(Openings):
    """The openings with about equal chances that come with the project, in an order drawn from the
    run's seed. Those of ``standard`` serve ``wpi`` too: its board is upside down and its colours
    are exchanged, so the same squares are the mirror image."""

    text = "balanced, 8 plies"

    def check(self, rules: Ruleset) -> None:
        if rules.side != 8:
            raise ValueError(
                f"the balanced ones are made for 8x8; ruleset {rules.name} is "
                f"{rules.side}x{rules.side} (openings=random is for all boards)"
            )

    def find(self, count: int, rules: Ruleset, seed: int) -> list[Opening]:
        lines = read_text(BALANCED).splitlines()
        lines = [line for line in lines if not line.startswith(_COMMENTS)]
        return [Opening.read(line, rules) for line in _shuffled(lines, seed)[:count]]


@dataclass(frozen=True)
class FileOpenings(Openings):
    """The openings of a file, in its order: its games and positions, see :func:`games_in`. A game
    from another position than the ruleset's start gives the position it leads to.

    With ``repeats`` a line that leads to the same position as an earlier one is used too.

    file: the path. plies: length to cut games and transcripts to, passes counted; games that are
    over by then are left out. None: take them whole. shuffle: take the openings in an order drawn
    from the run's seed, not in the file's. partly: leave out games that cannot be read.
    """

    file: str
    plies: Annotated[int | None, Whole(0)] = None
    shuffle: Annotated[bool, Switch()] = False
    partly: Annotated[bool, Switch()] = False

    @property
    def text(self) -> str:
        return f"from {self.file}"

    def check(self, rules: Ruleset) -> None:
        with suppress(FileNotFoundError):  # a record may be older than its file
            open_file(self.file, MOST_DATA).close()

    def find(self, count: int, rules: Ruleset, seed: int) -> list[Opening]:
        openings = list(self._read(rules)[0])
        if self.shuffle:
            openings = _shuffled(openings, seed)
        if self.repeats:
            return openings
        first: dict[int, Opening] = {}
        for opening in openings:
            first.setdefault(position_key(opening.reach(rules)), opening)
        return [*first.values()]

    def remark(self, rules: Ruleset) -> str:
        try:
            _, shorter, unread = self._read(rules)
        except ConfigError:  # the file is no longer there
            return ""
        why = {f"over by ply {self.plies}": shorter, "not readable, or of another kind": unread}
        return " ".join(
            f"{counted(count, 'game')} of {self.file} {'is' if count == 1 else 'are'} {what}, "
            "and left out."
            for what, count in why.items()
            if count
        )

    def _read(self, rules: Ruleset) -> tuple[tuple[Opening, ...], int, int]:
        """Return the openings, and the numbers of games left out: too short ones, and those that
        cannot be read.

        Raises ConfigError with file and line (WTHOR: byte) for an unreadable line, an illegal move,
        another board than the ruleset's, a finished game without ``plies``, or no openings.
        """
        try:
            status = (path := Path(self.file)).stat()
            stamp = status.st_mtime_ns, status.st_size
            return _read_once(path, stamp, rules, self.plies, self.partly)
        except OSError as error:
            raise ConfigError(f"openings.file={path}: {error.strerror}") from None


def _too_long(plies: int, rules: Ruleset) -> str:
    return f"openings.plies={plies}: no game of ruleset {rules.name} goes on so long"


def all_openings(plies: int, rules: Ruleset) -> list[tuple[Opening, Position]]:
    """Return every position after ``plies`` legal plies in which the game goes on, one for all that
    differ by a symmetry of the board, each with an opening that leads there.

    Raises ConfigError if there are more than :data:`ENUMERABLE` of them at a ply.
    """
    level = [(Opening(), Position.start(rules))]
    for ply in range(1, plies + 1):
        following: dict[int, tuple[Opening, Position]] = {}
        for opening, position in level:
            for move in position.moves or (PASS,):
                after = position.play(move)
                if not after.is_over:
                    opened = Opening(opening.moves + bytes([move]))
                    following.setdefault(position_key(after), (opened, after))
            if len(following) > ENUMERABLE:
                raise ConfigError(
                    f"openings.plies={plies}: there are more than {ENUMERABLE:,} distinct "
                    f"positions at ply {ply} of ruleset {rules.name}, too many to list; at most "
                    f"{ply - 1}, or openings=random"
                )
        level = list(following.values())
    return level


@lru_cache(maxsize=1)  # a run asks three times
def _read_once(
    path: Path, stamp: tuple[int, int], rules: Ruleset, plies: int | None, partly: bool
) -> tuple[tuple[Opening, ...], int, int]:
    """As ``FileOpenings._read``. stamp: of the file, as it may change."""
    openings: list[Opening] = []
    shorter = 0
    refuse = Refusals(path, partly, log.warning, "openings.partly=true")
    for game in games_in(path, rules, refuse):
        try:
            opening = _of_game(game, plies)
            short = plies is not None and 0 < len(opening.moves) < plies and not game.is_line
            if not short and not opening.reach(rules).is_over:
                openings.append(opening)
            elif plies is not None and game.squares:
                shorter += 1
            else:
                raise NotationError(f"the game is over there{_CUT if game.squares else ''}")
        except ValueError as error:
            refuse(f"{game.where}: {error}")
    refuse.end()
    if not openings:
        why = f": its games are over by ply {plies}" if shorter else ""
        raise ConfigError(f"openings.file={path}: there is no opening in it{why}")
    return tuple(openings), shorter, refuse.number


_CUT = "; openings.plies=N takes its first N plies"


def _of_game(game: ArchivedGame, plies: int | None) -> Opening:
    opening, begin = Opening(bytes(game.plies()[:plies])), game.start
    if not game.squares:
        return Opening(start=begin)
    if begin == Position.start(begin.ruleset):
        return opening
    for move in opening.moves:
        begin = begin.play(move)
    return Opening(start=begin)


def position_key(position: Position) -> int:
    """One number for a position and its symmetric forms: a set of numbers costs a tenth of the
    memory of a set of positions."""
    form = position.canonical()
    return hash((form.mover, form.opponent, form.to_move.value == "black"))


def _drawn(lines: LineDrawer) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield lines without end: moves, and 16 bytes for the position up to symmetry, or None."""
    number = _FIRST_LINES
    while True:
        moves, ends = lines.draw(number)
        least = mover, opponent = ends[:, 0], ends[:, 1]
        for form in symmetric_forms(mover, opponent, lines.rules.side):
            less = (form[0] < least[0]) | ((form[0] == least[0]) & (form[1] < least[1]))
            least = np.where(less, form[0], least[0]), np.where(less, form[1], least[1])
        keys = np.stack(least, axis=1).view("V16").ravel().tolist()
        for line, key, over in zip(moves, keys, ends[:, 2].tolist(), strict=True):
            yield line.tobytes(), None if over else key
        number = _MORE_LINES


def _shuffled(items: Sequence[_Item], seed: int) -> list[_Item]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PURPOSE,)))
    return [items[number] for number in rng.permutation(len(items))]
