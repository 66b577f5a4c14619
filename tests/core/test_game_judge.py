"""play_game: one game between two players, and a strict judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytest
from boards import played_out
from clocks import Clock
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from othello_lab import PASS, RULESETS, Color, GameRecord, IllegalMove, Position, play_game
from othello_lab.agents.simple import RandomAgent
from othello_lab.core.game import (
    FINISHED,
    GARBAGE,
    ILLEGAL,
    LATE,
    LATE_BY_WALL,
    RAISED,
    TOO_LATE,
    Decision,
    Limits,
    Player,
    Ply,
    SearchStats,
    TimeSpent,
)
from othello_lab.core.notation import parse_square, square_name

BLACK, WHITE = Color.BLACK, Color.WHITE
Answer = Callable[[Position], object]


def first(position: Position) -> Decision:
    """The first legal move."""
    return Decision(position.moves[0])


class Scripted(Player):
    """Gives the scripted answers in turn, then always the first legal move; keeps what it was
    told. An answer is a decision, an exception to raise, or a function of the position."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.begun: list[tuple[Color, Position, int]] = []
        self.questions: list[tuple[Position, Limits]] = []

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.begun.append((color, start, seed))

    def decide(self, position: Position, limits: Limits) -> Any:
        self.questions.append((position, limits))
        answer = self.answers.pop(0) if self.answers else first
        if isinstance(answer, BaseException):
            raise answer
        return answer(position) if callable(answer) else answer


def drawing_lots(seed: int) -> Answer:
    """Always any legal move."""
    rng = np.random.default_rng(seed)
    return lambda position: Decision(int(rng.choice(position.moves)))


def players(
    black: Scripted | None = None, white: Scripted | None = None
) -> Mapping[Color, Scripted]:
    return {BLACK: black or Scripted(), WHITE: white or Scripted()}


def after_an_answer(answer: object, **options: Any) -> GameRecord:
    """The game in which Black's second answer is this one."""
    return play_game(players(Scripted(first, answer)), **options)


@settings(max_examples=100)
@given(name=st.sampled_from(list(RULESETS)), seed=st.integers(0, 2**32 - 1))
def test_a_finished_game_is_recorded_move_by_move(name: str, seed: int) -> None:
    lots = drawing_lots(seed)
    table = {color: Scripted(*[lots] * 40) for color in Color}
    record = play_game(table, Position.start(name))
    position = Position.start(name)
    for ply in record.plies:
        assert ply.color is position.to_move, position
        # A pass is made by the judge: nobody is asked about it.
        assert (ply.move == PASS) == position.must_pass == (ply.decision is None), position
        assert ply.decision is None or ply.decision.move == ply.move
        assert ply.nanoseconds >= 0
        position = position.play(ply.move)
    assert position.is_over, position
    assert (record.final, record.end_reason, record.detail) == (position, FINISHED, "")
    assert Position.from_transcript(record.transcript, name) == position
    difference = position.black.bit_count() - position.white.bit_count()
    assert record.winner is (BLACK if difference > 0 else WHITE if difference < 0 else None)
    if not position.empties:
        assert record.disc_difference == difference
    elif difference:
        assert record.disc_difference is not None
        assert abs(record.disc_difference) == abs(difference) + position.empties


def test_mistakes_of_the_caller_are_no_forfeits() -> None:
    with refused("f5:", "occupied", error=IllegalMove):
        play_game(players(), opening=(37, 37))
    with pytest.raises(KeyError):
        play_game(players(), seeds={BLACK: 1})
    with pytest.raises(KeyboardInterrupt):  # whoever interrupts the program stops the game
        after_an_answer(KeyboardInterrupt())
    for bad, words in (
        ({"depth": 0}, "depth=0"),
        ({"seconds": 0.0}, "seconds=0.0"),
        ({"seconds": float("nan")}, "seconds=nan"),
        ({"cpu_seconds": 0.1, "seconds": 0.2}, "cpu_seconds=0.1: seconds=0.2;"),
        ({"cpu_seconds": 0.1, "clock": 9.0}, "cpu_seconds=0.1: clock=9.0;"),
        ({"clock": 9.0, "seconds": 0.2}, "clock=9.0: seconds=0.2;"),
    ):
        with refused(*words.split()):
            Limits(**bad)  # type: ignore[arg-type]


Call = tuple[str, Color, object]


@pytest.mark.parametrize("turn", ["X", "O"])
@pytest.mark.parametrize(
    ("squares", "winner", "difference"),
    [("XXXXOOOO" * 2, None, 0), ("XXXX" * 3 + "OOO-", BLACK, 10), ("O" * 16, WHITE, -16)],
)
def test_a_game_that_is_over_is_only_counted(
    squares: str, winner: Color | None, difference: int, turn: str
) -> None:
    """For Black, whoever would be to move; empty squares go to the winner."""
    table, over = players(), Position.from_obf(f"{squares} {turn}", "mini4")
    record = play_game(table, over)
    assert (record.plies, record.final, record.end_reason) == ((), over, FINISHED)
    assert (record.winner, record.disc_difference) == (winner, difference)
    assert not table[BLACK].questions and not table[WHITE].questions


