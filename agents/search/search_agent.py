"""The common part of all tree searches: an evaluation, a depth, and the way from kernel to
decision."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits, SearchStats
from othello_lab.agents.evaluation import Evaluation, as_evaluation
from othello_lab.agents.evaluation.evaluation import in_words
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.limits import allotment, clock_of, limit
from othello_lab.agents.search.observer import UNWATCHED, SearchObserver
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.compile import Address, Announce, Int, Mask, prepare
from othello_lab.core.system.settings import Choice, Switch, Whole, check_settings, check_values
from othello_lab.core.whole_games import CompiledPlayer

_NO_LIMITS = Limits()


@dataclass(eq=False, repr=False)
class SearchAgent(Agent):
    """A search to a fixed depth. Raises ValueError for settings that are not allowed."""

    watches_clock = True

    depth: Annotated[int, Whole(1, layout.MAX_DEPTH)]
    """Plies to look ahead, a pass being one; a limit of time or nodes that stops the search sooner
    leaves the best of the moves looked at by then."""
    evaluation: Evaluation
    """The heuristic at the leaves."""
    compiled: Annotated[bool, Switch()] = True
    """False runs the reading twin in plain Python instead: the same moves and counts, some hundred
    times slower, for stepping through with a debugger. It is always False with an evaluation that
    is not compiled."""
    final: Annotated[str, Choice("discs", "win")] = "discs"
    """What a finished game is worth, more than any heuristic promises. ``discs``: its disc
    difference. ``win``: only won, drawn or lost, as in PAIP; and as there only above the horizon:
    one that ends with the last ply looked ahead is worth what the heuristic makes of it."""

    def __post_init__(self) -> None:
        self._read_settings()
        self._make_context()

    def _read_settings(self) -> None:
        """Check the settings, and derive others from them."""
        self.evaluation = as_evaluation(self.evaluation)
        check_settings(self)
        self.compiled = self.compiled and self.evaluation.compiled

    def _make_context(self) -> None:
        self._context = layout.new()
        self._context[layout.PAIP_ENDS] = self.final == "win"
        self._address = np.intp(self._context.ctypes.data)

    def __getstate__(self) -> dict[str, Any]:
        # Addresses mean nothing to a copy, or in another process.
        left_out = ("_context", "_address")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_context()

    def boards(self) -> frozenset[int]:
        return self.evaluation.sides

    def prepare(self, announce: Announce | None = None) -> None:
        self.evaluation.prepare(announce)
        if self.compiled:
            name = in_words(type(self).__name__)
            prepare(name, lambda: self.search(Position.start(), 1), announce)

    def decide(self, position: Position, limits: Limits) -> Decision:
        return self._search(position, self._depth_within(limits), limits)

    def _depth_within(self, limits: Limits) -> int:
        return self.depth if limits.depth is None else min(self.depth, limits.depth)

    def search(
        self,
        position: Position,
        depth: int | None = None,
        limits: Limits | None = None,
        keep: bool = False,
    ) -> Decision:
        """Search one position (``depth`` plies, default the agent's own); for studies and
        notebooks. Memory of other positions is dropped, unless ``keep`` is set. If the mover must
        pass, the answer is the pass. Raises ValueError if the game is over, or for a depth outside
        1 to 64."""
        if position.is_over:
            raise ValueError("the game is over; there is nothing to search")
        if not keep:
            self._forget()
        return self._search(position, self.depth if depth is None else depth, limits or _NO_LIMITS)

    def reading_twin(self) -> SearchAgent:
        """Return the same search in plain Python. Raises ValueError if there is none, or if it
        cannot use these settings."""
        twin = copy.copy(self)
        twin.compiled = False
        twin._read_settings()
        return twin

    def watched(self, position: Position, depth: int, watch: SearchObserver) -> Decision:
        """Return the reading twin's decision, ``depth`` plies deep, with each step sent to
        ``watch``: the same decision and counts as those of the compiled search without limits.
        Raises ValueError as :meth:`reading_twin` does."""
        check_values(SearchAgent, {"depth": depth})
        return self.reading_twin()._read(position, depth, watch)

    def _read(self, position: Position, depth: int, watch: SearchObserver) -> Decision:
        stats = SearchStats()
        value, pv = self._plainly(position, depth, stats, watch)
        return Decision(pv[0], value, pv, depth, stats)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self._forget()

    def _forget(self) -> None:
        """Drop the memory of other positions; most searches keep nothing."""

    def _search(self, position: Position, depth: int, limits: Limits) -> Decision:
        check_values(SearchAgent, {"depth": depth})
        if not self.compiled:
            return self._read(position, depth, UNWATCHED)
        context = self._context
        layout.set_constants(context, position.ruleset, self.evaluation)
        limit(context, limits.nodes, self._hard_limit(limits, position), clock_of(limits))
        best, pv, completed = self._think(position, depth)
        pv = pv or (position.moves or (PASS,))[:1]
        return Decision(pv[0], best, pv, completed, layout.read_stats(context))

    def _allotment(self, limits: Limits, position: Position) -> float | None:
        """Seconds for this move, or None without a limit on time."""
        return allotment(limits, position.empties)

    def _hard_limit(self, limits: Limits, position: Position) -> float | None:
        """Seconds after which this move's search is stopped, or None without a limit on time."""
        return self._allotment(limits, position)

    def _think(self, position: Position, depth: int) -> tuple[int | None, tuple[int, ...], int]:
        """Value, principal variation and depth completed within the context's limit. If that was
        too short for any answer, the variation is empty. If it was too short for a complete one,
        there is no value, and the variation is the best of the moves that were looked at."""
        self._context[layout.MADE] -= 1  # the root
        value = int(self._compiled(self._address, *position.masks, np.int64(depth)))
        pv = layout.read_pv(self._context, depth)
        if layout.stopped(self._context):
            return None, pv, 0
        return value, pv, depth

    def _compiled_player(self, function: Any, rules: Ruleset, limits: Limits) -> CompiledPlayer:
        """Return a player with this decision, for a search that needs only a context."""
        layout.set_constants(self._context, rules, self.evaluation)
        self._context[layout.PLAYED_DEPTH] = self._depth_within(limits)
        layout.set_limits(self._context, limits.nodes)
        return CompiledPlayer(function.address, int(self._address))

    @abstractmethod
    def _compiled(self, context: Address, mover: Mask, opponent: Mask, depth: Int) -> Int:
        """Run the compiled kernel on the context at this address; the value."""

    @abstractmethod
    def _plainly(
        self, position: Position, depth: int, stats: SearchStats, watch: SearchObserver
    ) -> tuple[int, tuple[int, ...]]:
        """The reading twin's value and line, counted into ``stats``, with ``watch`` told of each
        step. It looks neither at the clock nor at a limit on nodes."""
