"""Games played whole in compiled code are those that the judge in Python plays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from chosen import mostly_nightly

from othello_lab import (
    PVS,
    Agent,
    AlphaBeta,
    Decision,
    GreedyAgent,
    Limits,
    Maximizer,
    Minimax,
    RandomAgent,
    SquareWeights,
)
from othello_lab.agents.agent import compiled_player
from othello_lab.agents.composing import load
from othello_lab.agents.config import build
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.noisy import Noisy
from othello_lab.core import whole_games
from othello_lab.core.game import ILLEGAL
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.shared_memory import FINISH_PAIRS, GO_ON
from othello_lab.core.whole_games import CompiledPlayer
from othello_lab.experiments.pairing import RoundRobin
from othello_lab.experiments.pairing.openings import (
    AllOpenings,
    BalancedOpenings,
    Opening,
    Openings,
    RandomOpenings,
    StartOpening,
)
from othello_lab.experiments.pairing.schedule import PairQueue, ScheduledGame
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.record.store import TOTALS, PlayedGame, seat_totals
from othello_lab.experiments.record.turns import written


def conditions(
    agents: Sequence[Agent], rules: str = "standard", limits: Limits | None = None, **more: Any
) -> GameConditions:
    names = [f"agent {number}" for number in range(len(agents))]
    settings = {"grace": 0.0, "hang_seconds": 60.0, "log_level": 30, **more}
    made = GameConditions(names, agents, RULESETS[rules], limits or Limits(), **settings)
    made.prepare()
    return made


def drawn(agents: int, openings: Sequence[Opening], seed: int = 1) -> list[ScheduledGame]:
    draw = PairQueue(RoundRobin(), [str(number) for number in range(agents)], openings, seed)
    pairs = draw.take(10**6)
    pairs.sort(key=lambda pair: (pair[0].black, pair[0].white))
    return [game for pair in pairs for game in pair]


def played(made: GameConditions, games: Sequence[ScheduledGame]) -> Iterator[PlayedGame]:
    for some in play_all(made, games, GameMonitor(GameMonitor.Memory())):
        yield from some


def without_times(game: PlayedGame) -> tuple[Any, ...]:
    row = {k: v for k, v in game.game._asdict().items() if not k.endswith("nanoseconds")}
    turns = [
        {k: v for k, v in turn._asdict().items() if not k.endswith("nanoseconds")}
        for turn in game.moves()
    ]
    return row, turns


def equal_both_ways(made: GameConditions, games: Sequence[ScheduledGame]) -> int:
    """Check that games come out the same in compiled code and by the judge; their turns."""
    compiled = [without_times(game) for game in played(made, games)]
    check_turns(played(made, games))
    slow = dataclasses.replace(made, compiled_games=False)
    judged = [without_times(game) for game in played(slow, games)]
    assert len(compiled) == len(games)
    for one, other in zip(compiled, judged, strict=True):
        assert one == other
    return sum(len(turns) for _, turns in compiled)


def check_turns(games: Iterator[PlayedGame]) -> None:
    """Check that turns are written, and summed up, as the judge's are, times and all."""
    for game in games:
        row, turns = game.game, game.moves()
        assert game.turns is not None
        assert game.turns[2:] == written(row.game, row.black, turns)[2:]
        assert not turns or game.turns.first == turns[0].ply
        totals = [
            tuple(getattr(row, f"{color}_{name}") for name in TOTALS)
            for color in ("black", "white")
        ]
        assert totals == seat_totals(turns, (row.black, row.white))


def heuristic(name: str) -> Evaluation:
    return build(load("evaluation", name), "evaluation", Evaluation)


OPENINGS: dict[str, Openings] = {
    "random": RandomOpenings(plies=4),
    "start": StartOpening(),
    "all": AllOpenings(plies=3),
}


def line_up(evaluation: Evaluation, depth: int) -> list[Agent]:
    return [
        Noisy(RandomAgent(), 0.5),
        GreedyAgent(),
        Noisy(Maximizer(evaluation), 0.3, 20),
        Minimax(min(depth, 2), evaluation),
        AlphaBeta(depth, evaluation),
        AlphaBeta(depth, evaluation, final="win"),
    ]


@pytest.mark.parametrize("rules", mostly_nightly(RULESETS, ["wpi"]))
@pytest.mark.parametrize("kind", mostly_nightly(OPENINGS, ["random", "all"]))
def test_whole_games_are_those_of_the_judge(rules: str, kind: str) -> None:
    openings = OPENINGS[kind]
    agents = line_up(heuristic("mobility"), 3)
    count = len(openings.find(3, RULESETS[rules], 5)[:3])
    games = drawn(len(agents), openings.choose(count, RULESETS[rules], 5))
    assert equal_both_ways(conditions(agents, rules), games) > 5 * len(games)


NAMES = ["square_weights", "iago", "composite", "mobility", "edge_stability", "corners"]


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(NAMES, ["edge_stability"]))
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_thousands_of_whole_games_are_those_of_the_judge(name: str, depth: int) -> None:
    rules = RULESETS["standard"]
    agents = line_up(heuristic(name), depth)
    openings = [
        *RandomOpenings(plies=depth + 6).choose(6, rules, depth),
        *BalancedOpenings().choose(6, rules, depth),
    ]
    equal_both_ways(conditions(agents), drawn(len(agents), openings, depth))


