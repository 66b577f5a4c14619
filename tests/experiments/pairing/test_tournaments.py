"""Swiss, knockout and class tournaments: who meets whom, who has how many points, and that results
are the same on any number of workers and after any interruption."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from chosen import mostly_nightly
from records import content
from rich.console import Console
from runs import QUIET, line_of, played

from othello_lab import RULESETS, resume
from othello_lab.core.game import FINISHED, RAISED
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.pairing import ClassTournament, Knockout, Schedule, Swiss
from othello_lab.experiments.pairing.openings import RandomOpenings
from othello_lab.experiments.pairing.schedule import (
    Pair,
    PairOutcome,
    PairOutcomes,
    PairQueue,
    ScheduledGame,
)
from othello_lab.experiments.pairing.swiss import BYE, matched
from othello_lab.experiments.record.store import GameRow

Winner = Callable[[ScheduledGame], int | None]
"""Who wins a game: an agent's number, None for nobody."""


def better(game: ScheduledGame) -> int:
    """The agent with the lower number always wins."""
    return min(game.black, game.white)


def nobody(game: ScheduledGame) -> None:
    """All games are drawn."""


def row(game: ScheduledGame, winner: int | None, reason: str = FINISHED) -> GameRow:
    result = "draw" if winner is None else "black" if winner == game.black else "white"
    points = {"draw": 0.5, "black": 1.0, "white": 0.0}[result]
    fields = (game.number, game.pair, game.black, game.white, result, points, 0, 32, 32, reason)
    return GameRow(*fields, game.opening.text, game.seed, f"{game.number}")


def tournament(
    schedule: Schedule,
    size: int,
    winner: Winner = better,
    pairs: int = 1,
    seed: int = 1,
    failing: Sequence[int] = (),
    absent: Sequence[int] = (),
) -> tuple[PairQueue, list[list[Pair]]]:
    """A whole tournament, and its rounds. failing: these agents fail in each of their games.
    absent: these fail before they move, whoever begins."""
    names = [f"agent {number}" for number in range(size)]
    needed = schedule.openings_needed(names, pairs)
    openings = RandomOpenings(plies=8, repeats=True).choose(needed, RULESETS["standard"], 1)
    draw = PairQueue(schedule, names, openings, seed, pairs)
    rounds: list[list[Pair]] = []
    while taken := draw.take(10_000):
        rounds.append(taken)
        for pair in taken:
            rows = []
            for game in pair:
                both = (game.black, game.white)
                fails = [agent for lot in (absent, failing) for agent in both if agent in lot]
                other = game.white if fails[:1] == [game.black] else game.black
                played_row = row(game, other, RAISED) if fails else row(game, winner(game))
                moved = [agent not in absent for agent in both]  # the other one may have begun
                rows.append(played_row._replace(black_moves=moved[0], white_moves=moved[1]))
            draw.tell(pair[0].pair, rows)
    numbers = [pair[0].pair for taken in rounds for pair in taken]
    assert numbers == list(range(len(numbers)))
    assert draw.complete(len(numbers), schedule.length(names, pairs))
    assert len(numbers) <= schedule.length(names, pairs)
    return draw, rounds


def met(rounds: Sequence[Sequence[Pair]]) -> Counter[frozenset[int]]:
    """How many pairs each two have played."""
    return Counter(frozenset((p[0].black, p[0].white)) for taken in rounds for p in taken)