class Follower(Player):
    """Writes down what both players are told, in one list, and may raise when it is told
    something."""

    def __init__(self, calls: list[Call], raises: object = None) -> None:
        self.calls = calls
        self.raises = raises

    def note(self, what: str, details: object) -> None:
        self.calls.append((what, self.color, details))
        if details == self.raises:
            raise RuntimeError("that is too much")

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.color = color
        self.note("begin", (start, seed))

    def observe(self, move: int, position: Position) -> None:
        self.note("observe", (move, position))

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.note("decide", (position, limits))
        return first(position)


@settings(max_examples=30)
@given(
    name=st.sampled_from(list(RULESETS)),
    plies=st.integers(0, 20),
    seed=st.integers(0, 99),
    is_usual=st.booleans(),
)
def test_both_players_are_told_of_every_move(
    name: str, plies: int, seed: int, is_usual: bool
) -> None:
    """And who looks on is told of each call before it, with the moves until then."""
    start, seeds, limits = Position.start(name), dict.fromkeys(Color, 0), Limits()
    opening = [move for _, move in played_out(name, seed)][:plies]
    calls: list[Call] = []
    more: dict[str, Any] = {}
    if not is_usual:
        seeds, limits = {BLACK: 7, WHITE: 8}, Limits(depth=3)
        more = {"seeds": seeds, "limits": limits}

    def look(position: Position, color: Color, plies: Sequence[Ply]) -> None:
        calls.append(("look", color, (position, tuple(plies))))

    table = {color: Follower(calls) for color in Color}
    record = play_game(table, start, opening, before_call=look, **more)

    expected: list[Call] = []
    position, begin = start, reduce(Position.play, opening, start)

    def expect(what: str, color: Color, details: object, now: Position, made: int) -> None:
        expected.append(("look", color, (now, record.plies[:made])))
        expected.append((what, color, details))

    for color in Color:
        expect("begin", color, (start, seeds[color]), begin, 0)
    for made, move in enumerate([*opening, *(ply.move for ply in record.plies)], -len(opening)):
        if made >= 0 and move != PASS:
            expect("decide", position.to_move, (position, limits), position, made)
        position = position.play(move)
        for color in Color:
            now = begin if made < 0 else position
            expect("observe", color, (move, position), now, max(0, made + 1))
    assert calls == expected
    assert (record.end_reason, record.opening) == (FINISHED, tuple(opening))
    assert Position.from_transcript(record.transcript, name) == record.final


def check_forfeit(record: GameRecord, reason: str, *details: str) -> None:
    """Black lost with its second move, for this reason; the record keeps all moves before it."""
    assert record.end_reason == reason, record.detail
    assert record.winner is WHITE
    assert record.disc_difference is None
    assert len(record.plies) == 2
    assert record.final == Position.from_transcript(record.transcript)
    assert record.final.to_move is BLACK
    for detail in details:
        assert detail in record.detail


class Unprintable:
    """Raises even where it is asked for its name."""

    def __repr__(self) -> str:
        raise RuntimeError("no name")


HALF_EMPTIED = SearchStats()
del HALF_EMPTIED.nodes


