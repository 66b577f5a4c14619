"""Several threads that solve one endgame: the scores of one thread, no torn entries, and an end of
all threads whenever one ends."""

from __future__ import annotations

import itertools
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from othello_lab import PVS, DiscCount, Limits, Position
from othello_lab.agents.command_line import main
from othello_lab.agents.commands import solve
from othello_lab.agents.search.endgame import memory, parallel
from othello_lab.agents.search.endgame import solver as solving
from othello_lab.agents.search.endgame.memory import SolverMemory, team_of
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.compile import Address, Array, Int, kernel

RandomGame = Callable[[str, int], list[Position]]
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


def with_empties(random_game: RandomGame, rules: str, seed: int, empties: int) -> Position:
    game = random_game(rules, seed)
    return next((p for p in game if p.empties <= empties and not p.is_over), game[-2])


def hard(random_game: RandomGame) -> Position:
    return with_empties(random_game, "standard", 2, 30)


# ------------------------------------------------------------------ the right score


def check_scores(random_game: RandomGame, seeds: range) -> None:
    one = EndgameSolver(table_mb=1)
    teams = [EndgameSolver(table_mb=1, threads=threads) for threads in (2, 3)]
    shared = 0
    for seed in seeds:
        rules = "mini6" if seed % 5 == 0 else "standard"
        position = with_empties(random_game, rules, seed, 10 + seed % 5)
        score = one.solve(position).score
        for team in teams:
            solution = team.solve(position)
            assert (solution.score, solution.complete) == (score, True), (team.threads, position)
            end, sign = position, 1
            for move in solution.pv:
                end, sign = end.play(move), -sign
            assert end.is_over
            assert sign * end.disc_difference == score, position
            assert solution.stats.made >= 0
            shared += bool(team._team[1].context[0])  # the second thread has entered nodes
    assert shared > len(seeds)


@pytest.mark.usefixtures("small_nodes_shared")
def test_scores_of_several_threads_are_those_of_one(random_game: RandomGame) -> None:
    check_scores(random_game, range(40))


@pytest.mark.integration
@pytest.mark.usefixtures("small_nodes_shared")
def test_a_thousand_scores_of_several_threads(random_game: RandomGame) -> None:
    check_scores(random_game, range(1000, 2000))


@pytest.mark.usefixtures("small_nodes_shared")
def test_winners_and_scores_of_each_move(random_game: RandomGame) -> None:
    one, team = EndgameSolver(table_mb=1), EndgameSolver(table_mb=1, threads=2)
    for seed in range(12):
        position = with_empties(random_game, "standard", seed, 11)
        winner = team.solve_wld(position)
        assert winner.score == one.solve_wld(position).score
        scores = one.analyse(position).scores
        analysis = team.analyse(position)
        assert analysis.scores == scores
        assert set(analysis.best) == {m for m in scores if scores[m] == max(scores.values())}
        if winner.score == 1:
            assert scores[winner.best[0]] > 0


def test_nodes_that_are_shared_as_it_comes(random_game: RandomGame) -> None:
    one, team = EndgameSolver(table_mb=8), EndgameSolver(table_mb=8, threads=2)
    for seed in range(4):
        position = with_empties(random_game, "standard", seed, 17)
        assert team.solve(position).score == one.solve(position).score