def standings(draw: PairQueue, size: int) -> dict[str, list[Any]]:
    names = [f"agent {number}" for number in range(size)]
    return {
        key: list(column) for key, column in draw.schedule.standings(names, draw.results).items()
    }


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("longest", [False, True])
def test_nobody_meets_another_twice_in_a_swiss_tournament(size: int, longest: bool) -> None:
    most = (size + 1) // 2
    draw, rounds = tournament(Swiss(most if longest else None), size, pairs=2)
    assert len(rounds) == (most if longest else (size - 1).bit_length())
    assert set(met(rounds).values()) == {2}  # pairs of one match
    sat_out = list[int]()
    for taken in rounds:
        assert len({pair[0].opening for pair in taken}) == 2
        agents = Counter(agent for pair in taken for agent in (pair[0].black, pair[0].white))
        assert len(agents) == size - size % 2
        assert set(agents.values()) == {2}
        sat_out += {*range(size)} - {*agents}
    assert len(sat_out) == len({*sat_out})  # another one each time
    points = standings(draw, size)["points"]
    byes = len(rounds) * (size % 2)
    assert sum(points) == len(rounds) * (size // 2) + byes
    (table,) = draw.schedule.tables([f"{agent}" for agent in range(size)], draw.results)
    assert ("*bye*" in table.note) == (byes > 0) and "brackets" not in table.note


def test_those_who_stand_alike_meet_and_the_best_wins() -> None:
    draw, rounds = tournament(Swiss(), 8)
    winners = [{min(pair[0].black, pair[0].white) for pair in taken} for taken in rounds]
    for pair in rounds[1]:
        first, second = pair[0].black, pair[0].white
        assert (first in winners[0]) == (second in winners[0])
    table = standings(draw, 8)
    assert table["place"][0] == 1
    assert table["points"][0] == 3
    assert sum(table["points"]) == 12


def test_a_drawn_match_of_a_swiss_tournament_is_half_a_point() -> None:
    draw, rounds = tournament(Swiss(), 4, nobody)
    table = standings(draw, 4)
    assert table["points"] == [len(rounds) / 2] * 4
    (rounds_table,) = draw.schedule.tables([str(number) for number in range(4)], draw.results)
    assert {cell[-1] for row in rounds_table.rows for cell in row[2:]} == {"="}


def test_buchholz_is_the_sum_of_the_opponents_points() -> None:
    draw, rounds = tournament(Swiss(), 5)
    table = standings(draw, 5)
    for agent in range(5):
        opponents = [o for pairing in met(rounds) if agent in pairing for o in pairing - {agent}]
        byes = len(rounds) - len(opponents)
        assert byes <= 1
        wanted = sum(table["points"][o] for o in opponents) + byes * table["points"][agent]
        assert table["Buchholz"][agent] == wanted


def test_a_bye_goes_to_the_last_who_has_had_none() -> None:
    pairs = matched([4, 2, 1, 3, 0], lambda one, other: {one, other} != {0, BYE})
    assert pairs == [(3, BYE), (4, 2), (1, 0)]
    # Two who have met are exchanged with the lowest pair.
    pairs = matched([0, 1, 2, 3], lambda one, other: {one, other} != {2, 3})
    assert sorted(sorted(pair) for pair in pairs) in ([[0, 2], [1, 3]], [[0, 3], [1, 2]])


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8, 13])
def test_the_best_seed_wins_a_knockout_and_meets_the_second_in_the_final(size: int) -> None:
    draw, rounds = tournament(Knockout(), size, pairs=2)
    assert len(rounds) == (size - 1).bit_length()
    assert set(met(rounds)) >= {frozenset((0, 1))}
    assert len(met(rounds)) == size - 1
    assert {frozenset((p[0].black, p[0].white)) for p in rounds[-1]} == {frozenset((0, 1))}
    table = standings(draw, size)
    assert table["place"][:2] == [1, 2]
    assert table["reached"][:2] == ["winner", "final"]
    (bracket,) = draw.schedule.tables([str(number) for number in range(size)], draw.results)
    byes = sum(line[3] == "bye" for line in bracket.rows)
    assert byes == (1 << (size - 1).bit_length()) - size
    assert all("-" not in line[2] or line[1] < str(byes) for line in bracket.rows)


def test_a_drawn_match_is_played_again_and_then_a_lot_decides() -> None:
    draw, rounds = tournament(Knockout(replays=2), 2, nobody)
    assert len(rounds) == 3
    assert len({taken[0][0].opening for taken in rounds}) == 3
    assert [taken[0][0].black for taken in rounds] == [0, 1, 0]
    winners = set()
    for seed in range(20):
        draw, _ = tournament(Knockout(replays=0), 2, nobody, seed=seed)
        (bracket,) = draw.schedule.tables(["a", "b"], draw.results)
        assert bracket.rows[0][-1] == "by lot"
        winners.add(bracket.rows[0][4])
    assert winners == {"a", "b"}


