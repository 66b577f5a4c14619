"""Bots of OpenSpiel as agents, agents of the lab as bots of OpenSpiel, and states both ways.

OpenSpiel (https://github.com/google-deepmind/open_spiel) is an extra:
``pip install 'othello-strategy-lab[openspiel]'``. Its game ``othello`` has the lab's numbers of
squares (a1 = 0) and of a pass (64); a pass is an action like any other. Player 0 is who begins.
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
        raise ValueError(
            "OpenSpiel is needed; pip install 'othello-strategy-lab[openspiel]' or open_spiel"
        )


def mcts(simulations: int, exploration: float = 2.0, rollouts: int = 1) -> BotMaker:
    """OpenSpiel's Monte-Carlo tree search (the one in C++), with random playouts.

    simulations: for each move. exploration: the constant of UCT. rollouts: playouts a simulation.
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
    """OpenSpiel's state after these plies from the start, passes included. Raises
    ``pyspiel.SpielError`` for one that is not legal, ValueError without OpenSpiel."""
    _check_installed()
    state = pyspiel.load_game(GAME).new_initial_state()
    for ply in plies:
        state.apply_action(ply)
    return state


def position_of(state: Any) -> Position:
    """The position that a state of OpenSpiel's ``othello`` stands for, by its history. Raises
    ValueError for one of another game."""
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
    """A bot of OpenSpiel. It is told of the moves that it has not made (``inform_action``) from its
    first turn on, for which it gets the state (``restart_at``)."""

    from_outside = True

    @checked
    def __init__(self, target: str, reproducible: Annotated[bool, Switch()] = True) -> None:
        """
        target: a call that gives a maker of bots (:data:`BotMaker`), such as
        ``othello_lab.agents.external.openspiel:mcts(1000)``, or one itself, ``file.py:make_bot``.
        reproducible: false for a bot that does not follow from its seed.

        Raises ValueError, one line, for what cannot be found or called.
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
        """Make a bot, to see whether it is one. Raises ValueError."""
        made = self._make(state_of().get_game(), 0, 0)
        if not hasattr(made, "step"):
            raise ValueError(
                f"target '{self.target}' made {made!r:.80}, which is no bot of OpenSpiel. A "
                "function that gives a maker of bots is called: mcts(1000)"
            )

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        if (start.mover, start.opponent) != (_START.mover, _START.opponent):
            raise PlayerFailure(GARBAGE, f"OpenSpiel's {GAME} has no start but the usual one")
        self._state = state_of()
        self._player = int(color is not start.to_move)
        # OpenSpiel has seeds of 31 bits.
        self._bot = self._make(self._state.get_game(), self._player, seed % (1 << 31))
        self._begun, self._own = False, -1

    def observe(self, move: int, position: Position) -> None:
        if self._begun and move != self._own:
            self._bot.inform_action(self._state.clone(), self._state.current_player(), move)
        self._own = -1
        self._state.apply_action(move)

    def decide(self, position: Position, limits: Limits) -> Decision:
        if not self._begun:
            self._bot.restart_at(self._state.clone())
            self._begun = True
        answer = self._bot.step(self._state.clone())
        try:
            self._own = operator.index(answer)
        except TypeError:
            told = f"{self.target} answered {answer!r:.200}; an action of OpenSpiel is needed"
            raise PlayerFailure(GARBAGE, told) from None
        return Decision(self._own)


# ---------------------------------------------------------------------- ours, as bots


class LabBot(_Bot):
    """An agent of the lab as a bot of OpenSpiel.

    All it needs to know is in the states that it is asked about; so it may be asked about any, and
    about games that others have begun.
    """

    def __init__(self, agent: Agent, seed: int = 0, limits: Limits | None = None) -> None:
        """``seed``: of the first game; each further one has the next."""
        _check_installed()
        super().__init__()
        self._agent, self._seed, self._limits = agent, seed, limits or Limits()
        agent.check_limits(self._limits)
        agent.prepare()
        self._told: list[int] | None = None  # the plies of its game that the agent knows

    def restart(self) -> None:
        """A new game begins."""
        self._told = None

    def restart_at(self, state: Any) -> None:
        """A new game begins, and stands there."""
        self._told = None

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Somebody has moved; the next state that it is asked about tells of it."""

    def step(self, state: Any) -> int:
        """The action that it chooses. Raises ValueError for a state of another game."""
        _check(state)
        plies = state.history()
        if self._told is None or plies[: len(self._told)] != self._told:
            self._told, self._position = [], _START
            color = (Color.BLACK, Color.WHITE)[state.current_player()]
            self._agent.begin_game(color, _START, self._seed)
            self._seed += 1
        for ply in plies[len(self._told) :]:
            self._position = self._position.play(ply)
            self._agent.observe(ply, self._position)
        self._told = plies
        if self._position.must_pass:
            return PASS
        return self._agent.decide(self._position, self._limits).move
