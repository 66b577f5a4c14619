"""One game between two players: questions, judgement, and record.

The judge is strict. A player loses at once, with the reason in the record, if its answer is
illegal, late or unreadable, or if it raises an exception. Nothing a player does stops the caller.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, Protocol

from othello_lab.core.notation import PASS, IllegalMove, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.foreign_text import storable
from othello_lab.core.system.settings import Number, Whole, check_settings

FINISHED = "finished"
RESIGNED = "resigned"
ILLEGAL = "illegal move"
RAISED = "raised an exception"
GARBAGE = "no valid answer"
LATE = "time exceeded"
HUNG = "never answered"
DIED = "process died"
UNFIT = "could not be started"
FAIR_ENDS = (FINISHED, RESIGNED)
"""Ends of games that measure strength. All other ends are forfeits."""
END_REASONS = (*FAIR_ENDS, ILLEGAL, RAISED, GARBAGE, LATE, HUNG, DIED, UNFIT)
"""How a game can end. The last three are found by whoever watches the process that plays."""
FAULTS = (RESIGNED, ILLEGAL, GARBAGE, LATE, HUNG, DIED, UNFIT)
"""Reasons that may be told of a program that an agent stands for."""

IN_TIME, LATE_BY_WALL, TOO_LATE = range(3)
"""How late a move was, see :class:`Ply`."""


_TIMES = ("seconds", "clock", "cpu_seconds")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the costs of one move. ``None`` sets no limit; of several, the first that is
    reached ends the search.

    depth: plies a search may look ahead. nodes: positions a search may enter. seconds: wall time
    from question to answer. clock: wall time for all of a player's moves of a game together; at
    each move a player sees the rest of it. cpu_seconds: processor time from question to answer,
    which is the same on a busy machine and on a free one; judged as ``seconds`` are. Of the three
    times one may be set.
    """

    depth: Annotated[int | None, Whole(1)] = None
    nodes: Annotated[int | None, Whole(1)] = None
    seconds: Annotated[float | None, Number(above=0)] = None
    clock: Annotated[float | None, Number(low=0)] = None
    cpu_seconds: Annotated[float | None, Number(above=0)] = None

    def __post_init__(self) -> None:
        check_settings(self)
        times = [name for name in _TIMES if getattr(self, name) is not None]
        if len(times) > 1:
            second, first = times[1], times[0]
            raise ValueError(
                f"{second}={getattr(self, second)}: contradicts {first}={getattr(self, first)}; "
                "a time per move or one for the game"
            )

    @property
    def per_move(self) -> float | None:
        """The seconds for a move, by whatever clock; None without such a limit."""
        return self.cpu_seconds if self.seconds is None else self.seconds

    @property
    def allowed(self) -> float | None:
        """The seconds for a move, or for all of a player's moves together; None without limit."""
        return self.clock if self.per_move is None else self.per_move

    @property
    def timed(self) -> bool:
        """True if time is limited, by move or by game."""
        return self.allowed is not None


@dataclass(slots=True)
class SearchStats:
    """Costs of a decision, counted the same way by every algorithm.

    nodes: positions entered, root and leaves included; a pass leads to a node of its own.
    made: positions made by a move or a pass, to be entered or only looked at (to sort moves, say);
        at each visit of a node each of its children once, the root never.
    evaluations: calls of the heuristic.
    leaves: nodes not expanded further (evaluated, or game over).
    cutoffs: nodes left because alpha >= beta with at least one move unsearched.
    first_move_cutoffs: those of them left after their first move.
    table_returns: nodes answered by the transposition table, their own entry or a child's; these
        and the following are neither leaves nor cutoffs.
    probcut_returns: nodes answered by a shallower search that makes a cutoff probable.
    stability_returns: nodes answered by counting stable discs.
    playouts: games played to the end by Monte-Carlo search.
    """

    nodes: int = 0
    made: int = 0
    evaluations: int = 0
    leaves: int = 0
    cutoffs: int = 0
    first_move_cutoffs: int = 0
    table_returns: int = 0
    probcut_returns: int = 0
    stability_returns: int = 0
    playouts: int = 0


