"""OpenSpiel and the lab agree about the game, and each one's players play in the other's games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from records import content, query
from rich.console import Console

from othello_lab import PASS, AlphaBeta, Color, GreedyAgent, Position, SquareWeights, play_game
from othello_lab.__main__ import main
from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.external.openspiel import LabBot, OpenSpielAgent, position_of, state_of
from othello_lab.core.game import FINISHED, GARBAGE, RAISED
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

HERE = Path(__file__).with_name("openspiel_bots.py")
MCTS = "othello_lab.agents.external.openspiel:mcts(20)"


@pytest.fixture
def pyspiel() -> Any:
    return pytest.importorskip("pyspiel", reason="needs OpenSpiel, the extra openspiel")


def agree(count: int) -> int:
    """Play random games by both rules, and compare every state; how many passes there were."""
    rng, passes = np.random.default_rng(count), 0
    for _ in range(count):
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
    return passes


@pytest.mark.usefixtures("pyspiel")
def test_both_have_the_same_rules() -> None:
    assert agree(30) > 5


@pytest.mark.integration
@pytest.mark.usefixtures("pyspiel")
def test_both_have_the_same_rules_in_many_games() -> None:
    assert agree(1000) > 300


def test_a_state_of_another_game_is_refused(pyspiel: Any) -> None:
    other = pyspiel.load_game("tic_tac_toe").new_initial_state()
    with pytest.raises(ValueError, match="a state of 'tic_tac_toe'; othello is needed"):
        position_of(other)
    with pytest.raises(ValueError, match="a state of 'tic_tac_toe'"):
        LabBot(GreedyAgent()).step(other)


# ------------------------------------------------------------------ theirs in our games


@pytest.mark.usefixtures("pyspiel")
@pytest.mark.parametrize("rules", ["standard", "wpi"])
def test_their_search_plays_in_our_runs_and_follows_from_the_seed(
    rules: str, tmp_path: Path
) -> None:
    words = ["agents=duel", "agent@first=openspiel", f"first.target='{MCTS}'", "games=4"]
    words += ["agent@second=random", "figures=false", "searches.positions=1", f"ruleset={rules}"]
    runs = []
    for name in ("one", "two"):
        plan = read([*words, f"results={tmp_path / name}", "executor.workers=1"])
        runs.append(run(plan, "test", Console(quiet=True)).folder)
    assert query(runs[0], "select distinct end_reason from games") == [(FINISHED,)]
    assert content(runs[0])["games"] == content(runs[1])["games"]
    # Twenty simulations are more than chance.
    points = query(
        runs[0],
        "select sum(case black when 0 then black_points else 1 - black_points end) from games",
    )
    assert points[0][0] >= 3


@pytest.mark.usefixtures("pyspiel")
def test_a_bot_is_told_of_what_it_has_not_done() -> None:
    bot = OpenSpielAgent(f"{HERE}:told")
    play_game({Color.BLACK: GreedyAgent(), Color.WHITE: bot})
    history = bot._state.history()
    made = bot._bot.heard  # (who, action) by turn; its own as it has chosen them
    assert bot._bot.begun_at == history[:1]
    assert [action for _, action in made] == history[1:]
    assert [who for who, _ in made] == [ply % 2 for ply in range(1, len(history))]


@pytest.mark.usefixtures("pyspiel")
@pytest.mark.parametrize(
    ("maker", "reason", "detail"),
    [
        ("silent", GARBAGE, "answered None"),
        ("raising", RAISED, "no idea"),
    ],
)
def test_a_bot_that_goes_wrong_loses(maker: str, reason: str, detail: str) -> None:
    record = play_game({Color.BLACK: OpenSpielAgent(f"{HERE}:{maker}"), Color.WHITE: GreedyAgent()})
    assert record.end_reason == reason and record.winner is Color.WHITE
    assert detail in record.detail


@pytest.mark.usefixtures("pyspiel")
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([f"first.target={HERE}:First"], "a function of (game, player, seed)"),
        (
            ["first.target=othello_lab.agents.external.openspiel:mcts"],
            "no bot of OpenSpiel. A function",
        ),
        (["first.target='othello_lab.agents.external.openspiel:mtcs(9)'"], "no 'mtcs' there"),
        ([f"first.target='{MCTS}'", "limits.depth=3"], "another program knows no such limit"),
        ([f"first.target='{MCTS}'", "ruleset=mini6"], "plays on boards of 8x8"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["agents=duel", "agent@first=openspiel", "agent@second=random", "games=2"]
    assert main(["run", *common, *words, f"results={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and complaint in error
    assert list(tmp_path.iterdir()) == []


def test_without_openspiel_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("othello_lab.agents.external.openspiel.pyspiel", None)
    common = ["agents=duel", "agent@first=openspiel", "agent@second=random", "games=2"]
    assert main(["run", *common, f"first.target='{MCTS}'", f"results={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "OpenSpiel is needed; pip install '.[openspiel]'" in error


# ------------------------------------------------------------------ ours in their games


def test_ours_play_in_their_games(pyspiel: Any) -> None:
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    ours = LabBot(AlphaBeta(3, SquareWeights()))
    points = 0.0
    for seed in range(4):
        bots = [ours, pyspiel.make_uniform_random_bot(1, seed)]
        points += evaluate_bots(state_of(), bots, np.random.default_rng(seed))[0]
        ours.restart()
        # And as the second player, in a game that has begun.
        state = state_of([19, 18, 26])
        bots = [pyspiel.make_uniform_random_bot(0, seed), ours]
        points += evaluate_bots(state, bots, np.random.default_rng(seed))[1]
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


@pytest.mark.usefixtures("pyspiel")
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
