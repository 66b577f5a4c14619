"""The search family: every exact technique finds minimax's value; what has a twin counts like it;
tables, limits and switches do what they say."""

from __future__ import annotations

import functools
import itertools
import pickle
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import random_game, with_sight_of_the_end
from refusals import refused

from othello_lab import (
    PASS,
    PVS,
    AlphaBeta,
    DiscCount,
    Evaluation,
    Limits,
    Minimax,
    MTDf,
    Position,
    SearchStats,
    SquareWeights,
)
from othello_lab.agents.composing import load
from othello_lab.agents.evaluation import FINAL_UNIT, Iago, Mobility
from othello_lab.agents.search import SearchAgent, WindowSearch, context
from othello_lab.agents.search.endgame.solver import EndgameSolver, solvable
from othello_lab.agents.search.limits import MARGIN, allotment
from othello_lab.agents.search.window import plain
from othello_lab.agents.search.window.probcut import ProbCut
from othello_lab.agents.search.window.probcut_fit import FULL, check_depths, fit
from othello_lab.agents.search.window.selective import FUTILE, taper_widths
from othello_lab.core.system.rows import RowMaker

TABLE = {"table_mb": 1}
ORDERINGS = ["none", "static", "sorted", "killer", "history", "mobility", "killer+sorted"]
ORDERINGS += ["history+static", "killer+history+mobility+static"]


EXACT: dict[str, dict[str, Any]] = {
    **{name: {"ordering": name} for name in ORDERINGS},
    "table without moves": {"ordering": "static", **TABLE},
    "tt": {"ordering": "tt", **TABLE},
    "tt+mobility+static, etc": {"ordering": "tt+mobility+static", "etc": True, **TABLE},
    "iterative": {"ordering": "static", "iterative": True},
    "all": {"ordering": "tt+killer+sorted", "iterative": True, "etc": True, **TABLE},
    "aspiration": {"ordering": "tt+static", "iterative": True, "aspiration": 5, **TABLE},
    "iterative, every other depth": {"ordering": "tt", "iterative": True, "step": 2, **TABLE},
}
SEARCHES = {
    f"{kind.__name__} {name}": (kind, settings)
    for kind in (AlphaBeta, PVS, MTDf)
    for name, settings in EXACT.items()
    if not (kind is MTDf and name == "aspiration")
}


def positions(rules: str, seeds: range) -> list[Position]:
    """One position with moves of each of these random games."""
    found = (with_sight_of_the_end(rules, seed) for seed in seeds)
    return [position for position in found if position.moves]


def exact_in(
    rules: str,
    evaluation: Evaluation,
    seeds: range,
    depths: range,
    at_a_time: int = len(SEARCHES),
) -> None:
    """Every exact search against minimax, so many of them drawn for each position and depth; a
    failure prints the board and the settings."""
    rng = random.Random(seeds.start)
    full = Minimax(1, evaluation)
    others = {name: kind(1, evaluation, **s) for name, (kind, s) in SEARCHES.items()}
    for position in positions(rules, seeds):
        for depth in depths:
            value = full.search(position, depth).value
            worth = functools.cache(functools.partial(value_of, full, position, depth))
            for name in rng.sample(sorted(others), at_a_time):
                found = others[name].search(position, depth)
                where = f"{name}, depth {depth}\n{position}\n{position.to_obf()}"
                assert found.value == value == worth(found.move), where


def value_of(full: SearchAgent, position: Position, depth: int, move: int) -> int:
    """What a move leads to, by minimax."""
    after = position.play(move)
    if after.is_over:
        return -after.disc_difference * FINAL_UNIT
    if depth == 1:
        return -full.evaluation.plain(after)
    return -(full.search(after, depth - 1).value or 0)