_NOTHING = SearchStats()  # stands for a new one for each decision

MOST_COUNTED = 1 << 48
"""The largest count that is believed: so many nodes take a month. Sums of a run fit 64 bits."""


@dataclass(frozen=True, slots=True, repr=False)
class Decision:
    """A player's answer. It may hold numpy's numbers, and squares by name (``"d3"``); the judge
    reads them, see :func:`valid_answer`.

    move: the square (a1 = 0 ... h8 = 63). value: the worth of the move to the mover, in the
    heuristic's units; None if not judged. pv: the principal variation as move numbers, this move
    first; may be empty. depth: plies looked ahead; None if that means nothing. stats: its costs.
    """

    move: int
    value: int | float | None = None
    pv: tuple[int, ...] = ()
    depth: int | None = None
    stats: SearchStats = field(default_factory=SearchStats)

    def __init__(  # written out, as a frozen dataclass's own takes twice as long
        self,
        move: int,
        value: int | float | None = None,
        pv: tuple[int, ...] = (),
        depth: int | None = None,
        stats: SearchStats = _NOTHING,
    ) -> None:
        _set_move(self, move)
        _set_value(self, value)
        _set_pv(self, pv)
        _set_depth(self, depth)
        _set_stats(self, SearchStats() if stats is _NOTHING else stats)

    def __repr__(self) -> str:
        pv = tuple(map(_named, self.pv)) if type(self.pv) is tuple else self.pv
        rest = {"value": self.value, "pv": pv, "depth": self.depth, "stats": self.stats}
        usual = {"value": None, "pv": (), "depth": None, "stats": SearchStats()}
        parts = [f"{name}={part!r}" for name, part in rest.items() if part != usual[name]]
        return f"Decision({', '.join([repr(_named(self.move)), *parts])})"

    @property
    def line(self) -> tuple[str, ...]:
        """The principal variation by the names of its squares, a pass as ``--``."""
        return tuple(map(square_name, self.pv))

    def flaw(self) -> str | None:
        """Return the error in this answer as data, or None; legality is the judge's matter.

        Whole numbers must fit 64 bits, the size in a record.
        """
        if not is_int64(self.move):
            return f"move {self.move!r} is not a square"
        value = self.value
        if value is not None and not (
            (type(value) is float and math.isfinite(value)) or is_int64(value)
        ):
            return f"value {value!r} is not a finite number"
        if self.depth is not None and not is_int64(self.depth):
            return f"depth {self.depth!r} is not an int"
        if type(self.pv) is not tuple or not all(map(is_int64, self.pv)):
            return f"pv {self.pv!r} is not a tuple of squares"
        counts = self.stats
        if not isinstance(counts, SearchStats):
            return f"stats {counts!r} are not SearchStats"
        for index, count in enumerate(_counts(counts)):
            if type(count) is not int or not 0 <= count <= MOST_COUNTED:
                return f"stats.{SearchStats.__slots__[index]} {count!r} is not a count"
        return None


# Slots can be written directly; object.__setattr__, the usual way around a frozen dataclass, looks
# each one up by name.
_set_move, _set_value, _set_pv, _set_depth, _set_stats = (
    Decision.__dict__[name].__set__ for name in Decision.__slots__
)


def _named(move: object) -> object:
    """Return the name of a square; anything else unchanged."""
    return square_name(move) if type(move) is int and 0 <= move <= PASS else move


def is_int64(number: object) -> bool:
    """Return True for a whole number that a record can hold."""
    return type(number) is int and -(1 << 63) <= number < 1 << 63