NO_SQUARE, NOT_FINITE = "is not a square", "is not a finite number"
FORFEITS: list[tuple[str, object, str]] = [
    (ILLEGAL, Decision(27), "d4: square occupied"),
    (ILLEGAL, Decision(0), "a1: traps nothing"),
    (ILLEGAL, Decision(PASS), "pass while moves exist"),
    (ILLEGAL, Decision(65), "65: not a square"),
    (ILLEGAL, Decision(-1), "-1: not a square"),
    (ILLEGAL, Decision(10**15), "not a square"),
    (RAISED, ZeroDivisionError("by nothing"), "ZeroDivisionError: by nothing"),
    (RAISED, ZeroDivisionError("by nothing"), "in decide"),
    (RAISED, SystemExit(3), "SystemExit: 3"),
    (RAISED, GeneratorExit(), "GeneratorExit"),
    (GARBAGE, None, "not a Decision"),
    (GARBAGE, "d3", "not a Decision"),
    (GARBAGE, "x" * 100_000, "not a Decision"),
    (GARBAGE, 19, "not a Decision"),
    (GARBAGE, lambda position: Decision, "not a Decision"),
    (GARBAGE, Decision(None), f"move None {NO_SQUARE}"),  # type: ignore[arg-type]
    (GARBAGE, Decision("d9"), f"move 'd9' {NO_SQUARE}"),  # type: ignore[arg-type]
    (GARBAGE, Decision(19.0), f"move 19.0 {NO_SQUARE}"),  # type: ignore[arg-type]
    (GARBAGE, Decision(True), f"move True {NO_SQUARE}"),
    (GARBAGE, Decision(np.True_), NO_SQUARE),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, value=np.float32("nan")), NOT_FINITE),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, value=float("nan")), f"value nan {NOT_FINITE}"),
    (GARBAGE, Decision(19, value=float("inf")), f"value inf {NOT_FINITE}"),
    (GARBAGE, Decision(19, value="good"), "value 'good'"),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, depth=1.5), "depth 1.5"),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, pv=("well",)), "pv ('well',)"),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, pv=[19]), "pv [19]"),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, stats=None), "stats None"),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, stats=SearchStats(nodes=-1)), "stats.nodes -1"),
    (GARBAGE, Decision(19, stats=SearchStats(leaves=0.5)), "stats.leaves 0.5"),  # type: ignore[arg-type]
    (GARBAGE, Decision(19, stats=SearchStats(cutoffs=1 << 60)), "stats.cutoffs"),
    (GARBAGE, Decision(19, stats=SearchStats(True)), "stats.nodes True"),
    (GARBAGE, Decision(19, stats=HALF_EMPTIED), "nodes"),
    # Python refuses to print or convert such numbers, and the record cannot hold them.
    (GARBAGE, Decision(10**5000), ""),
    (GARBAGE, Decision(19, value=10**5000), ""),
    (GARBAGE, Decision(19, value=1 << 63), "value 9223372036854775808"),
    (GARBAGE, Decision(19, depth=1 << 63), "depth 9223372036854775808"),
    (GARBAGE, Unprintable(), ""),
]


@pytest.mark.parametrize(
    ("reason", "answer", "detail"), FORFEITS, ids=[f"{n}" for n in range(len(FORFEITS))]
)
def test_an_answer_that_is_no_legal_move_loses(reason: str, answer: object, detail: str) -> None:
    record = after_an_answer(answer)
    check_forfeit(record, reason, detail)
    assert len(record.detail) < 1000 or reason == RAISED


def test_an_exception_at_the_beginning_of_a_game_loses() -> None:
    class Broken(Scripted):
        def begin_game(self, color: Color, start: Position, seed: int) -> None:
            raise RuntimeError("no engine")

    table = players(white=Broken())
    record = play_game(table, opening=(37,))
    assert (record.end_reason, record.winner) == (RAISED, BLACK)
    assert "no engine" in record.detail
    assert (record.opening, record.plies, record.transcript) == ((37,), (), "f5")
    assert record.final == Position.from_transcript("f5")
    assert not table[BLACK].questions


@pytest.mark.parametrize("guilty", [BLACK, WHITE])
@pytest.mark.parametrize(
    ("line", "plies"), [("f5", 0), ("f5d6", 0), ("f5d6c3", 1), ("f5d6c3d3", 2)], ids=str
)
def test_who_raises_in_observe_loses_whoever_is_to_move(
    guilty: Color, line: str, plies: int
) -> None:
    """The opening is f5 d6; after it both players make their first legal move."""
    last = parse_square(line[-2:]), Position.from_transcript(line)
    calls: list[Call] = []
    table = {color: Follower(calls, last if color is guilty else None) for color in Color}
    record = play_game(table, opening=(37, 43))
    assert (record.end_reason, record.winner) == (RAISED, guilty.other)
    assert "RuntimeError: that is too much" in record.detail
    assert len(record.plies) == plies
    assert record.final == Position.from_transcript(max(line, "f5d6", key=len))
    assert calls[-1] == ("observe", guilty, last)


@pytest.mark.parametrize(
    "said", [square_name, lambda move: f" {square_name(move).upper()}", np.int64, np.uint8]
)
def test_a_square_may_be_named_or_a_number_of_numpy(said: Callable[[int], Any]) -> None:
    def answer(position: Position) -> Decision:
        move = said(position.moves[-1])
        counts = SearchStats(nodes=np.int64(9))  # type: ignore[arg-type]
        return Decision(move, np.float32(1.5), (move, np.int8(2)), np.int16(3), counts)  # type: ignore[arg-type]

    ply = after_an_answer(answer).plies[2]
    assert ply.decision == Decision(ply.move, 1.5, (ply.move, 2), 3, SearchStats(nodes=9))
    assert type(ply.move) is int and type(ply.decision.value) is float
    assert type(ply.decision.stats.nodes) is int


def slow(clock: Clock, seconds: float, others: Clock | None = None) -> Answer:
    """Takes its time before the first legal move, of which three quarters may be of others."""

    def answer(position: Position) -> Decision:
        clock.seconds += seconds
        if others is not None:
            others.seconds += 0.75 * seconds
        return first(position)

    return answer


