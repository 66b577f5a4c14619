"""What the record says of its agents and pairings, from games written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade import handmade, handmade_run
from runs import played

from othello_lab.experiments.record.store import GameRow, PlayedGame, Record, seat_totals
from othello_lab.experiments.record.turns import MoveRow, written
from othello_lab.experiments.report.elo_lead import lead
from othello_lab.experiments.report.figures.openings import colours_figures
from othello_lab.experiments.report.standings import (
    disc_differences,
    matches,
    pair_counts,
    pairs_by_opening,
    rated_parts,
    scores_by_colour,
    scores_from,
    standings,
)
from othello_lab.experiments.report.strategies import strategies
from othello_lab.experiments.report.two_agents import match_sections
from othello_lab.experiments.statistics.intervals import points_interval
from othello_lab.experiments.statistics.match import match_statistics
from othello_lab.experiments.statistics.means import Mean

AGENTS = ("ann", "bob", "cid", "dan")
# a result: points of Black, disc difference, end reason, transcript
Result = tuple[float, int | None, str, str]


def result(difference: int, transcript: str) -> Result:
    """A game played to the end."""
    return (np.sign(difference) + 1) / 2, difference, "finished", transcript


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with handmade(tmp_path / "record.sqlite", AGENTS) as made:
        yield made


def add_pair(
    record: Record, first: str, second: str, one: Result, other: Result | None, opening: str = "f5"
) -> None:
    """Add the first agent's game with Black, and its game with White, if there was one."""
    seats, begun = [AGENTS.index(first), AGENTS.index(second)], record.count_games()
    rows = []
    for number, game in enumerate(filter(None, (one, other)), begun):
        points, difference, reason, transcript = game
        winner = {0: "white", 0.5: "draw", 1: "black"}[points]
        result = winner, points, difference, 0, 0, reason, opening, 0, transcript
        rows.append(PlayedGame(GameRow(number, begun, *seats, *result), None))
        seats.reverse()
    record.write_games(rows)


def test_a_match_is_seen_from_one_agent(record: Record) -> None:
    add_pair(record, "ann", "bob", result(8, "a"), result(-4, "b"))  # won twice, +6 a game
    add_pair(record, "ann", "bob", result(0, "c"), result(6, "d"))  # drawn, lost: -3
    # bob has Black first: he wins, and then ann forfeits with Black: points, but no strength
    add_pair(record, "bob", "ann", result(2, "e"), (0.0, None, "time exceeded", "f"))
    (row,) = matches(record, winners=False).itertuples()
    assert (row.agent, row.opponent, row.games) == ("ann", "bob", 6)
    for computed, expected in (
        ((row.wins, row.draws, row.losses), (2, 1, 3)),
        ((row.black_wins, row.black_draws, row.black_losses), (1, 1, 1)),
        ((row.white_wins, row.white_draws, row.white_losses), (1, 0, 2)),
        ((row.LL, row.LD, row.DD_WL, row.WD, row.WW), (0, 1, 0, 0, 1)),
        ((row.all_pairs, row.pairs, row.distinct_games, row.openings), (2, 2, 6, 1)),
    ):
        assert computed == expected
    assert row.score == pytest.approx(2.5 / 6)
    assert row.ends == "finished 5, time exceeded 1"
    means = np.array([6, -3])
    assert row.discs == pytest.approx(means.mean())
    margin = 12.706205 * means.std(ddof=1) / np.sqrt(2)
    assert row.discs_high - row.discs == row.discs - row.discs_low == pytest.approx(margin)
    alone = match_statistics([0, 1, 0, 0, 1])
    for name in ("elo", "elo_low", "elo_high", "nelo", "los"):
        assert getattr(row, name) == pytest.approx(getattr(alone, name), nan_ok=True)


