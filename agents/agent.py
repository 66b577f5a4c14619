"""The contract between an agent and its callers.

An agent is built once. ``begin_game`` announces each game, and ``decide`` is called at each turn
with at least one legal move. To write an agent, subclass :class:`Agent` and implement ``decide``;
name the class in a YAML (``_target_: my_module.MyAgent``) and it plays.
:func:`agents.contract.check` (``othello-lab agents check``) holds an agent to the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import NamedTuple

import numpy as np

from othello_lab.core.game import Decision, Limits, Player, SearchStats
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system import call_filter
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import Nameable, called
from othello_lab.core.whole_games import CompiledPlayer

__all__ = ["Agent", "Decision", "Limits", "SearchStats"]


class Files(NamedTuple):
    """Files and folders of an agent. reads: to read, or to run. writes: to change."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


class Agent(Player, Nameable, ABC):
    """A player of Othello; :class:`core.game.Player` documents the order of calls.

    version: changes with the agent's behaviour, not with its code; recorded with every run.
    reproducible: true if the same game seed always gives the same moves (false for agents that
        read the clock or ask another program).
    watches_clock: true if a time limit changes its moves, so that a game with one cannot be
        reproduced.
    selective: true if it leaves moves out on probability, so that its values are not minimax's.
    from_start: true if it plays whole games only: from the start of the ruleset, and with every
        one of its moves its own choice.
    from_outside: true if a class of the lab runs code that is not the lab's, such as another
        program; the agent then plays in a process of its own.
    closed: true if that process is closed to files and the network, unless ``isolation`` says
        otherwise.
    compile_seconds: seconds that ``begin_game`` may take longer in a new process, to compile a
        program.
    """

    version: int = 1
    reproducible: bool = True
    watches_clock: bool = False
    selective: bool = False
    from_start: bool = False
    from_outside: bool = False
    closed: bool = False
    compile_seconds: float = 0.0

    def __repr__(self) -> str:
        return called(self)

    def boards(self) -> frozenset[int]:
        """Return the board sizes (squares a side) it can play on; all of them by default."""
        return frozenset({4, 6, 8})

    def prepare(self, announce: Announce | None = None) -> None:
        """Load or compile everything needed, before the clock runs and before processes fork."""

    def check_limits(self, limits: Limits) -> None:
        """Raise ValueError, before any game, if the agent cannot play within these limits."""

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        """Begin a new game at ``start``.

        ``self.rng``, seeded by the game, is the only source of randomness that an agent should use.
        Nothing may be carried over from earlier games; these may have been cut short.
        """
        self._game_seed = seed
        vars(self).pop("rng", None)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The random generator of this game, made at its first use."""
        return np.random.default_rng(self._game_seed)

    def files(self) -> Files:
        """Return the files that the agent needs in a closed process, beside those of Python and the
        lab."""
        return Files()

    def forbid_children(self) -> None:
        """Keep the agent's code from starting processes, from now on."""
        call_filter.stay_alone()

    def close(self) -> None:
        """Release files, connections and other programs, within about a second.

        Called at the orderly end of a run or of the process with the agent, not after each game.
        Not called if that process is killed, for instance because the agent hangs.
        """

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
        """Return a compiled player of whole games with the same moves at the same cost.

        None, the default, stands for an agent that decides in Python, or for limits that need
        Python. The player is valid while the agent lives and until the next call. ``prepare`` has
        to be called before.
        """
        return None

    @abstractmethod
    def decide(self, position: Position, limits: Limits) -> Decision:
        """Choose one of the legal moves of ``position`` (at least one) within ``limits``.

        The decision states the move's value and the cost of the choice.
        """


class Wrapped(Agent):
    """An agent that is in all things like the agent inside, but for what a subclass changes."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.version, self.selective = agent.version, agent.selective
        self.from_start, self.from_outside = agent.from_start, agent.from_outside
        self.watches_clock, self.reproducible = agent.watches_clock, agent.reproducible

    def boards(self) -> frozenset[int]:
        return self.agent.boards()

    def prepare(self, announce: Announce | None = None) -> None:
        self.agent.prepare(announce)

    def check_limits(self, limits: Limits) -> None:
        self.agent.check_limits(limits)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.agent.begin_game(color, start, seed)

    def observe(self, move: int, position: Position) -> None:
        self.agent.observe(move, position)

    def files(self) -> Files:
        return self.agent.files()

    def forbid_children(self) -> None:
        self.agent.forbid_children()

    def close(self) -> None:
        self.agent.close()


def compiled_player(agent: Agent, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
    """Return :meth:`Agent.compiled_player`, or None if the agent may behave differently.

    A subclass or instance with methods of its own may, as the compiled player ignores them.
    """
    for kind in type(agent).__mro__:
        if "compiled_player" in vars(kind):
            overridden = any(
                callable(value) and hasattr(kind, name) for name, value in vars(agent).items()
            )
            return None if overridden or limits.timed else agent.compiled_player(rules, limits)
        if any(map(_changes, vars(kind), vars(kind).values())):
            return None
    return None


def _changes(name: str, value: object) -> bool:
    """Return True if this attribute of a class may change its agents' behaviour."""
    if name.startswith("__"):
        return name in ("__getattribute__", "__getattr__")
    return callable(value) or isinstance(value, property | classmethod | staticmethod)
