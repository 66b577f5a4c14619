"""The endgame solver: against plain searches, against itself with techniques left out, as typed on
the command line, and with several threads: the scores of one, no torn entries, and an end of all
threads whenever one ends."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import re
import threading
import tracemalloc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import played_out, random_patterns, seeds, with_empties
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import ended, refused, refuses
from runs import line_of, printed

from othello_lab import PASS, PVS, AlphaBeta, DiscCount, Limits, Position
from othello_lab.agents.command_line import main
from othello_lab.agents.commands import solve
from othello_lab.agents.commands.solve import read_problem
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.agents.learned import PatternEvaluation
from othello_lab.agents.search.endgame import kernels, memory, parallel
from othello_lab.agents.search.endgame import solver as solving
from othello_lab.agents.search.endgame.memory import SolverMemory, team_of
from othello_lab.agents.search.endgame.solver import EndgameSolver, Solution
from othello_lab.agents.search.endgame.sorting import ROUGH, TRAINED, RoughEvaluation, sorting_of
from othello_lab.agents.search.limits import allotment
from othello_lab.core.bitboard import bits
from othello_lab.core.last_flips import last_flips
from othello_lab.core.notation import square_name
from othello_lab.core.position import prepare_rules
from othello_lab.core.rules import RULESETS

FFO = Path(__file__).parents[2] / "data" / "ffo"
SWITCHES = ("fastest_first", "parity", "stability", "etc", "sorting_search")
EVERYTHING_OFF = dict.fromkeys(SWITCHES, False)
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
    score_at_end = end.disc_difference if end.to_move is position.to_move else -end.disc_difference
    assert score_at_end == score, position
    assert solution.best == solution.pv[:1]
    assert solution.stats.nodes > 0


@boards
@settings(max_examples=30)
@given(seed=seeds, empties=st.integers(0, 7))
def test_scores_of_up_to_seven_empty_squares(
    rules: str, seed: int, empties: int, solver: EndgameSolver
) -> None:
    position = with_empties(rules, seed, empties)
    check(position, solver.solve(position), plain_score(position))


@boards
def test_scores_of_more_empty_squares(rules: str, solver: EndgameSolver) -> None:
    for empties in (8, 9, 10, 11, 11, 11, 12):
        position = with_empties(rules, empties, empties)
        check(position, solver.solve(position), searched_score(position))


def test_passes_and_wipe_outs_are_met(solver: EndgameSolver) -> None:
    # The same in fixed games, so that these cases surely occur.
    passes = wipe_outs = unfilled = 0
    for rules in RULESETS:
        for seed in range(40):
            position = with_empties(rules, seed, 6)
            solution = solver.solve(position)
            check(position, solution, plain_score(position))
            passes += PASS in solution.pv
            wipe_outs += abs(solution.score or 0) == position.ruleset.squares
            unfilled += end_of(position, solution.pv).empties > 0
    assert passes > 12
    assert wipe_outs > 0
    assert unfilled > 6
    # Known of 4x4: White wins 11-3, and the two empty squares go to the winner.
    start = Position.start("mini4")
    solution = solver.solve(start)
    check(start, solution, -10)
    end = end_of(start, solution.pv)
    assert (end.black.bit_count(), end.white.bit_count()) == (3, 11)
    assert set(solver.analyse(start).scores.values()) == {-10}
    over = Position.from_obf("XXX" + "-" * 61 + " O")
    for solution in (solver.solve(over), solver.analyse(over)):
        assert (solution.score, solution.pv, solution.best) == (-64, (), ())
        assert solution.complete
    assert solver.solve_wld(over).score == -1
    assert solver.analyse(over).scores == {}


def test_every_move_is_scored_and_the_result_known(solver: EndgameSolver) -> None:
    seen = set()
    for rules, seed in itertools.product(RULESETS, range(12)):
        position = with_empties(rules, seed, 7)
        score = plain_score(position)
        moves = (PASS,) if position.must_pass else position.moves
        expected = {move: -plain_score(position.play(move)) for move in moves}
        solution = solver.analyse(position)
        assert (solution.scores, solution.score) == (expected, score), position
        if expected:
            assert set(solution.best) == {m for m, worth in expected.items() if worth == score}
            assert solution.pv[0] == solution.best[0]
        assert end_of(position, solution.pv).is_over
        result = solver.solve_wld(position)
        assert result.complete and result.lower <= score <= result.upper, position
        assert result.score == np.sign(score), position
        if result.best:
            assert np.sign(expected[result.best[0]]) == result.score, position
        seen.add(result.score)
    assert seen == {-1, 0, 1}


@pytest.fixture(scope="module")
def senseless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of weights for the 8x8 board that were drawn at random."""
    return random_patterns(8).write(tmp_path_factory.mktemp("weights") / "senseless")