def games_of(rounds: Sequence[Sequence[Pair]]) -> Counter[int]:
    return Counter(a for taken in rounds for (game,) in taken for a in (game.black, game.white))


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 13])
def test_every_program_of_a_class_gets_three_games_and_then_a_knockout(size: int) -> None:
    schedule = ClassTournament()
    draw, rounds = tournament(schedule, size)
    knockout = (size - 1).bit_length()
    before = games_of(rounds[:-knockout])
    assert sorted(before.values()) == [3] * (size - size % 2) + [4 if size % 2 else 3] * (size % 2)
    if size > 3:
        assert max(met(rounds[:3]).values()) == 1
    assert sum(map(len, rounds[-knockout:])) == size - 1
    blacks = Counter(game.black for taken in rounds[:-knockout] for (game,) in taken)
    assert all(1 <= blacks[agent] <= 2 for agent in range(size) if before[agent] == 3)
    table = standings(draw, size)
    assert table["place"][0] == 1
    assert table["knockout"][0] == "winner"
    games = [game for taken in rounds for (game,) in taken]
    for agent in range(size):
        of_agent = [game for game in games if agent in (game.black, game.white)]
        wins = sum(better(game) == agent for game in of_agent[1:])  # the first game pays 5 alone
        if before[agent] == 3:
            assert table["points"][agent] == 5 + 2 * wins
        else:  # it has helped another one to its third game
            assert table["points"][agent] <= 5 + 2 * wins


def test_a_game_that_only_helps_another_one_stands_in_brackets() -> None:
    draw, _ = tournament(ClassTournament(), 5)
    before, _ = draw.schedule.tables([str(number) for number in range(5)], draw.results)
    assert list(before.columns) == ["row", "agent", "game 1", "game 2", "game 3", "game 4"]
    fourth = [row[5] for row in before.rows if row[5]]
    assert len(fourth) == 1
    assert fourth[0].startswith("(")
    assert "does not count" in before.note


def test_points_of_a_class_are_for_a_completed_game_and_for_results_after_it() -> None:
    draw, rounds = tournament(ClassTournament(replays=0), 4, nobody)
    assert len(rounds) == 5
    assert standings(draw, 4)["points"] == [4 + games_of(rounds)[agent] for agent in range(4)]
    draw, rounds = tournament(ClassTournament(), 4, failing=[0])
    table = standings(draw, 4)
    assert table["points"][0] == 0  # never completed a game
    assert table["points"][1] == 5 + 2 * 4
    assert table["knockout"][0] == "semi-final"
    scheme = ClassTournament(preliminary=1, completed=0, win=3, draw=0.5)
    draw, _ = tournament(scheme, 2)
    assert standings(draw, 2)["points"] == [3, 0]
    scheme = ClassTournament(preliminary=1, first_pays=True)
    draw, _ = tournament(scheme, 2)
    assert standings(draw, 2)["points"] == [5 + 2 + 2, 5]


def test_a_win_pays_nothing_to_a_program_that_has_completed_no_game() -> None:
    names, schedule = ["a", "b"], ClassTournament(preliminary=2)
    results = PairOutcomes(1)
    not_begun = PairOutcome(0, 1, 1.0, ("1",), forfeits=(1,), begun=0)
    lost = PairOutcome(1, 0, 1.0, ("2",), begun=1)
    for outcome, points in ((not_begun, [0, 0]), (lost, [5, 5])):
        results.add(outcome)
        results.end_round()
        assert schedule.standings(names, results)["points"] == points
    results.add(not_begun)
    results.end_round()
    assert schedule.standings(names, results)["points"] == [5, 5]


