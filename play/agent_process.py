"""Asking agents for moves. Each thinks in a process of its own, so that it can be stopped at any
time, and may crash or hang without harm to the game."""

from __future__ import annotations

import json
import logging
import math
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.config import build_agent
from othello_lab.agents.external_agent import is_outside
from othello_lab.agents.search import SearchAgent, WindowSearch
from othello_lab.core.game import RESIGNED, PlayerFailure, valid_answer
from othello_lab.core.notation import square_name
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.forked import ChildSignals
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import check_board, make_agent
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.play.config import PlayerSettings
from othello_lab.play.game import GameState

MINUTES = 60.0
"""A search that would take so many seconds is announced."""
SURE_SECONDS = 1.5
"""An agent may think so long before it is interrupted: ``printf '...' | engine`` gets answers."""
_FOREVER = 1e9
_GRACE = 5.0  # nobody loses by the clock here
_FIRST_NOTE, _NOTES = 5.0, 30.0  # seconds until it is said that an agent still thinks, and again
_SCOUT_FROM = 6  # plies; below no search takes long
_SCOUT_SECONDS = 0.5


class AgentFailure(Exception):
    """An agent has crashed, hung or answered nonsense; the message is the reason."""


class AgentResigned(AgentFailure):
    """An agent has given up its game."""


def _at_home(agent: Agent) -> Any:
    """Return what stands for a proxy where no process can be started, as in a closed one: the agent
    thinks in this process, and is not interrupted."""
    nothing = {name: lambda *_: True for name in ("start", "kill", "closed_within")}
    calls = {name: getattr(agent, name) for name in ("begin_game", "observe", "decide")}
    return SimpleNamespace(observes=True, begin_to_close=agent.close, **calls, **nothing)


class AgentProcess:
    """One agent in a process of its own. It hears of the game as it goes; if the game has become
    another one, by something taken back, it begins anew."""

    def __init__(self, name: str, agent: Agent, seat: AgentProxy) -> None:
        self.name, self.agent = name, agent
        self.slowest = 0.0  # seconds of the last decision
        self._seat = seat
        self._begun_game: tuple[Any, ...] | None = None
        self._moves: tuple[int, ...] = ()

    def decide(
        self, game: GameState, color: Color, seed: int, limits: Limits
    ) -> tuple[Decision, float]:
        """Return its decision in the game's position with ``color`` to move, and the seconds it
        took. Raises AgentFailure; Ctrl-C ends its process, and goes on as KeyboardInterrupt."""
        position = game.position
        try:
            try:
                self._tell(game, color, seed)
            except ChildProcessError:  # this process is closed itself
                self._seat = _at_home(self.agent)
                self._tell(game, color, seed)
            started = time.perf_counter()
            self._seat.start()
            decision = self._seat.decide(position, limits)
            seconds = time.perf_counter() - started
        except PlayerFailure as fault:
            if fault.reason == RESIGNED:
                self._begun_game = None
                raise AgentResigned("it resigns") from None
            self.forget()
            last = fault.detail.strip().rpartition("\n")[2]
            raise AgentFailure(f"{fault.reason}: {last:.300}") from None
        except BaseException:
            self.forget()
            raise
        try:
            decision = valid_answer(decision)
        except ValueError as flaw:
            raise AgentFailure(f"no valid answer: {flaw}") from None
        if decision.move not in position.moves:
            known = 0 <= decision.move < 64
            raise AgentFailure(
                f"an illegal move: {square_name(decision.move) if known else decision.move}"
            )
        self.slowest = seconds
        return decision, seconds

    def _tell(self, game: GameState, color: Color, seed: int) -> None:
        game_key = (game.start, color, seed)
        known = len(self._moves)
        if game_key != self._begun_game or game.moves[:known] != self._moves:
            self._seat.begin_game(color, game.start, seed)
            self._begun_game, known = game_key, 0
        if self._seat.observes:
            for turn in game.turns[known:]:
                self._seat.observe(turn.move, turn.after)
        self._moves = game.moves

    def forget(self) -> None:
        """End its process at once; the next question starts another one."""
        self._begun_game, self._moves = None, ()
        self._seat.kill()

    def close(self) -> None:
        """Let the agent close, and end its process."""
        self._seat.begin_to_close()
        self._seat.closed_within(1.0)
        self.forget()