@pytest.mark.integration
def test_techniques_change_the_cost_and_never_the_score(senseless: Path) -> None:
    positions = [with_empties("standard", seed, 14) for seed in range(4)]
    positions += [with_empties("mini6", seed, 14) for seed in range(2)]
    everything = EndgameSolver(table_mb=8)
    solutions = [everything.solve(position) for position in positions]
    choices: list[dict[str, Any]] = [{switch: False} for switch in SWITCHES]
    choices += [EVERYTHING_OFF, {"sorting": ROUGH}, {"sorting": senseless}]
    for choice in choices:
        turned = EndgameSolver(table_mb=8)  # a setting can be changed on an object
        for setting, value in choice.items():
            setattr(turned, setting, value)
        solvers = [EndgameSolver(table_mb=8, **choice), turned, copy.deepcopy(turned)]
        again, others, copies = ([item.solve(p) for p in positions] for item in solvers)
        copied = pickle.loads(pickle.dumps(turned)).solve(positions[0])
        assert [s.score for s in again] == [s.score for s in solutions], choice
        assert [s.stats for s in again] == [s.stats for s in others] == [s.stats for s in copies]
        assert copied.stats == again[0].stats
        nodes = [s.stats.nodes for s in again]
        assert nodes != [s.stats.nodes for s in solutions], choice
        if not choice.get("stability", True):
            assert not any(s.stats.stability_returns for s in again)
        if not choice.get("sorting_search", True):
            assert not any(s.stats.evaluations for s in again)
        if choice.get("sorting") == ROUGH:
            assert sum(s.stats.nodes for s in solutions[:4]) < 0.95 * sum(nodes[:4])
    assert any(s.stats.stability_returns for s in solutions)
    assert any(s.stats.table_returns for s in solutions)
    for solution, position in zip(solutions, positions, strict=True):
        check(position, EndgameSolver(table_mb=1).solve(position), solution.score or 0)


@pytest.mark.parametrize(
    ("setting", "bad"),
    [
        *(("sorting", bad) for bad in ("pattern", "nowhere/weights.npz", "trees")),
        *(("table_mb", bad) for bad in (0, -1, 1 << 40, 2.5, "64", None, True)),
        *(("threads", bad) for bad in (0, -1, 65, 1.5, "2", None, True)),
    ],
)
def test_bad_settings_are_refused(setting: str, bad: Any) -> None:
    with refused(setting, bad if setting == "sorting" else "null" if bad is None else repr(bad)):
        EndgameSolver(**{setting: bad})
    if setting == "threads":
        with refused("endgame_threads="):
            PVS(2, DiscCount(), endgame=14, endgame_threads=bad)


def test_learned_weights_sort_on_boards_of_their_size(senseless: Path) -> None:
    given, rough = EndgameSolver(1, sorting=senseless), EndgameSolver(1, sorting=ROUGH)
    for rules, same in (("mini6", True), ("standard", False), ("wpi", False), ("mini6", True)):
        position = with_empties(rules, 3, 15)
        assert (given.solve(position).stats == rough.solve(position).stats) is same, rules
    trained, hand_made = sorting_of(TRAINED, 8), sorting_of(TRAINED, 4)
    assert isinstance(trained.evaluation, PatternEvaluation)  # which come with the lab
    assert isinstance(hand_made.evaluation, RoughEvaluation)


