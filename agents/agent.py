"""The contract between an agent and everything that asks it for moves.

An agent is built once, told when each game begins, and asked for a decision whenever it is its
turn and it has at least one legal move. To write one, subclass :class:`Agent` and fill in
``decide``; name the class in a YAML (``_target_: my_module.MyAgent``) and it plays.
:func:`agents.contract.check` (``othello-lab agents check``) tells whether it keeps to the contract.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from othello_lab.core.game import Decision, Limits, Player, SearchStats
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import called
from othello_lab.core.whole_games import CompiledPlayer

__all__ = ["Agent", "Decision", "Limits", "Purpose", "SearchStats"]


class Purpose(enum.Enum):
    """What a setting of an agent is there for; stands in its ``Annotated``, beside what it may be.
    By it the papers on players (``docs/players.md``) are arranged."""

    ORDER = "order of moves"
    PRUNING = "what it leaves out"
    TIME = "time"
    ENDGAME = "endgame"


class Agent(Player, ABC):
    """A player of Othello; :class:`core.game.Player` says in which order it is called.

    version: changes when the agent's behaviour changes, not when its code is tidied; recorded
        with every run.
    reproducible: whether the same game seed always gives the same moves (not so for agents that
        look at the clock or ask another program).
    watches_clock: whether a time limit changes what it plays, so that a game with one cannot be
        reproduced.
    selective: whether it leaves moves out on probability, so that its values are not minimax's.
    from_start: whether it knows whole games only: from the start of the ruleset on, and each of its
        moves its own choice.
    from_outside: whether it runs what is not the lab's, such as another program, although its class
        is; it then plays in a process of its own.
    """

    version: int = 1
    reproducible: bool = True
    watches_clock: bool = False
    selective: bool = False
    from_start: bool = False
    from_outside: bool = False

    def __repr__(self) -> str:
        return called(self)

    def boards(self) -> frozenset[int]:
        """The sizes of board (squares a side) it can play on; all of them by default."""
        return frozenset({4, 6, 8})

    def prepare(self, announce: Announce | None = None) -> None:
        """Load or compile what is needed, before the clock runs and before processes fork."""

    def check_limits(self, limits: Limits) -> None:
        """Raise ValueError, before any game, if the agent cannot play within these limits."""

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        """A new game begins at ``start``. ``self.rng``, made from the game's own seed, is the only
        source of randomness an agent should use; nothing else may be carried over from earlier
        games, which may have been cut short."""
        self._game_seed = seed
        vars(self).pop("rng", None)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The generator of this game, made when it is first drawn from."""
        return np.random.default_rng(self._game_seed)

    def close(self) -> None:
        """Give back what the agent holds: files, connections, other programs.

        Called at the orderly end of a run, or of the process that has played in it, not after each
        game; not if that process is killed, as with an agent that hangs. It has about a second.
        """

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
        """This agent as a player of whole games in compiled code, which makes the same moves at the
        same cost; None, as by default, for an agent that decides in Python, or for limits that need
        it. It is valid as long as the agent lives, until this is called again. What it is asked
        for must have been prepared."""
        return None

    @abstractmethod
    def decide(self, position: Position, limits: Limits) -> Decision:
        """Choose one of the legal moves of ``position`` (there is at least one) within ``limits``,
        and say what it is worth and what the choice cost."""


def compiled_player(agent: Agent, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
    """:meth:`Agent.compiled_player`, but None for an agent that has methods which the class that
    offers it does not know: what they change the compiled player would not do."""
    for kind in type(agent).__mro__:
        if "compiled_player" in vars(kind):
            own = any(
                callable(value) and hasattr(kind, name) for name, value in vars(agent).items()
            )
            return None if own or limits.timed else agent.compiled_player(rules, limits)
        if any(map(_changes, vars(kind), vars(kind).values())):
            return None
    return None


def _changes(name: str, value: object) -> bool:
    """Whether what a class declares may change what its agents do, the constructor aside."""
    if name.startswith("__"):
        return name in ("__getattribute__", "__getattr__")
    return callable(value) or isinstance(value, property | classmethod | staticmethod)