@pytest.mark.parametrize("rules", ["standard", "mini6", "mini4"])
def test_every_exact_search_finds_minimaxs_value(rules: str) -> None:
    evaluation = SquareWeights() if rules == "standard" else DiscCount()
    exact_in(rules, evaluation, range(8), range(1, 5))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "evaluation", [SquareWeights(), Iago(), Mobility()], ids=lambda evaluation: evaluation.name
)
def test_every_exact_search_on_many_positions(evaluation: Evaluation) -> None:
    exact_in("standard", evaluation, range(1000, 1400), range(1, 5), at_a_time=4)
    exact_in("standard", evaluation, range(2000, 2012), range(5, 8), at_a_time=6)


@pytest.mark.parametrize("ordering", ORDERINGS)
@pytest.mark.parametrize("kind", [AlphaBeta, PVS])
def test_orderings_without_a_table_count_like_their_twins(
    kind: type[WindowSearch], ordering: str
) -> None:
    for rules in ("standard", "mini6"):
        evaluation = SquareWeights() if rules == "standard" else DiscCount()
        fast = kind(4, evaluation, ordering=ordering)
        for position in positions(rules, range(6)):
            depth = 4
            while fast.search(position, depth).stats.nodes > 1200:
                depth -= 1
            slow = kind(depth, evaluation, compiled=False, ordering=ordering)
            assert fast.search(position, depth) == slow.search(position), f"\n{position}"


def made(search: WindowSearch, position: Position, depth: int) -> tuple[int, int]:
    """Nodes, and positions made."""
    stats = search.search(position, depth).stats
    return stats.nodes, stats.made


def test_made_are_positions_entered_and_positions_only_looked_at() -> None:
    # Orderings alone are held to their twins, above.
    evaluation = SquareWeights()
    deepening = AlphaBeta(4, evaluation, iterative=True)
    by_bisection = MTDf(3, evaluation)
    table = AlphaBeta(4, evaluation, ordering="mobility", **TABLE)
    looks_up = AlphaBeta(4, evaluation, ordering="mobility", etc=True, **TABLE)
    comparing = AlphaBeta(2, evaluation, singular_margin=10**6)
    same = several = 0
    for position in random_game("standard", 5)[8:40]:
        nodes, number = made(deepening, position, 4)
        assert number == nodes - 4  # each depth enters the root once more
        nodes, number = made(by_bisection, position, 3)
        assert number <= nodes - 2
        # Enhanced cutoffs look at all moves, and so does ordering by mobility: each is made once.
        nodes, number = made(table, position, 4)
        if (nodes, number) == made(looks_up, position, 4):
            same += 1
        after = [position.play(move) for move in position.moves]
        if len(after) > 1 and all(len(child.moves) > 1 for child in after):
            several += 1
            all_looked_at = len(after) + sum(len(child.moves) for child in after)
            assert made(comparing, position, 2)[1] == all_looked_at
    assert same > 10
    assert several > 10


@pytest.mark.parametrize("evaluation", [DiscCount(), SquareWeights()], ids=["discs", "weights"])
def test_of_equal_moves_the_one_tried_first_is_played(evaluation: Evaluation) -> None:
    """Every exact search plays a move worth the value. One that tries moves in an order known
    beforehand plays the first of them in that order, which is a1 to h8 for none."""
    depth, others = 3, 0
    full = Minimax(depth, evaluation)
    for position in [each for each in random_game("standard", 8)[6:50:4] if each.moves]:
        worth = {move: value_of(full, position, depth, move) for move in position.moves}
        equal = [move for move in position.moves if worth[move] == max(worth.values())]
        assert full.search(position).move == equal[0]
        for name, (kind, settings) in SEARCHES.items():
            found = kind(depth, evaluation, **settings).search(position)
            assert found.move in equal, name
            if settings.keys() == {"ordering"} and kind is not MTDf:
                criteria = [word for word in settings["ordering"].split("+") if word != "none"]
                order = plain.MoveOrder(criteria, position.ruleset)
                tried = order.arranged(position, depth, 0, evaluation.plain, SearchStats())
                assert found.move == next(move for move in tried if move in equal), name
                others += found.move != equal[0]
    assert others > 3


