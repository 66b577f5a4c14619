"""The evaluation inside a search: a function or method in its file, found and counted by wrapping.

Every function of a position is wrapped, and the search asked for some moves. Its evaluation is the
one with numbers for results that it calls itself, on positions deepest in the game.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np

from othello_lab.agents.agent import Agent, Limits
from othello_lab.agents.checks.check import Interrupted, Send, items_apart
from othello_lab.agents.checks.search.questions import RecordingEvaluation, positions
from othello_lab.agents.checks.search.references import FULL, Search
from othello_lab.agents.checks.search.tree import ReferenceNode
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.board_list import PIECES, board_list, position_of
from othello_lab.agents.evaluation.function import LARGEST
from othello_lab.agents.recognition import is_number
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Array, Mask

_TRIED = 12  # positions
_SECONDS = 60.0  # for one of them
DEEPEST = 6
"""Plies of a search that is held to minimax, at most."""
_COMPARED = 4  # plies of a search whose moves are compared
_SQUARES = 100
_CACHED = 1 << 17  # values


class InsideEvaluation(Evaluation):
    """A function of a user's file as an evaluation: of a position, of two masks, or of a player and
    a board."""

    sides = frozenset({8})
    compiled = False

    def __init__(self, name: str, function: Callable[..., Any], form: str) -> None:
        self._name, self._form = name, form
        self._function = function
        self._value = lru_cache(_CACHED)(self._compute)

    name = property(attrgetter("_name"))

    def plain(self, position: Position) -> int:
        return self._value(position.mover, position.opponent, position.to_move)

    __call__ = plain

    def _compute(self, mover: int, opponent: int, to_move: Color) -> int:
        value = 0  # where it raises, as it may on boards that its search does not ask about
        with suppress(Exception):
            value = self._function(*_arguments(Position(mover, opponent, to_move), self._form))
        return value  # a float stays one: nothing is rounded

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        raise NotImplementedError("it runs as ordinary Python")


_POSITION, _LIST, _MASKS = "position", "player and board", "masks"


def _arguments(position: Position, form: str) -> tuple[Any, ...]:
    if form == _POSITION:
        return (position,)
    if form == _MASKS:
        return tuple(map(int, position.masks))
    return PIECES[position.to_move], board_list(position.black, position.white)


def _read(given: Sequence[Any]) -> tuple[Position, str] | None:
    """Return the position that a call is about, and the form of its arguments; None if none."""
    with suppress(Exception):
        if len(given) == 1 and isinstance(given[0], Position):
            return given[0], _POSITION
        if len(given) == 2 and given[0] in PIECES.values() and len(given[1]) == _SQUARES:
            return position_of(*given), _LIST
        if len(given) == 2 and all(isinstance(mask, int | np.uint64) for mask in given):
            return Position(int(given[0]), int(given[1])), _MASKS
    return None


@dataclass
class _Attribute:
    """A function of a module, or of a class, that can be replaced."""

    owner: Any
    key: str
    function: Callable[..., Any]

    def __post_init__(self) -> None:
        self.name = f"{self.owner.__name__}.{self.key}"
        self.is_method = isinstance(self.owner, type)

    def replace(self, instead: Callable[[Position, str, Callable[[], Any]], Any]) -> None:
        """Replace its calls about a position by ``instead`` of the position, the form of the
        arguments, and the call."""

        @functools.wraps(self.function)
        def replaced(*given: Any, **named: Any) -> Any:
            arguments = _read(given[self.is_method :])
            call = functools.partial(self.function, *given, **named)
            return instead(*arguments, call) if arguments else call()

        setattr(self.owner, self.key, replaced)


def _attributes(agent: Agent) -> Iterator[_Attribute]:
    """Yield the functions of the file of a search, and the methods of its class."""
    cls = type(agent)
    strategy = getattr(agent, "strategy", None)
    file = getattr(strategy or cls, "__module__", "")
    module = None if file.startswith("othello_lab.") else sys.modules.get(file)
    owners = (module,) if strategy else (module, *(c for c in cls.__mro__ if c.__module__ == file))
    for owner in owners:
        for key, thing in list(vars(owner).items()) if owner else ():
            played = strategy is thing or key in ("decide", "begin_game", "observe")
            if isinstance(thing, FunctionType) and not played:
                yield _Attribute(owner, key, thing)


class _Watch:
    """The calls of each function of a position, while a search answers a few questions."""

    def __init__(self, attributes: Iterable[_Attribute]) -> None:
        self.start = Position.start()
        self.calls: dict[str, list[int]] = {}
        self.forms: dict[str, str] = {}
        self.excluded: set[str] = set()  # search themselves, or have no numbers for results
        self._stack: list[tuple[str, Position]] = []
        for attribute in attributes:
            attribute.replace(functools.partial(self._note, attribute.name))

    def _note(self, name: str, position: Position, form: str, call: Callable[[], Any]) -> Any:
        """Make a call of a function, and note whether it may be one of the evaluation."""
        self.forms[name] = form
        helps = False
        for other, outer in self._stack:
            if outer.masks == position.masks:
                helps |= other != name and other not in self.excluded
            else:
                self.excluded.add(other)
        self._stack.append((name, position))
        try:
            result = call()
        finally:
            self._stack.pop()
        if not is_number(result) or abs(result) > LARGEST:
            self.excluded.add(name)
        if not helps and not position.is_over:
            self.calls.setdefault(name, []).append(position.discs - self.start.discs)
        return result


def _watch(send: Send, agent: Agent, limits: Limits) -> None:
    """Send the answers of a search and the calls in it."""
    watch = _Watch(_attributes(agent))
    for position in positions()[:_TRIED]:
        watch.start, watch.calls, move = position, {}, -1
        with suppress(Exception):
            agent.begin_game(position.to_move, position, 1)
            move = int(agent.decide(position, limits).move)
        send([position.to_obf(), move, watch.calls, watch.forms, [*watch.excluded]])


def inside_of(
    agent: Agent, limits: Limits, only: str = ""
) -> tuple[RecordingEvaluation, int] | None:
    """Return the evaluation inside a search, which from now on notes its calls, and how many plies
    the search looks ahead; None if no function of its file is one.

    The search is tried in a process of its own. Of several functions that one is taken by which
    its moves are the best. only: the name of the function.
    """
    answers: list[Any] = []
    with suppress(Interrupted):
        for answer in items_apart(_watch, agent, limits, patience=_SECONDS):
            answers.append(answer)
    ranked: list[tuple[float, int, _Attribute, InsideEvaluation]] = []
    for attribute in _attributes(agent) if answers else ():
        forms, excluded = answers[-1][3:]
        plies = [calls[attribute.name] for _, _, calls, *_ in answers if calls.get(attribute.name)]
        if attribute.name in excluded or not plies or only not in ("", attribute.key):
            continue
        function = attribute.function
        function = functools.partial(function, agent) if attribute.is_method else function
        evaluation = InsideEvaluation(attribute.key, function, forms[attribute.name])
        # The first call is the deepest, unless moves are sorted; later ones may be on boards where
        # moves have not been taken back.
        for deepest in (max, lambda calls: calls[0]):
            depth = Counter(map(deepest, plies)).most_common(1)[0][0]
            if 0 < depth <= DEEPEST:
                rank = _agreement(answers, depth, evaluation) - 1e-6 * sum(map(len, plies))
                ranked.append((rank, depth, attribute, evaluation))
    if not ranked:
        return None
    _, depth, attribute, evaluation = max(ranked, key=lambda row: row[0])
    watched = RecordingEvaluation(evaluation)

    def note(position: Position, form: str, call: Callable[[], Any]) -> Any:
        watched.seen.append(position)
        return call()

    attribute.replace(note)
    return watched, depth


def _agreement(answers: Sequence[Any], depth: int, evaluation: Evaluation) -> float:
    """Return the share of moves that are the best by this evaluation."""
    right = 0
    for obf, move, *_ in answers if depth <= _COMPARED else ():
        root = ReferenceNode(Position.from_obf(obf), evaluation)
        with suppress(Exception):
            right += move in Search(FULL).reply(root, depth).moves
    return right / len(answers)


def alike(one: Evaluation, other: Evaluation) -> bool:
    """Return True if two evaluations have the same values."""
    return all(one.plain(position) == other.plain(position) for position in positions())
