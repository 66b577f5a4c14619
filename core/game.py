"""One game between two players: who is asked, who judges, and what is written down.

The judge is strict. A player whose answer is illegal, late or no answer at all, or who raises an
exception, loses at once, and the record says why; nothing a player does stops the caller.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Protocol

from core.notation import PASS, IllegalMove, square_name
from core.position import Position
from core.rules import Color, Ruleset
from core.settings import Number, Whole, check_settings

FINISHED = "finished"
ILLEGAL = "illegal move"
RAISED = "raised an exception"
GARBAGE = "no valid answer"
LATE = "time exceeded"
HUNG = "never answered"
DIED = "process died"
END_REASONS = (FINISHED, ILLEGAL, RAISED, GARBAGE, LATE, HUNG, DIED)
"""How a game can end. All but the first are forfeits; the last two are found by whoever watches
the process that plays."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one move may cost. ``None`` sets no limit; of several, the first that is reached ends
    the search.

    depth: plies a search may look ahead.
    nodes: positions a search may enter.
    seconds: wall time from question to answer.
    clock: wall time for all of a player's moves of a game together; asked for a move, a player
        sees what is left of it. Contradicts ``seconds``.
    """

    depth: Annotated[int | None, Whole(1)] = None
    nodes: Annotated[int | None, Whole(1)] = None
    seconds: Annotated[float | None, Number(above=0)] = None
    clock: Annotated[float | None, Number(low=0)] = None

    def __post_init__(self) -> None:
        check_settings(self)
        if self.seconds is not None and self.clock is not None:
            raise ValueError(
                f"clock={self.clock}: contradicts seconds={self.seconds}; a time per move or one "
                "for the game"
            )

    @property
    def timed(self) -> bool:
        """Whether time is limited, by move or by game."""
        return self.seconds is not None or self.clock is not None


@dataclass(slots=True)
class SearchStats:
    """What a decision cost, counted the same way by every algorithm.

    nodes: positions entered, root and leaves included; a pass leads to a node of its own.
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
    evaluations: int = 0
    leaves: int = 0
    cutoffs: int = 0
    first_move_cutoffs: int = 0
    table_returns: int = 0
    probcut_returns: int = 0
    stability_returns: int = 0
    playouts: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """A player's answer.

    move: the square (a1 = 0 ... h8 = 63).
    value: what the move is worth to the mover, in the heuristic's units; None if not judged.
    pv: the principal variation as move numbers, this move first; may be empty.
    depth: plies looked ahead; None where that means nothing.
    stats: what it cost.
    """

    move: int
    value: int | float | None = None
    pv: tuple[int, ...] = ()
    depth: int | None = None
    stats: SearchStats = field(default_factory=SearchStats)

    def flaw(self) -> str | None:
        """What is wrong with this answer as data, or None; legality is the judge's matter.

        Whole numbers must fit 64 bits, as a record keeps them.
        """
        if not _is_int64(self.move):
            return f"move {self.move!r} is not an int"
        value = self.value
        if value is not None and not (
            (type(value) is float and math.isfinite(value)) or _is_int64(value)
        ):
            return f"value {value!r} is not a finite number"
        if self.depth is not None and not _is_int64(self.depth):
            return f"depth {self.depth!r} is not an int"
        if type(self.pv) is not tuple or not all(_is_int64(move) for move in self.pv):
            return f"pv {self.pv!r} is not a tuple of ints"
        counts = self.stats
        if not isinstance(counts, SearchStats):
            return f"stats {counts!r} are not SearchStats"
        for name in SearchStats.__slots__:
            count = getattr(counts, name)
            if not _is_int64(count) or count < 0:
                return f"stats.{name} {count!r} is not a count"
        return None


def _is_int64(number: object) -> bool:
    return type(number) is int and -(1 << 63) <= number < 1 << 63


def _flaw(answer: object) -> str | None:
    """What is wrong with a player's answer; an answer so strange that looking at it raises an
    exception is wrong too."""
    try:
        flaw = answer.flaw() if isinstance(answer, Decision) else "not a Decision"
        return f"{answer!r:.500}: {flaw:.500}" if flaw else None
    except Exception as error:
        return f"an answer that cannot be read ({type(error).__name__}: {error!s:.200})"


class Player(Protocol):
    """Whoever can play: told when a game begins, then asked for each move."""

    def begin_game(self, color: Color, rules: Ruleset, seed: int) -> None: ...

    def decide(self, position: Position, limits: Limits) -> Decision: ...


