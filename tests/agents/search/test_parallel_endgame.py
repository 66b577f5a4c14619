"""Several threads that solve one endgame: the scores of one thread, no torn entries, and an end of
all threads whenever one ends."""

from __future__ import annotations

import itertools
import pickle
import threading

import numpy as np
import pytest
from boards import with_empties
from runs import told

from othello_lab import PVS, DiscCount, Limits, Position
from othello_lab.agents.search.endgame import memory, parallel
from othello_lab.agents.search.endgame import solver as solving
from othello_lab.agents.search.endgame.memory import SolverMemory, team_of
from othello_lab.agents.search.endgame.solver import EndgameSolver, Solution
from othello_lab.core.rules import RULESETS

Entry = tuple[int, int, int]


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    EndgameSolver(table_mb=1, threads=2).prepare()


@pytest.fixture
def small_nodes_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the threads share nodes with few empty squares, so that quick positions are shared."""
    monkeypatch.setattr(parallel, "LEAST_EMPTIES", 7)


@pytest.fixture
def no_thread_left() -> object:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def hard() -> Position:
    return with_empties("standard", 2, 30)


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
        score = alone.score
        for team in teams:
            solution = team.solve(position)
            assert (solution.score, solution.complete) == (score, True), (team.threads, position)
            end, sign = position, 1
            for move in solution.pv:
                end, sign = end.play(move), -sign
            assert end.is_over
            assert sign * end.disc_difference == score, position
            assert solution.stats.made >= 0
            shared += solution.stats != alone.stats  # other threads have entered nodes
    assert shared > len(seeds)


@pytest.mark.usefixtures("small_nodes_shared")
def test_winners_and_scores_of_each_move() -> None:
    one, team = EndgameSolver(table_mb=1), EndgameSolver(table_mb=1, threads=2)
    for seed in range(12):
        position = with_empties("standard", seed, 11)
        winner = team.solve_wld(position)
        assert winner.score == one.solve_wld(position).score
        scores = one.analyse(position).scores
        analysis = team.analyse(position)
        assert analysis.scores == scores
        assert set(analysis.best) == {m for m in scores if scores[m] == max(scores.values())}
        if winner.score == 1:
            assert scores[winner.best[0]] > 0


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
    found = solved()
    words = solver._memory.tables[0].words
    assert words.any()
    assert not words[8 << memory.bits_for(15) :].any()
    monkeypatch.setattr(SolverMemory, "use_table", lambda memory, empties: None)
    solver = EndgameSolver()
    assert [each.stats for each in solved()] == [each.stats for each in found]
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
        said = told("agents", "solve", line, "--table", "1", "--threads", threads)
        assert ("3 threads" in said and "2 processors" in said) == (threads == 3), said
