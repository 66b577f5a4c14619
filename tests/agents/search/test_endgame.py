"""The endgame solver: against plain searches, against itself with techniques left out, and as typed
on the command line."""

from __future__ import annotations

import copy
import pickle
import random
import re
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from othello_lab import PASS, AlphaBeta, DiscCount, Limits, Position
from othello_lab.agents.command_line import main
from othello_lab.agents.commands import solve
from othello_lab.agents.commands.solve import read_problem
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.agents.learned import PatternEvaluation
from othello_lab.agents.learned import patterns as model
from othello_lab.agents.learned.geometry import geometry
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.agents.search.context import read_stats
from othello_lab.agents.search.endgame import kernels, memory
from othello_lab.agents.search.endgame.solver import EndgameSolver, Solution
from othello_lab.agents.search.endgame.sorting import ROUGH, TRAINED, RoughEvaluation, sorting_of
from othello_lab.agents.search.limits import allotment
from othello_lab.core.bitboard import bits
from othello_lab.core.last_flips import last_flips
from othello_lab.core.notation import square_name
from othello_lab.core.position import prepare_rules
from othello_lab.core.rules import RULESETS

RandomGame = Callable[[str, int], list[Position]]

FFO = Path(__file__).parents[2] / "data" / "ffo"
SWITCHES = ("fastest_first", "parity", "stability", "etc", "sorting_search")
EVERYTHING_OFF = dict.fromkeys(SWITCHES, False)
seeds = st.integers(0, 2**32 - 1)
boards = pytest.mark.parametrize("rules", ["standard", "wpi", "mini6", "mini4"])


@pytest.fixture(scope="module")
def solver() -> EndgameSolver:
    prepare_rules()
    solver = EndgameSolver(table_mb=8)
    solver.prepare()  # the tests of what a command says on stderr want no word of compiling
    return solver


@cache
def plain_score(position: Position) -> int:
    """The score by trying everything."""
    if position.is_over:
        return position.disc_difference
    moves = position.moves or (PASS,)
    return max(-plain_score(position.play(move)) for move in moves)


def searched_score(position: Position) -> int:
    """The score by the lab's own alpha-beta, deep enough to end every game."""
    if position.is_over:
        return position.disc_difference
    value = AlphaBeta(2 * position.empties + 2, DiscCount()).search(position).value
    assert isinstance(value, int)
    return value // FINAL_UNIT


def with_empties(random_game: RandomGame, rules: str, seed: int, empties: int) -> Position:
    """The position of a random game with so many empty squares, or its last with more."""
    game = random_game(rules, seed)
    return next((p for p in game if p.empties <= empties), game[-1])


def end_of(position: Position, moves: tuple[int, ...]) -> Position:
    for move in moves:
        position = position.play(move)
    return position


def check(position: Position, solution: Solution, score: int) -> None:
    """A complete solution of this score, and a variation that ends with it."""
    assert solution.complete, position
    assert (solution.score, solution.lower, solution.upper) == (score, score, score), position
    end = end_of(position, solution.pv)
    assert end.is_over, position
    own = end.disc_difference if end.to_move is position.to_move else -end.disc_difference
    assert own == score, position
    assert solution.best == solution.pv[:1]
    assert solution.stats.nodes > 0


# ------------------------------------------------------------------ the right score


@boards
@settings(max_examples=60)
@given(seed=seeds, empties=st.integers(0, 7))
def test_scores_of_up_to_seven_empty_squares(
    rules: str, seed: int, empties: int, random_game: RandomGame, solver: EndgameSolver
) -> None:
    position = with_empties(random_game, rules, seed, empties)
    check(position, solver.solve(position), plain_score(position))


@boards
@settings(max_examples=25)
@given(seed=seeds, empties=st.integers(8, 11))
def test_scores_of_more_empty_squares(
    rules: str, seed: int, empties: int, random_game: RandomGame, solver: EndgameSolver
) -> None:
    position = with_empties(random_game, rules, seed, empties)
    check(position, solver.solve(position), searched_score(position))


def test_scores_of_twelve_empty_squares(random_game: RandomGame, solver: EndgameSolver) -> None:
    for seed in range(3):
        position = with_empties(random_game, "standard", seed, 12)
        check(position, solver.solve(position), searched_score(position))


