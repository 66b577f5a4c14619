"""Checks of a record without any kernel of the lab.

Games are followed by the plain rules (:mod:`core.plain_rules`). Decisions of minimax and of
alpha-beta are made again by the reading twins of the searches (:mod:`agents.search.window.plain`)
over the reading twins of their evaluations. Endgames are solved by the same plain search. Weights
and tables are an evaluation's data; plain Python reads the same. It is a thousand times slower than
the kernels, so a check ends when its time is up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from othello_lab.agents.agent import Agent, Limits, SearchStats
from othello_lab.agents.external_agent import is_outside
from othello_lab.agents.search.observer import SearchObserver
from othello_lab.agents.search.search_agent import SearchAgent
from othello_lab.agents.search.window.minimax import Minimax
from othello_lab.agents.search.window.plain import MoveOrder, OrderedSearch
from othello_lab.agents.search.window.search import WindowSearch
from othello_lab.core.game import TOO_LATE
from othello_lab.core.notation import PASS
from othello_lab.core.plain_position import PlainPosition
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.experiments.record.store import GameRow
from othello_lab.experiments.results.verify.games import COUNTED, after_opening, flaws

_TWIN_COUNTS = [field.name for field in fields(SearchStats) if field.compare]
_PRUNED = 0.7
"""Depth of minimax that takes as long as alpha-beta to depth 1, and so on in proportion."""
_SOLVED = 0.5
"""The same of a solution, by empty squares."""


class TimeIsUp(Exception):
    """The time for a check has passed."""


class Deadline(SearchObserver):
    """Ends a plain search when its time has passed, by raising :class:`TimeIsUp`."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """True after the deadline."""
        return time.monotonic() > self._end

    def enter(self, move: int, alpha: int, beta: int) -> None:
        if self.passed:
            raise TimeIsUp


def wrong_by_rules(game: GameRow, rows: list[Any] | None, rules: Ruleset) -> Iterator[str]:
    """Yield the errors in a game's moves and result by the plain rules. rows: its MoveRows, if
    they are recorded."""
    for check, finding in flaws(game, rows, rules, PlainPosition):
        if check != COUNTED:
            yield finding


def plain_search(agent: Agent) -> SearchAgent:
    """Return the agent as a search whose decisions plain Python makes; ValueError if it is none."""
    if is_outside(agent):
        raise ValueError("it is not the lab's")
    if not isinstance(agent, Minimax | WindowSearch):
        raise ValueError("neither minimax nor alpha-beta")
    if agent.selective and not getattr(agent, "endgame", 0):
        raise ValueError("selective, so that no plain search has its values")
    return agent


@dataclass(frozen=True)
class PlainDecision:
    """A recorded decision of one of the lab's searches, to be made again in plain Python.

    row: its MoveRow. limits: of the game.
    """

    agent: SearchAgent
    position: Position
    row: Any
    limits: Limits

    @property
    def solved(self) -> bool:
        """True if the agent solves the position instead of searching to its depth."""
        return bool(self.position.empties <= getattr(self.agent, "endgame", 0))

    @property
    def work(self) -> float:
        """A measure of the time that it takes: plies of a minimax that takes as long."""
        empties = self.position.empties
        if self.solved:
            return _SOLVED * empties
        plies = min(self._depth, empties)
        return plies if isinstance(self.agent, Minimax) else _PRUNED * plies

    @property
    def _depth(self) -> int:
        return min(self.agent.depth, self.limits.depth or self.agent.depth)

    def differences(self, deadline: Deadline) -> list[str] | None:
        """Return the differences of the recorded decision from the plain one; None if there is
        nothing to compare, because a limit may have cut the search. TimeIsUp."""
        if self.row.square not in self.position.moves:
            return [f"{self.row.square} is no legal move"]
        if not self.solved:
            try:
                self.agent.reading_twin()
            except ValueError:  # the search keeps a table, or deepens: it has the twin's value
                return self._by_value(self._depth, deadline)
            return self._by_twin(deadline)
        return self._by_value(2 * self.position.empties, deadline)

    def _by_twin(self, deadline: Deadline) -> list[str] | None:
        row, limits = self.row, self.limits
        if limits.timed and row.depth != self._depth:
            return None
        decision = self.agent.watched(self.position, self._depth, deadline)
        if limits.nodes is not None and decision.stats.nodes >= limits.nodes:
            return None
        due = {"square": decision.move, "value": decision.value, "depth": decision.depth}
        due |= {name: getattr(decision.stats, name) for name in _TWIN_COUNTS}
        return [
            f"{name} is {getattr(row, name)}; in plain Python it is {value}"
            for name, value in due.items()
            if getattr(row, name) != value
        ]

    def _by_value(self, depth: int, deadline: Deadline) -> list[str] | None:
        """The move has to be worth what is recorded, and no other move more."""
        row, agent = self.row, self.agent
        if self.limits.timed or self.limits.nodes is not None:
            return None
        early = not self.solved and getattr(agent, "iterative", False) and row.depth != depth
        if early:  # allowed where the shallower search has seen the whole rest of the game
            if row.depth is None or not 0 < row.depth < depth:
                return [f"depth is {row.depth}; the agent searches to {depth}"]
            depth = row.depth
        elif not self.solved and row.depth != depth:
            return [f"depth is {row.depth}; the agent searches to {depth}"]
        stats = SearchStats()
        order = MoveOrder(("mobility",), self.position.ruleset)
        evaluate = agent.evaluation.plain
        search = OrderedSearch(order, evaluate, stats, True, deadline, agent.final)
        value = -search.search(self.position.play(row.square), depth - 1, ply=1)[0]
        found = []
        if row.value != value:
            found.append(f"value is {row.value}; in plain Python {row.square} is worth {value}")
        better, line = search.search(self.position, depth, value, value + 1)
        if better > value:
            found.append(f"square is {row.square}; in plain Python {line[0]} is worth more")
        if early and stats.evaluations:
            found.append(f"depth is {row.depth}, and the game was not searched to its end")
        return found


def plain_decisions(
    game: GameRow,
    rows: list[Any],
    agents: Mapping[int, SearchAgent],
    limits: Limits,
    rules: Ruleset,
) -> Iterator[PlainDecision]:
    """Yield the decisions of these agents in a game that the plain rules allow."""
    position, _ = after_opening(game.opening, rules, PlainPosition)
    for row in rows:
        if row.square != PASS and row.agent in agents:
            decision = PlainDecision(agents[row.agent], position, row, limits)
            if decision.solved or not decision.agent.selective:
                yield decision
        if row.late == TOO_LATE:
            return
        position = position.play(row.square)