def test_one_thread_that_shares_with_nobody_enters_the_nodes_of_the_search_alone(
    random_game: RandomGame, small_nodes_shared: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, shares = EndgameSolver(table_mb=8), EndgameSolver(table_mb=8)
    positions = [with_empties(random_game, "standard", seed, 13) for seed in range(8)]
    expected = [alone.solve(position) for position in positions]
    monkeypatch.setattr(shares, "_is_shared", lambda position: position.empties > 7)
    monkeypatch.setattr(solving, "_FIRST_WIDTH", solving._ANY_SCORE)
    for position, solution in zip(positions, expected, strict=True):
        same = shares.solve(position)
        assert (same.score, same.pv[0]) == (solution.score, solution.pv[0])
        # It ends a node whose bounds have met, before its last moves.
        assert 0.97 < same.stats.nodes / solution.stats.nodes <= 1


def test_few_empty_squares_are_left_to_one_thread(random_game: RandomGame) -> None:
    one, team = EndgameSolver(table_mb=1), EndgameSolver(table_mb=1, threads=4)
    position = with_empties(random_game, "standard", 3, parallel.LEAST_EMPTIES)
    assert team.solve(position).stats == one.solve(position).stats


# ------------------------------------------------------------------ the table


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


def test_a_torn_entry_is_no_entry(random_game: RandomGame) -> None:
    (member,) = team_of(1, 1)
    member.set_board(RULESETS["standard"], True)
    member.context[memory.GENERATION] = 1
    member.context[memory.TABLE_SHIFT] = 63  # two buckets: most entries share one
    positions = [with_empties(random_game, "standard", seed, 20) for seed in range(6)]
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


@kernel
def hammer(
    context: Address, bucket: Address, movers: Array, opponents: Array, rounds: Int
) -> tuple[Int, Int]:
    """Write and read entries of one bucket: the hits, and those that belong to another position."""
    hits = wrong = np.int64(0)
    for turn in range(rounds):
        number = ((turn * 7919) >> 4) % len(movers)
        mover, opponent = movers[number], opponents[number]
        known = memory.look_up(context, bucket, mover, opponent)
        if known != 0:
            hits += 1
            wrong += memory.best_move_of(known) != np.uint64(number)
        bound, empties = np.int64(turn % 60), np.int64(20)
        memory.remember(context, bucket, mover, opponent, bound, bound, np.uint64(number), empties)
    return hits, wrong


@pytest.mark.integration
def test_no_entry_is_torn_while_two_threads_write_to_one_bucket(random_game: RandomGame) -> None:
    team = team_of(1, 2)
    for member in team:
        member.set_board(RULESETS["standard"], True)
        member.context[memory.GENERATION] = 1
    masks = [with_empties(random_game, "standard", seed, 20).masks for seed in range(3)]
    movers, opponents = (np.array(side, dtype=np.uint64) for side in zip(*masks, strict=True))
    bucket = np.intp(team[0].tables[0].address)
    hammer(team[0].address, bucket, movers, opponents, np.int64(1))
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(hammer, m.address, bucket, movers, opponents, np.int64(40_000_000))
            for m in team
        ]
        found = [job.result() for job in jobs]
    assert sum(hits for hits, _ in found) > 1_000_000
    assert sum(wrong for _, wrong in found) == 0


