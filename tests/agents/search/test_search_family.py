"""The search family: every exact technique finds minimax's value; what has a twin counts like it;
tables, limits and switches do what they say."""

from __future__ import annotations

import itertools
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from othello_lab import (
    PASS,
    PVS,
    AlphaBeta,
    Color,
    DiscCount,
    Evaluation,
    Limits,
    Minimax,
    MTDf,
    Position,
    SearchStats,
    SquareWeights,
)
from othello_lab.agents.config import load
from othello_lab.agents.evaluation import FINAL_UNIT, Iago, Mobility
from othello_lab.agents.search import WindowSearch, context
from othello_lab.agents.search.endgame.solver import solvable
from othello_lab.agents.search.limits import allotment
from othello_lab.agents.search.window import plain, transposition
from othello_lab.agents.search.window.negamax import negamax
from othello_lab.agents.search.window.ordering import list_moves, listed_move
from othello_lab.agents.search.window.probcut import ProbCut
from othello_lab.agents.search.window.probcut_fit import FULL, check_depths, fit
from othello_lab.agents.search.window.selective import (
    FUTILE,
    taper_widths,
)
from othello_lab.core.system.rows import RowMaker

RandomGame = Callable[[str, int], list[Position]]

ORDERINGS = (
    "none",
    "static",
    "sorted",
    "killer",
    "history",
    "mobility",
    "killer+sorted",
    "history+static",
    "killer+history+mobility+static",
)
TABLE = {"table_mb": 1}
EXACT: dict[str, dict[str, Any]] = {
    **{name: {"ordering": name} for name in ORDERINGS},
    "table without moves": {"ordering": "static", **TABLE},
    "tt": {"ordering": "tt", **TABLE},
    "tt+mobility+static, etc": {"ordering": "tt+mobility+static", "etc": True, **TABLE},
    "iterative": {"ordering": "static", "iterative": True},
    "iterative, table, etc": {
        "ordering": "tt+killer+sorted",
        "iterative": True,
        "etc": True,
        **TABLE,
    },
    "aspiration": {"ordering": "tt+static", "iterative": True, "aspiration": 5, **TABLE},
    "iterative, every other depth": {"ordering": "tt", "iterative": True, "step": 2, **TABLE},
}
SEARCHES = {
    f"{kind.__name__} {name}": (kind, settings)
    for kind in (AlphaBeta, PVS, MTDf)
    for name, settings in EXACT.items()
    if not (kind is MTDf and name == "aspiration")
}


def positions(random_game: RandomGame, rules: str, seeds: range) -> list[Position]:
    """One position of each of these random games, every second one of the last twelve."""
    found = []
    for seed in seeds:
        game = [position for position in random_game(rules, seed)[:-1] if position.moves]
        found.append(random.Random(seed).choice(game[-12:] if seed % 2 else game))
    return found