def test_with_everything_off_the_family_is_alpha_beta() -> None:
    class General(AlphaBeta):
        bare = False  # type: ignore[assignment]

    for position in positions("standard", range(20)):
        lean, general = AlphaBeta(5, SquareWeights()), General(5, SquareWeights())
        assert lean.search(position) == general.search(position), f"\n{position}"


def test_better_orderings_visit_fewer_nodes() -> None:
    def nodes(**settings: Any) -> int:
        search = AlphaBeta(6, SquareWeights(), **settings)
        found = (search.search(position) for position in random_game("standard", 3)[10:30])
        return sum(decision.stats.nodes for decision in found)

    none = nodes()
    for ordering in ORDERINGS[1:]:
        assert nodes(ordering=ordering) < none, ordering
    with_table = nodes(ordering="tt+mobility+static", iterative=True, **TABLE)
    assert with_table < nodes(ordering="mobility+static")


def test_a_search_forgets_other_positions_but_a_game_remembers() -> None:
    settings: dict[str, Any] = {"ordering": "tt+static", "table_mb": 1, "iterative": True}
    position = Position.from_transcript("f5d6c3d3c4")
    fresh, used = (PVS(6, SquareWeights(), **settings) for _ in range(2))
    for transcript in ("e6", "f5f6e6f4", "d3c5"):
        used.search(Position.from_transcript(transcript))
    expected = fresh.search(position)
    assert expected == used.search(position) == pickle.loads(pickle.dumps(used)).search(position)
    again = used.search(position, keep=True)
    assert again.stats.nodes < expected.stats.nodes
    assert again.value == expected.value


@pytest.mark.parametrize("limit", [1, 100, 5_000, 60_000])
def test_a_limit_on_nodes_is_exact_and_repeatable(limit: int) -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    settings: dict[str, Any] = {"ordering": "tt+mobility+static", "table_mb": 1}
    for kind in (AlphaBeta, PVS, MTDf):
        search = kind(30, SquareWeights(), iterative=True, **settings)
        decision = search.search(position, limits=Limits(nodes=limit))
        assert limit <= decision.stats.nodes <= limit + 64
        assert decision == search.search(position, limits=Limits(nodes=limit))
        assert decision.move in position.moves
        # The depth it names was completed within the limit, and the next one was not.
        assert decision.depth is not None
        if decision.depth:
            assert search.search(position, decision.depth).stats.nodes <= decision.stats.nodes
        assert search.search(position, decision.depth + 1).stats.nodes > limit
    for search in (Minimax(8, SquareWeights()), AlphaBeta(10, SquareWeights())):
        decision = search.search(position, limits=Limits(nodes=limit))
        assert decision.stats.nodes <= limit + 64
        assert decision.move in position.moves and decision.depth == 0


def test_an_interrupted_depth_never_worsens_the_move() -> None:
    # Of the depth it was in, the move is at least as good as the one of the depth before.
    search = PVS(9, SquareWeights(), ordering="tt+static", table_mb=1, iterative=True)
    for position in positions("standard", range(0, 24, 2)):
        for limit in (2_000, 3_000, 5_000):
            cut = search.search(position, limits=Limits(nodes=limit))
            assert cut.depth is not None
            if not 1 <= cut.depth < 7:
                continue
            before = search.search(position, cut.depth)
            if cut.move != before.move:
                full, deeper = AlphaBeta(1, SquareWeights()), cut.depth + 1
                values = [value_of(full, position, deeper, m) for m in (cut.move, before.move)]
                assert values[0] >= values[1], f"{limit}\n{position}"


