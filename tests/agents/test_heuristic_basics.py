"""What every heuristic must hold: equal to its twin, symmetric, antisymmetric where it says so."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from agents import AlphaBeta, Limits, Maximizer
from agents.config import choices, load_evaluation
from agents.evaluation import (
    FEATURES,
    FINAL_UNIT,
    Composite,
    Corners,
    Evaluation,
    FunctionEvaluation,
    Iago,
    Mobility,
    ModifiedSquareWeights,
    PotentialMobility,
    SquareWeights,
    StableDiscs,
)
from agents.evaluation.arithmetic import rounded
from agents.evaluation.function import check_positions
from core import PASS, Position
from core.bitboard import bits, mirror, transpose, upside_down
from core.stability import edge_table, stable_discs

NAMES = sorted(set(choices("evaluation")) - {"function"})
NOT_ANTISYMMETRIC = {"parity", "edge_stability", "iago"}
STAGED = Composite(
    {"corners": 25, "mobility": 0.5},
    [
        {"empties": [21, 60], "weights": {"disc_count": -1}},
        {"empties": [0, 20], "weights": {"disc_count": 2.5, "mobility": 0}},
    ],
)

every_evaluation = pytest.mark.parametrize("name", NAMES)


def swapped(position: Position) -> Position:
    return Position(position.opponent, position.mover, position.to_move.other)


def check_twin(evaluation: Evaluation, positions: tuple[Position, ...]) -> None:
    for position in positions:
        assert evaluation(position) == evaluation.plain(position), f"\n{position}"


@every_evaluation
def test_a_kernel_agrees_with_its_twin(name: str) -> None:
    check_twin(load_evaluation(name), check_positions(1500))


@pytest.mark.slow
@every_evaluation
def test_a_kernel_agrees_with_its_twin_on_ten_thousand_positions(name: str) -> None:
    check_twin(load_evaluation(name), check_positions(10_000))


@every_evaluation
def test_the_boards_symmetries_change_nothing(name: str) -> None:
    evaluation = load_evaluation(name)
    for position in check_positions(200):
        for change in (mirror, upside_down, transpose):
            turned = Position(change(position.mover), change(position.opponent), position.to_move)
            assert evaluation(turned) == evaluation(position), f"\n{position}"


@every_evaluation
def test_antisymmetry_is_as_stated(name: str) -> None:
    evaluation = load_evaluation(name)
    positions = check_positions(500)
    opposite = [evaluation(swapped(position)) == -evaluation(position) for position in positions]
    assert all(opposite) != (name in NOT_ANTISYMMETRIC)
    stated = " ".join((type(evaluation).__doc__ or "").split())
    assert ("Not antisymmetric" in stated) == (name in NOT_ANTISYMMETRIC)


@every_evaluation
def test_values_stay_below_a_finished_game(name: str) -> None:
    evaluation = load_evaluation(name)
    assert all(abs(evaluation(position)) < FINAL_UNIT for position in check_positions())


@every_evaluation
def test_agents_with_it_can_be_copied_and_sent(name: str) -> None:
    agent = AlphaBeta(2, load_evaluation(name))
    position = check_positions()[40]
    decision = agent.search(position)
    assert copy.deepcopy(agent).search(position) == decision
    assert pickle.loads(pickle.dumps(agent)).search(position) == decision


@every_evaluation
def test_the_compiled_search_decides_and_counts_like_its_twin_over_it(name: str) -> None:
    evaluation = load_evaluation(name)
    for position in check_positions()[5::200]:
        if not position.is_over:
            compiled = AlphaBeta(2, evaluation).search(position)
            assert compiled == AlphaBeta(2, evaluation, compiled=False).search(position)


# A move that ends the game with a win, in a position where every heuristic has its own taste.
LAST_MOVE = Position.from_obf("XXXXXXXX" * 3 + "XXXOOOOO" + "OOOOOOOO" * 3 + "OOOOOOX- X")


@every_evaluation
def test_a_finished_game_is_worth_its_result_in_a_one_ply_maximizer(name: str) -> None:
    decision = Maximizer(load_evaluation(name)).decide(LAST_MOVE, Limits())
    after = LAST_MOVE.play(decision.move)
    assert after.is_over
    assert decision.value == -after.disc_difference * FINAL_UNIT


# ---------------------------------------------------------------------- values by hand


def test_mobility_by_hand() -> None:
    # After f5 White can answer d6, f4 or f6; if it were Black's turn again: e.g. c4, d3, e6 and so
    # on, here taken from the position with colours exchanged.
    position = Position.from_transcript("f5")
    assert position.legal_moves() == ("f4", "d6", "f6")
    theirs = len(swapped(position).moves)
    assert Mobility()(position) == 3 - theirs
    assert Mobility("ratio")(position) == round(1000 * (3 - theirs) / (3 + theirs + 2))
    # At the start every empty square around the centre touches discs of both colours' choosing:
    # ten squares touch d4 or e5, ten touch e4 or d5.
    assert PotentialMobility()(Position.start()) == 0
    assert PotentialMobility().count(Position.start()) == 10


def test_modified_weights_by_the_formula() -> None:
    # a1 is the opponent's; b1 (-20) and b2 (-40) the mover's; a2 (-20) empty; h1 is empty, so g1
    # (-20) keeps its weight.
    position = Position.from_obf("OX----X-" + "-X------" + "-" * 48 + " X")
    plain = -20 - 40 - 20 - 120
    assert SquareWeights()(position) == plain
    assert ModifiedSquareWeights()(position) == plain + (5 + 20) + (5 + 40)
    opponent_view = swapped(position)
    assert ModifiedSquareWeights()(opponent_view) == -(plain + 25 + 45)


def test_corners_by_hand() -> None:
    position = Position.from_obf("XX----OO" + "-" * 48 + "-------X X")
    assert Corners()(position) == 1
    closeness = load_evaluation("corner_closeness")
    # b1 and g1 stand beside taken corners and no longer count.
    assert closeness(position) == 0
    assert closeness(Position.from_obf("-X----O-" + "-O------" + "-" * 48 + " X")) == 2 - 1


def test_parity_counts_regions_also_connected_diagonally() -> None:
    parity = load_evaluation("parity")

    def value(*empty: str) -> int:
        squares = {f"{'abcdefgh'[s % 8]}{s // 8 + 1}": s for s in range(64)}
        mask = ~sum(1 << squares[name] for name in empty) & (1 << 64) - 1
        return parity(Position(mask & 0x5555555555555555, mask & 0xAAAAAAAAAAAAAAAA))

    assert value("a1") == 1
    assert value("a1", "b2") == -1
    assert value("a1", "h8") == 2
    assert value("a1", "a2", "b1", "h8", "g7") == 1 - 1
    assert value() == 0


@pytest.mark.parametrize("seed", range(3))
def test_rounding_is_half_to_even(seed: int) -> None:
    from fractions import Fraction

    rng = np.random.default_rng(seed)
    pairs = [(int(n), int(d)) for n, d in zip(*rng.integers(1, 1000, (2, 500)), strict=True)]
    pairs += [(n, 2) for n in range(-9, 10)] + [(-n, d) for n, d in pairs]
    for numerator, denominator in pairs:
        expected = round(Fraction(numerator, denominator))
        assert rounded(np.int64(numerator), np.int64(denominator)) == expected


def test_iago_by_its_formula() -> None:
    iago, edges = Iago(), load_evaluation("edge_stability")
    for position in (check_positions()[10], check_positions()[45]):
        m = position.discs - 3
        own, other = len(position.moves), len(swapped(position).moves)
        current = 50_000 + 2_000 * m if m < 25 else 75_000 + 1_000 * m
        soon = [PotentialMobility().count(p) for p in (position, swapped(position))]
        expected = (
            round((312_000 + 6_240 * m) * edges(position) / 32_000)
            + round(current * (own - other) / (own + other + 2))
            + round(20_000 * (soon[0] - soon[1]) / (sum(soon) + 2))
        )
        assert iago(position) == expected
        assert sum(iago.parts(position).values()) == expected


# ---------------------------------------------------------------------- stable discs


def play_out(seed: int) -> list[Position]:
    rng = np.random.default_rng(seed)
    positions = [Position.start()]
    while not positions[-1].is_over:
        moves = positions[-1].moves or (PASS,)
        positions.append(positions[-1].play(int(rng.choice(moves))))
    return positions


def check_soundness(games: range) -> None:
    table = edge_table()
    for seed in games:
        positions = play_out(seed)
        final = positions[-1]
        for position in positions:
            for own, other, kept in (
                (position.black, position.white, final.black),
                (position.white, position.black, final.white),
            ):
                stable = int(stable_discs(np.uint64(own), np.uint64(other), table))
                assert not stable & ~own
                lost = bits(stable & ~kept)
                assert not lost, f"seed {seed}: {lost} flipped after\n{position}"


def test_no_disc_counted_as_stable_is_ever_flipped() -> None:
    check_soundness(range(300))


@pytest.mark.slow
def test_no_disc_counted_as_stable_is_ever_flipped_in_thousands_of_games() -> None:
    check_soundness(range(300, 4300))


def test_on_a_full_board_everything_is_stable() -> None:
    full = next(p for p in (play_out(seed)[-1] for seed in range(20)) if not p.empties)
    assert StableDiscs()(full) == full.disc_difference


# ---------------------------------------------------------------------- composites


def test_a_composite_is_its_weighted_sum() -> None:
    weights = {name: 1 + i / 4 for i, name in enumerate(FEATURES)}
    composite = Composite(weights)
    features = {name: make() for name, make in FEATURES.items()}
    for position in check_positions(200):
        expected = sum(weights[name] * features[name](position) for name in FEATURES)
        assert composite(position) == round(expected)
        assert sum(composite.parts(position).values()) == pytest.approx(expected)


def test_stages_change_with_the_empties() -> None:
    corners, discs, mobility = Corners(), load_evaluation("disc_count"), Mobility()
    for position in check_positions(400):
        early = position.empties > 20
        expected = 25 * corners(position) + (-1 if early else 2.5) * discs(position)
        expected += 0.5 * mobility(position) * early
        assert STAGED(position) == round(expected) == STAGED.plain(position)


@pytest.mark.parametrize(
    ("weights", "stages", "complaint"),
    [
        (
            {"mobilty": 1},
            None,
            r"unknown feature 'mobilty'; .* Did you mean 'mobility'",
        ),
        ({"mobility": float("nan")}, None, "mobility: nan is not a finite number"),
        ({"mobility": float("inf")}, None, "not a finite number"),
        ({"mobility": "8"}, None, "'8' is not a number"),
        ({"mobility": True}, None, "True is not a number"),
        ({}, None, "at least one weight"),
        ({"mobility": 0}, None, "at least one weight"),
        ({"corners": 1}, [{"empties": [0, 30]}, {"empties": [30, 60]}], "overlap at 30 empties"),
        ({"corners": 1}, [{"empties": [0, 30]}, {"empties": [32, 60]}], "no stage covers 31"),
        ({"corners": 1}, [{"empties": [0, 61]}], r"\[fewest, most\] within 0 to 60"),
        ({"corners": 1}, [{"empties": [9, 3]}], r"\[fewest, most\]"),
        ({"corners": 1}, [{"weights": {"parity": 1}}], r"empties=None"),
        ({"corners": 1}, [{"empties": [0, 60], "wieghts": {}}], "unknown key 'wieghts'"),
        ({"corners": 1}, [{"empties": [0, 60], "weights": {"x": 1}}], r"stages\[0\].weights"),
    ],
)
def test_bad_composites_are_refused(weights: dict, stages: list, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Composite(weights, stages)


# ---------------------------------------------------------------------- heuristics of one's own

MINE = """
import os, time
from agents.evaluation import heuristic
from agents.evaluation.helpers import CORNERS, EAST, count, moves, shift, squares