def valid_answer(answer: object) -> Decision:
    """Return a player's answer as plain data, in a copy that the player does not have: squares by
    name and numpy's numbers become ints and floats.

    Raises ValueError for anything but a Decision, or for a flaw in it; an answer so strange that
    looking at it raises an exception has one.
    """
    try:
        flaw: str | None = "not a Decision"
        if isinstance(answer, Decision):
            copy = _in_plain_data(answer)
            flaw = copy.flaw()
            if not flaw:
                return copy
        text = f"{answer!r:.500}: {flaw:.500}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        text = f"an answer that cannot be read ({description(error)})"
    raise ValueError(text)


def description(error: BaseException) -> str:
    """Return a description of an exception, even of one that has none."""
    try:
        return f"{type(error).__name__}: {error!s:.200}"
    except Exception:
        return type(error).__name__


def _in_plain_data(answer: Decision) -> Decision:
    # Of a class of its own it may have anything behind these names, each time another.
    move, value, pv, depth, stats = _parts(answer)
    if isinstance(stats, SearchStats):
        counts = _counts(stats)
        plain = counts if _WHOLE.issuperset(map(type, counts)) else map(_plain, counts)
        stats = SearchStats(*plain)
    if type(pv) is tuple and not _WHOLE.issuperset(map(type, pv)):
        pv = tuple(map(_square, pv))
    return Decision(_square(move), _plain(value), pv, _plain(depth), stats)


_WHOLE = {int}


def _square(move: Any) -> Any:
    """Return the number of a square; anything else unchanged."""
    if type(move) is int:
        return move
    if type(move) is str:
        with contextlib.suppress(IllegalMove):
            return parse_square(move)
    return _plain(move)


def _plain(number: Any) -> Any:
    """Return a number of another library as Python's own; anything else unchanged."""
    if number is None or type(number) in (bool, int, float):
        return number
    if isinstance(number, Integral):
        return int(number)
    return float(number) if isinstance(number, Real) else number


_parts, _counts = attrgetter(*Decision.__slots__), attrgetter(*SearchStats.__slots__)


class Player(Protocol):
    """The interface of a player.

    The calls of a game come in this order: ``begin_game`` to Black, then to White; then the moves
    of the opening, each by ``observe`` to Black, then to White; then, ply after ply, ``decide`` to
    the side to move, if it has a legal move, and ``observe`` to Black and White. A game may end at
    any point, without a further call.

    Only the time in ``decide`` is measured, and counts against time limits. A class that inherits
    ``observe`` from here is not called for it.
    """

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        """A new game begins.

        color: the side that this player has. start: where the game begins, before its opening;
        ``start.ruleset`` are the rules. seed: the only source of chance that it should use.
        """

    def observe(self, move: int, position: Position) -> None:
        """Notice a move: the opening's, the opponent's, or this player's own.

        move: the square (a1 = 0 ... h8 = 63), or PASS. position: the position after it.
        """
        return

    def decide(self, position: Position, limits: Limits) -> Decision:
        """Choose one of the legal moves (there is at least one) within the limits."""
        ...