def test_passes_and_wipe_outs_are_met(random_game: RandomGame, solver: EndgameSolver) -> None:
    # The same in fixed games, so that these cases surely occur.
    passes = wipe_outs = unfilled = 0
    for rules in RULESETS:
        for seed in range(60):
            position = with_empties(random_game, rules, seed, 6)
            solution = solver.solve(position)
            check(position, solution, plain_score(position))
            passes += PASS in solution.pv
            wipe_outs += abs(solution.score or 0) == position.ruleset.squares
            unfilled += end_of(position, solution.pv).empties > 0
    assert passes > 20
    assert wipe_outs > 2
    assert unfilled > 10


def test_every_move_is_scored(random_game: RandomGame, solver: EndgameSolver) -> None:
    for rules in RULESETS:
        for seed in range(15):
            position = with_empties(random_game, rules, seed, 7)
            moves = (PASS,) if position.must_pass else position.moves
            expected = {move: -plain_score(position.play(move)) for move in moves}
            assert solver.analyse(position).scores == expected, position
            solution = solver.analyse(position)
            assert solution.score == plain_score(position)
            assert solution.scores == expected
            if expected:
                best = {move for move, score in expected.items() if score == solution.score}
                assert set(solution.best) == best
                assert solution.pv[0] == solution.best[0]
            assert end_of(position, solution.pv).is_over


def test_win_draw_or_loss(random_game: RandomGame, solver: EndgameSolver) -> None:
    seen = set()
    for rules in RULESETS:
        for seed in range(40):
            position = with_empties(random_game, rules, seed, 7)
            score = plain_score(position)
            solution = solver.solve_wld(position)
            assert solution.score == (score > 0) - (score < 0), position
            assert solution.complete
            assert solution.lower <= score <= solution.upper, position
            if solution.best:
                after = position.play(solution.best[0])
                worth = -plain_score(after)
                assert (worth > 0) - (worth < 0) == solution.score, position
            seen.add(solution.score)
    assert seen == {-1, 0, 1}


def test_solving_4x4(solver: EndgameSolver) -> None:
    # Known: White wins 11-3, and the two empty squares go to the winner.
    start = Position.start("mini4")
    solution = solver.solve(start)
    check(start, solution, -10)
    end = end_of(start, solution.pv)
    assert (end.black.bit_count(), end.white.bit_count()) == (3, 11)
    assert set(solver.analyse(start).scores.values()) == {-10}


def test_a_finished_game(solver: EndgameSolver) -> None:
    position = Position.from_obf("XXX" + "-" * 61 + " O")
    for solution in (solver.solve(position), solver.analyse(position)):
        assert (solution.score, solution.pv, solution.best) == (-64, (), ())
        assert solution.complete
    assert solver.solve_wld(position).score == -1
    assert solver.analyse(position).scores == {}


# ------------------------------------------------------------------ techniques


def test_techniques_change_the_cost_and_never_the_score(random_game: RandomGame) -> None:
    positions = [with_empties(random_game, "standard", seed, 14) for seed in range(4)]
    positions += [with_empties(random_game, "mini6", seed, 14) for seed in range(2)]
    everything = EndgameSolver(table_mb=8)
    solutions = [everything.solve(position) for position in positions]
    choices: list[dict[str, object]] = [{switch: False} for switch in SWITCHES]
    choices += [EVERYTHING_OFF, {"sorting": ROUGH}]
    for choice in choices:
        other = EndgameSolver(table_mb=8, **choice)  # type: ignore[arg-type]
        again = [other.solve(position) for position in positions]
        assert [s.score for s in again] == [s.score for s in solutions], choice
        nodes = [s.stats.nodes for s in again]
        assert nodes != [s.stats.nodes for s in solutions], choice
        if not choice.get("stability", True):
            assert not any(s.stats.stability_returns for s in again)
        if not choice.get("sorting_search", True):
            assert not any(s.stats.evaluations for s in again)
    assert any(s.stats.stability_returns for s in solutions)
    assert any(s.stats.table_returns for s in solutions)


def test_switches_can_be_turned_on_an_object(random_game: RandomGame) -> None:
    position = with_empties(random_game, "standard", 1, 11)
    turned = EndgameSolver(table_mb=1)
    with_parity = turned.solve(position)
    turned.parity = False
    without = turned.solve(position)
    assert without.stats.nodes != with_parity.stats.nodes
    assert without.stats == EndgameSolver(table_mb=1, parity=False).solve(position).stats