@boards
@settings(max_examples=40)
@given(seed=seeds, empties=st.integers(0, 60))
def test_the_rough_evaluation_says_what_its_twin_says(rules: str, seed: int, empties: int) -> None:
    position = with_empties(rules, seed % 1000, empties)
    evaluation = RoughEvaluation(position.ruleset.side)
    assert evaluation(position) == evaluation.plain(position)


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


def test_positions_made_to_rank_moves_are_counted(solver: EndgameSolver) -> None:
    # With one empty square more than are searched without a table, moves are ranked at the root.
    games = (with_empties("standard", seed, kernels.FEW + 1) for seed in range(30))
    ranked = [item for item in games if item.empties == kernels.FEW + 1 and item.moves]
    assert len(ranked) > 10
    for position in ranked:
        moves = len(position.moves)
        for alpha, entered in ((64, moves), (-65, 1)):  # no move is enough, the first is
            with solver._solving(position, Limits()):
                solver._search(position, alpha, alpha + 1)
                stats = solver.stats()
            if not stats.stability_returns:
                assert stats.made == stats.nodes - 1 + moves - entered, position


def entries(solver: EndgameSolver) -> Iterator[tuple[int, int, int]]:
    """Masks and data of all entries of the last solving; data are mixed into the masks."""
    word = (1 << 64) - 1
    generation = int(solver._memory.context[memory.GENERATION])
    for table in solver._memory.tables:
        rows = table.words.reshape(-1, 4)
        for row in rows[rows[:, 2] >> 32 == generation]:
            mover, opponent, known, _ = row.tolist()
            mixed = known * 0x2545F4914F6CDD1D & word
            mixed -= mixed >> 63 << 64
            yield (mover ^ mixed) & word, (opponent ^ mixed >> 17) & word, known


def test_what_the_table_holds_is_true() -> None:
    solver, other = EndgameSolver(table_mb=1), EndgameSolver(table_mb=1, **EVERYTHING_OFF)
    rng = random.Random(1)
    for rules, limits in (
        ("standard", Limits()),
        ("standard", Limits(nodes=20_000)),  # nothing wrong is left by a search that was stopped
        ("mini6", Limits()),
    ):
        position = with_empties(rules, 5, 13)
        solver.solve(position, limits)
        result = list(entries(solver))
        assert len(result) > 30
        for mover, opponent, known in rng.sample(result, 30):
            held = Position(mover, opponent, ruleset=position.ruleset)
            score = other.solve(held).score
            assert score is not None
            bounds = int(kernels.lower_of(known)), int(kernels.upper_of(known))
            assert bounds[0] <= score <= bounds[1], held
            move = int(kernels.best_move_of(known))
            assert move == 64 or move in held.moves, held
            assert known >> 24 & 255 == held.empties


def test_the_same_position_costs_the_same_whatever_came_before() -> None:
    positions = [with_empties("standard", seed, 12) for seed in range(3)]
    positions.append(Position.start("mini4"))
    alone = [EndgameSolver(table_mb=1).solve(position) for position in positions]
    shared = EndgameSolver(table_mb=1)
    for order in (positions, positions[::-1]):
        for position in order:
            solution = shared.solve(position)
            expected = alone[positions.index(position)]
            assert (solution.stats, solution.pv) == (expected.stats, expected.pv)
            shared.solve_wld(position)


@pytest.fixture
def no_thread_left() -> object:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def hard() -> Position:
    return with_empties("standard", 2, 30)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_limit_on_nodes_leaves_an_honest_answer(threads: int) -> None:
    solver = EndgameSolver(table_mb=1, threads=threads)
    position = hard()
    for nodes in (1, 1000, 100_000):
        for solve_ in (solver.solve, solver.solve_wld, solver.analyse):
            solution = solve_(position, Limits(nodes=nodes))
            assert solution.score is None
            assert not solution.complete
            assert solution.best[0] in position.moves
            assert solution.stats.nodes < nodes + 10_000 * threads
            assert (solution.lower, solution.upper) == (-64, 64)