class Ply(NamedTuple):
    """One turn of a game. ``decision`` is None for a forced pass, made without a question.

    nanoseconds: wall time of the decision. cpu_nanoseconds: time this process really had the
        processor meanwhile; much less means that the machine was busy with something else.
    waited_nanoseconds: the part of the wall time that is not the player's: its process stood ready
    but was not run, or everything was stopped. Measured if time is limited. late: IN_TIME;
    LATE_BY_WALL, a move that stands, as the player could not use all of that time; or TOO_LATE, a
    move that lost the game and was not made.
    """

    move: int
    color: Color
    decision: Decision | None = None
    nanoseconds: int = 0
    cpu_nanoseconds: int = 0
    waited_nanoseconds: int = 0
    late: int = 0


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game.

    opening: the moves made before the first question, from the start or from the game's own first
    position. plies: all turns after the opening, forced passes included. final: the last position.
    winner: None for a draw. end_reason: one of END_REASONS. detail: the traceback or message behind
    a forfeit, otherwise empty. too_late: the move that came too late, and was not made, if that
    ended the game. outside: for Black and White, nanoseconds of processor time that the player used
    outside of its own moves; measured for a player in a process of its own, if time is limited.
    """

    opening: tuple[int, ...]
    plies: tuple[Ply, ...]
    final: Position
    winner: Color | None
    end_reason: str = FINISHED
    detail: str = ""
    too_late: Ply | None = None
    outside: tuple[int, int] = (0, 0)

    @property
    def transcript(self) -> str:
        """The whole game, opening included, as squares one after another; passes left out."""
        moves = (*self.opening, *(ply.move for ply in self.plies))
        return "".join(square_name(move) for move in moves if move != PASS)

    @property
    def disc_difference(self) -> int | None:
        """Black's discs minus White's, empties to the winner; None for an unfinished game."""
        if self.end_reason != FINISHED:
            return None
        difference = self.final.disc_difference
        return difference if self.final.to_move is Color.BLACK else -difference


class PlayerFailure(Exception):
    """A player in another place broke down there. Its proxy here raises this, so that it loses for
    this reason, one of END_REASONS."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, storable(detail)


class TimeSpent(NamedTuple):
    """Time of a decision, in nanoseconds: wall time, processor time, and the part of the wall time
    that the player could not use."""

    wall: int
    cpu: int
    waited: int

    def plus(self, other: TimeSpent) -> TimeSpent:
        """Return the sum of both."""
        return TimeSpent(*map(operator.add, self, other))


class Stopwatch:
    """Measures the decisions of a player in this process.

    timed: also measure the time that this thread stood ready but was not run (Linux has it; it
    takes some microseconds).
    """

    def __init__(self, timed: bool) -> None:
        self._timed = timed and os.path.exists(_SCHEDSTAT)

    def start(self) -> None:
        """Note the beginning of a question."""
        if self._timed:
            self._waited = ready_but_not_run(_SCHEDSTAT)
        self._cpu, self._wall = time.process_time_ns(), time.perf_counter_ns()

    def stop(self) -> TimeSpent:
        """It has answered."""
        wall, cpu = time.perf_counter_ns() - self._wall, time.process_time_ns() - self._cpu
        if not self._timed:
            return TimeSpent(wall, cpu, 0)
        waited = ready_but_not_run(_SCHEDSTAT) - self._waited
        return TimeSpent(wall, cpu, min(waited, max(0, wall - cpu)))


_SCHEDSTAT = "/proc/thread-self/schedstat"


def ready_but_not_run(path: str) -> int:
    """Nanoseconds that a thread stood ready while others had the processor, from its ``schedstat``
    file (Linux, Documentation/scheduler/sched-stats)."""
    with open(path, "rb") as file:
        return int(file.read().split()[1])


BeforeCall = Callable[[Position, Color, Sequence[Ply]], None]
"""Called with the position, the colour of the player that is about to be called (whoever is to
move), and the plies since the opening."""


def play_game(
    players: Mapping[Color, Player],
    start: Position | None = None,
    opening: Sequence[int] = (),
    limits: Limits | None = None,
    grace: float = 0.02,
    seeds: Mapping[Color, int] | None = None,
    before_call: BeforeCall | None = None,
) -> GameRecord:
    """Play one game and return its record.

    players: the player of each colour. start: the first position (default: the standard start).
    opening: legal moves made from there before the first question; raises IllegalMove if not.
    limits: of each move, or with ``clock`` of all moves of a player together. The time in
    ``decide`` counts, and that in ``observe`` since the player's last move, less the part that the
    player could not use (:class:`TimeSpent`); it is judged with ``grace`` seconds more, for each
    move or for all that share a clock. seeds: each player's own seed for this game (default 0), the
    only randomness it should use; raises KeyError if one is missing. before_call: called before
    every call into a player, so that somebody can watch over it.

    >>> from othello_lab.agents.simple import RandomAgent
    >>> players = {Color.BLACK: RandomAgent(), Color.WHITE: RandomAgent()}
    >>> record = play_game(players, seeds={Color.BLACK: 1, Color.WHITE: 2})
    >>> record.end_reason, record.final.is_over
    ('finished', True)
    """
    start = start or Position.start()
    seed_of = {color: seeds[color] if seeds else 0 for color in Color}
    positions = [start]
    for move in opening:
        positions.append(positions[-1].play(move))
    game = _GameLoop(players, positions[-1], limits or Limits(), grace, before_call)
    try:
        game.begin(start, seed_of, zip(opening, positions[1:], strict=True))
        game.play()
    except _Forfeit as lost:
        return game.record(opening, lost.loser.other, lost.reason, lost.detail, lost.too_late)
    return game.record(opening, leader(game.position))