def test_the_share_of_a_clock(timers: list[float]) -> None:
    assert allotment(Limits(), 60) is None
    for limits, empties, more, share in (
        (Limits(seconds=1), 60, {}, 1),
        (Limits(clock=25), 59, {}, 1),
        (Limits(clock=3), 4, {}, 1),
        (Limits(clock=22), 60, {"free": 8}, 1),
        (Limits(clock=25), 60, {"shares": 2.5}, 2.5),
        (Limits(clock=9), 12, {"shares": 9}, 3),  # at most a third
        (Limits(seconds=1), 60, {"shares": 2}, 1),
    ):
        assert allotment(limits, empties, **more) == pytest.approx(share - 0.003)  # type: ignore[arg-type]
    for empties in range(1, 61):
        share = allotment(Limits(clock=0.001), empties)
        assert share is not None and 0 < share <= 0.0005
    search = PVS(60, SquareWeights(), ordering="tt", iterative=True, clock_shares=2, **TABLE)
    for limits in (Limits(seconds=0.01), Limits(seconds=0.1), Limits(clock=2.5)):
        decision = search.decide(Position.start(), limits)  # would take years
        assert decision.flaw() is None and decision.move in Position.start().moves
    # 30 moves, the last five of them free
    assert timers == pytest.approx([0.009, 0.097, 0.2 - 0.003])


