"""OpenSpiel and the lab agree about the game, and each one's players play in the other's games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bots import in_run
from records import content, query
from runs import line_of

from othello_lab import PASS, AlphaBeta, Color, GreedyAgent, Position, SquareWeights, play_game
from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.external.openspiel import LabBot, OpenSpielAgent, position_of, state_of
from othello_lab.core.game import FINISHED, GARBAGE, RAISED

HERE = Path(__file__).with_name("openspiel_bots.py")
MCTS = "othello_lab.agents.external.openspiel:mcts(20)"


def test_without_openspiel_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("othello_lab.agents.external.openspiel.pyspiel", None)
    common = ["agents=duel", "agent@first=openspiel", "agent@second=random", "games=2"]
    error = line_of("run", *common, f"first.target='{MCTS}'", f"results={tmp_path}", code=2)
    assert "pip install" in error and "[openspiel]" in error


@pytest.fixture
def pyspiel() -> Any:
    return pytest.importorskip("pyspiel", reason="needs OpenSpiel, the extra openspiel")


def both(test: Any) -> Any:
    """Mark a test that needs OpenSpiel."""
    return pytest.mark.nightly(pytest.mark.usefixtures("pyspiel")(test))


@both
def test_both_have_the_same_rules() -> None:
    rng, passes = np.random.default_rng(1), 0
    for _ in range(1000):
        position, state = Position.start(), state_of()
        while not state.is_terminal():
            assert not position.is_over, position
            assert tuple(state.legal_actions()) == (position.moves or (PASS,)), position
            assert state.current_player() == (position.to_move is Color.WHITE), position
            ply = int(rng.choice(position.moves or (PASS,)))
            passes += ply == PASS
            position = position.play(ply)
            state.apply_action(ply)
        assert position.is_over, position
        # Black's result, as who is to move does not matter any more.
        difference = position.disc_difference * (1 if position.to_move is Color.BLACK else -1)
        assert state.returns() == [np.sign(difference), -np.sign(difference)], position
        assert position_of(state) == position
        assert state_of(state.history()).history() == state.history()
    assert passes > 300


@pytest.mark.nightly
def test_a_state_of_another_game_is_refused(pyspiel: Any) -> None:
    other = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for use in (position_of, LabBot(GreedyAgent()).step):
        with pytest.raises(ValueError, match="'tic_tac_toe'"):
            use(other)


# ------------------------------------------------------------------ theirs in our games


@both
@pytest.mark.parametrize("rules", ["standard", "wpi"])
def test_their_search_plays_in_our_runs_and_follows_from_the_seed(
    rules: str, tmp_path: Path
) -> None:
    words = ["games=4", f"ruleset={rules}"]
    one, two = (in_run(tmp_path / name, "openspiel", MCTS, *words).folder for name in ("1", "2"))
    assert query(one, "select distinct end_reason from games") == [(FINISHED,)]
    assert content(one)["games"] == content(two)["games"]
    # Twenty simulations are more than chance.
    sql = "select sum(case black when 0 then black_points else 1 - black_points end) from games"
    assert query(one, sql)[0][0] >= 3


@both
def test_a_bot_is_told_of_what_it_has_not_done(tmp_path: Path) -> None:
    log = tmp_path / "log"
    bot = OpenSpielAgent(f"{HERE}:made('told', '{log}')")
    record = play_game({Color.BLACK: GreedyAgent(), Color.WHITE: bot})
    first, *others = [ply.move for ply in record.plies]
    expected = [f"{ply % 2} {move}" for ply, move in enumerate(others, start=1)]
    assert log.read_text().splitlines() == [f"began {first}", *expected]


@both
@pytest.mark.parametrize(
    ("kind", "reason", "detail"), [("silent", GARBAGE, "None"), ("raising", RAISED, "no idea")]
)
def test_a_bot_that_goes_wrong_loses(kind: str, reason: str, detail: str) -> None:
    bot = OpenSpielAgent(f"{HERE}:made('{kind}')")
    record = play_game({Color.BLACK: bot, Color.WHITE: GreedyAgent()})
    assert (record.end_reason, record.winner) == (reason, Color.WHITE)
    assert detail in record.detail


@both
def test_what_is_no_maker_of_bots_is_refused() -> None:
    for use, named in (
        (lambda: OpenSpielAgent(f"{HERE}:First"), "game, player, seed"),
        (lambda: OpenSpielAgent(MCTS.partition("(")[0]).prepare(), "no bot of OpenSpiel"),
        (lambda: OpenSpielAgent(MCTS.replace("mcts", "mtcs")), "'mtcs'"),
        (lambda: OpenSpielAgent(MCTS).check_limits(Limits(depth=3)), "depth=3"),
    ):
        with pytest.raises(ValueError, match=named):
            use()


# ------------------------------------------------------------------ ours in their games


@pytest.mark.nightly
def test_ours_play_in_their_games(pyspiel: Any) -> None:
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    ours = LabBot(AlphaBeta(3, SquareWeights()))
    points = 0.0
    for seed in range(4):
        bots = [ours, pyspiel.make_uniform_random_bot(1, seed)]
        points += evaluate_bots(state_of(), bots, np.random.default_rng(seed))[0]
        ours.restart()
        # And as the second player, in a game that has begun.
        bots = [pyspiel.make_uniform_random_bot(0, seed), ours]
        points += evaluate_bots(state_of([19, 18, 26]), bots, np.random.default_rng(seed))[1]
    assert points >= 5


class Remembers(Agent):
    """Keeps what it is told; plays the first move."""

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self.game: list[Any] = [color, seed]

    def observe(self, move: int, position: Position) -> None:
        self.game.append(move)

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(position.moves[0])


@both
def test_our_agent_is_told_of_the_whole_game() -> None:
    agent = Remembers()
    bot = LabBot(agent, seed=5)
    state = state_of([19])
    state.apply_action(bot.step(state))
    assert agent.game == [Color.WHITE, 5, 19]
    reply = state.legal_actions()[-1]
    state.apply_action(reply)
    first = state.history()[1]
    bot.step(state)
    assert agent.game == [Color.WHITE, 5, 19, first, reply]
    bot.step(state_of())  # another game
    assert agent.game == [Color.BLACK, 6]
