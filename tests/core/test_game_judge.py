"""play_game: one game between two players, and a strict judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from clocks import Clock
from hypothesis import given, settings
from hypothesis import strategies as st

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
MUST_PASS = Position.from_obf("-XOO" + "-" * 12 + " X", "mini4")  # Black cannot move, White can

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
        self.asked: list[tuple[Position, Limits]] = []

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.begun.append((color, start, seed))

    def decide(self, position: Position, limits: Limits) -> Any:
        self.asked.append((position, limits))
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


# ------------------------------------------------------------------ games that end well


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


def test_every_player_is_told_of_the_game_once_with_its_own_seed() -> None:
    table = players()
    limits = Limits(depth=3)
    play_game(table, Position.start("wpi"), limits=limits, seeds={BLACK: 7, WHITE: 8})
    for color, seed in ((BLACK, 7), (WHITE, 8)):
        assert table[color].begun == [(color, Position.start("wpi"), seed)]
        assert all(asked == limits for _, asked in table[color].asked)
        assert all(position.to_move is color for position, _ in table[color].asked)


def test_without_seeds_and_limits_players_get_the_defaults() -> None:
    table = players()
    play_game(table)
    assert [player.begun[0][1] for player in table.values()] == [Position.start()] * 2
    assert [player.begun[0][2] for player in table.values()] == [0, 0]
    assert table[BLACK].asked[0] == (Position.start(), Limits())


def test_forced_passes_are_recorded_and_nobody_is_asked() -> None:
    table = players()
    record = play_game(table, MUST_PASS)
    assert [(ply.move, ply.color) for ply in record.plies] == [(PASS, BLACK), (0, WHITE)]
    assert (len(table[BLACK].asked), len(table[WHITE].asked)) == (0, 1)
    assert record.transcript == "a1"
    assert (record.winner, record.disc_difference) == (WHITE, -16)


def test_the_opening_is_played_before_anybody_is_asked() -> None:
    opening = Position.from_transcript("f5d6c3")
    table = players()
    record = play_game(table, opening=(37, 43, 18))
    assert table[WHITE].asked[0][0] == opening
    assert record.opening == (37, 43, 18)
    assert record.transcript.startswith("f5d6c3")
    assert len(record.transcript) == 2 * (3 + sum(ply.move != PASS for ply in record.plies))
    assert Position.from_transcript(record.transcript) == record.final


def test_an_illegal_opening_is_the_callers_mistake() -> None:
    with pytest.raises(IllegalMove, match="f5: square occupied"):
        play_game(players(), opening=(37, 37))


def test_a_game_that_is_over_is_not_played() -> None:
    table = players()
    over = MUST_PASS.play(PASS).play("a1")
    record = play_game(table, over)
    assert (record.plies, record.final, record.winner) == ((), over, WHITE)
    assert not table[BLACK].asked
    assert not table[WHITE].asked


@pytest.mark.parametrize("turn", ["X", "O"])
def test_equal_discs_are_a_draw(turn: str) -> None:
    record = play_game(players(), Position.from_obf(f"{'XXXXOOOO' * 2} {turn}", "mini4"))
    assert (record.winner, record.disc_difference, record.end_reason) == (None, 0, FINISHED)


@pytest.mark.parametrize("turn", ["X", "O"])
def test_the_score_is_blacks_whoever_would_be_to_move(turn: str) -> None:
    record = play_game(players(), Position.from_obf("XXXX" * 3 + "OOO- " + turn, "mini4"))
    assert (record.winner, record.disc_difference) == (BLACK, 10)  # 12 + 1 empty square - 3


Call = tuple[str, Color, object]


class Follower(Player):
    """Writes down what both players are told, in one list, and may raise when it is told
    something."""

    def __init__(self, calls: list[Call], raises: object = None) -> None:
        self.calls = calls
        self.raises = raises

    def note(self, what: str, about: object) -> None:
        self.calls.append((what, self.color, about))
        if about == self.raises:
            raise RuntimeError("that is too much")

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.color = color
        self.note("begin", start)

    def observe(self, move: int, position: Position) -> None:
        self.note("observe", (move, position))

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.note("decide", position)
        return first(position)


@settings(max_examples=30)
@given(name=st.sampled_from(list(RULESETS)), plies=st.integers(0, 20), seed=st.integers(0, 99))
def test_both_players_are_told_of_every_move(name: str, plies: int, seed: int) -> None:
    start, rng = Position.start(name), np.random.default_rng(seed)
    opening: list[int] = []
    position = start
    while len(opening) < plies and not position.is_over:
        opening.append(int(rng.choice(position.moves or (PASS,))))
        position = position.play(opening[-1])
    calls: list[Call] = []
    record = play_game({color: Follower(calls) for color in Color}, start, opening)

    expected: list[Call] = [("begin", color, start) for color in Color]
    position = start
    for number, move in enumerate([*opening, *(ply.move for ply in record.plies)]):
        if number >= len(opening) and move != PASS:
            expected.append(("decide", position.to_move, position))
        position = position.play(move)
        expected += [("observe", color, (move, position)) for color in Color]
    assert calls == expected
    assert record.end_reason == FINISHED


def test_passes_are_told_too() -> None:
    calls: list[Call] = []
    play_game({color: Follower(calls) for color in Color}, MUST_PASS)
    told = [(color, about[0]) for what, color, about in calls if what == "observe"]  # type: ignore[index]
    assert told == [(BLACK, PASS), (WHITE, PASS), (BLACK, 0), (WHITE, 0)]


def test_the_caller_can_look_on() -> None:
    seen: list[tuple[Position, Color, tuple[Ply, ...]]] = []

    def look(position: Position, color: Color, plies: Sequence[Ply]) -> None:
        seen.append((position, color, tuple(plies)))

    table = players()
    record = play_game(table, before_call=look)
    # At the beginning both players are called; after that only to decide.
    assert [(position, color) for position, color, _ in seen[:2]] == [
        (Position.start(), color) for color in Color
    ]
    del seen[:2]
    for color in Color:
        asked = [position for position, _ in table[color].asked]
        assert [position for position, turn, _ in seen if turn is color] == asked
    for position, color, plies in seen:
        assert position.to_move is color
        assert plies == record.plies[: len(plies)]
    assert [len(plies) for *_, plies in seen[:3]] == [0, 1, 2]


# ------------------------------------------------------------------ games that do not


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


@pytest.mark.parametrize(
    ("move", "detail"),
    [
        (27, "d4: square occupied"),
        (0, "a1: traps nothing"),
        (PASS, "pass while moves exist"),
        (65, "65: not a square"),
        (-1, "-1: not a square"),
        (10**15, "not a square"),
    ],
)
def test_an_illegal_move_loses(move: int, detail: str) -> None:
    check_forfeit(after_an_answer(Decision(move)), ILLEGAL, detail)


def test_an_exception_loses_and_its_traceback_is_kept() -> None:
    record = after_an_answer(ZeroDivisionError("by nothing"))
    check_forfeit(record, RAISED, "ZeroDivisionError: by nothing", "in decide")


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
    assert not table[BLACK].asked


@pytest.mark.parametrize("guilty", [BLACK, WHITE])
@pytest.mark.parametrize(
    ("told", "plies"), [("f5", 0), ("f5d6", 0), ("f5d6c3", 1), ("f5d6c3d3", 2)], ids=str
)
def test_who_raises_in_observe_loses_whoever_is_to_move(
    guilty: Color, told: str, plies: int
) -> None:
    """The opening is f5 d6; after it both players make their first legal move."""
    last = parse_square(told[-2:]), Position.from_transcript(told)
    calls: list[Call] = []
    table = {color: Follower(calls, last if color is guilty else None) for color in Color}
    record = play_game(table, opening=(37, 43))
    assert (record.end_reason, record.winner) == (RAISED, guilty.other)
    assert "RuntimeError: that is too much" in record.detail
    assert len(record.plies) == plies
    assert record.final == Position.from_transcript(max(told, "f5d6", key=len))
    assert calls[-1] == ("observe", guilty, last)


def test_a_player_that_calls_exit_loses() -> None:
    check_forfeit(after_an_answer(SystemExit(3)), RAISED, "SystemExit: 3")


def test_whoever_interrupts_the_program_stops_the_game() -> None:
    with pytest.raises(KeyboardInterrupt):
        after_an_answer(KeyboardInterrupt())


def test_a_player_that_raises_what_is_no_exception_loses() -> None:
    check_forfeit(after_an_answer(GeneratorExit()), RAISED, "GeneratorExit")


class Unprintable:
    """Raises even where it is asked for its name."""

    def __repr__(self) -> str:
        raise RuntimeError("no name")


HALF_EMPTIED = SearchStats()
del HALF_EMPTIED.nodes


GARBAGE_ANSWERS: Sequence[tuple[str, object, str]] = [
    ("nothing", None, "not a Decision"),
    ("a string", "d3", "not a Decision"),
    ("a bare square", 19, "not a Decision"),
    ("the class", lambda position: Decision, "not a Decision"),
    ("no move", Decision(None), "move None is not a square"),  # type: ignore[arg-type]
    ("no square's name", Decision("d9"), "move 'd9' is not a square"),  # type: ignore[arg-type]
    ("a float", Decision(19.0), "move 19.0 is not a square"),  # type: ignore[arg-type]
    ("a truth", Decision(True), "move True is not a square"),
    ("numpy's truth", Decision(np.True_), "is not a square"),  # type: ignore[arg-type]
    ("numpy's NaN", Decision(19, value=np.float32("nan")), "is not a finite number"),
    ("a NaN value", Decision(19, value=float("nan")), "value nan is not a finite number"),
    ("an infinite value", Decision(19, value=float("inf")), "value inf is not a finite number"),
    ("a value in words", Decision(19, value="good"), "value 'good'"),  # type: ignore[arg-type]
    ("a float depth", Decision(19, depth=1.5), "depth 1.5 is not an int"),  # type: ignore[arg-type]
    ("a pv in words", Decision(19, pv=("well",)), "pv ('well',) is not"),  # type: ignore[arg-type]
    ("a pv that is a list", Decision(19, pv=[19]), "pv [19] is not"),  # type: ignore[arg-type]
    ("no stats", Decision(19, stats=None), "stats None are not"),  # type: ignore[arg-type]
    ("negative counts", Decision(19, stats=SearchStats(nodes=-1)), "stats.nodes -1"),
    ("half a leaf", Decision(19, stats=SearchStats(leaves=0.5)), "stats.leaves 0.5"),  # type: ignore[arg-type]
    ("a huge count", Decision(19, stats=SearchStats(cutoffs=1 << 63)), "stats.cutoffs"),
    ("half-emptied stats", Decision(19, stats=HALF_EMPTIED), "nodes"),
    # Python refuses to print or convert such numbers, and the record cannot hold them.
    ("a huge move", Decision(10**5000), ""),
    ("a huge value", Decision(19, value=10**5000), ""),
    ("a large value", Decision(19, value=1 << 63), "value 9223372036854775808"),
    ("a large depth", Decision(19, depth=1 << 63), "depth 9223372036854775808"),
    ("no name", Unprintable(), ""),
]


@pytest.mark.parametrize(
    ("answer", "detail"),
    [answer[1:] for answer in GARBAGE_ANSWERS],
    ids=[answer[0] for answer in GARBAGE_ANSWERS],
)
def test_an_answer_that_is_none_loses(answer: object, detail: str) -> None:
    check_forfeit(after_an_answer(answer), GARBAGE, detail)


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


def test_a_long_answer_is_not_kept_whole() -> None:
    assert len(after_an_answer("x" * 100_000).detail) < 1000


def slow(clock: Clock, seconds: float) -> Answer:
    """Takes its time before the first legal move."""

    def answer(position: Position) -> Decision:
        clock.seconds += seconds
        return first(position)

    return answer


def test_a_late_answer_loses(clock: Clock) -> None:
    record = after_an_answer(slow(clock, 0.071), limits=Limits(seconds=0.05))
    check_forfeit(record, LATE, "0.071 s for a move, 0.05 s allowed")


def test_time_in_which_others_had_the_processor_is_not_charged(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Clock()
    monkeypatch.setattr(
        "othello_lab.core.game.ready_but_not_run", lambda path: round(others.seconds * 1e9)
    )

    def answer(position: Position) -> Decision:
        clock.seconds += 1.0
        others.seconds += 0.96
        return first(position)

    record = after_an_answer(answer, limits=Limits(seconds=0.05))
    assert record.end_reason == FINISHED
    assert record.plies[2].late == LATE_BY_WALL
    assert record.plies[2].waited_nanoseconds == 960_000_000


def test_a_late_answer_is_told_with_the_time_of_its_own(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Clock()
    monkeypatch.setattr(
        "othello_lab.core.game.ready_but_not_run", lambda path: round(others.seconds * 1e9)
    )

    def answer(position: Position) -> Decision:
        clock.seconds += 1.0
        others.seconds += 0.75
        return first(position)

    record = after_an_answer(answer, limits=Limits(seconds=0.05))
    check_forfeit(record, LATE, "0.250 s for a move (1.000 s by the wall clock), 0.05 s allowed")


def test_grace_is_given_for_the_scheduler(clock: Clock) -> None:
    record = after_an_answer(slow(clock, 0.069), limits=Limits(seconds=0.05))
    assert record.end_reason == FINISHED
    assert record.plies[2].nanoseconds == 69_000_000
    record = after_an_answer(slow(clock, 5), limits=Limits(seconds=0.01), grace=5.0)
    assert record.end_reason == FINISHED


class Takes(Scripted):
    """Takes this long for every move."""

    def __init__(self, clock: Clock, milliseconds: int) -> None:
        super().__init__()
        self.seconds, self.clock = milliseconds / 1000, clock

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.clock.seconds += self.seconds
        return first(position)


def test_grace_is_given_once_for_a_clock(clock: Clock) -> None:
    both = players(Takes(clock, 10), Takes(clock, 1))
    record = play_game(both, limits=Limits(clock=0.055), grace=0.01)
    assert (record.end_reason, record.winner) == (LATE, WHITE)
    assert record.detail == "0.010 s for a move, 0 s allowed"
    mine = [ply for ply in record.plies if ply.color is BLACK]
    assert len(mine) == 6
    assert record.too_late is not None and record.too_late.late == TOO_LATE
    record = play_game(both, limits=Limits(seconds=0.005), grace=0.01)
    assert record.end_reason == FINISHED, "each move has its own grace"


def test_a_clock_shows_no_grace(clock: Clock) -> None:
    shown = []

    class Watches(Takes):
        def decide(self, position: Position, limits: Limits) -> Decision:
            shown.append(limits.clock)
            return super().decide(position, limits)

    play_game(players(Watches(clock, 10)), limits=Limits(clock=0.025), grace=0.01)
    assert shown == pytest.approx([0.025, 0.015, 0.005, 0.0])


def test_preparing_for_a_game_is_not_timed(clock: Clock) -> None:
    class Slow(Scripted):
        def begin_game(self, color: Color, start: Position, seed: int) -> None:
            clock.seconds += 0.3

    for limits in (Limits(seconds=0.2), Limits(clock=0.4)):
        record = play_game(players(Slow(), Slow()), limits=limits, grace=0.0)
        assert record.end_reason == FINISHED
        assert sum(ply.nanoseconds for ply in record.plies) < 300_000_000


def test_a_seed_for_one_player_only_is_the_callers_mistake() -> None:
    # It is not the player that raised.
    with pytest.raises(KeyError):
        play_game(players(), seeds={BLACK: 1})


@pytest.mark.parametrize("limits", [{"depth": 0}, {"seconds": 0.0}, {"seconds": float("nan")}])
def test_limits_that_allow_nothing_are_refused(limits: dict) -> None:
    with pytest.raises(ValueError, match=r"depth=0|seconds=(0\.0|nan)"):
        Limits(**limits)


class ScriptedWatch:
    """A stopwatch that tells the seconds of each call: those of ``observe`` and of ``decide``."""

    def __init__(self, told: float, asked: float) -> None:
        self.seconds = {"observe": told, "decide": asked}
        self.call = "decide"

    def start(self) -> None:
        self.call = "decide"

    def stop(self) -> TimeSpent:
        used = round(self.seconds[self.call] * 1e9)
        return TimeSpent(used, used, 0)


class Ponderer(RandomAgent):
    """An agent whose time in ``observe`` is known."""

    def __init__(self, told: float, asked: float) -> None:
        self.stopwatch = ScriptedWatch(told, asked)
        self.given: list[Limits] = []

    def observe(self, move: int, position: Position) -> None:
        self.stopwatch.call = "observe"

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.given.append(limits)
        return super().decide(position, limits)


def test_time_in_observe_belongs_to_the_next_move() -> None:
    """Between two moves a player hears of its own one and of the opponent's."""
    honest = Ponderer(0.0, 0.0)
    fits, late = Ponderer(0.02, 0.03), Ponderer(0.02, 0.07)
    table = {BLACK: fits, WHITE: honest}
    record = play_game(table, limits=Limits(seconds=0.1))
    assert record.end_reason == FINISHED
    assert fits.given[0].seconds == 0.1
    assert fits.given[1].seconds == pytest.approx(0.06)
    second = [ply for ply in record.plies if ply.color is BLACK][1]
    assert second.nanoseconds == pytest.approx(0.07e9)
    assert {limits.seconds for limits in honest.given} == {0.1}
    record = play_game({BLACK: late, WHITE: honest}, limits=Limits(seconds=0.1), grace=0.0)
    assert (record.end_reason, record.winner) == (LATE, WHITE)
    assert "0.110 s for a move, 0.040 s of it when it was told of moves, 0.1 s all" in record.detail


def test_time_in_observe_belongs_to_the_clock_of_the_game() -> None:
    ponderer = Ponderer(0.02, 0.01)
    table = {BLACK: ponderer, WHITE: Ponderer(0.0, 0.0)}
    record = play_game(table, limits=Limits(clock=100.0))
    assert record.end_reason == FINISHED
    left = [limits.clock for limits in ponderer.given]
    assert left[:3] == pytest.approx([100.0, 99.95, 99.9])