def test_pairs_by_colour_agree_with_the_games(record: Record) -> None:
    add_pair(record, "ann", "bob", result(10, "a"), result(0, "b"))
    # ann lost with White, and won with Black
    add_pair(record, "bob", "ann", result(10, "c"), result(8, "d"))
    tables, times = pairs_by_opening(record)
    counts = np.tensordot(times, tables, axes=1)
    assert counts[0, 1, 2, 1] == counts[0, 1, 2, 0] == 1
    assert counts[1, 0, 1, 0] == counts[1, 0, 2, 0] == 1
    assert counts.sum() == 4
    assert pair_counts(record)[0, 1].tolist() == [0, 0, 1, 1, 0]


def test_repeated_pairs_count_once(record: Record) -> None:
    for _ in range(5):
        add_pair(record, "ann", "bob", result(10, "a"), result(4, "b"))
    add_pair(record, "ann", "bob", result(10, "a"), result(6, "other"))  # one game is new
    add_pair(record, "ann", "bob", result(4, "b"), result(10, "a"))  # the same moves, other seats
    add_pair(record, "ann", "cid", result(10, "a"), result(4, "b"))  # another opponent
    first, second = matches(record).itertuples()
    assert (first.games, first.distinct_games) == (14, 5)
    assert (first.all_pairs, first.pairs) == (7, 3)
    assert (second.all_pairs, second.pairs, second.distinct_games) == (1, 1, 2)
    assert pair_counts(record)[0, 1].sum() == 3
    assert first.wins == 7  # all games are counted as games


def test_scores_by_opening_tell_colours(record: Record) -> None:
    for opening in ("e6", "f5"):
        add_pair(record, "ann", "bob", result(10, "a"), result(0, "b"), opening)  # 1 and 0.5
        add_pair(record, "cid", "dan", result(-2, "a"), result(4, "b"), opening)  # none
    for first, second in (("ann", "cid"), ("ann", "dan"), ("bob", "cid"), ("bob", "dan")):
        add_pair(record, first, second, result(-8, "c"), result(-2, "d"), "f5")  # 0 and 1
    table = scores_by_colour(record, AGENTS)
    assert table["games"].tolist() == [4] * 8
    assert table["score"].tolist() == [2 / 4, 3 / 4, 1 / 4, 2 / 4, 0, 2 / 4, 2 / 4, 1]
    ann = points_interval(np.array([0.5, 2.5]), np.array([1, 3]), np.array([1, 1]))
    assert table.loc[1, ["score", "low", "high"]].tolist() == [*ann]
    listed = scores_from(record).set_index(["opening", "agent"])["score"]
    assert listed.loc["e6"].tolist() == [0.75, 0.25, 0, 1]
    assert listed.loc["f5"].tolist() == pytest.approx([3.5 / 6, 2.5 / 6, 2 / 6, 4 / 6])


def test_one_number_has_one_interval_wherever_it_is_shown(tmp_path: Path) -> None:
    """The end of a match by an SPRT, and its colours, in all tables, figures and sentences."""
    pairs = [(0, 1, 6, -2), (0, 1, 8, 4), (0, 1, 2, -8), (0, 1, 4, 2), (0, 1, 6, 2)] * 6
    words = "agents=duel agent@first=weighted agent@second=greedy schedule=sprt schedule.elo1=60"
    with handmade_run(tmp_path / "record.sqlite", words, pairs) as facts:
        (sentence, *_), (row,) = lead(facts), facts.matches.itertuples()
        value, low, high = map(int, re.findall(r"\+(\d+) \[(-?\d+), (-?\d+)\]", sentence)[0])
        ends = (row.elo, row.elo_low, row.elo_high)
        assert [*map(round, ends)] == [value, low, high]
        assert np.isnan([row.nelo, row.los]).all()  # as for a number of games settled beforehand
        halves = facts.standings.set_index("agent").loc[facts.names[0], ["elo", "low", "high"]]
        assert (2 * halves).tolist() == pytest.approx(ends)
        colours, *_ = match_sections(facts)
        (figure,) = colours_figures(facts)
        for shown in figure.data.itertuples():
            text = Mean(shown.score, shown.low, shown.high).text(1, 100)
            assert [shown.agent, shown.side, text] in [[*r[:2], r[5]] for r in colours.rows]
        for one, other in ((0, 3), (1, 2)):  # one's Black is the other's White
            mean, low, high = map(float, re.findall(r"-?[\d.]+", colours.rows[one][6]))
            assert Mean(-mean, -high, -low).text(1) == colours.rows[other][6]