def _observes(player: Player) -> bool:
    """Return True if a player wants to hear of moves; a proxy decides for its player."""
    said = getattr(player, "observes", None)
    return said if isinstance(said, bool) else type(player).observe is not Player.observe


def leader(position: Position) -> Color | None:
    """Return the colour with more discs, None for a draw."""
    difference = position.disc_difference
    if not difference:
        return None
    return position.to_move if difference > 0 else position.to_move.other


class _Forfeit(Exception):
    """A player loses here and now."""

    def __init__(self, loser: Color, reason: str, detail: str, too_late: Ply | None = None) -> None:
        super().__init__(detail)
        self.loser, self.reason, self.too_late = loser, reason, too_late
        self.detail = storable(detail)


class _GameLoop:
    """A game under way. ``position`` is where it stands, ``plies`` are its turns so far."""

    def __init__(
        self,
        players: Mapping[Color, Player],
        position: Position,
        limits: Limits,
        grace: float,
        before_call: BeforeCall | None,
    ) -> None:
        self.position = position
        self.plies: list[Ply] = []
        self._players = players
        # Most players do not care; they are not called, which would cost time at every ply.
        self._observers = [color for color in Color if _observes(players[color])]
        self._limits = limits
        self._grace = grace
        self._clocks = {color: _PlayerClock(limits, grace) for color in Color}
        self._watches = {
            color: getattr(players[color], "stopwatch", None) or Stopwatch(limits.timed)
            for color in Color
        }
        self._before_call = before_call
        self._observing = dict.fromkeys(Color, TimeSpent(0, 0, 0))  # since the last move

    def record(
        self,
        opening: Sequence[int],
        winner: Color | None,
        end_reason: str = FINISHED,
        detail: str = "",
        too_late: Ply | None = None,
    ) -> GameRecord:
        """Return the record of the game."""
        outside = [getattr(self._watches[color], "outside", 0) for color in Color]
        return GameRecord(
            tuple(opening),
            tuple(self.plies),
            self.position,
            winner,
            end_reason,
            detail,
            too_late,
            (outside[0], outside[1]),
        )

    def begin(
        self, start: Position, seeds: Mapping[Color, int], opening: Iterable[tuple[int, Position]]
    ) -> None:
        """Tell the players of the beginning, and of the opening's moves and where they lead."""
        for color in Color:
            self._call(color, "begin_game", color, start, seeds[color])
        for move, position in opening:
            for color in self._observers:
                self._call(color, "observe", move, position)

    def play(self) -> None:
        """Play to the end; raises _Forfeit."""
        while True:
            position = self.position
            if position.legal_mask:
                ply, self.position = self._ask(position)
            elif position.is_over:
                return
            else:
                ply, self.position = Ply(PASS, position.to_move), position.play(PASS)
            self.plies.append(ply)
            for color in self._observers:
                self._let_observe(color, ply.move, self.position)

    def _let_observe(self, color: Color, move: int, position: Position) -> None:
        """Tell a player of a move; under a limit on time its time belongs to its next move."""
        if not self._limits.timed:
            self._call(color, "observe", move, position)
            return
        watch = self._watches[color]
        watch.start()
        self._call(color, "observe", move, position)
        self._observing[color] = self._observing[color].plus(watch.stop())

    def _call(self, color: Color, method: str, *arguments: object) -> None:
        """Tell a player something; it loses if it raises."""
        if self._before_call:
            self._before_call(self.position, color, self.plies)
        try:
            getattr(self._players[color], method)(*arguments)
        except BaseException as error:
            raise _forfeit(color, error) from None

    def _ask(self, position: Position) -> tuple[Ply, Position]:
        """The move of the side to move, and the position after it."""
        color = position.to_move
        clock, watch = self._clocks[color], self._watches[color]
        observing = self._observing[color]
        self._observing[color] = TimeSpent(0, 0, 0)
        limits = clock.limits_after(observing)
        if self._before_call:
            self._before_call(position, color, self.plies)
        watch.start()
        try:
            decision = self._players[color].decide(position, limits)
        except BaseException as error:
            raise _forfeit(color, error) from None
        spent = observing.plus(watch.stop())
        try:
            decision = valid_answer(decision)
        except ValueError as error:
            raise _Forfeit(color, GARBAGE, str(error)) from None
        late = clock.late(spent)
        ply = Ply(decision.move, color, decision, spent.wall, spent.cpu, spent.waited, late)
        if late == TOO_LATE:
            raise _Forfeit(color, LATE, _lateness(spent, clock.limits_before, observing), ply)
        try:
            return ply, position.play(decision.move)
        except IllegalMove as error:
            raise _Forfeit(color, ILLEGAL, str(error)) from None