@pytest.mark.parametrize(
    ("shares", "transcript", "seconds_of_depth", "depth"),
    [
        # After d3 three depths have the same best move, and the fourth would pass the share.
        (4, "", 0.5, 3),
        # Its best move changes: several shares may be used.
        (4, "c4c3e6b4", 0.5, 8),
        # Each depth takes three times as long: the eighth would not be completed.
        (1, "", None, 7),
    ],
)
def test_a_depth_is_begun_where_it_fits_into_the_share(
    shares: int,
    transcript: str,
    seconds_of_depth: float | None,
    depth: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A share of a clock of 25 s at the start is one second."""
    search = PVS(60, SquareWeights(), ordering="tt", iterative=True, clock_shares=shares, **TABLE)
    took = (seconds_of_depth or 3.0 ** (plies - 8) for plies in itertools.count(1))
    times = itertools.accumulate(took, initial=0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    position = Position.from_transcript(transcript)
    assert search.decide(position, Limits(clock=25)).depth == depth


def test_iterative_deepening_ends_with_the_game() -> None:
    start = Position.start("mini4")
    search = AlphaBeta(40, DiscCount(), ordering="static", iterative=True)
    decision = search.search(start)
    assert decision.value == -10 * FINAL_UNIT
    assert decision.depth is not None and decision.depth < 20


def test_the_endgame_is_solved_from_the_set_number_of_empties() -> None:
    search = PVS(2, SquareWeights(), endgame=8)
    wins_only = PVS(2, SquareWeights(), endgame=8, final="win")
    for seed in range(3):
        for position in random_game("standard", seed)[49:-1]:
            if not position.moves:
                continue
            decision = search.search(position)
            if position.empties <= 8:
                exact = AlphaBeta(20, DiscCount()).search(position)
                assert decision.value == exact.value, f"\n{position}"
                sign = np.sign(exact.value or 0)
                assert wins_only.search(position).value == sign * FINAL_UNIT, f"\n{position}"
            else:
                assert decision.depth == 2
            cut = search.search(position, limits=Limits(nodes=50))
            assert cut.move in position.moves


def test_a_taper_searches_only_so_many_moves() -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    search = AlphaBeta(2, SquareWeights(), ordering="sorted", taper=[2, [3, 1]])
    # The root, two moves; three replies to the first, at most one to the second.
    assert search.search(position).stats.nodes in (6, 7)
    widths = taper_widths([5, [4, 2]])
    assert widths[0].tolist() == [5] * 32
    assert widths[1].tolist() == widths[60].tolist() == [4] + [2] * 31
    exact, wide = (AlphaBeta(4, SquareWeights(), ordering="static", taper=t) for t in (None, [64]))
    assert wide.selective and not exact.selective
    for position in positions("standard", range(10)):
        assert wide.search(position).value == exact.search(position).value


def test_a_singular_extension_looks_further() -> None:
    search = AlphaBeta(2, SquareWeights(), singular_margin=0, singular_plies=2)
    found = positions("standard", range(30))
    lines = [search.search(position).pv for position in found]
    assert max(map(len, lines)) <= 4
    assert sum(len(line) > 2 for line in lines) > 10


def test_probcut_saves_nodes_and_says_so() -> None:
    settings: dict[str, Any] = {"ordering": "tt+mobility+static", "table_mb": 4, "iterative": True}
    exact = PVS(8, SquareWeights(), **settings)
    cut = PVS(8, SquareWeights(), probcut=True, **settings)
    assert cut.selective and not exact.selective
    totals = [0, 0]
    returns = same = 0
    for position in random_game("standard", 1)[10:34:3]:
        found = [search.search(position) for search in (exact, cut)]
        for i in range(2):
            totals[i] += found[i].stats.nodes
        returns += found[1].stats.probcut_returns
        same += found[0].move == found[1].move
    assert returns > 100 and totals[1] < totals[0]
    assert same >= 4


@pytest.mark.integration
def test_probcut_is_fitted_saved_and_known_by_its_evaluation(tmp_path: Path) -> None:
    made = fit(Mobility(), "mobility", depth=4, positions=60, seed=3, command="a test")
    path = tmp_path / "mobility.yaml"
    made.save(path)
    assert ProbCut.load(path) == made
    assert {check.depth for check in made.checks} == {3, 4}
    PVS(5, Mobility(), probcut=path).search(Position.start())
    for probcut, words in (
        (path, "mobility, iago"),
        (True, "fitted iago"),
        (tmp_path / "none.yaml", "none.yaml"),
    ):
        with refused(*words.split()):
            PVS(5, Iago(), probcut=probcut)
    deepest = made.array(1.0)[4:9:2, 4]
    assert deepest[:, 0, 0].tolist() == [2, 4, 6], "deeper ones leave out as many plies"
    assert not made.array(1.0)[2].any() and (deepest[:, 0, 1:] == deepest[0, 0, 1:]).all()
    depths = [check_depths(depth) for depth in (3, 4, 6, 9, 10)]
    assert depths == [(1,), (2,), (2, 4), (3, 5), (4, 6)]


@pytest.fixture(scope="module")
def glances(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """By depth: parameters for square weights, glances at the evaluation among them."""
    folder, paths = tmp_path_factory.mktemp("probcut"), {}
    for depth, of_deepest in ((4, {0, 2}), (6, {0, 4})):
        made = fit(SquareWeights(), "weights", depth, 60, seed=3, command="a test", glance=True)
        assert {check.check for check in made.checks if check.depth == depth} == of_deepest
        assert {check.check for check in made.checks if check.depth <= 2} == {0}
        paths[depth] = folder / f"weights{depth}.yaml"
        made.save(paths[depth])
    return paths


@pytest.mark.integration
def test_probcut_asks_the_evaluation_whether_a_check_is_hopeful(glances: dict[int, Path]) -> None:
    settings: dict[str, Any] = {"probcut": glances[6], "ordering": "tt+mobility", "table_mb": 1}
    searches = [PVS(6, SquareWeights(), probcut_glance=glance, **settings) for glance in (0, None)]
    nodes, values = [0, 0], []
    for position in random_game("standard", 1)[10:34:4]:
        found = [search.search(position) for search in searches]
        nodes = [total + each.stats.nodes for total, each in zip(nodes, found, strict=True)]
        values.append(found[0].value == found[1].value)
    never = PVS(6, SquareWeights(), probcut_glance=50, **settings).search(position)
    assert never.stats.probcut_returns == 0
    assert nodes[0] < nodes[1] and sum(values) >= len(values) // 2


@pytest.mark.integration
def test_probcut_is_fitted_to_the_searches_of_the_agent_that_plays_with_it(tmp_path: Path) -> None:
    settings = load("agent", "champion")
    numbers = SquareWeights(), "weights", 10, 50, 3, "a test"
    rows = RowMaker(folder=tmp_path)
    made = fit(*numbers, rows, glance=True, agent=settings)
    assert {check.depth for check in made.checks} == set(range(1, 11))
    full = fit(SquareWeights(), "weights", FULL, 50, 3, "a test", glance=True)
    shallow, of_full = ([c for c in each.checks if c.depth <= FUTILE] for each in (made, full))
    assert shallow == of_full, "pruning above the leaves is fitted to full searches"
    assert made.checks[-1] != full.checks[-1]
    kept = sorted(tmp_path.iterdir())
    assert [path.name for path in kept] == ["full_searches.jsonl", "own_searches.jsonl"]
    for path in kept:  # killed in the midst of a line
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
    assert fit(*numbers, rows, glance=True, agent=settings) == made


def test_futility_asks_only_the_evaluation(glances: dict[int, Path]) -> None:
    settings: dict[str, Any] = {"probcut": glances[4], "ordering": "tt+mobility", "table_mb": 1}
    searches = [PVS(6, SquareWeights(), futility=f, **settings) for f in (None, 99, 0.5)]
    counts = np.zeros(3, dtype=int)
    for position in random_game("standard", 1)[10:34:4]:
        found = [search.search(position) for search in searches]
        assert found[0].value == found[1].value
        assert found[0].stats.probcut_returns == found[1].stats.probcut_returns
        counts += [each.stats.nodes for each in found]
    assert counts[0] == counts[1] > 1.5 * counts[2]


def test_sorted_moves_are_evaluated_once(glances: dict[int, Path]) -> None:
    """Its twin enters the positions after futile moves, and evaluates each one anew."""
    settings: dict[str, Any] = {"probcut": glances[4], "ordering": "tt+sorted", "table_mb": 1}
    for search_class, futility in ((AlphaBeta, 0.5), (PVS, 0.5), (PVS, 0.1), (PVS, None)):
        settings |= {"futility": futility, "probcut_glance": 0.2}
        search, twin = (search_class(6, SquareWeights(), **settings) for _ in range(2))
        twin._context[context.SORTS] = 0
        counts = np.zeros((2, 2), dtype=int)
        for position in random_game("standard", 1)[4:52:3]:
            found = [each.search(position) for each in (search, twin)]
            assert found[0].value == found[1].value and found[0].move == found[1].move
            counts += [(each.stats.nodes, each.stats.evaluations) for each in found]
        (nodes, evaluations), (more_nodes, more_evaluations) = counts.tolist()
        assert evaluations < more_evaluations
        assert nodes < more_nodes if futility is not None else nodes == more_nodes


def test_a_short_search_uses_a_part_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its entries are true whatever part is used."""
    settings: dict[str, Any] = {"ordering": "tt+mobility", "table_mb": 4, "etc": True}
    whole, by_time = (PVS(4, Iago(), table_by_time=each, **settings) for each in (False, True))
    full = whole._table_shift(None)
    shifts = [by_time._table_shift(seconds) for seconds in (1e-6, 0.002, 0.01, 0.1, 60, None)]
    assert shifts == sorted(shifts, reverse=True)
    assert shifts[0] == 64 - 12 > shifts[2] > shifts[-1] == full == whole._table_shift(0.002)
    bits = itertools.cycle((12, 14, 13, 1))
    monkeypatch.setattr(by_time, "_table_shift", lambda seconds: 64 - next(bits))
    minimax = AlphaBeta(4, Iago())
    for position in random_game("standard", 1)[8:50]:
        if position.moves:
            assert by_time.search(position, keep=True).value == minimax.search(position).value


def test_deeper_bounds_of_the_table_serve_less_deep_searches() -> None:
    settings: dict[str, Any] = {"ordering": "tt+mobility", "table_mb": 4}
    own, deeper = (PVS(6, Iago(), table_any_depth=any_, **settings) for any_ in (False, True))
    assert deeper.selective and not own.selective
    nodes = [0, 0]
    for position in random_game("standard", 1)[10:34:6]:
        first = [search.search(position, 6).value for search in (own, deeper)]
        assert first[0] == first[1], "nothing deeper is known yet"
        for number, search in enumerate((own, deeper)):
            nodes[number] += search.search(position, 4, keep=True).stats.nodes
    assert nodes[1] < 0.5 * nodes[0]


def test_no_time_goes_into_a_forced_move() -> None:
    settings: dict[str, Any] = {"iterative": True, "ordering": "tt", **TABLE}
    search = PVS(60, SquareWeights(), endgame=10, endgame_by_time=0.5, **settings)
    game = random_game("standard", 3)
    forced = [each for each in game if len(each.moves) == 1 and each.empties > 12]
    for position in forced[:2]:
        for limits in (Limits(seconds=60), Limits(clock=600)):
            found = search.decide(position, limits)
            assert found.depth == 1 and found.move == position.moves[0]


def test_time_decides_how_deep() -> None:
    settings: dict[str, Any] = {"iterative": True, "ordering": "tt", **TABLE}
    free = PVS(2, DiscCount(), depth_by_time=True, **settings)
    bound = PVS(2, DiscCount(), **settings)
    (position,) = (each for each in random_game("standard", 3) if each.empties == 30)
    for time_ in ({"seconds": 60}, {"clock": 3000}, {"cpu_seconds": 60}):
        limits = Limits(nodes=20_000, **time_)  # type: ignore[arg-type]
        assert free.decide(position, limits).depth > 2 == bound.decide(position, limits).depth
    assert free.decide(position, Limits()).depth == 2
    assert free.decide(position, Limits(seconds=60, depth=1)).depth == 1


def test_time_odds(timers: list[float]) -> None:
    settings: dict[str, Any] = {"ordering": "tt", **TABLE, "iterative": True}
    positions = [Position.start(), Position.from_transcript("f5d6c3d3c4f4f6")]
    for odds_at in (None, [60, 56], [55, 0]):
        search = PVS(60, SquareWeights(), time_odds=0.1, odds_at=odds_at, **settings)
        for position in positions:
            search.decide(position, Limits(seconds=0.1))
    short, whole = pytest.approx(0.0097), pytest.approx(0.097)
    assert timers == [short, short, short, whole, whole, short]


class Entered(Exception):
    """Solving would begin."""


@pytest.mark.parametrize("by_time", [None, 0.5, 0.125])
@pytest.mark.parametrize("seconds", [None, 0.01, 2.0])
def test_the_endgame_is_entered_by_time_only_where_time_is_limited(
    monkeypatch: pytest.MonkeyPatch,
    by_time: float | None,
    seconds: float | None,
) -> None:
    def solve(solver: EndgameSolver, position: Position, limits: Limits) -> Any:
        raise Entered(limits)

    monkeypatch.setattr(EndgameSolver, "solve", solve)
    search = PVS(2, SquareWeights(), endgame=5, endgame_by_time=by_time)
    limits = Limits() if seconds is None else Limits(seconds=seconds)
    given = allotment(limits, 60) or 0
    limit = 5 if seconds is None or by_time is None else solvable(given * by_time)
    for position in random_game("standard", 3)[:-1]:
        if position.moves and position.empties <= limit:
            with pytest.raises(Entered):
                search.decide(position, limits)
        else:
            search.decide(position, limits)
    search = PVS(2, SquareWeights(), endgame=60)
    for whole, half in (
        (Limits(nodes=9_000_001), Limits(nodes=4_500_001)),
        (Limits(seconds=60), Limits(seconds=(60 - MARGIN) / 2)),
    ):
        with pytest.raises(Entered) as entered:
            search.decide(Position.start(), whole)
        assert entered.value.args == (half,)


def test_the_endgame_begins_earlier_the_more_time_there_is() -> None:
    times = [0.0005, 0.01, 0.1, 1, 60]
    found = [solvable(seconds) for seconds in times]
    assert found == sorted(found) and found[0] >= 8 and 16 <= found[1] <= 20 and found[-1] <= 32


SORTED = {"ordering": "sorted", "sort_leaves": True}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"ordering": "tt"}, "table"),
    ({"ordering": "static+tt", "table_mb": 1}, "tt first"),
    ({"ordering": "kiler"}, "'killer'"),
    ({"ordering": "static+static"}, "twice"),
    ({"etc": True}, "etc table"),
    ({"table_any_depth": True}, "table_any_depth table"),
    ({"table_by_time": True}, "table_by_time table"),
    ({"table_mb": 0}, "table_mb=0: 1"),
    ({"table_mb": 1.5}, "table_mb=1.5: whole"),
    ({"table_mb": 1 << 40}, "table_mb memory"),
    ({"aspiration": 10}, "aspiration iterative"),
    ({"step": 2}, "step iterative"),
    ({"depth_by_time": True}, "depth_by_time iterative"),
    ({"clock_shares": 2}, "clock_shares iterative"),
    ({"clock_shares": 0.5}, "clock_shares=0.5: 1 10"),
    ({"time_odds": 0}, "time_odds=0: 0.001 1"),
    ({"time_odds": 2}, "time_odds=2: 0.001 1"),
    ({"odds_at": [20, 30]}, "odds_at first"),
    ({"odds_at": 20}, "odds_at two"),
    ({"step": 0, "iterative": True}, "step=0: 1"),
    ({"aspiration": 0, "iterative": True}, "aspiration=0: 1"),
    ({"taper": [3]}, "taper ordering"),
    ({"taper": [], "ordering": "static"}, "taper list"),
    ({"taper": [0], "ordering": "static"}, "taper 1"),
    ({"taper": 5, "ordering": "static"}, "taper list"),
    ({"singular_margin": -1}, "singular_margin=-1: 0"),
    ({"singular_margin": 5, "singular_plies": 0}, "singular_plies=0: 1"),
    ({"probcut": True, "probcut_confidence": 0}, "probcut_confidence=0: 0"),
    ({"probcut_glance": 1}, "probcut_glance probcut"),
    ({"probcut": True, "probcut_glance": 1}, "probcut fit-probcut"),
    ({"futility": 1}, "futility probcut"),
    ({"probcut": True, "futility": 1}, "futility fit-probcut"),
    ({"endgame_by_time": 0.5}, "endgame_by_time endgame"),
    ({"endgame": 61}, "endgame=61: 0 60"),
    ({"endgame": 10, "endgame_table_mb": 0}, "endgame_table_mb=0: MB"),
    ({"compiled": False, "table_mb": 1}, "table_mb compiled"),
    ({"compiled": False, "iterative": True}, "iterative compiled"),
    ({"sort_leaves": True}, "sort_leaves: ordering=sorted, none"),
    ({"sort_leaves": True, "ordering": "killer+sorted"}, "sort_leaves: killer+sorted"),
    (SORTED | {"iterative": True}, "sort_leaves table_mb, iterative"),
    (SORTED | {"table_mb": 1}, "sort_leaves table_mb"),
    (SORTED | {"taper": [3]}, "sort_leaves taper"),
    ({"final": "points"}, "final"),
]