def exact_in(
    random_game: RandomGame,
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
    for position in positions(random_game, rules, seeds):
        worth: dict[tuple[int, int], int | None] = {}
        for depth in depths:
            value = full.search(position, depth).value
            for name in rng.sample(sorted(others), at_a_time):
                found = others[name].search(position, depth)
                where = f"{name}, depth {depth}\n{position}\n{position.to_obf()}"
                assert found.value == value, where
                if depth > 1:
                    key = depth, found.move
                    if key not in worth:
                        after = position.play(found.move)
                        over = after.is_over
                        reply = None if over else full.search(after, depth - 1).value
                        worth[key] = after.disc_difference * FINAL_UNIT if over else reply
                    reached = worth[key]
                    assert reached is not None and -reached == value, f"its move: {where}"


@pytest.mark.parametrize("rules", ["standard", "mini6", "mini4"])
def test_every_exact_search_finds_minimaxs_value(random_game: RandomGame, rules: str) -> None:
    evaluation = SquareWeights() if rules == "standard" else DiscCount()
    exact_in(random_game, rules, evaluation, range(8), range(1, 5))


@pytest.mark.integration
@pytest.mark.parametrize(
    "evaluation", [SquareWeights(), Iago(), Mobility()], ids=lambda evaluation: evaluation.name
)
def test_every_exact_search_on_many_positions(
    random_game: RandomGame, evaluation: Evaluation
) -> None:
    exact_in(random_game, "standard", evaluation, range(1000, 1400), range(1, 5), at_a_time=4)
    exact_in(random_game, "standard", evaluation, range(2000, 2012), range(5, 8), at_a_time=6)


@pytest.mark.parametrize("ordering", ORDERINGS)
@pytest.mark.parametrize("kind", [AlphaBeta, PVS])
def test_orderings_without_a_table_count_like_their_twins(
    random_game: RandomGame, kind: type[WindowSearch], ordering: str
) -> None:
    for rules in ("standard", "mini6"):
        evaluation = SquareWeights() if rules == "standard" else DiscCount()
        fast = kind(4, evaluation, ordering=ordering)
        for position in positions(random_game, rules, range(6)):
            depth = 4
            while fast.search(position, depth).stats.nodes > 1200:
                depth -= 1
            slow = kind(depth, evaluation, compiled=False, ordering=ordering)
            assert fast.search(position, depth) == slow.search(position), f"\n{position}"


def made(search: WindowSearch, position: Position, depth: int) -> tuple[int, int]:
    """Nodes, and positions made."""
    stats = search.search(position, depth).stats
    return stats.nodes, stats.made


def test_made_are_positions_entered_and_positions_only_looked_at(random_game: RandomGame) -> None:
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
def test_of_equal_moves_the_one_tried_first_is_played(
    random_game: RandomGame, evaluation: Evaluation
) -> None:
    """Every exact search plays a move worth the value. One that tries moves in an order known
    beforehand plays the first of them in that order, which is a1 to h8 for none."""
    depth, others = 3, 0
    full = Minimax(depth, evaluation)
    for position in random_game("standard", 8)[6:50:4]:
        if not position.moves:
            continue
        after = {move: position.play(move) for move in position.moves}
        if any(each.is_over for each in after.values()):
            continue
        worth = {m: -(full.search(each, depth - 1).value or 0) for m, each in after.items()}
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


def test_with_everything_off_the_family_is_alpha_beta(random_game: RandomGame) -> None:
    class General(AlphaBeta):
        bare = False  # type: ignore[assignment]

    for position in positions(random_game, "standard", range(20)):
        lean, general = AlphaBeta(5, SquareWeights()), General(5, SquareWeights())
        assert lean.search(position) == general.search(position), f"\n{position}"


def test_better_orderings_visit_fewer_nodes(random_game: RandomGame) -> None:
    def nodes(**settings: Any) -> int:
        search = AlphaBeta(6, SquareWeights(), **settings)
        found = (search.search(position) for position in random_game("standard", 3)[10:30])
        return sum(decision.stats.nodes for decision in found)

    none = nodes()
    for ordering in ORDERINGS[1:]:
        assert nodes(ordering=ordering) < none, ordering
    with_table = nodes(ordering="tt+mobility+static", iterative=True, **TABLE)
    assert with_table < nodes(ordering="mobility+static")


# ------------------------------------------------------------------ windows and table


def test_results_outside_the_window_bound_the_value_and_so_do_entries(
    random_game: RandomGame,
) -> None:
    rng = random.Random(7)
    evaluation = SquareWeights()
    settings: dict[str, Any] = {"ordering": "tt+mobility+static", "etc": True, "table_mb": 1}
    checked = 0
    for kind in (AlphaBeta, PVS):
        search = kind(5, evaluation, **settings)
        full = Minimax(5, evaluation)
        for position in positions(random_game, "standard", range(40)):
            value = full.search(position).value
            assert isinstance(value, int)
            search.search(position, 1)  # sets the board up, and forgets all others
            for _ in range(4):
                alpha = value + rng.randint(-60, 60)
                beta = alpha + rng.choice((1, 1, 30))
                masks = np.uint64(position.mover), np.uint64(position.opponent)
                window = np.int64(alpha), np.int64(beta)
                args = np.intp(search._address), *masks, *window, np.int64(5), np.int64(0)
                result = int(negamax(*args))
                shown = f"value {value}, window {alpha} {beta}, result {result}\n{position}"
                if result <= alpha:
                    assert value <= result, shown
                elif result >= beta:
                    assert value >= result, shown
                else:
                    assert value == result, shown
            # What the table says of the positions two plies on is true.
            for move in position.moves:
                after = position.play(move)
                masks = np.uint64(after.mover), np.uint64(after.opponent)
                entry = transposition.find(np.intp(search._address), *masks)
                if entry != transposition.NOT_FOUND:
                    depth = int(transposition.depth_of(entry))
                    true = full.search(after, depth).value
                    assert true is not None
                    lower, upper = transposition.lower_of(entry), transposition.upper_of(entry)
                    assert lower <= true <= upper, f"\n{after}"
                    checked += 1
    assert checked > 100


def test_every_entry_of_the_table_is_found_by_its_tag() -> None:
    search = PVS(8, SquareWeights(), ordering="tt+mobility", table_mb=1, iterative=True, etc=True)
    search.search(Position.from_transcript("f5d6c3d3c4"))
    address = np.intp(search._address)
    entries = search._table.words.reshape(-1, 4)
    written = entries[entries.any(axis=1)]
    assert len(written) > 1000
    assert entries[1::2].any()  # second places are used too
    for mover, opponent, _, about in written.tolist():
        masks = np.int64(mover).view(np.uint64), np.int64(opponent).view(np.uint64)
        entry = transposition.find(address, *masks)
        assert entry != transposition.NOT_FOUND
        assert transposition.depth_of(entry) == about & 0xFF


def test_a_search_forgets_other_positions_but_a_game_remembers() -> None:
    settings: dict[str, Any] = {"ordering": "tt+static", "table_mb": 1, "iterative": True}
    position = Position.from_transcript("f5d6c3d3c4")
    fresh, used = (PVS(6, SquareWeights(), **settings) for _ in range(2))
    for transcript in ("e6", "f5f6e6f4", "d3c5"):
        used.search(Position.from_transcript(transcript))
    assert fresh.search(position) == used.search(position)
    again = used.search(position, keep=True)
    assert again.stats.nodes < fresh.search(position).stats.nodes
    assert again.value == fresh.search(position).value
    copied = pickle.loads(pickle.dumps(used))
    assert copied.search(position) == fresh.search(position)


# ------------------------------------------------------------------ limits


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


def test_an_interrupted_depth_never_worsens_the_move(random_game: RandomGame) -> None:
    # Of the depth it was in, the move is at least as good as the one of the depth before.
    for position in positions(random_game, "standard", range(0, 24, 2)):
        search = PVS(9, SquareWeights(), ordering="tt+static", table_mb=1, iterative=True)
        for limit in (2_000, 3_000, 5_000):
            cut = search.search(position, limits=Limits(nodes=limit))
            assert cut.depth is not None
            if not 1 <= cut.depth < 7:
                continue
            before = search.search(position, cut.depth)
            if cut.move != before.move:
                values = []
                for move in (cut.move, before.move):
                    after = position.play(move)
                    reply = AlphaBeta(cut.depth, SquareWeights()).search(after).value
                    assert reply is not None
                    values.append(-reply)
                assert values[0] >= values[1], f"{limit}\n{position}"


def test_a_limit_on_time_is_kept(timers: list[float]) -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    search = PVS(60, SquareWeights(), ordering="tt+static", table_mb=1, iterative=True)
    for seconds in (0.01, 0.1):
        decision = search.search(position, limits=Limits(seconds=seconds))  # would take years
        assert decision.flaw() is None and decision.move in position.moves
    assert timers == [pytest.approx(0.009), pytest.approx(0.097)]


def test_the_share_of_a_clock() -> None:
    assert allotment(Limits(), 60) is None
    assert allotment(Limits(seconds=1), 60) == pytest.approx(0.997)
    assert allotment(Limits(clock=25), 60) == pytest.approx(1 - 0.003)
    assert allotment(Limits(clock=3), 4) == pytest.approx(1 - 0.003)
    assert allotment(Limits(clock=22), 60, free=8) == pytest.approx(1 - 0.003)
    for empties in range(1, 61):
        share = allotment(Limits(clock=0.001), empties)
        assert share is not None and 0 < share <= 0.0005


def test_a_move_may_use_several_shares_of_a_clock(timers: list[float]) -> None:
    assert allotment(Limits(clock=25), 60, shares=2.5) == pytest.approx(2.5 - 0.003)
    assert allotment(Limits(clock=9), 12, shares=9) == pytest.approx(3 - 0.003), "at most a third"
    assert allotment(Limits(seconds=1), 60, shares=2) == pytest.approx(0.997)
    search = PVS(60, SquareWeights(), ordering="tt", iterative=True, clock_shares=2, **TABLE)
    search.decide(Position.start(), Limits(clock=2.5))  # 30 moves, the last five of them free
    assert timers == [pytest.approx(0.2 - 0.003)]


@pytest.mark.parametrize(("same", "depths"), [(True, 3), (False, 15)])
def test_a_settled_move_takes_one_share(
    same: bool, depths: int, monkeypatch: pytest.MonkeyPatch, timers: list[float]
) -> None:
    """Three depths with the same best move, and the next one would pass the end of the share."""
    search = PVS(60, SquareWeights(), ordering="tt", iterative=True, clock_shares=4, **TABLE)
    now = [0.0]

    def at_depth(_: Position, plies: int, __: object) -> tuple[int, tuple[int, ...]]:
        now[0] += 0.025  # of a share of 0.1
        search._context[context.EVALUATIONS] += 1
        return 0, (19 if same else plies,)

    monkeypatch.setattr(search, "_at_depth", at_depth)
    monkeypatch.setattr("othello_lab.agents.search.window.search.time.perf_counter", lambda: now[0])
    decision = search.decide(Position.start(), Limits(clock=2.5))
    assert decision.depth == depths


def test_iterative_deepening_ends_with_the_game() -> None:
    start = Position.start("mini4")
    search = AlphaBeta(40, DiscCount(), ordering="static", iterative=True)
    decision = search.search(start)
    assert decision.value == -10 * FINAL_UNIT
    assert decision.depth is not None and decision.depth < 20


# ------------------------------------------------------------------ endgame and selective


def test_the_endgame_is_solved_from_the_set_number_of_empties(random_game: RandomGame) -> None:
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


def test_wide_tapers_and_high_margins_change_nothing(random_game: RandomGame) -> None:
    for position in positions(random_game, "standard", range(10)):
        exact = AlphaBeta(4, SquareWeights(), ordering="static").search(position)
        wide = AlphaBeta(4, SquareWeights(), ordering="static", taper=[64])
        assert wide.search(position).value == exact.value
        assert wide.selective


def test_a_taper_searches_only_so_many_moves() -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    search = AlphaBeta(2, SquareWeights(), ordering="sorted", taper=[2, [3, 1]])
    # The root, two moves; three replies to the first, at most one to the second.
    assert search.search(position).stats.nodes in (6, 7)
    widths = taper_widths([5, [4, 2]])
    assert widths[0].tolist() == [5] * 32
    assert widths[1].tolist() == widths[60].tolist() == [4] + [2] * 31


def test_a_singular_extension_looks_further(random_game: RandomGame) -> None:
    longer = 0
    for position in positions(random_game, "standard", range(30)):
        search = AlphaBeta(2, SquareWeights(), singular_margin=0, singular_plies=2)
        line = search.search(position).pv
        assert len(line) <= 4
        longer += len(line) > 2
        for move in line:
            position = position.play(move)
    assert longer > 10


def test_probcut_saves_nodes_and_says_so(random_game: RandomGame) -> None:
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


def test_probcut_is_fitted_saved_and_known_by_its_evaluation(tmp_path: Path) -> None:
    made = fit(Mobility(), "mobility", depth=4, positions=60, seed=3, command="a test")
    path = tmp_path / "mobility.yaml"
    made.save(path)
    assert ProbCut.load(path) == made
    assert {check.depth for check in made.checks} == {3, 4}
    PVS(5, Mobility(), probcut=path).search(Position.start())
    with pytest.raises(ValueError, match="fitted for mobility, not for iago"):
        PVS(5, Iago(), probcut=path)
    with pytest.raises(ValueError, match="no parameters are fitted for iago"):
        PVS(5, Iago(), probcut=True)
    with pytest.raises(ValueError, match="no such file"):
        PVS(5, Iago(), probcut=tmp_path / "none.yaml")
    deepest = made.array(1.0)[4:9:2, 4]
    assert deepest[:, 0, 0].tolist() == [2, 4, 6], "deeper ones leave out as many plies"
    assert not made.array(1.0)[2].any() and (deepest[:, 0, 1:] == deepest[0, 0, 1:]).all()
    assert [check_depths(depth) for depth in (3, 4, 6, 9, 10)] == [
        (1,),
        (2,),
        (2, 4),
        (3, 5),
        (4, 6),
    ]


def test_probcut_asks_the_evaluation_whether_a_check_is_hopeful(
    tmp_path: Path, random_game: RandomGame
) -> None:
    evaluation = SquareWeights()
    made = fit(evaluation, "weights", 6, 60, seed=3, command="a test", glance=True)
    assert {check.check for check in made.checks if check.depth == 6} == {0, 4}
    path = tmp_path / "weights.yaml"
    made.save(path)
    settings: dict[str, Any] = {"probcut": path, "ordering": "tt+mobility", "table_mb": 1}
    searches = [PVS(6, evaluation, probcut_glance=glance, **settings) for glance in (0, None)]
    nodes, values = [0, 0], []
    for position in random_game("standard", 1)[10:34:4]:
        found = [search.search(position) for search in searches]
        nodes = [total + each.stats.nodes for total, each in zip(nodes, found, strict=True)]
        values.append(found[0].value == found[1].value)
    never = PVS(6, evaluation, probcut_glance=50, **settings).search(position)
    assert never.stats.probcut_returns == 0
    assert nodes[0] < nodes[1] and sum(values) >= len(values) // 2


@pytest.mark.integration
def test_probcut_is_fitted_to_the_searches_of_the_agent_that_plays_with_it(
    tmp_path: Path,
) -> None:
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
    assert [path.name for path in kept] == [
        "full_searches.jsonl",
        "own_searches.jsonl",
    ]
    for path in kept:  # killed in the midst of a line
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
    assert fit(*numbers, rows, glance=True, agent=settings) == made


def test_futility_asks_only_the_evaluation(tmp_path: Path, random_game: RandomGame) -> None:
    evaluation = SquareWeights()
    made = fit(evaluation, "weights", 4, 60, seed=3, command="a test", glance=True)
    assert {check.check for check in made.checks if check.depth <= 2} == {0}
    path = tmp_path / "weights.yaml"
    made.save(path)
    settings: dict[str, Any] = {"probcut": path, "ordering": "tt+mobility", "table_mb": 1}
    without, soft, hard = (PVS(6, evaluation, futility=f, **settings) for f in (None, 99, 0.5))
    counts = np.zeros(3, dtype=int)
    for position in random_game("standard", 1)[10:34:4]:
        found = [search.search(position) for search in (without, soft, hard)]
        assert found[0].value == found[1].value
        assert found[0].stats.probcut_returns == found[1].stats.probcut_returns
        counts += [each.stats.nodes for each in found]
    assert counts[0] == counts[1] > 1.5 * counts[2]


def test_a_list_of_moves_ends_with_one_that_is_enough(random_game: RandomGame) -> None:
    evaluation = SquareWeights()
    search = PVS(4, evaluation, ordering="sorted")
    position = max(random_game("standard", 1)[:40], key=lambda each: len(each.moves))
    search.search(position)
    killer = position.moves[-1]
    first_to_last = [killer, *(move for move in position.moves if move != killer)]
    glances = [evaluation.plain(position.play(move)) for move in first_to_last]
    search._context[context.KILLERS] = killer
    legal = np.uint64(sum(1 << move for move in position.moves))

    def listed(enough: int) -> list[int]:
        number = list_moves(search._address, *position.masks, legal, np.int64(0), np.int64(enough))
        places = map(np.int64, range(number))
        return [int(listed_move(search._address, np.int64(0), n)) for n in places]

    assert listed(-int(context.INFINITY)) == first_to_last
    for enough in {*glances, min(glances) - 1}:
        last = next((n for n, value in enumerate(glances) if value <= enough), len(glances))
        assert listed(enough) == first_to_last[: last + 1]


def test_sorted_moves_are_evaluated_once(tmp_path: Path, random_game: RandomGame) -> None:
    """Its twin enters the positions after futile moves, and evaluates each one anew."""
    evaluation = SquareWeights()
    made = fit(evaluation, "weights", 4, 60, seed=3, command="a test", glance=True)
    path = tmp_path / "weights.yaml"
    made.save(path)
    settings: dict[str, Any] = {"probcut": path, "ordering": "tt+sorted", "table_mb": 1}
    for search_class, futility in ((AlphaBeta, 0.5), (PVS, 0.5), (PVS, 0.1), (PVS, None)):
        glance = {"futility": futility, "probcut_glance": 0.2}
        search, twin = (search_class(6, evaluation, **settings, **glance) for _ in range(2))
        twin._context[context.SORTS] = 0
        nodes, evaluations = np.zeros(2, dtype=int), np.zeros(2, dtype=int)
        for position in random_game("standard", 1)[4:52:3]:
            found = [each.search(position) for each in (search, twin)]
            assert found[0].value == found[1].value and found[0].move == found[1].move
            nodes += [each.stats.nodes for each in found]
            evaluations += [each.stats.evaluations for each in found]
        assert evaluations[0] < evaluations[1]
        assert nodes[0] < nodes[1] if futility is not None else nodes[0] == nodes[1]


def test_a_short_search_uses_a_part_of_the_table(random_game: RandomGame) -> None:
    settings: dict[str, Any] = {"ordering": "tt+mobility", "table_mb": 4}
    whole, by_time = (PVS(4, Iago(), table_by_time=each, **settings) for each in (False, True))
    full = whole._table.shift
    shifts = [by_time._table_shift(seconds) for seconds in (1e-6, 0.002, 0.01, 0.1, 60, None)]
    assert shifts == sorted(shifts, reverse=True)
    assert shifts[0] == 64 - 12 > shifts[2] > shifts[-1] == full
    assert all(whole._table_shift(seconds) == full for seconds in (0.002, None))
    position = random_game("standard", 1)[20]
    decision = by_time.decide(position, Limits(seconds=60))
    assert decision.value == whole.search(position).value


def test_entries_are_true_whatever_part_of_the_table_is_used(
    random_game: RandomGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    minimax = AlphaBeta(4, Iago())
    search = PVS(4, Iago(), ordering="tt+mobility", table_mb=1, etc=True)
    bits = itertools.cycle((12, 14, 13, 1))
    monkeypatch.setattr(search, "_table_shift", lambda seconds: 64 - next(bits))
    for position in random_game("standard", 1)[8:50]:
        if position.moves:
            assert search.search(position, keep=True).value == minimax.search(position).value


def test_deeper_bounds_of_the_table_serve_less_deep_searches(random_game: RandomGame) -> None:
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


# ------------------------------------------------------------------ time


def test_no_time_goes_into_a_forced_move(random_game: RandomGame) -> None:
    settings: dict[str, Any] = {"iterative": True, "ordering": "tt", **TABLE}
    search = PVS(60, SquareWeights(), endgame=10, endgame_by_time=0.5, **settings)
    game = random_game("standard", 3)
    forced = [each for each in game if len(each.moves) == 1 and each.empties > 12]
    for position in forced[:2]:
        for limits in (Limits(seconds=60), Limits(clock=600)):
            found = search.decide(position, limits)
            assert found.depth == 1 and found.move == position.moves[0]


def test_time_decides_how_deep(random_game: RandomGame) -> None:
    settings: dict[str, Any] = {"iterative": True, "ordering": "tt", **TABLE}
    free = PVS(2, DiscCount(), depth_by_time=True, **settings)
    bound = PVS(2, DiscCount(), **settings)
    (position,) = (each for each in random_game("standard", 3) if each.empties == 30)
    for limits in (Limits(seconds=0.05), Limits(clock=3), Limits(cpu_seconds=0.05)):
        assert free.decide(position, limits).depth > 2 == bound.decide(position, limits).depth
    assert free.decide(position, Limits()).depth == 2
    assert free.decide(position, Limits(seconds=0.05, depth=1)).depth == 1


def test_time_odds(timers: list[float]) -> None:
    settings: dict[str, Any] = {"ordering": "tt", **TABLE, "iterative": True}
    positions = [Position.start(), Position.from_transcript("f5d6c3d3c4f4f6")]
    for odds_at in (None, [60, 56], [55, 0]):
        search = PVS(60, SquareWeights(), time_odds=0.1, odds_at=odds_at, **settings)
        for position in positions:
            search.decide(position, Limits(seconds=0.1))
    short, whole = pytest.approx(0.0097), pytest.approx(0.097)
    assert timers == [short, short, short, whole, whole, short]


def test_the_clock_is_kept_where_the_next_depth_would_not_be_completed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each depth here takes three times as long as the one before."""
    search = PVS(60, SquareWeights(), iterative=True, ordering="tt", **TABLE)
    now, depths = [0.0], []

    def at_depth(position: Position, depth: int, values: Any) -> tuple[int, tuple[int, ...]]:
        now[0] += 3.0 ** (depth - 8)
        depths.append(depth)
        search._context[context.EVALUATIONS] += 1
        return 0, position.moves[:1]

    monkeypatch.setattr("othello_lab.agents.search.window.search.time.perf_counter", lambda: now[0])
    monkeypatch.setattr(search, "_at_depth", at_depth)
    search.decide(Position.start(), Limits(clock=25))  # of which a second is for this move
    assert depths == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("by_time", [None, 0.5, 0.125])
@pytest.mark.parametrize("seconds", [None, 0.01, 2.0])
def test_the_endgame_is_entered_by_time_only_where_time_is_limited(
    random_game: RandomGame, by_time: float | None, seconds: float | None
) -> None:
    search = PVS(2, SquareWeights(), endgame=5, endgame_by_time=by_time)
    assert search._solver is not None
    limit = 5 if seconds is None or by_time is None else solvable(seconds * by_time)
    for position in random_game("standard", 3):
        wanted = bool(position.moves) and position.empties <= limit
        assert search._within_solving(position, seconds) is wanted


def test_half_of_the_budget_is_for_solving(
    random_game: RandomGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, given = PVS(2, SquareWeights(), endgame=8), list[Limits]()
    assert search._solver is not None
    solve = search._solver.solve

    def noted(position: Position, limits: Limits) -> Any:
        given.append(limits)
        return solve(position, limits)

    monkeypatch.setattr(search._solver, "solve", noted)
    position = next(each for each in random_game("standard", 3) if each.empties == 8)
    search.decide(position, Limits(nodes=9_000_001))
    search.decide(position, Limits(seconds=60))
    assert given[0].nodes == 4_500_001 and given[0].seconds is None
    assert given[1].nodes is None and given[1].seconds is not None
    assert given[1].seconds <= 30


def test_the_endgame_begins_earlier_the_more_time_there_is() -> None:
    times = [0.0005, 0.01, 0.1, 1, 60]
    found = [solvable(seconds) for seconds in times]
    assert found == sorted(found) and found[0] >= 8 and 16 <= found[1] <= 20 and found[-1] <= 32


# ------------------------------------------------------------------ bad settings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ordering": "tt"}, "needs a table"),
        ({"ordering": "static+tt", "table_mb": 1}, "tt can only come first"),
        ({"ordering": "kiler"}, "Did you mean 'killer'"),
        ({"ordering": "static+static"}, "twice"),
        ({"etc": True}, "needs a table"),
        ({"table_any_depth": True}, "needs a table"),
        ({"table_by_time": True}, "needs a table"),
        ({"table_mb": 0}, "1 or more"),
        ({"table_mb": 1.5}, "whole number"),
        ({"table_mb": 1 << 40}, "of memory"),
        ({"aspiration": 10}, "iterative"),
        ({"step": 2}, "set iterative"),
        ({"depth_by_time": True}, "set iterative"),
        ({"clock_shares": 2}, "set iterative"),
        ({"clock_shares": 0.5}, "from 1 to 10"),
        ({"time_odds": 0}, "from 0.001 to 1"),
        ({"time_odds": 2}, "from 0.001 to 1"),
        ({"odds_at": [20, 30]}, "the most first"),
        ({"odds_at": 20}, "two numbers of empty squares"),
        ({"step": 0, "iterative": True}, "1 or more"),
        ({"aspiration": 0, "iterative": True}, "1 or more"),
        ({"taper": [3]}, "set an ordering"),
        ({"taper": [], "ordering": "static"}, "a list is needed"),
        ({"taper": [0], "ordering": "static"}, "1 or more"),
        ({"taper": 5, "ordering": "static"}, "a list is needed"),
        ({"singular_margin": -1}, "0 or more"),
        ({"singular_margin": 5, "singular_plies": 0}, "1 or more"),
        ({"probcut": True, "probcut_confidence": 0}, "more than 0"),
        ({"probcut_glance": 1}, "that of probcut"),
        ({"probcut": True, "probcut_glance": 1}, "fit them with othello-lab agents fit-probcut"),
        ({"futility": 1}, "probcut has its parameters"),
        ({"probcut": True, "futility": 1}, "fit them with othello-lab agents fit-probcut"),
        ({"endgame_by_time": 0.5}, "without a limit on time endgame decides"),
        ({"endgame": 61}, "endgame=61: a whole number from 0 to 60"),
        (
            {"endgame": 10, "endgame_table_mb": 0},
            "endgame_table_mb=0: a whole number of MB",
        ),
        ({"compiled": False, "table_mb": 1}, "only the compiled search has it"),
        ({"compiled": False, "iterative": True}, "only the compiled search has it"),
    ],
    ids=str,
)
def test_settings_that_contradict_each_other_are_refused(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        AlphaBeta(4, SquareWeights(), **settings)
    assert "\n" not in str(refused.value)


def test_mtdf_has_no_aspiration_and_no_twin() -> None:
    with pytest.raises(ValueError, match="aspiration"):
        MTDf(4, SquareWeights(), iterative=True, aspiration=5)
    with pytest.raises(ValueError, match="no plain twin"):
        MTDf(4, SquareWeights(), compiled=False)


def test_a_pass_at_the_root_is_answered_with_it() -> None:
    position = next(p for seed in range(500) for p in random_line(seed) if p.must_pass)
    for kind, settings in SEARCHES.values():
        assert kind(3, DiscCount(), **settings).search(position).move == PASS


def random_line(seed: int) -> list[Position]:
    rng = random.Random(seed)
    line = [Position.start()]
    while not line[-1].is_over:
        line.append(line[-1].play(rng.choice(line[-1].moves or (PASS,))))
    return line


def test_the_context_holds_the_deepest_search() -> None:
    assert context.SIZE > context.EXTENSIONS + context.MAX_DEPTH
    agent = AlphaBeta(context.MAX_DEPTH, DiscCount(), ordering="killer+static", iterative=True)
    agent.begin_game(Color.BLACK, Position.start("mini4"), 0)
    assert agent.search(Position.start("mini4")).value == -10 * FINAL_UNIT


def test_a_line_is_no_longer_than_the_depth_that_was_completed(random_game: RandomGame) -> None:
    """Also where the limit ends a search after it has found a better move."""
    search = AlphaBeta(20, DiscCount(), iterative=True)
    for position in positions(random_game, "standard", range(30)):
        found = search.search(position, limits=Limits(nodes=100))
        assert found.depth is not None
        assert len(found.pv) <= max(1, found.depth), position