@pytest.mark.parametrize("allowed", [0.3, 0.2])
def test_time_in_which_others_had_the_processor_is_not_charged(
    allowed: float, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Clock()
    waited = "othello_lab.core.game.ready_but_not_run"
    monkeypatch.setattr(waited, lambda path: round(others.seconds * 1e9))
    record = after_an_answer(slow(clock, 1.0, others), limits=Limits(seconds=allowed))
    if allowed == 0.2:
        check_forfeit(record, LATE, "0.250 s", "(1.000 s by the wall clock)", "0.2 s allowed")
    else:
        assert record.end_reason == FINISHED
        assert record.plies[2].late == LATE_BY_WALL
        assert record.plies[2].waited_nanoseconds == 750_000_000


def test_grace_is_given_for_the_scheduler(clock: Clock) -> None:
    record = after_an_answer(slow(clock, 0.069), limits=Limits(seconds=0.05))
    assert record.end_reason == FINISHED
    assert record.plies[2].nanoseconds == 69_000_000
    for limits in (Limits(seconds=0.05), Limits(cpu_seconds=0.05)):
        record = after_an_answer(slow(clock, 0.071), limits=limits)
        check_forfeit(record, LATE, "0.071 s", "0.05 s allowed")
    record = after_an_answer(slow(clock, 5), limits=Limits(seconds=0.01), grace=5.0)
    assert record.end_reason == FINISHED


def test_grace_is_given_once_for_a_clock_and_is_not_shown(clock: Clock) -> None:
    def both() -> Mapping[Color, Scripted]:
        return players(Scripted(*[slow(clock, 0.01)] * 40), Scripted(*[slow(clock, 0.001)] * 40))

    table = both()
    record = play_game(table, limits=Limits(clock=0.055), grace=0.01)
    assert (record.end_reason, record.winner) == (LATE, WHITE)
    assert "0.010 s" in record.detail and " 0 s allowed" in record.detail
    assert record.too_late is not None and record.too_late.late == TOO_LATE
    shown = [limits.clock for _, limits in table[BLACK].questions]
    assert shown == pytest.approx([0.055, 0.045, 0.035, 0.025, 0.015, 0.005, 0.0])
    record = play_game(both(), limits=Limits(seconds=0.005), grace=0.01)
    assert record.end_reason == FINISHED, "each move has its own grace"


def test_preparing_for_a_game_is_not_timed(clock: Clock) -> None:
    class Slow(Scripted):
        def begin_game(self, color: Color, start: Position, seed: int) -> None:
            clock.seconds += 0.3

    for limits in (Limits(seconds=0.2), Limits(clock=0.4)):
        record = play_game(players(Slow(), Slow()), limits=limits, grace=0.0)
        assert record.end_reason == FINISHED
        assert sum(ply.nanoseconds for ply in record.plies) < 300_000_000


class Ponderer(RandomAgent):
    """An agent whose time in ``observe`` and in ``decide`` is known: its own stopwatch tells it."""

    def __init__(self, observe: float, decide: float) -> None:
        self.seconds = {"observe": observe, "decide": decide}
        self.stopwatch = self
        self.call = "decide"
        self.given: list[Limits] = []

    def start(self) -> None:
        self.call = "decide"

    def stop(self) -> TimeSpent:
        used = round(self.seconds[self.call] * 1e9)
        return TimeSpent(used, used, 0)

    def observe(self, move: int, position: Position) -> None:
        self.call = "observe"

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.given.append(limits)
        return super().decide(position, limits)


def test_time_in_observe_belongs_to_the_next_move() -> None:
    """Between two moves a player hears of its own one and of the opponent's."""
    honest = Ponderer(0.0, 0.0)
    fits, late, timed = Ponderer(0.02, 0.03), Ponderer(0.02, 0.07), Ponderer(0.02, 0.01)
    record = play_game({BLACK: fits, WHITE: honest}, limits=Limits(seconds=0.1))
    assert record.end_reason == FINISHED
    assert [limits.seconds for limits in fits.given[:2]] == pytest.approx([0.1, 0.06])
    second = [ply for ply in record.plies if ply.color is BLACK][1]
    assert second.nanoseconds == pytest.approx(0.07e9)
    assert {limits.seconds for limits in honest.given} == {0.1}
    record = play_game({BLACK: late, WHITE: honest}, limits=Limits(seconds=0.1), grace=0.0)
    assert (record.end_reason, record.winner) == (LATE, WHITE)
    assert all(part in record.detail for part in ("0.110 s", "0.040 s of it", "0.1 s all"))
    record = play_game({BLACK: timed, WHITE: honest}, limits=Limits(clock=100.0))
    assert record.end_reason == FINISHED
    left = [limits.clock for limits in timed.given]
    assert left[:3] == pytest.approx([100.0, 99.95, 99.9])