@pytest.mark.parametrize(("settings", "words"), BAD, ids=str)
def test_settings_that_contradict_each_other_are_refused(
    settings: dict[str, Any], words: str
) -> None:
    with refused(*words.split()):
        AlphaBeta(4, SquareWeights(), **settings)


@pytest.mark.parametrize("word", ["aspiration", "twin"])
def test_mtdf_has_no_aspiration_and_no_twin(word: str) -> None:
    settings = {"aspiration": {"aspiration": 5, "iterative": True}, "twin": {"compiled": False}}
    with refused(word):
        MTDf(4, SquareWeights(), **settings[word])  # type: ignore[arg-type]


def test_a_pass_at_the_root_is_answered_with_it() -> None:
    games = (random_game("standard", seed) for seed in range(500))
    position = next(each for game in games for each in game if each.must_pass)
    for kind, settings in SEARCHES.values():
        assert kind(3, DiscCount(), **settings).search(position).move == PASS


def test_a_line_is_no_longer_than_the_depth_that_was_completed() -> None:
    """Also where the limit ends a search after it has found a better move."""
    search = AlphaBeta(20, DiscCount(), iterative=True)
    for position in positions("standard", range(30)):
        found = search.search(position, limits=Limits(nodes=100))
        assert found.depth is not None
        assert len(found.pv) <= max(1, found.depth), position
