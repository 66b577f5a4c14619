"""Bots of OpenSpiel as agents, agents of the lab as bots of OpenSpiel, and states both ways.

OpenSpiel (https://github.com/google-deepmind/open_spiel) is an extra:
``pip install '.[openspiel]'``. Its game ``othello`` has the lab's numbers of
squares (a1 = 0) and of a pass (64); a pass is an action like any other. Player 0 begins.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.external.program_agent import refuse_counts
from othello_lab.agents.loading import find
from othello_lab.core.game import GARBAGE, PlayerFailure
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.optional_libraries import install_hint
from othello_lab.core.system.settings import Switch, checked

try:
    import pyspiel
except ImportError:
    pyspiel = None

GAME = "othello"
_START = Position.start()

_Bot: Any = pyspiel.Bot if pyspiel else object

BotMaker = Callable[[Any, int, int], Any]
"""Makes a bot for a game, the number of its player (0 begins), and a seed."""


def _check_installed() -> None:
    if pyspiel is None:
        raise ValueError(f"OpenSpiel is needed; {install_hint('openspiel')}")


def mcts(simulations: int, exploration: float = 2.0, rollouts: int = 1) -> BotMaker:
    """Return a maker of OpenSpiel's Monte-Carlo tree search (in C++) with random playouts.

    simulations: number a move. exploration: the constant of UCT. rollouts: playouts a simulation.
    """

    def make(game: Any, player: int, seed: int) -> Any:
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
        memory_mb, solve, verbose = 1000, True, False
        return pyspiel.MCTSBot(
            game, evaluator, exploration, simulations, memory_mb, solve, seed, verbose
        )

    return make


# ---------------------------------------------------------------------- states


def state_of(plies: Iterable[int] = ()) -> Any:
    """Return OpenSpiel's state after these plies from the start, passes included.

    Raises ``pyspiel.SpielError`` for an illegal ply, ValueError without OpenSpiel.
    """
    _check_installed()
    state = pyspiel.load_game(GAME).new_initial_state()
    for ply in plies:
        state.apply_action(ply)
    return state


def position_of(state: Any) -> Position:
    """Return the position of a state of OpenSpiel's ``othello``, replayed from its history.

    Raises ValueError for a state of another game.
    """
    _check(state)
    position = _START
    for ply in state.history():
        position = position.play(ply)
    return position


def _check(state: Any) -> None:
    name = state.get_game().get_type().short_name
    if name != GAME:
        raise ValueError(f"a state of '{name}'; {GAME} is needed")


# ---------------------------------------------------------------------- their bots, as agents


class OpenSpielAgent(Agent):
    """A bot of OpenSpiel.

    At its first turn the bot gets the state (``restart_at``). From then on it gets each move of
    the opponent (``inform_action``).
    """

    from_outside = True

    @checked
    def __init__(self, target: str, reproducible: Annotated[bool, Switch()] = True) -> None:
        """
        target: a call that returns a maker of bots (:data:`BotMaker`), such as
        ``othello_lab.agents.external.openspiel:mcts(1000)``, or a maker, ``file.py:make_bot``.
        reproducible: false if the bot's moves do not follow from its seed.

        Raises ValueError, one line, if the target cannot be found or called.
        """
        _check_installed()
        self.target, self.reproducible = target, reproducible
        self._make = find(target)
        try:
            inspect.signature(self._make).bind(None, 0, 0)
        except TypeError:
            raise ValueError(
                f"target '{target}': a function of (game, player, seed) that makes a bot is needed"
            ) from None

    def boards(self) -> frozenset[int]:
        return frozenset({8})

    def check_limits(self, limits: Limits) -> None:
        refuse_counts(limits)

    def prepare(self, announce: Announce | None = None) -> None:
        """Make a bot once to check the maker. Raises ValueError."""
        bot = self._make(state_of().get_game(), 0, 0)
        if not hasattr(bot, "step"):
            raise ValueError(
                f"target '{self.target}' made {bot!r:.80}, which is no bot of OpenSpiel. A "
                "function that returns a maker of bots has to be called: mcts(1000)"
            )

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        if (start.mover, start.opponent) != (_START.mover, _START.opponent):
            raise PlayerFailure(GARBAGE, f"OpenSpiel's {GAME} has no start but the usual one")
        self._state = state_of()
        self._player = int(color is not start.to_move)
        # OpenSpiel has seeds of 31 bits.
        self._bot = self._make(self._state.get_game(), self._player, seed % (1 << 31))
        self._begun, self._own_move = False, -1

    def observe(self, move: int, position: Position) -> None:
        if self._begun and move != self._own_move:
            self._bot.inform_action(self._state.clone(), self._state.current_player(), move)
        self._own_move = -1
        self._state.apply_action(move)

    def decide(self, position: Position, limits: Limits) -> Decision:
        if not self._begun:
            self._bot.restart_at(self._state.clone())
            self._begun = True
        answer = self._bot.step(self._state.clone())
        try:
            self._own_move = operator.index(answer)
        except TypeError:
            detail = f"{self.target} answered {answer!r:.200}; an action of OpenSpiel is needed"
            raise PlayerFailure(GARBAGE, detail) from None
        return Decision(self._own_move)


# ---------------------------------------------------------------------- ours, as bots


class LabBot(_Bot):
    """An agent of the lab as a bot of OpenSpiel.

    The bot reads all it needs from the state in ``step``, so any state will do, also one of a game
    that others have begun.
    """

    def __init__(self, agent: Agent, seed: int = 0, limits: Limits | None = None) -> None:
        """seed: of the first game; each later game adds 1."""
        _check_installed()
        super().__init__()
        self._agent, self._seed, self._limits = agent, seed, limits or Limits()
        agent.check_limits(self._limits)
        agent.prepare()
        self._observed: list[int] | None = None  # the plies of its game that the agent knows

    def restart(self) -> None:
        """Begin a new game."""
        self._observed = None

    def restart_at(self, state: Any) -> None:
        """Begin a new game at a state."""
        self._observed = None

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Ignore a move; the next state in ``step`` includes it."""

    def step(self, state: Any) -> int:
        """Return the agent's action. Raises ValueError for a state of another game."""
        _check(state)
        plies = state.history()
        if self._observed is None or plies[: len(self._observed)] != self._observed:
            self._observed, self._position = [], _START
            color = (Color.BLACK, Color.WHITE)[state.current_player()]
            self._agent.begin_game(color, _START, self._seed)
            self._seed += 1
        for ply in plies[len(self._observed) :]:
            self._position = self._position.play(ply)
            self._agent.observe(ply, self._position)
        self._observed = plies
        if self._position.must_pass:
            return PASS
        return self._agent.decide(self._position, self._limits).move