def test_a_limit_on_time_is_kept(timers: list[float]) -> None:
    """And all memory is made before, though the kernels of another solver are compiled."""
    solver = EndgameSolver(table_mb=8)
    solver.prepare()
    position = hard()
    every = Limits(seconds=0.05), Limits(clock=0.5)
    tracemalloc.start()
    for limits in every:
        solution = solver.solve(position, limits)  # would take hours
        assert solution.score is None
        assert solution.best[0] in position.moves
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 20
    assert timers == [allotment(limits, position.empties) for limits in every]


@pytest.mark.usefixtures("no_thread_left")
@pytest.mark.parametrize("threads", [1, 2])
def test_another_thread_can_stop_it(threads: int) -> None:
    solver, ended = EndgameSolver(table_mb=8, threads=threads), threading.Event()

    def stop() -> None:
        while not ended.wait(0.05):  # a stop before the beginning does nothing
            solver.stop()

    other = threading.Thread(target=stop)
    other.start()
    try:
        assert solver.solve(hard()).score is None
    finally:
        ended.set()
        other.join()


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")


def scored_line(position: Position, off_by: int = 0) -> str:
    """An OBF line with the score of each move, the best one wrong by so much."""
    scores = EndgameSolver(table_mb=1).analyse(position).scores
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    words = [f"{square_name(m).upper()}:{s + off_by * (m == ranked[0][0]):+d}" for m, s in ranked]
    return f"{position.to_obf()}; {'; '.join(words)};"


@pytest.mark.usefixtures("wide")
def test_a_position_as_typed() -> None:
    position = with_empties("standard", 4, 8)
    output = printed("agents", "solve", position.to_obf(), "--table", "1")
    solution = EndgameSolver(table_mb=1).solve(position)
    assert str(position) in output
    assert " ".join(square_name(move) for move in solution.pv) in output
    assert f"{solution.score:+d}" in output
    assert f"{solution.stats.nodes:,}" in output
    output = printed("agents", "solve", position.to_obf(), "--all", "--table", "1")
    rows = re.findall(r"^\s*([a-h][1-8])\s+([+-]\d+)\s*$", output, re.MULTILINE)
    scores = EndgameSolver(table_mb=1).analyse(position).scores
    assert {name: int(score) for name, score in rows} == {
        square_name(move): score for move, score in scores.items()
    }
    for words, said in (
        (["", "--ruleset", "mini4"], r" -10\b"),  # not <=-10
        (["a2a1", "--ruleset", "mini4"], r" -10\b"),
        (["X" * 44 + "O" * 20 + " X"], r"over: \+24 discs"),
    ):
        assert re.search(said, printed("agents", "solve", *words))


@pytest.mark.usefixtures("wide", "solver")
@pytest.mark.parametrize("every", [[], ["--all"]])
def test_a_file_of_positions(every: list[str], tmp_path: Path) -> None:
    positions = [with_empties("standard", seed, 8) for seed in range(3)]
    lines = ["% a comment", "", *map(scored_line, positions), "# another", positions[0].to_obf()]
    lines.append("X" * 60 + "---- O")
    path = tmp_path / "problems.obf"
    path.write_text("\n".join(lines), encoding="utf-8")
    output = printed("agents", "solve", path, *every)
    assert re.search(r"^5 positions in .*; scores as given$", output, re.MULTILINE)
    numbers = re.findall(r"^ +(\d+) +\d+ +\S", output, re.MULTILINE)
    assert numbers == ["3", "4", "5", "7", "8"]
    assert "over" in output
    lines[3] = scored_line(positions[1], off_by=2)
    path.write_text("\n".join(lines), encoding="utf-8")
    output = printed("agents", "solve", path, *every, code=1)
    assert len(re.findall("differs ", output)) == 1
    assert "1 of 3 differ" in output


@pytest.mark.usefixtures("wide", "solver")
def test_bad_lines_are_told_and_the_rest_is_solved(tmp_path: Path) -> None:
    position = with_empties("standard", 1, 8)
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
    code, out, errors = ended(["agents", "solve", path])
    complaints = errors.splitlines()
    assert (code, len(complaints)) == (2, len(bad))
    for complaint, (number, (_, reason)) in zip(complaints, bad.items(), strict=True):
        assert complaint.startswith(f"{path}, line {number}: ")
        assert reason in complaint
    assert re.search(r"^2 positions in .*; 6 bad lines$", out, re.MULTILINE)