class AgentProcesses:
    """All agents of a session, made at their first question. Use it in a ``with``: it notices the
    ends of processes by a signal handler of its own."""

    def __init__(
        self,
        rules: Ruleset,
        limits: Limits,
        hang: float,
        say: Callable[[str], None],
        stopped_by: str = "Ctrl-C stops it",
        interrupt: Callable[[], bool] = lambda: False,
    ):
        """``interrupt``: called while an agent thinks; it is stopped if that returns True."""
        self.rules, self.limits = rules, limits
        self._hang = hang
        self._say = say
        self._stopped_by = stopped_by
        self._interrupt = interrupt
        self._who, self._since, self._next_note = "", math.inf, math.inf
        self._made: dict[str, AgentProcess] = {}

    def __enter__(self) -> AgentProcesses:
        self._handler = signal.getsignal(signal.SIGCHLD)
        self._children = ChildSignals()
        return self

    def __exit__(self, *exception: object) -> None:
        self._since = self._next_note = math.inf
        for thinker in self._made.values():
            thinker.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, self._handler)

    def change_rules_for(self, player: PlayerSettings, rules: Ruleset) -> None:
        """From now on play by these, if this player can; otherwise ConfigError, and nothing
        changes."""
        before, self.rules = self.rules, rules
        try:
            self.of(player)
        except ConfigError:
            self.rules = before
            raise

    def of(
        self,
        player: PlayerSettings,
        use: str = "",
        announce: Announce | None = None,
        limits: Limits | None = None,
    ) -> AgentProcess:
        """Return the process that thinks for a player; raises ConfigError.

        use: distinguishes processes that must not share a memory, such as both sides played by the
        same agent. limits: of its moves; by default those of the session.
        """
        limits = limits or self.limits
        if limits.timed and player.timed is not None:
            player = replace(player, agent=player.timed, timed=None)
        assert player.agent is not None
        key = json.dumps([use, player.name, player.agent, self.rules.name], default=str)
        if key not in self._made:
            self._made[key] = self._make(player, announce or self._say, limits)
        return self._made[key]

    def _make(self, player: PlayerSettings, announce: Announce, limits: Limits) -> AgentProcess:
        agent = checked_agent(player, self.rules, limits)
        try:
            prepare_rules(announce)
            agent.prepare(announce)
        except ValueError as error:
            raise ConfigError(f"agent '{player.name}': {one_line(error)}") from error
        hang = self._hang if is_outside(agent) else _FOREVER
        conditions = GameConditions(
            [player.name], [agent], self.rules, self.limits, _GRACE, hang, logging.ERROR
        )
        seat = AgentProxy(conditions, 0, self._children, self._check)
        return AgentProcess(player.name, agent, seat)

    def ask(
        self,
        player: PlayerSettings,
        game: GameState,
        seed: int,
        limits: Limits | None = None,
        use: str = "",
    ) -> tuple[Decision, float]:
        """Return a player's decision in a game, and its seconds. A search that would take minutes
        is announced first. Raises ConfigError and AgentFailure.

        use: a purpose other than playing; it is another process then, with its own memory.
        """
        color = game.position.to_move
        limits = limits or self.limits
        thinker = self.of(player, use or color.value, limits=limits)
        self._warn(player, thinker, game.position, limits)
        self._begin_to_wait(player.name)
        return thinker.decide(game, color, seed, limits)

    # ------------------------------------------------------------------ how long it will take

    def _begin_to_wait(self, who: str) -> None:
        self._who, self._since, self._next_note = who, time.monotonic(), _FIRST_NOTE

    def _check(self) -> None:
        """Called while nothing comes; raises AgentFailure if the agent is to stop."""
        passed = time.monotonic() - self._since
        if passed >= SURE_SECONDS and self._interrupt():
            raise AgentFailure("it was stopped")
        if passed >= self._next_note:
            self._next_note += _NOTES
            self._say(f"{self._who} is still thinking ({passed:.0f} s); {self._stopped_by}.")

    def _warn(
        self, player: PlayerSettings, thinker: AgentProcess, position: Position, limits: Limits
    ) -> None:
        """Say so if a search would take minutes, judged by its first plies."""
        agent = thinker.agent
        if not isinstance(agent, SearchAgent) or limits.nodes or limits.timed:
            return
        if agent.selective:  # its first plies tell little of the later ones
            return
        depth = min(agent.depth, limits.depth or agent.depth, position.empties)
        solves = isinstance(agent, WindowSearch) and position.empties <= agent.endgame
        if depth < _SCOUT_FROM or solves or 0 < thinker.slowest < 1:
            return
        seconds, reached = self._foreseen(player, position, depth)
        if seconds >= MINUTES:
            self._say(
                f"{player.name}: depth {depth} would take {in_words(seconds)}, judging by depth "
                f"{reached}. {self._stopped_by}; then it can be given another depth."
            )

    def _foreseen(
        self, player: PlayerSettings, position: Position, depth: int
    ) -> tuple[float, int]:
        """Seconds that a search will take, and the depth that was searched to know."""
        scout = self.of(player, "scout")
        scout.forget()  # what a table remembers would make it too fast
        self._begin_to_wait(player.name)
        nodes, spent, seconds = [1], 0.0, 0.0
        for plies in range(1, depth):
            game = GameState(position)
            decision, seconds = scout.decide(game, position.to_move, 0, Limits(depth=plies))
            nodes.append(decision.stats.nodes)
            spent += seconds
            growth = (nodes[plies] / max(1, nodes[max(0, plies - 2)])) ** (1 / min(2, plies))
            if spent * growth > _SCOUT_SECONDS:
                break
        scout.forget()
        return seconds * max(1.2, growth) ** (depth - plies), plies


def checked_agent(player: PlayerSettings, rules: Ruleset, limits: Limits) -> Agent:
    """The agent that plays for a player, by these rules and within these limits; raises
    ConfigError."""
    assert player.agent is not None
    try:
        agent = make_agent(player.agent, player.name)
    except ChildProcessError:  # this process is closed itself
        agent = build_agent(player.agent, player.name)
    check_board(agent, player.name, rules)
    try:
        agent.check_limits(limits)
    except ValueError as error:
        raise ConfigError(f"agent '{player.name}': {one_line(error)}") from error
    return agent


def in_words(seconds: float) -> str:
    """A time that is only guessed."""
    if seconds > 1000 * 31_557_600:
        return "more than a thousand years"
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {seconds:.0f} seconds"


def changed(player: PlayerSettings, setting: str, value: Any) -> PlayerSettings:
    """A player with one setting changed; raises ConfigError if its agent has no such setting."""
    assert player.agent is not None
    if setting not in player.agent:
        known = ", ".join(key for key in player.agent if key != "_target_") or "none"
        raise ConfigError(f"{player.name} has no setting '{setting}'; it has: {known}")
    return replace(player, agent=player.agent | {setting: value})