def test_a_small_problem_needs_the_beginning_of_a_large_table_only(
    random_game: RandomGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparing, lavish = EndgameSolver(), EndgameSolver()
    monkeypatch.setattr(lavish._memory, "use_table", lambda empties: None)
    for seed, empties in itertools.product(range(3), range(12, 18)):
        position = with_empties(random_game, "standard", seed, empties)
        assert sparing.solve(position).stats == lavish.solve(position).stats
    sparing.solve(with_empties(random_game, "standard", 0, 20))
    small = EndgameSolver()
    small.solve(with_empties(random_game, "standard", 0, 14))
    words = small._memory.tables[0].words
    assert words.any()
    assert not words[8 << memory.bits_for(14) :].any()
    bits = [memory.bits_for(empties) for empties in range(61)]
    assert bits == sorted(bits)
    assert bits[19] == bits[22] == 20  # 64 MB
    assert bits[26] == 24


# ------------------------------------------------------------------ an end of all threads


@pytest.mark.usefixtures("no_thread_left")
def test_a_limit_on_nodes_is_shared(random_game: RandomGame) -> None:
    team = EndgameSolver(table_mb=1, threads=3)
    for nodes in (1, 1000, 300_000):
        solution = team.solve(hard(random_game), Limits(nodes=nodes))
        assert solution.score is None
        assert solution.best[0] in hard(random_game).moves
        assert solution.stats.nodes < nodes + 3 * 10_000


@pytest.mark.usefixtures("no_thread_left")
def test_a_limit_on_time_ends_all_threads(random_game: RandomGame) -> None:
    team = EndgameSolver(table_mb=1, threads=2)
    assert team.solve(hard(random_game), Limits(seconds=0.05)).score is None
    nodes = team.so_far()[0]
    assert nodes == team.so_far()[0]  # nobody goes on
    position = with_empties(random_game, "standard", 1, 15)
    assert team.solve(position).score == EndgameSolver(table_mb=1).solve(position).score


def test_a_limit_on_processor_time_is_that_of_one_thread(random_game: RandomGame) -> None:
    team = EndgameSolver(table_mb=1, threads=2)
    assert team.solve(hard(random_game), Limits(cpu_seconds=0.05)).score is None
    assert team._team[0].context[0] > 0
    assert team._team[1].context[0] == 0  # it has entered no node
    team.solve(hard(random_game), Limits(seconds=0.05))
    assert team._team[1].context[0] > 0


@pytest.mark.usefixtures("no_thread_left")
def test_another_thread_can_stop_all(random_game: RandomGame) -> None:
    team = EndgameSolver(table_mb=1, threads=2)
    ended = threading.Event()

    def stop() -> None:
        while not ended.wait(0.05):  # a stop before the beginning does nothing
            team.stop()

    other = threading.Thread(target=stop)
    other.start()
    try:
        assert team.solve(hard(random_game)).score is None
    finally:
        ended.set()
        other.join()


@pytest.mark.usefixtures("no_thread_left")
def test_an_exception_ends_the_other_threads(
    random_game: RandomGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = EndgameSolver(table_mb=1, threads=2)
    search = parallel.search_shared

    def interrupted(address: np.intp, *rest: np.int64) -> np.int64:
        if address == team._memory.address:
            raise KeyboardInterrupt
        return search(address, *rest)

    monkeypatch.setattr(parallel, "search_shared", interrupted)
    with pytest.raises(KeyboardInterrupt):
        team.solve(hard(random_game))


@pytest.mark.usefixtures("no_thread_left")
def test_bounds_hold_wherever_several_threads_are_stopped(
    random_game: RandomGame, small_nodes_shared: None
) -> None:
    team, one = EndgameSolver(table_mb=1, threads=2), EndgameSolver(table_mb=1)
    for seed in range(6):
        position = with_empties(random_game, "standard", seed, 13)
        full = one.solve(position)
        scores = one.analyse(position).scores
        for eighth in range(1, 9):
            part = team.solve(position, Limits(nodes=full.stats.nodes * eighth // 4))
            assert part.lower <= (full.score or 0) <= part.upper, position
            assert part.score in (None, full.score)
            assert part.best[0] in position.moves
            if part.lower > 0:
                assert scores[part.best[0]] > 0, position


# ------------------------------------------------------------------ settings and the command


def test_threads_can_be_changed_on_an_object_and_in_a_copy(random_game: RandomGame) -> None:
    position = with_empties(random_game, "standard", 1, 15)
    changed = EndgameSolver(table_mb=1)
    alone = changed.solve(position)
    changed.threads = 3
    assert changed.solve(position).score == alone.score
    assert len(changed._team) == 3
    assert pickle.loads(pickle.dumps(changed)).solve(position).score == alone.score
    changed.threads = 1
    assert changed.solve(position).stats == alone.stats


@pytest.mark.parametrize("threads", [0, -1, 65, 1.5, "2", None, True])
def test_bad_numbers_of_threads_are_refused(threads: object) -> None:
    with pytest.raises(ValueError, match="threads=") as refusal:
        EndgameSolver(threads=threads)  # type: ignore[arg-type]
    assert "a whole number from 1 to 64" in str(refusal.value)
    with pytest.raises(ValueError, match="endgame_threads="):
        PVS(2, DiscCount(), endgame=14, endgame_threads=threads)  # type: ignore[arg-type]


def test_an_agent_whose_solver_has_several_threads(random_game: RandomGame) -> None:
    position = with_empties(random_game, "standard", 4, 15)
    one, two = (PVS(2, DiscCount(), endgame=16, endgame_threads=n) for n in (1, 2))
    assert one.reproducible
    assert not two.reproducible
    assert two.decide(position, Limits()).value == one.decide(position, Limits()).value


def test_more_threads_than_processors_are_told(
    random_game: RandomGame, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solving, "available_cores", lambda: 2)
    line = with_empties(random_game, "standard", 1, 10).to_obf()
    assert main(["solve", line, "--table", "1", "--threads", "2"]) == 0
    assert "threads" not in capsys.readouterr().err
    assert main(["solve", line, "--table", "1", "--threads", "3"]) == 0
    assert "3 threads share 2 processors: more threads than processors solve no faster\n" in (
        capsys.readouterr().err
    )


def test_bad_input_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solve, "free_memory", lambda: 100)
    for words, complaint in (
        (["--threads", "0"], "--threads: 0 is too small; 1 or more"),
        (["--threads", "65"], "--threads: 65 is too large; 64 or less"),
        (["--table", "101"], "--table 101: only 100 MB of memory are free"),
    ):
        try:
            code: object = main(["solve", "f5", *words])
        except SystemExit as end:
            code = end.code
        output = capsys.readouterr()
        assert code == 2
        assert output.err.count("\n") == 1
        assert complaint in output.err
        assert output.out == ""


@pytest.mark.usefixtures("no_thread_left")
def test_ctrl_c_ends_all_threads_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(progress: solve._SolvingProgress) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(solve._SolvingProgress, "show", interrupt)
    monkeypatch.setattr(solve, "_NOTE_SECONDS", 0.1)
    assert main(["solve", "f5d6", "--table", "1", "--threads", "2"]) == 130
    assert "Stopped before the score was proven." in capsys.readouterr().out