@dataclass(frozen=True, slots=True)
class Ply:
    """One turn of a game. ``decision`` is None for a forced pass, which nobody is asked about.

    microseconds: wall time of the decision. cpu_microseconds: time this process really had the
        processor meanwhile; much less means that the machine was busy with something else.
    """

    move: int
    color: Color
    decision: Decision | None = None
    microseconds: int = 0
    cpu_microseconds: int = 0


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game as it was played.

    opening: the moves made before the players were asked, from the start or from the position
        that the game was given.
    plies: all turns after the opening, forced passes included.
    final: the last position.
    winner: None for a draw.
    end_reason: one of END_REASONS.
    detail: the traceback or message behind a forfeit, otherwise empty.
    """

    opening: tuple[int, ...]
    plies: tuple[Ply, ...]
    final: Position
    winner: Color | None
    end_reason: str = FINISHED
    detail: str = ""

    @property
    def transcript(self) -> str:
        """The whole game, opening included, as squares one after another; passes left out."""
        moves = (*self.opening, *(ply.move for ply in self.plies))
        return "".join(square_name(move) for move in moves if move != PASS)

    @property
    def disc_difference(self) -> int | None:
        """Black's discs minus White's, empties to the winner; None after a forfeit."""
        if self.end_reason != FINISHED:
            return None
        difference = self.final.disc_difference
        return difference if self.final.to_move is Color.BLACK else -difference


def play_game(
    players: Mapping[Color, Player],
    start: Position | None = None,
    opening: Sequence[int] = (),
    limits: Limits | None = None,
    grace: float = 0.02,
    seeds: Mapping[Color, int] | None = None,
    before_move: Callable[[Position, Color, Sequence[Ply]], None] | None = None,
) -> GameRecord:
    """Play one game and return its record.

    players: the player of each colour.
    start: where the game begins (default: the standard start).
    opening: legal moves made from there before the players are asked; raises IllegalMove if not.
    limits: what each move may cost, or with ``clock`` all moves of a player together; time is
        judged with ``grace`` seconds for the machine's scheduler.
    seeds: each player's own seed for this game (default 0), the only randomness it should use;
        raises KeyError where one is missing.
    before_move: called with the position, the colour to move and the plies played since the
        opening each time before a player is asked.

    >>> from agents import RandomAgent
    >>> players = {Color.BLACK: RandomAgent(), Color.WHITE: RandomAgent()}
    >>> record = play_game(players, seeds={Color.BLACK: 1, Color.WHITE: 2})
    >>> record.end_reason, record.final.is_over
    ('finished', True)
    """
    position = start or Position.start()
    limits = limits or Limits()
    seed_of = {color: seeds[color] if seeds else 0 for color in Color}
    for move in opening:
        position = position.play(move)
    plies: list[Ply] = []

    def forfeit(reason: str, detail: str) -> GameRecord:
        winner = position.to_move.other
        return GameRecord(tuple(opening), tuple(plies), position, winner, reason, detail)

    begun: set[Color] = set()
    clocks = dict.fromkeys(Color, limits.clock)
    while True:
        color = position.to_move
        if not position.legal_mask:
            if position.is_over:
                break
            position = position.play(PASS)
            plies.append(Ply(PASS, color))
            continue
        if before_move:
            before_move(position, color, plies)
        started = time.perf_counter_ns()
        try:
            if color not in begun:
                begun.add(color)
                players[color].begin_game(color, position.ruleset, seed_of[color])
            clock = clocks[color]
            allowed = limits if clock is None else replace(limits, clock=clock)
            had_before = time.process_time_ns()
            started = time.perf_counter_ns()
            decision = players[color].decide(position, allowed)
        except (Exception, SystemExit):
            return forfeit(RAISED, traceback.format_exc())
        elapsed = time.perf_counter_ns() - started
        had = time.process_time_ns() - had_before
        if flaw := _flaw(decision):
            return forfeit(GARBAGE, flaw)
        seconds = limits.seconds if clock is None else max(0.0, clock)
        if seconds is not None and elapsed > (seconds + grace) * 1e9:
            return forfeit(LATE, f"{elapsed / 1e9:.3f} s for a move, {seconds:.3g} s allowed")
        if clock is not None:
            clocks[color] = max(0.0, clock - elapsed / 1e9)
        try:
            after = position.play(decision.move)
        except IllegalMove as error:
            return forfeit(ILLEGAL, str(error))
        plies.append(Ply(decision.move, color, decision, elapsed // 1000, had // 1000))
        position = after

    difference = position.disc_difference
    winner = None
    if difference:
        winner = position.to_move if difference > 0 else position.to_move.other
    return GameRecord(tuple(opening), tuple(plies), position, winner)