def test_disc_differences_are_counted_as_each_agent_sees_them(record: Record) -> None:
    add_pair(record, "ann", "bob", result(10, "a"), (0.0, None, "time exceeded", "b"))
    add_pair(record, "bob", "ann", result(-10, "c"), None)
    assert disc_differences(record).to_numpy().tolist() == [[0, 10, 2], [1, -10, 2]]
    add_pair(
        record, "ann", "cid", (1.0, None, "never answered", "a"), (1.0, None, "never answered", "a")
    )
    *_, row = matches(record).itertuples()
    assert np.isnan(row.discs) and np.isnan(row.discs_low)
    assert row.ends == "never answered 2"


def test_games_from_two_positions_are_two_games(record: Record) -> None:
    """A transcript begins with an opening's moves, but not where it is a position."""
    for opening in ("---XO--- X", "---OX--- X"):
        add_pair(record, "ann", "bob", result(10, "a"), result(4, "b"), opening)
    for opening in ("f5", "f5d6"):
        add_pair(record, "ann", "bob", result(10, "f5d6c3"), result(4, "f5d6c4"), opening)
    (row,) = matches(record).itertuples()
    assert (row.all_pairs, row.pairs, row.distinct_games) == (4, 3, 6)


@pytest.mark.parametrize("complete", [0, 1])
def test_a_pair_without_its_second_game_does_not_count(record: Record, complete: int) -> None:
    add_pair(record, "ann", "bob", result(10, "c"), None)
    if complete:
        add_pair(record, "ann", "bob", result(10, "a"), result(4, "b"))
        add_pair(record, "ann", "cid", result(10, "c"), None)
    assert pair_counts(record).sum() == 2 * complete
    assert [(row.games, row.pairs) for row in matches(record).itertuples()] == [(2, 1)] * complete
    if not complete:
        table = standings(record, rated_parts(record))
        assert table["elo"].isna().all() and (table["part"] == -1).all()
        assert table["agent"].tolist() == ["ann", "bob"]


def test_disc_differences_are_cut_at_the_possible(record: Record) -> None:
    """Two pairs tell so little that Student's interval reaches beyond a won board."""
    for sign in (1, -1):
        add_pair(
            record, "ann", "bob", result(30 * sign, f"a{sign}"), result(-30 * sign, f"b{sign}")
        )
    (row,) = matches(record).itertuples()
    assert (row.discs, row.discs_low, row.discs_high) == (0, -64, 64)


def a_game(turns: list[Any]) -> PlayedGame:
    """The first game, of ann against bob, with these MoveRows."""
    ann, bob = seat_totals(turns, (0, 1))
    game = GameRow(0, 0, 0, 1, "draw", 0.5, 0, 0, 0, "finished", "f5", 0, "f5", "", *ann, *bob)
    return PlayedGame(game, written(0, 0, turns))


def test_speed_is_by_processor_time_and_time_by_what_a_player_could_use(record: Record) -> None:
    """Moves of ann: nodes, wall, processor and waited microseconds; bob counts no nodes."""
    moves = [(100, 50, 10, 30), (300, 90, 30, 50), (0, 15, 0, 5), (800, 1000, 80, 0)]
    rows: list[Any] = [
        move(ply, 0, 1000 * wall, 1000 * cpu, nodes, 1000 * waited)
        for ply, (nodes, wall, cpu, waited) in enumerate(moves, start=1)
    ]
    rows += [move(4 + wall, 1, 1000 * wall, 1000 * wall, 0, 0) for wall in range(1, 101)]
    record.write_games([a_game(rows)])
    table = standings(record, rated_parts(record)).set_index("agent")
    ann, bob = table.loc["ann"], table.loc["bob"]
    assert ann.nodes_per_second == pytest.approx(1200 / 120e-6)
    assert (ann.median_microseconds, ann.p95_microseconds) == (20, 1000)
    assert (bob.median_microseconds, bob.p95_microseconds) == (50, 95)
    assert np.isnan(bob.nodes_per_second)


