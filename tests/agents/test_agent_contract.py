"""One contract, held by every agent in ``conf/agent``, and every YAML in ``conf/`` usable."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from agents import Agent, Decision, Evaluation, Limits
from agents.config import build, build_agent, choices, conf_folder, fill_open, load
from core import RULESETS, Color, Position, Ruleset, play_game
from core.game import FINISHED

EVALUATION = {"_target_": "agents.DiscCount"}  # plays on every board


FITTED = {"_target_": "agents.SquareWeights"}  # for what works with fitted parameters only


settings_of = cache(partial(load, "agent"))  # composing them takes longer than most of these tests


def make(name: str) -> Agent:
    evaluation = FITTED if name == "probcut" else EVALUATION
    filled, _ = fill_open({name: settings_of(name)}, depth=2, evaluation=evaluation)
    return build_agent(filled[name], name)


@cache
def random_positions(rules: Ruleset, count: int, seed: int) -> list[Position]:
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        position = Position.start(rules)
        for _ in range(int(rng.integers(rules.squares - 4))):
            if position.is_over:
                break
            moves = position.moves or (64,)
            position = position.play(int(rng.choice(moves)))
        if position.moves:
            found.append(position)
    return found


agents = pytest.mark.parametrize("name", sorted(choices("agent")))


@agents
@pytest.mark.parametrize("rules", RULESETS.values(), ids=RULESETS)
def test_every_decision_is_legal_and_well_formed(name: str, rules: Ruleset) -> None:
    agent = make(name)
    if rules.side not in agent.boards():
        pytest.skip(f"{name} is not made for {rules.name}")
    agent.prepare()
    agent.begin_game(Color.BLACK, rules, 5)
    for position in random_positions(rules, 15, seed=1):
        decision = agent.decide(position, Limits())
        assert isinstance(decision, Decision)
        assert decision.flaw() is None
        assert decision.move in position.moves, f"\n{position}"
        for move in decision.pv:
            position = position.play(move)  # raises if the variation is not playable
        if decision.pv:
            assert decision.pv[0] == decision.move
            # Singular extensions look further than asked.
            within = decision.depth is None or len(decision.pv) <= decision.depth
            assert agent.selective or within


@agents
def test_the_same_game_seed_gives_the_same_game(name: str) -> None:
    # The smallest board that leaves room for chance, if the agent plays there.
    start = Position.start("mini6" if 6 in make(name).boards() else "standard")

    def play(seed: int) -> str:
        players = {Color.BLACK: make(name), Color.WHITE: make(name)}
        seeds = {Color.BLACK: seed, Color.WHITE: seed + 1}
        record = play_game(players, start, seeds=seeds)
        assert record.end_reason == FINISHED
        return record.transcript

    assert play(1) == play(1)
    if name == "random":
        assert play(1) != play(3)


@agents
def test_agents_remember_nothing_of_earlier_games(name: str) -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    fresh, used = make(name), make(name)
    used.begin_game(Color.WHITE, position.ruleset, 1)
    for other in random_positions(position.ruleset, 5, seed=2):
        used.decide(other, Limits())
    for agent in (fresh, used):
        agent.begin_game(Color.WHITE, position.ruleset, 9)
    assert fresh.decide(position, Limits()) == used.decide(position, Limits())


@agents
def test_a_depth_limit_is_respected(name: str) -> None:
    agent = make(name)
    agent.begin_game(Color.BLACK, RULESETS["standard"], 0)
    decision = agent.decide(Position.start(), Limits(depth=1))
    assert decision.depth in (None, 1)


@pytest.mark.parametrize("name", sorted(set(choices("evaluation")) - {"function"}))
def test_every_evaluation_builds_and_gives_a_value(name: str) -> None:
    evaluation = build(load("evaluation", name), "evaluation")
    assert isinstance(evaluation, Evaluation)
    position = Position.from_transcript("f5d6c3d3c4")
    assert evaluation(position) == evaluation.plain(position)


def test_every_yaml_says_in_its_first_line_what_it_is() -> None:
    for path in conf_folder().rglob("*.yaml"):
        name = path.relative_to(conf_folder())
        assert path.read_text(encoding="utf-8").startswith("# "), name
        if len(name.parts) == 2:
            assert choices(name.parts[0])[path.stem], name


def test_moves_do_not_depend_on_the_colours_names() -> None:
    """The same masks with colours exchanged get the same decision."""
    position = Position.from_transcript("f5d6c3d3c4")
    swapped = replace(position, to_move=position.to_move.other)
    agent = make("alphabeta")
    assert agent.decide(position, Limits()) == agent.decide(swapped, Limits())