def _forfeit(loser: Color, error: BaseException) -> BaseException:
    """Return the forfeit for a player's exception; Ctrl-C, the caller's own, stays what it is."""
    if isinstance(error, PlayerFailure):
        return _Forfeit(loser, error.reason, error.detail)
    if isinstance(error, KeyboardInterrupt):
        return error
    return _Forfeit(loser, RAISED, "".join(traceback.format_exception(error)))


def _lateness(spent: TimeSpent, limits: Limits, observing: TimeSpent) -> str:
    text = f"{(spent.wall - spent.waited) / 1e9:.3f} s for a move"
    if (observed := (observing.wall - observing.waited) / 1e9) >= 0.001:
        text += f", {observed:.3f} s of it when it was told of moves"
    if spent.waited:
        text += f" ({spent.wall / 1e9:.3f} s by the wall clock)"
    return f"{text}, {limits.allowed:.3g} s allowed"


_LEAST_SECONDS = 0.001
"""A limit that is used up already is told as this."""


class _PlayerClock:
    """The time of a player, and the part it has used."""

    def __init__(self, limits: Limits, grace: float) -> None:
        self._given = limits
        self._whole = limits.allowed
        self._grace = grace
        self._used = self._wall = 0  # nanoseconds used of it, for this move or for all so far
        self.limits_before = limits  # of the last move, before its player was told of moves

    def limits_after(self, observing: TimeSpent) -> Limits:
        """Return the limits of the next move, less the time used already."""
        given = self.limits_before = self._given
        used = (observing.wall - observing.waited) / 1e9
        if given.clock is not None:
            left = max(0.0, given.clock - self._used / 1e9)
            self.limits_before = replace(given, clock=left)
            return replace(given, clock=max(0.0, left - used))
        if given.per_move is not None and used > 0:
            left = max(_LEAST_SECONDS, given.per_move - used)
            if given.seconds is None:
                return replace(given, cpu_seconds=left)
            return replace(given, seconds=left)
        return given

    def late(self, spent: TimeSpent) -> int:
        """Return the lateness of the move after this time."""
        if self._whole is None:
            return IN_TIME
        if self._given.clock is None:
            self._used = self._wall = 0
        self._used += spent.wall - spent.waited
        self._wall += spent.wall
        end = (self._whole + self._grace) * 1e9
        if self._used > end:
            return TOO_LATE
        return LATE_BY_WALL if self._wall > end else IN_TIME