def move(ply: int, agent: int, wall: int, cpu: int, nodes: int, waited: int) -> MoveRow:
    """A move with these nanoseconds."""
    times = {"nanoseconds": wall, "cpu_nanoseconds": cpu, "waited_nanoseconds": waited}
    return MoveRow(0, ply, agent, 19, None, None, nodes=nodes, evaluations=0, late=0, **times)


def test_without_processor_times_speed_is_by_the_wall_clock(record: Record) -> None:
    record.write_games([a_game([move(1, 0, 50_000, 0, 500, 0)])])
    table = standings(record, rated_parts(record)).set_index("agent")
    assert table.loc["ann", "nodes_per_second"] == pytest.approx(1e7)


def test_parts_that_never_met_are_rated_apart(record: Record) -> None:
    for number in range(10):
        add_pair(record, "ann", "cid", result(10, f"a{number}"), result(4 - number, f"b{number}"))
        add_pair(record, "bob", "dan", result(-9, f"a{number}"), result(4 - number, f"b{number}"))
    table = standings(record, rated_parts(record))
    assert table["agent"].tolist() == ["ann", "cid", "dan", "bob"]
    assert table["part"].tolist() == [0, 0, 1, 1]
    for _, part in table.groupby("part"):
        assert part["elo"].mean() == pytest.approx(0)
    anchored = standings(record, rated_parts(record, anchor="bob")).set_index("agent")
    assert anchored.loc["bob", "elo"] == 0
    assert anchored.loc["ann", "elo"] == pytest.approx(-anchored.loc["cid", "elo"])


def test_blacks_advantage_is_fitted_on_request(record: Record) -> None:
    for number in range(20):  # Black wins three quarters
        black = 5 if number % 4 else -5
        add_pair(record, "ann", "bob", result(black, f"a{number}"), result(5, f"b{number}"))
        add_pair(record, "ann", "bob", result(5, f"c{number}"), result(-5, f"d{number}"))
    ((_, plain),) = rated_parts(record)
    ((_, fitted),) = rated_parts(record, colour_advantage=True)
    assert plain.advantage is None
    assert fitted.advantage is not None
    assert fitted.advantage[0] > 0


Moves = tuple[int, int, str]  # Black, White, transcript


@pytest.fixture
def trio(tmp_path: Path) -> Iterator[Record]:
    with handmade(tmp_path / "record.sqlite", ["a0", "a1", "a2"]) as made:
        yield made


def add(record: Record, *games: Moves, opening: str = "f5", ends: Sequence[str] = ()) -> None:
    """Games of one opening, drawn; two of the same agents are a pair."""
    begun = record.count_games()
    pairs: dict[frozenset[int], int] = {}
    rows = []
    for number, (black, white, transcript) in enumerate(games):
        pair = pairs.setdefault(frozenset((black, white)), begun + number)
        end = ends[number] if ends else "finished"
        result = "draw", 0.5, 0, 32, 32, end, opening, 0, opening + transcript
        rows.append(PlayedGame(GameRow(begun + number, pair, black, white, *result), None))
    record.write_games(rows)


MUTUAL: list[Moves] = [(0, 1, "d6c3"), (1, 0, "d6c3")]
AGAINST_A_THIRD: list[Moves] = [(0, 2, "d6c3"), (2, 0, "f6f4"), (1, 2, "d6c3"), (2, 1, "f6f4")]