@pytest.mark.parametrize("first_pays", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_draw_of_pairings_or_colours_gives_points_for_who_never_starts(
    seed: int, first_pays: bool
) -> None:
    schedule = ClassTournament(first_pays=first_pays)
    draw, rounds = tournament(schedule, 6, seed=seed, failing=[3], absent=[4, 5])
    names = list("abcdef")
    wanted, completed = [0.0] * 6, set[int]()
    awards = schedule.awards(names, draw.results)
    for (game,), award in zip((pair for taken in rounds for pair in taken), awards, strict=True):
        both = {game.black, game.white}
        for agent in both:
            (other,) = both - {agent}
            points = 0.0
            if agent < 3 and other < 4:
                points = 2.0 * (better(game) == agent) * (agent in completed or first_pays)
                points += 5.0 * (agent not in completed)
                completed.add(agent)
            assert award[agent][0] == points and award[agent][1], (agent, other, award)
            wanted[agent] += points
    assert standings(draw, 6)["points"] == wanted
    assert wanted[4:] == [0, 0] and sum(wanted) > 0


def _drawn_with_the_best(game: ScheduledGame) -> int | None:
    """The agent with the lower number wins, but agent 0 draws its games at even numbers, and loses
    to agent 1."""
    if {game.black, game.white} == {0, 1}:
        return 1
    return None if 0 in (game.black, game.white) and game.number % 2 == 0 else better(game)


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_pays_nothing_and_who_wins_the_final_is_first(seed: int) -> None:
    names = [f"agent {number}" for number in range(8)]
    draw, rounds = tournament(ClassTournament(), 8, _drawn_with_the_best, seed=seed)
    table = standings(draw, 8)
    games = [game for taken in rounds for (game,) in taken]
    wanted = [5.0] * 8
    knockout: set[frozenset[int]] = set()
    completed: set[int] = set()
    for number, game in enumerate(games):
        pairing = frozenset((game.black, game.white))
        replay = pairing in knockout
        knockout |= {pairing} if number >= 12 else set()
        for agent in pairing & completed if not replay else ():
            wanted[agent] += {agent: 2, None: 1}.get(_drawn_with_the_best(game), 0)
        completed |= pairing
    assert table["points"] == wanted
    final = games[-1]
    champion = _drawn_with_the_best(final)
    if champion is not None:
        loser = names[final.black + final.white - champion]
        assert table["place"][champion] == 1 and table["knockout"][champion] == "winner"
        headline = draw.schedule.headline(names, draw.results)
        assert re.match(f"{names[champion]} wins .* against {loser}", headline)
        assert "Most points: " in headline


def test_the_report_of_a_class_tells_the_points_and_another_scheme() -> None:
    for scheme, word in (
        (ClassTournament(), ""),
        (ClassTournament(win=3), "3 for a win, 1 for a draw"),
        (ClassTournament(first_pays=True), "pays its win or draw too"),
    ):
        note = scheme.tables(list("abcd"), tournament(scheme, 4)[0].results)[0].note
        assert "5 for the first game completed" in note and word in note
        assert ("usual points are 5, 2, 1" in note) == bool(word)


def test_the_headline_of_a_knockout_names_who_won_the_final() -> None:
    draw, _ = tournament(Knockout(), 4, lambda game: max(game.black, game.white), pairs=2)
    headline = draw.schedule.headline(["a", "b", "c", "d"], draw.results)
    assert re.match("d wins .* against c .* 4 - 0", headline)
    draw, _ = tournament(Knockout(replays=0), 2, nobody)
    assert draw.schedule.headline(["a", "b"], draw.results).endswith(" 1 - 1, by lot.")
    assert Knockout().headline(["a", "b"], PairOutcomes(1)) == ""


WORDS = ["agents=classics", "games=2"]


@pytest.mark.integration
@pytest.mark.parametrize("schedule", mostly_nightly(["swiss", "knockout", "class"], ["class"]))
def test_a_tournament_is_the_same_on_any_number_of_workers_and_after_an_interruption(
    schedule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*WORDS, "~agents.minimax_2", "~agents.alphabeta_5", f"schedule={schedule}"]
    whole = played(tmp_path, *words)
    assert whole.complete
    among = played(tmp_path, *words, "executor.workers=2")
    assert content(among.folder) == content(whole.folder)
    assert whole.standings["place"].is_monotonic_increasing
    line_of("verify", whole.folder, "--games", "2")
    take = PairQueue.take
    left = iter(range(3))
    with monkeypatch.context() as patched:
        patched.setattr(
            PairQueue,
            "take",
            lambda draw, most: take(draw, 1) if next(left, None) is not None else [],
        )
        stopped = played(tmp_path, *words)
    assert not stopped.complete
    assert len(content(stopped.folder)["games"]) < len(content(whole.folder)["games"])
    resumed = resume(stopped.folder, console=QUIET)
    assert resumed.complete
    assert content(resumed.folder) == content(whole.folder)
    assert resumed.standings["place"].tolist() == whole.standings["place"].tolist()


@pytest.mark.integration
def test_report_and_terminal_show_points_and_rounds(tmp_path: Path) -> None:
    console = Console(record=True, width=200, file=io.StringIO())
    words = [*WORDS, "schedule=class", f"results={tmp_path}", "executor=serial", "figures=none"]
    result = run(read(words), "test", console)
    columns = ["place", "points", "knockout"]
    assert list(result.standings.columns[1:4]) == columns
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    assert f"| agent | {' | '.join(columns)} | " in report
    assert "## Preliminary games" in report
    said = console.export_text()
    assert all(word in said for word in ("Preliminary games", *columns)) and "Elo" not in said
    line_of("watch", result.folder, "--once")
    with pytest.raises(ConfigError, match="games=4: "):  # a tournament cannot grow
        resume(result.folder, console=QUIET, games=4)