CENTRE = squares("d4 e4 d5 e5")

@heuristic
def hollow(mover, opponent):
    corners = count(mover & CORNERS) - count(opponent & CORNERS)
    return 10 * corners + count(moves(mover, opponent)) - count(moves(opponent, mover))

@heuristic
def share(mover, opponent):
    return (count(mover) - count(opponent)) / (count(mover) + count(opponent))

@heuristic
def lopsided(mover, opponent):
    return count(shift(mover, EAST) & ~opponent) + count(mover & CENTRE)

@heuristic
def process(mover, opponent):
    return os.getpid() % 7

@heuristic
def nothing(mover, opponent):
    pass

@heuristic
def picky(mover, opponent):
    if count(mover) > 10:
        raise ValueError("ten is enough")
    return 1

@heuristic
def endless(mover, opponent):
    n = 0
    while count(mover) > 5:
        n += 1
    return n

@heuristic
def huge(mover, opponent):
    return 1 << 40

@heuristic
def signed(mover, opponent):
    return count((mover | 0x7FFFFFFFFFFFFFFF) >> 63) + count(-1 & (mover >> 3)) * 0 + len("abc")

def unmarked(mover, opponent):
    return 1
"""


@pytest.fixture
def mine(tmp_path: pytest.TempPathFactory) -> str:
    path = tmp_path / "mine.py"  # type: ignore[operator]
    path.write_text(MINE, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", ["hollow", "share", "lopsided"])
def test_a_heuristic_from_a_file_runs_in_the_compiled_search(mine: str, name: str) -> None:
    evaluation = FunctionEvaluation(f"{mine}:{name}")
    slow = FunctionEvaluation(f"{mine}:{name}", compiled=False)
    check_twin(evaluation, check_positions(200))
    assert evaluation.symmetric == slow.symmetric == (name != "lopsided")
    for position in check_positions()[3::150]:
        decision = AlphaBeta(3, evaluation).search(position)
        agent = AlphaBeta(3, slow)
        assert not agent.compiled
        assert agent.search(position) == decision


def test_floats_are_scaled(mine: str) -> None:
    position = check_positions()[30]
    share = (position.mover.bit_count() - position.opponent.bit_count()) / position.discs
    assert FunctionEvaluation(f"{mine}:share")(position) == round(1000 * share)
    assert FunctionEvaluation(f"{mine}:share", scale=10)(position) == round(10 * share)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("process", r"line 23, `return os.getpid\(\) % 7`: .*compiled: false"),
        ("nothing", "returns None; an integer or a float"),
        ("picky", "line 32: ValueError: ten is enough"),
        ("huge", "returns 1099511627776 .*at most 16777215"),
        ("unmarked", "not marked with @heuristic"),
        ("holow", "its heuristics: hollow, share, .* Did you mean 'hollow'"),
        ("endless", "did not end on 1000 positions within 1 s"),
    ],
)
def test_a_heuristic_that_cannot_be_used_is_refused_in_one_line(
    mine: str, name: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.evaluation.function.CHECK_SECONDS", 1.0)
    with pytest.raises(ValueError, match=complaint) as refusal:
        FunctionEvaluation(f"{mine}:{name}")
    assert "\n" not in str(refusal.value)


class Half(Corners):
    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        return 0.5


class Undefined(Corners):
    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        return no_such_name(mover)  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [(Half, "gives float64; an integer is needed"), (Undefined, "no_such_name.* is not defined")],
)
def test_a_kernel_of_ones_own_that_is_none_is_refused(
    kind: type[Evaluation], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        kind().prepare()