@pytest.mark.parametrize("limits", [Limits(nodes=30), Limits(depth=1), Limits(depth=2, nodes=7)])
def test_limits_on_depth_and_nodes_hold_in_compiled_code(limits: Limits) -> None:
    agents = [AlphaBeta(4, SquareWeights()), Minimax(3, SquareWeights()), RandomAgent()]
    games = drawn(3, RandomOpenings(plies=6).choose(4, RULESETS["standard"], 3))
    made = conditions(agents, limits=limits)
    assert all(compiled_player(agent, made.rules, limits) for agent in agents)
    equal_both_ways(made, games)


def test_positions_with_the_second_player_to_move_and_passes_at_once() -> None:
    """White begins; a game whose first turn is a pass; one that ends after a single move; and one
    that is over at its opening, which has no turns."""
    boards = ["--XO", "OX" + 57 * "-" + "XXO--", "-XXXXXXO" + 56 * "X", 60 * "X" + "OOOO"]
    openings = [Opening.read(f"{board:-<64} O", "standard") for board in boards]
    agents = line_up(SquareWeights(), 3)
    games = drawn(len(agents), openings)
    equal_both_ways(made := conditions(agents), games)
    for opening, game in zip([game.opening for game in games], played(made, games), strict=True):
        assert (game.moves() == []) == (opening == openings[3])


class Contrary(GreedyAgent):
    """Changes how it decides."""

    def decide(self, position: Any, limits: Limits) -> Decision:
        return Decision(position.moves[-1])


class Own(RandomAgent):
    """Its decisions are those of an attribute."""

    def __init__(self) -> None:
        self.decide = lambda position, limits: Decision(position.moves[0])  # type: ignore[method-assign]


def test_who_has_its_control_in_python_does_not_play_in_compiled_code() -> None:
    """Nor does who changes another class play as that one."""
    rules, evaluation = RULESETS["standard"], SquareWeights()
    assert compiled_player(GreedyAgent(), rules, Limits()) is not None
    for agent in (
        PVS(3, evaluation),
        AlphaBeta(3, evaluation, iterative=True),
        AlphaBeta(3, evaluation, ordering="static"),
        AlphaBeta(3, evaluation, table_mb=1),
        AlphaBeta(3, evaluation, endgame=8),
        AlphaBeta(2, evaluation, compiled=False),
        Contrary(),
        Own(),
    ):
        assert compiled_player(agent, rules, Limits()) is None
    for timed in (Limits(seconds=1), Limits(clock=9)):
        assert compiled_player(RandomAgent(), rules, timed) is None


class Cheat(RandomAgent):
    """Its compiled player moves to where nothing can be."""

    def compiled_player(self, rules: Any, limits: Limits) -> CompiledPlayer:
        return CompiledPlayer(CHEATS.address, 0)


def _cheat(memory: Any, mover: Any, opponent: Any, moves: Any, generator: Any, answer: Any) -> Any:
    return np.int64(27)  # a square of the start


CHEATS = whole_games.decision(_cheat)


def test_what_compiled_code_finds_illegal_is_for_the_judge() -> None:
    games = drawn(2, RandomOpenings(plies=4).choose(3, RULESETS["standard"], 3))
    agents = [Cheat(), GreedyAgent()]
    made = conditions(agents)
    result = list(played(made, games))
    assert [game.game.game for game in result] == [game.number for game in games]
    assert all(game.game.end_reason != ILLEGAL for game in result)  # its decide is legal
    equal_both_ways(made, games)


def test_only_whole_pairs_are_kept_when_games_are_to_stop() -> None:
    games = drawn(2, RandomOpenings(plies=4).choose(30, RULESETS["standard"], 3))
    made = conditions([RandomAgent(), GreedyAgent()])
    watch = GameMonitor(GameMonitor.Memory())
    made.stop.value = FINISH_PAIRS
    assert list(play_all(made, games, watch)) == []
    assert watch.called == 0
    table = np.zeros((3, whole_games.GAME), dtype=np.int64)
    watch.heed(made.stop)
    nobody = CompiledPlayer(0, 0), CompiledPlayer(0, 0)
    assert whole_games.play(nobody, table, 0, watch.address)[0] == 0, "kernels heed it, too"
    made.stop.value = GO_ON
    assert whole_games.play(nobody, table, 0, watch.address)[0] == 3


def test_without_moves_only_totals_are_recorded() -> None:
    games = drawn(2, RandomOpenings(plies=4).choose(3, RULESETS["standard"], 3))
    made = conditions([AlphaBeta(2, SquareWeights()), GreedyAgent()], record_moves=False)
    for way in (made, dataclasses.replace(made, compiled_games=False)):
        result = list(played(way, games))
        assert all(game.turns is None for game in result)
        assert all(game.game.black_nodes > 0 < game.game.white_moves for game in result)


@pytest.mark.integration
def test_many_games_of_two_agents_keep_their_seats() -> None:
    """Also where the games that are played together begin with the other's game as Black."""
    openings = RandomOpenings(plies=6).choose(200, RULESETS["standard"], 3)
    games = drawn(2, openings)
    turned = games[:256] + [
        game._replace(number=one.number, black=one.black, white=one.white)
        for one, game in zip(games[257:400:2], games[256:400:2], strict=True)
    ]
    turned = [*turned[:256], *(game._replace(pair=1000 + n) for n, game in enumerate(turned[256:]))]
    assert turned[0].black != turned[256].black
    equal_both_ways(conditions([RandomAgent(), GreedyAgent()]), turned)