def test_a_table_larger_than_the_free_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "free_memory", lambda: 100)
    refuses(["agents", "solve", "f5", "--table", "101"], "--table 101: only 100 MB")


@pytest.mark.integration
@pytest.mark.parametrize(
    "name", ["fforum-1-19.obf", pytest.param("fforum-20-39.obf", marks=pytest.mark.nightly)]
)
def test_published_problems(name: str) -> None:
    solver = EndgameSolver()
    for line in (FFO / name).read_text(encoding="utf-8").splitlines():
        problem = read_problem(line, RULESETS["standard"])
        check(problem.position, solver.solve(problem.position), max(problem.scores.values()))
        if name == "fforum-1-19.obf":
            scores = solver.analyse(problem.position).scores
            assert scores.items() >= problem.scores.items(), problem.position


@pytest.mark.nightly
def test_scores_of_thousands_of_positions() -> None:
    solver = EndgameSolver(table_mb=8)
    for rules in RULESETS:
        for seed in range(1000, 1400):
            for empties in (5, 7, 9):
                position = with_empties(rules, seed, empties)
                score = searched_score(position)
                check(position, solver.solve(position), score)
                assert solver.solve_wld(position).score == (score > 0) - (score < 0)


@pytest.mark.usefixtures("no_thread_left")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_solving_that_takes_for_ever_tells_how_far_it_is_and_ends_when_asked_to(
    threads: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    show = solve._SolvingProgress.show

    def show_twice(progress: solve._SolvingProgress) -> None:
        show(progress)
        lines.append(capsys.readouterr().err)
        if len(lines) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(solve._SolvingProgress, "show", show_twice)
    monkeypatch.setattr(solve, "_NOTE_SECONDS", 0.1)
    assert main(["solve", "f5d6", "--table", "1", "--threads", threads]) == 130
    assert "58 empty squares: 26 may take minutes" in lines[0]
    for line in lines:
        assert re.search(r"[\d,]+ nodes in \d+ s \(.*\); .* winner .*\n", line)
    output = capsys.readouterr().out
    assert "Stopped before" in output and "Best move so far: " in output


# ------------------------------------------------------------------ many in one go


def endgames(rules: str, empties: int, count: int) -> list[Position]:
    """Positions of random games, and where they are over before, their ends."""
    result = []
    for seed in range(count):
        *turns, (last, move) = played_out(rules, seed)
        late = (item for item, _ in [*turns, (last, move)] if item.empties == empties)
        result.append(next(late, last.play(move)))
    return result


@pytest.mark.parametrize(
    ("rules", "empties"),
    [
        pytest.param("standard", 9, marks=pytest.mark.nightly),
        ("standard", 4),
        ("mini4", 8),
        ("mini6", 7),
    ],
)
def test_they_are_those_of_one_after_another(
    solver: EndgameSolver, rules: str, empties: int
) -> None:
    """And what follows is perfect play."""
    positions = endgames(rules, empties, 8)
    mover, opponent = (
        np.array([getattr(item, name) for item in positions], dtype=np.uint64)
        for name in ("mover", "opponent")
    )
    scores, lines = solver.scores(mover, opponent, positions[0].ruleset, lines=True)
    assert scores.tolist() == [solver.solve(item).score for item in positions]
    alone, none = solver.scores(mover, opponent, positions[0].ruleset)
    assert alone.tolist() == scores.tolist() and not len(none.mover)
    rows = iter(zip(*(column.tolist() for column in lines), strict=True))
    for number, position in enumerate(positions):
        rows_of_line = lines.line == number
        there = set(zip(lines.mover[rows_of_line], lines.opponent[rows_of_line], strict=True))
        first, score = position.to_move, int(scores[number])
        while not position.is_over:
            worth = score if position.to_move is first else -score
            turn = int(position.to_move is not first)
            ahead = next(rows)
            assert ahead == (position.mover, position.opponent, worth, turn, number)
            after = [position.play(move) for move in position.moves or (PASS,)]
            best = [item for item in after if solver.solve(item).score == -worth]
            assert best
            position = next(item for item in best if item.is_over or item.masks in there)
        assert position.disc_difference == (score if position.to_move is first else -score)
    assert next(rows, None) is None


# ------------------------------------------------------------------ several threads

Entry = tuple[int, int, int]


@pytest.fixture
def small_nodes_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the threads share nodes with few empty squares, so that quick positions are shared."""
    monkeypatch.setattr(parallel, "LEAST_EMPTIES", 7)


@pytest.mark.usefixtures("small_nodes_shared")
@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(1000, 2000), marks=pytest.mark.nightly)], ids=str
)
def test_scores_of_several_threads_are_those_of_one(seeds: range) -> None:
    one = EndgameSolver(table_mb=1)
    teams = [EndgameSolver(table_mb=1, threads=threads) for threads in (2, 3)]
    shared = 0
    for seed in seeds:
        rules = "mini6" if seed % 5 == 0 else "standard"
        position = with_empties(rules, seed, 10 + seed % 5)
        alone = one.solve(position)
        for team in teams:
            solution = team.solve(position)
            check(position, solution, alone.score or 0)
            assert solution.stats.made >= 0
            shared += solution.stats != alone.stats  # other threads have entered nodes
    assert shared > len(seeds)


def test_few_empty_squares_are_left_to_one_thread() -> None:
    one, team = EndgameSolver(table_mb=1), EndgameSolver(table_mb=1, threads=4)
    position = with_empties("standard", 3, parallel.LEAST_EMPTIES)
    assert team.solve(position).stats == one.solve(position).stats


def plain_words(mover: int, opponent: int, data: int) -> Entry:
    """The three words of an entry, as unsigned numbers."""
    word = (1 << 64) - 1
    mixed = data * 0x2545F4914F6CDD1D & word
    signed = mixed - (mixed >> 63 << 64)
    return (mover ^ mixed) & word, (opponent ^ signed >> 17) & word, data


def write(member: SolverMemory, position: Position, lower: int, upper: int) -> Entry:
    """Write an entry by the kernel; return its words."""
    masks, empties = position.masks, np.int64(position.empties)
    bucket = memory.bucket_of(member.address, *masks, empties)
    bounds = np.int64(lower), np.int64(upper)
    memory.remember(member.address, bucket, *masks, *bounds, np.uint64(5), empties)
    start = (int(bucket) - member.tables[0].address) // 8
    words = member.tables[0].words[start : start + 3].view(np.uint64).tolist()
    return words[0], words[1], words[2]


def test_a_torn_entry_is_no_entry() -> None:
    (member,) = team_of(1, 1)
    member.set_board(RULESETS["standard"], True)
    member.context[memory.GENERATION] = 1
    member.context[memory.TABLE_SHIFT] = 63  # two buckets: most entries share one
    positions = [with_empties("standard", seed, 20) for seed in range(6)]
    whole: list[tuple[Position, Entry]] = []
    for position, bounds in itertools.product(positions, ((-64, 4), (2, 4), (4, 4))):
        member.tables[0].words[:] = 0
        words = write(member, position, *bounds)
        assert words == plain_words(position.mover, position.opponent, words[2])
        whole.append((position, words))
    for one, two, three in itertools.product([words for _, words in whole], repeat=3):
        torn = one[0], two[1], three[2]
        row = np.array([*torn, 0, *torn, 0], dtype=np.uint64).view(np.int64)
        member.tables[0].words[:8] = member.tables[0].words[8:16] = row
        for position in positions:
            masks = position.masks
            bucket = memory.bucket_of(member.address, *masks, np.int64(20))
            known = int(memory.look_up(member.address, bucket, *masks))
            assert known == (torn[2] if (position, torn) in whole else 0)


def test_a_small_problem_needs_the_beginning_of_a_large_table_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def solved() -> list[Solution]:
        cases = itertools.product(range(2), range(12, 16))
        positions = [with_empties("standard", *case) for case in cases]
        return [solver.solve(position) for position in positions]

    solver = EndgameSolver()
    result = solved()
    words = solver._memory.tables[0].words
    assert words.any()
    assert not words[8 << memory.bits_for(15) :].any()
    monkeypatch.setattr(SolverMemory, "use_table", lambda memory, empties: None)
    solver = EndgameSolver()
    assert [item.stats for item in solved()] == [item.stats for item in result]
    bits = [memory.bits_for(empties) for empties in range(61)]
    assert bits == sorted(bits)
    assert bits[19] == bits[22] == 20  # 64 MB
    assert bits[26] == 24


@pytest.mark.usefixtures("no_thread_left")
def test_a_limit_on_time_ends_all_threads() -> None:
    team = EndgameSolver(table_mb=1, threads=2)
    assert team.solve(hard(), Limits(seconds=0.05)).score is None
    nodes = team.so_far()[0]
    assert nodes == team.so_far()[0]  # nobody goes on
    position = with_empties("standard", 1, 15)
    assert team.solve(position).score == EndgameSolver(table_mb=1).solve(position).score


def test_a_limit_on_processor_time_is_that_of_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    together: list[object] = []
    monkeypatch.setattr(parallel, "search_together", lambda *args: together.append(args) or 0)
    team = EndgameSolver(table_mb=1, threads=2)
    assert team.solve(hard(), Limits(cpu_seconds=0.05)).score is None
    assert not together
    team.solve(hard(), Limits(seconds=0.05))
    assert together


@pytest.mark.usefixtures("no_thread_left")
def test_an_exception_ends_the_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    team = EndgameSolver(table_mb=1, threads=2)
    search = parallel.search_shared

    def interrupted(address: np.intp, *rest: np.int64) -> np.int64:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return search(address, *rest)

    monkeypatch.setattr(parallel, "search_shared", interrupted)
    with pytest.raises(KeyboardInterrupt):
        team.solve(hard())


@pytest.mark.usefixtures("no_thread_left", "small_nodes_shared")
@pytest.mark.parametrize("threads", [1, 2])
def test_bounds_hold_wherever_a_search_is_stopped(threads: int) -> None:
    team, one = EndgameSolver(table_mb=1, threads=threads), EndgameSolver(table_mb=1)
    known_winner = 0
    for seed in range(4):
        position = with_empties("standard", seed, 12)
        full = one.solve(position)
        scores = one.analyse(position).scores
        for eighth in range(1, 9):
            limits = Limits(nodes=threads * full.stats.nodes * eighth // 8)
            part = team.solve(position, limits)
            assert part.lower <= (full.score or 0) <= part.upper, position
            assert part.score in (None, full.score)
            assert part.best[0] in position.moves
            if part.lower > 0:
                assert scores[part.best[0]] > 0, position
            known_winner += not part.complete and (part.lower > 0 or part.upper < 0)
            assert team.analyse(position, limits).scores.items() <= scores.items()
            sign = int(np.sign(full.score or 0))
            assert team.solve_wld(position, limits).score in (None, sign), position
        assert team.analyse(position).scores == scores
        winner = team.solve_wld(position)
        assert winner.score == sign and (sign < 1 or scores[winner.best[0]] > 0)
    assert known_winner > 2 or threads > 1


def test_threads_can_be_changed_on_an_object_and_in_a_copy() -> None:
    position = with_empties("standard", 1, 15)
    changed = EndgameSolver(table_mb=1)
    alone = changed.solve(position)
    changed.threads = 3
    assert changed.solve(position).score == alone.score
    assert pickle.loads(pickle.dumps(changed)).solve(position).score == alone.score
    changed.threads = 1
    assert changed.solve(position).stats == alone.stats
    # An agent's solver has as many as the agent says.
    one, two = (PVS(2, DiscCount(), endgame=16, endgame_threads=n) for n in (1, 2))
    assert one.reproducible
    assert not two.reproducible
    assert two.decide(position, Limits()).value == one.decide(position, Limits()).value


def test_more_threads_than_processors_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "available_cores", lambda: 2)
    line = with_empties("standard", 1, 10).to_obf()
    for threads in (2, 3):
        said = line_of("agents", "solve", line, "--table", "1", "--threads", threads)
        assert ("3 threads" in said and "2 processors" in said) == (threads == 3), said