OTHER, APART = [(0, 1, "f6e6"), (1, 0, "f6e6")], [(0, 1, "d6c3"), (1, 0, "d6c4")]
STEPS = {
    # Nothing is known of the third.
    "the same game with either colour": [
        ([*MUTUAL], "f5", [0, 0, 1]), (OTHER, "e6", [0, 0, 1]), (APART, "d3", [0, 1, 2]),
    ],
    "alike against a third, and repeated rounds": [
        (AGAINST_A_THIRD, "f5", [0, 0, 1]), (MUTUAL + OTHER, "f5", [0, 0, 1]),
    ],
    # After the opening White is to move: in the first two games that is the third, which may play
    # by chance, in the others each of the two.
    "who chooses differently first": [
        ([*MUTUAL, (0, 2, "d6c3"), (1, 2, "f6e6")], "f5", [0, 0, 1]),
        ([*MUTUAL, (2, 0, "d6c3"), (2, 1, "f6e6")], "e6", [0, 1, 1]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_strategy_is_who_plays_alike(
    steps: list[tuple[list[Moves], str, list[int]]], trio: Record
) -> None:
    for games, opening, expected in steps:
        add(trio, *games, opening=opening)
        assert strategies(trio).tolist() == expected


def test_a_forfeit_after_the_same_moves_is_another_choice(trio: Record) -> None:
    add(trio, (0, 1, "d6"), (1, 0, "d6"), ends=["finished", "illegal move"])
    assert strategies(trio).tolist() == [0, 1, 2]


def test_tables_count_a_strategy_once(trio: Record) -> None:
    for opening in ("f5", "e6"):
        add(trio, *MUTUAL, *AGAINST_A_THIRD, opening=opening)
    tables, times = pairs_by_opening(trio, strategies(trio))
    assert (tables.shape, times.tolist()) == ((1, 2, 2, 3, 3), [2])
    assert tables.sum() == 2  # one pair, from either side
    alone, often = pairs_by_opening(trio)
    assert (alone.shape, alone.sum(), often.tolist()) == ((1, 3, 3, 3, 3), 6, [2])
    assert matches(trio)["pairs"].tolist() == [2, 2, 2]
    ((members, ratings),) = rated_parts(trio)
    assert members.tolist() == [0, 1, 2]
    assert ratings.strategy.tolist() == [0, 0, 1]
    assert ratings.superiority[0, 1] == 0.5


def test_of_a_run_from_one_opening_chance_makes_the_units(trio: Record) -> None:
    for reply in ("d6", "f6", "f4"):
        add(trio, (0, 1, reply), (1, 0, reply + "c3" * (reply == "d6")))
    add(trio, (0, 1, "d6"), (1, 0, "d6c3"))
    tables, times = pairs_by_opening(trio)
    assert (tables.sum(), times.tolist()) == (2, [3])  # the fourth repeats the first


@pytest.mark.integration
def test_alike_searches_from_two_openings_are_not_sure_of_their_order(tmp_path: Path) -> None:
    """Thirteen searches that differ little but in their cost: 312 games are two results."""
    result = played(tmp_path, "agents=search_family", "depth=2", "games=4")
    with Record.open(result.folder) as record:
        ((members, ratings),) = rated_parts(record)
        plays = strategies(record)
        names = record.agents()["name"].tolist()
    assert len(members) == 13
    same = [names[n] for n in range(13) if plays[n] == plays[0]]
    assert {"minimax", "ab_none"} <= set(same)
    for group in set(plays.tolist()):
        inside = np.flatnonzero(plays == group)
        assert len(set(ratings.elo[inside])) == len(set(ratings.low[inside])) == 1
        among = ratings.superiority[np.ix_(inside, inside)]
        assert (among[~np.eye(len(inside), dtype=bool)] == 0.5).all()
    assert np.nanmax(ratings.superiority) < 0.95
    assert (ratings.high - ratings.low > 300).all()
    report = (result.folder / "report.md").read_text(encoding="utf-8").replace("\\_", "_")
    assert "| independent results | 2 openings" in report and "from 2 openings" in report
    assert f"{', '.join(same)} play the same moves." in report