@pytest.fixture(scope="module")
def senseless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of weights for the 8x8 board that were drawn at random."""
    rng = np.random.default_rng(8)

    def drawn(*shape: int) -> np.ndarray:
        return rng.integers(-90, 90, shape).astype(np.int16)

    arrays = {
        model.STAGES: np.zeros(65, dtype=np.uint8),
        model.CONSTANT: drawn(65),
        model.OWN_MOVES: drawn(1, model.MOST_MOVES + 1),
        model.THEIR_MOVES: drawn(1, model.MOST_MOVES + 1),
        model.CONTENTS: drawn(1, geometry(8).classes),
    }
    weights = LearnedWeights(model.KIND, model.VERSION, model.UNIT, arrays, {"side": 8})
    return weights.write(tmp_path_factory.mktemp("weights") / "senseless")


def test_whatever_sorts_the_score_is_the_same(random_game: RandomGame, senseless: Path) -> None:
    solvers = [EndgameSolver(1, sorting=choice) for choice in (ROUGH, senseless, str(senseless))]
    for seed in range(6):
        position = with_empties(random_game, "standard", seed, 14)
        rough, sorted_by_chance, again = (solver.solve(position) for solver in solvers)
        check(position, sorted_by_chance, rough.score or 0)
        assert sorted_by_chance.stats == again.stats
        assert sorted_by_chance.stats.evaluations != rough.stats.evaluations


def test_learned_weights_sort_on_boards_of_their_size(
    random_game: RandomGame, senseless: Path
) -> None:
    given, rough = EndgameSolver(1, sorting=senseless), EndgameSolver(1, sorting=ROUGH)
    for rules, same in (("mini6", True), ("standard", False), ("wpi", False), ("mini6", True)):
        position = with_empties(random_game, rules, 3, 15)
        assert (given.solve(position).stats == rough.solve(position).stats) is same, rules
    trained, hand_made = sorting_of(TRAINED, 8), sorting_of(TRAINED, 4)
    assert isinstance(trained.evaluation, PatternEvaluation)  # which come with the lab
    assert isinstance(hand_made.evaluation, RoughEvaluation)


def test_learned_weights_save_nodes(random_game: RandomGame) -> None:
    nodes = {TRAINED: 0, ROUGH: 0}
    for choice in nodes:
        solver = EndgameSolver(8, sorting=choice)
        for seed in range(6):
            position = with_empties(random_game, "standard", seed, 16)
            nodes[choice] += solver.solve(position).stats.nodes
    assert nodes[TRAINED] < 0.95 * nodes[ROUGH]


def test_the_sorting_can_be_chosen_on_an_object(random_game: RandomGame) -> None:
    position = with_empties(random_game, "standard", 1, 15)
    turned = EndgameSolver(table_mb=1)
    trained = turned.solve(position)
    turned.sorting = ROUGH
    rough = turned.solve(position)
    assert rough.stats != trained.stats
    assert rough.stats == EndgameSolver(table_mb=1, sorting=ROUGH).solve(position).stats
    clone = pickle.loads(pickle.dumps(turned))
    assert clone.solve(position).stats == rough.stats


@pytest.mark.parametrize("sorting", ["pattern", "nowhere/weights.npz", "trees"])
def test_weights_that_cannot_sort_are_refused(sorting: str) -> None:
    with pytest.raises(ValueError, match=sorting) as refusal:
        EndgameSolver(sorting=sorting)
    assert "\n" not in str(refusal.value)


@boards
@given(seed=seeds, empties=st.integers(0, 60))
def test_the_rough_evaluation_says_what_its_twin_says(
    rules: str, seed: int, empties: int, random_game: RandomGame
) -> None:
    position = with_empties(random_game, rules, seed % 1000, empties)
    evaluation = RoughEvaluation(position.ruleset.side)
    assert evaluation(position) == evaluation.plain(position)


def bare(solver: EndgameSolver, position: Position) -> tuple[np.uint64, np.int64]:
    """The last two arguments of the kernels, on a solver made ready for this position."""
    with solver._solving(position, Limits()):
        return solver.odd_quadrants(position), np.int64(position.empties)


@boards
@settings(max_examples=50)
@given(seed=seeds, empties=st.integers(0, 9), offset=st.integers(-12, 12))
def test_a_null_window_bounds_the_score(
    rules: str,
    seed: int,
    empties: int,
    offset: int,
    random_game: RandomGame,
    solver: EndgameSolver,
) -> None:
    position = with_empties(random_game, rules, seed, empties)
    note(f"{position}\n{position.to_obf()}")
    score = plain_score(position) if empties < 8 else searched_score(position)
    alpha = score + offset
    masks = solver._arguments  # ready only after bare()
    rest = bare(solver, position)
    result = int(kernels.decide(*masks(position), np.int64(alpha), *rest))
    if result > alpha:
        assert alpha < result <= score
    else:
        assert score <= result <= alpha
    window = np.int64(alpha), np.int64(alpha + 5)
    result = int(kernels.principal(*masks(position), *window, *bare(solver, position)))
    if result <= alpha:
        assert score <= result
    elif result >= alpha + 5:
        assert score >= result
    else:
        assert result == score


# Where every rank and file but one square is filled, by random discs.
@settings(max_examples=300)
@given(seed=seeds, square=st.integers(0, 63))
def test_the_count_of_the_last_flips(seed: int, square: int) -> None:
    mover = random.Random(seed).getrandbits(64) & ~(1 << square)
    opponent = ~(mover | 1 << square) & ((1 << 64) - 1)
    position = Position(mover, opponent)
    expected = 0
    if square in position.moves:
        expected = opponent.bit_count() - position.play(square).mover.bit_count()
    assert last_flips(np.uint64(mover), np.uint64(square)) == expected, position


def test_positions_made_to_rank_moves_are_counted(
    solver: EndgameSolver, random_game: RandomGame
) -> None:
    # With one empty square more than are searched without a table, moves are ranked at the root.
    ranked = 0
    for seed in range(30):
        position = with_empties(random_game, "standard", seed, kernels.FEW + 1)
        moves = len(position.moves)
        if position.empties != kernels.FEW + 1 or moves == 0:
            continue
        ranked += 1
        for alpha, entered in ((64, moves), (-65, 1)):  # no move is enough, the first is
            with solver._solving(position, Limits()):
                solver._search(position, alpha, alpha + 1)
                stats = read_stats(solver._memory.context)
            if not stats.stability_returns:
                assert stats.made == stats.nodes - 1 + moves - entered, position
    assert ranked > 10


def look_ahead(context: np.ndarray, position: Position, beta: int) -> tuple[int, int]:
    """The value one ply ahead of a position, and the nodes, with a window that ends at ``beta``."""
    before = read_stats(context).nodes
    address, window = np.intp(context.ctypes.data), (np.int64(-kernels._FAR), np.int64(beta))
    value = kernels._look_ahead(address, *position.masks, *window, np.int64(1))
    return int(value), read_stats(context).nodes - before


def test_the_look_ahead_cuts_at_a_value_of_beta(
    solver: EndgameSolver, random_game: RandomGame
) -> None:
    looked = 0
    for seed in range(5):
        position = with_empties(random_game, "standard", seed, 14)
        if len(position.moves) < 2:
            continue
        looked += 1
        with solver._solving(position, Limits()):
            context = solver._memory.context
            first, nodes = look_ahead(context, position, 1 - kernels._FAR)  # any move is enough
            assert nodes == 2
            assert look_ahead(context, position, first) == (first, 2)
            assert look_ahead(context, position, first + 1)[1] > 2
    assert looked


# ------------------------------------------------------------------ the table


WORD = (1 << 64) - 1


def plain_mixed(known: int) -> int:
    """The data of an entry, mixed as an int64."""
    mixed = known * 0x2545F4914F6CDD1D & WORD
    return mixed - (mixed >> 63 << 64)


def entries(solver: EndgameSolver) -> Iterator[tuple[int, int, int]]:
    """Masks and data of all entries of the last solving."""
    assert solver._memory is not None
    generation = int(solver._memory.context[memory.GENERATION])
    for table in solver._memory.tables:
        rows = table.words.reshape(-1, 4)
        for row in rows[rows[:, 2] >> 32 == generation]:
            mover, opponent, known, _ = row.tolist()
            mixed = plain_mixed(known)
            yield (mover ^ mixed) & WORD, (opponent ^ mixed >> 17) & WORD, known


def test_what_the_table_holds_is_true(random_game: RandomGame) -> None:
    solver, other = EndgameSolver(table_mb=1), EndgameSolver(table_mb=1, **EVERYTHING_OFF)
    rng = random.Random(1)
    for rules, limits in (
        ("standard", Limits()),
        ("standard", Limits(nodes=20_000)),  # nothing wrong is left by a search that was stopped
        ("mini6", Limits()),
    ):
        position = with_empties(random_game, rules, 5, 13)
        solver.solve(position, limits)
        found = list(entries(solver))
        assert len(found) > 30
        for mover, opponent, known in rng.sample(found, 30):
            held = Position(mover, opponent, ruleset=position.ruleset)
            score = other.solve(held).score
            assert score is not None
            bounds = int(kernels.lower_of(known)), int(kernels.upper_of(known))
            assert bounds[0] <= score <= bounds[1], held
            move = int(kernels.best_move_of(known))
            assert move == 64 or move in held.moves, held
            assert known >> 24 & 255 == held.empties


def test_a_tiny_table_is_enough(random_game: RandomGame, solver: EndgameSolver) -> None:
    position = with_empties(random_game, "standard", 8, 14)
    small = EndgameSolver(table_mb=1).solve(position)
    check(position, small, solver.solve(position).score or 0)


@pytest.mark.parametrize("size", [0, -1, 1 << 40, 2.5, "64", None, True])
def test_bad_table_sizes_are_refused(size: object) -> None:
    with pytest.raises(ValueError, match="table_mb") as refusal:
        EndgameSolver(size)  # type: ignore[arg-type]
    assert f"table_mb={'null' if size is None else repr(size)}:" in str(refusal.value)
    assert "\n" not in str(refusal.value)


# ------------------------------------------------------------------ determinism, copies


def test_the_same_position_costs_the_same_whatever_came_before(random_game: RandomGame) -> None:
    positions = [with_empties(random_game, "standard", seed, 13) for seed in range(4)]
    positions.append(Position.start("mini4"))
    alone = [EndgameSolver(table_mb=1).solve(position) for position in positions]
    shared = EndgameSolver(table_mb=1)
    for order in (positions, positions[::-1]):
        for position in order:
            solution = shared.solve(position)
            expected = alone[positions.index(position)]
            assert (solution.stats, solution.pv) == (expected.stats, expected.pv)
            shared.solve_wld(position)


def test_a_copy_solves_in_its_own_memory(random_game: RandomGame) -> None:
    original = EndgameSolver(table_mb=1, parity=False)
    position = with_empties(random_game, "standard", 3, 12)
    solution = original.solve(position)
    for clone in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert clone.solve(position).stats == solution.stats
        assert clone._memory is not original._memory


# ------------------------------------------------------------------ limits


def hard(random_game: RandomGame) -> Position:
    return with_empties(random_game, "standard", 2, 30)


def test_all_memory_is_made_before_a_search() -> None:
    """Of each solver, though its kernels are compiled already: tables are made in no timed move."""
    for _ in range(2):
        solver = EndgameSolver()
        solver.prepare()
        tracemalloc.start()
        solver.solve(Position.start("mini4"))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 1 << 20


def test_a_limit_on_nodes_leaves_an_honest_answer(random_game: RandomGame) -> None:
    solver = EndgameSolver(table_mb=1)
    position = hard(random_game)
    for nodes in (1, 1000, 100_000):
        for solution in (
            solver.solve(position, Limits(nodes=nodes)),
            solver.solve_wld(position, Limits(nodes=nodes)),
            solver.analyse(position, Limits(nodes=nodes)),
        ):
            assert solution.score is None
            assert not solution.complete
            assert solution.best[0] in position.moves
            assert solution.stats.nodes < nodes + 10_000
            assert (solution.lower, solution.upper) == (-64, 64)


def test_bounds_hold_wherever_a_search_is_stopped(random_game: RandomGame) -> None:
    solver = EndgameSolver(table_mb=1)
    known_winner = 0
    for seed in range(6):
        position = with_empties(random_game, "standard", seed, 13)
        full = solver.solve(position)
        for eighth in range(1, 9):
            limits = Limits(nodes=full.stats.nodes * eighth // 8)
            part = solver.solve(position, limits)
            assert part.lower <= (full.score or 0) <= part.upper, position
            assert part.score in (None, full.score)
            assert part.best[0] in position.moves
            known_winner += not part.complete and (part.lower > 0 or part.upper < 0)
            if part.lower > 0 and not part.complete:
                after = position.play(part.best[0])
                worth = solver.solve(after).score
                assert worth is not None
                assert -worth > 0, position
            scores = solver.analyse(position, limits).scores
            every = solver.analyse(position).scores
            assert scores.items() <= every.items()
    assert known_winner > 3


def test_a_limit_on_time_is_kept(random_game: RandomGame, timers: list[float]) -> None:
    solver = EndgameSolver(table_mb=8)
    position = hard(random_game)
    asked = Limits(seconds=0.05), Limits(clock=0.5)
    for limits in asked:
        solution = solver.solve(position, limits)  # would take hours
        assert solution.score is None
        assert solution.best[0] in position.moves
    assert timers == [allotment(limits, position.empties) for limits in asked]


def test_another_thread_can_stop_it(random_game: RandomGame) -> None:
    solver = EndgameSolver(table_mb=8)
    position = hard(random_game)
    ended = threading.Event()

    def stop() -> None:
        while not ended.wait(0.05):  # a stop before the beginning does nothing
            solver.stop()

    other = threading.Thread(target=stop)
    other.start()
    try:
        assert solver.solve(position).score is None
    finally:
        ended.set()
        other.join()


# ------------------------------------------------------------------ the command line


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")


def scored_line(position: Position, off_by: int = 0) -> str:
    """An OBF line with the score of each move, the first one wrong by so much."""
    scores = EndgameSolver(table_mb=1).analyse(position).scores
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    words = [f"{square_name(m).upper()}:{s:+d}" for m, s in ranked]
    if off_by:
        move, score = ranked[0]
        words[0] = f"{square_name(move).upper()}:{score + off_by:+d}"
    return f"{position.to_obf()}; {'; '.join(words)};"


@pytest.mark.usefixtures("wide")
def test_a_position_as_typed(random_game: RandomGame, capsys: pytest.CaptureFixture[str]) -> None:
    position = with_empties(random_game, "standard", 4, 8)
    assert main(["solve", position.to_obf(), "--table", "1"]) == 0
    output = capsys.readouterr().out
    solution = EndgameSolver(table_mb=1).solve(position)
    assert str(position) in output
    assert " ".join(square_name(move) for move in solution.pv) in output
    assert f"{solution.score:+d}" in output
    assert f"{solution.stats.nodes:,}" in output
    assert main(["solve", position.to_obf(), "--all", "--table", "1"]) == 0
    output = capsys.readouterr().out
    rows = re.findall(r"^\s*([a-h][1-8])\s+([+-]\d+)\s*$", output, re.MULTILINE)
    scores = EndgameSolver(table_mb=1).analyse(position).scores
    assert {name: int(score) for name, score in rows} == {
        square_name(move): score for move, score in scores.items()
    }


@pytest.mark.usefixtures("wide")
def test_transcripts_and_small_boards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "", "--ruleset", "mini4"]) == 0
    assert re.search(r" -10\b", capsys.readouterr().out)  # not <=-10
    assert main(["solve", "a2a1", "--ruleset", "mini4"]) == 0
    assert re.search(r" -10\b", capsys.readouterr().out)  # not <=-10


@pytest.mark.usefixtures("wide")
def test_a_finished_game_as_typed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "X" * 44 + "O" * 20 + " X"]) == 0
    assert "game over: +24 discs" in capsys.readouterr().out


@pytest.mark.usefixtures("wide", "solver")
@pytest.mark.parametrize("every", [[], ["--all"]])
def test_a_file_of_positions(
    every: list[str],
    random_game: RandomGame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    positions = [with_empties(random_game, "standard", seed, 8) for seed in range(3)]
    lines = ["% a comment", "", *map(scored_line, positions), "# another", positions[0].to_obf()]
    lines.append("X" * 60 + "---- O")
    path = tmp_path / "problems.obf"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["solve", str(path), *every]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert re.search(r"^5 positions in .*; scores as given$", output.out, re.MULTILINE)
    numbers = re.findall(r"^ +(\d+) +\d+ +\S", output.out, re.MULTILINE)
    assert numbers == ["3", "4", "5", "7", "8"]
    assert "game over" in output.out
    lines[3] = scored_line(positions[1], off_by=2)
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["solve", str(path), *every]) == 1
    output = capsys.readouterr()
    assert output.out.count("differs from the file") == 1
    assert "1 of 3 differ from the file" in output.out


@pytest.mark.usefixtures("wide", "solver")
def test_bad_lines_are_told_and_the_rest_is_solved(
    random_game: RandomGame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    position = with_empties(random_game, "standard", 1, 8)
    good = position.to_obf()
    illegal = next(s for s in bits(position.mover))
    bad = {
        2: (good[:-10] + " X", "squares instead of 64"),
        3: (good[:20] + "Q" + good[21:], "'Q' on e3"),
        4: (good[:64], "side to move"),
        5: (f"{good}; A9:+3;", "not a square"),
        6: (f"{good}; {square_name(illegal)}:+3;", "not a legal move"),
        7: (f"{good}; hello;", "MOVE:"),
    }
    path = tmp_path / "problems.obf"
    path.write_text("\n".join([good, *(line for line, _ in bad.values()), good]), encoding="utf-8")
    assert main(["solve", str(path)]) == 2
    output = capsys.readouterr()
    complaints = output.err.splitlines()
    assert len(complaints) == len(bad)
    for complaint, (number, (_, reason)) in zip(complaints, bad.items(), strict=True):
        assert complaint.startswith(f"{path}, line {number}: ")
        assert reason in complaint
    assert re.search(r"^2 positions in .*; 6 bad lines$", output.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["f5d6c3d"], "left over"),
        (["nowhere.obf"], "there is no file nowhere.obf"),
        ([str(Path(__file__).parent)], "is a folder"),
        (["-" * 64 + " Z"], "side to move 'Z'"),
        (["-" * 64 + " X; A1:+2"], "not a legal move"),
        (["f5", "--table", "999999999999"], "this machine has"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", *words]) == 2
    output = capsys.readouterr()
    assert output.err.count("\n") == 1
    assert complaint in output.err
    assert output.out == ""


# ------------------------------------------------------------------ published problems


@pytest.mark.integration
@pytest.mark.parametrize("name", ["fforum-1-19.obf", "fforum-20-39.obf"])
def test_published_problems(name: str) -> None:
    path = FFO / name
    solver = EndgameSolver()
    for line in path.read_text(encoding="utf-8").splitlines():
        problem = read_problem(line, RULESETS["standard"])
        check(problem.position, solver.solve(problem.position), max(problem.scores.values()))
        if name == "fforum-1-19.obf":
            scores = solver.analyse(problem.position).scores
            assert scores.items() >= problem.scores.items(), problem.position


@pytest.mark.integration
def test_scores_of_thousands_of_positions(random_game: RandomGame) -> None:
    solver = EndgameSolver(table_mb=8)
    for rules in RULESETS:
        for seed in range(1000, 1400):
            for empties in (5, 7, 9):
                position = with_empties(random_game, rules, seed, empties)
                score = searched_score(position)
                check(position, solver.solve(position), score)
                assert solver.solve_wld(position).score == (score > 0) - (score < 0)


def test_solving_that_takes_for_ever_tells_how_far_it_is_and_ends_when_asked_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    show = solve._SolvingProgress.show

    def show_twice(progress: solve._SolvingProgress) -> None:
        show(progress)
        told.append(capsys.readouterr().err)
        if len(told) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(solve._SolvingProgress, "show", show_twice)
    monkeypatch.setattr(solve, "_NOTE_SECONDS", 0.1)
    assert main(["solve", "f5d6", "--table", "1"]) == 130
    assert "58 empty squares: 26 may take minutes" in told[0]
    for line in told:
        assert re.search(r"[\d,]+ nodes in \d+ s \(.*\); the winner is not known yet\n", line)
    printed = capsys.readouterr().out
    assert "Stopped before the score was proven." in printed
    assert "Best move so far: " in printed
