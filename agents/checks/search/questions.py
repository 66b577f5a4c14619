"""Questions to a search, and its answers, in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain, zip_longest
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from othello_lab.agents.agent import Agent, Limits
from othello_lab.agents.checks.check import Interrupted, Send, items_apart
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.board_list import position_of
from othello_lab.agents.external import FunctionAgent
from othello_lab.agents.loading import find
from othello_lab.agents.recognition import made_of
from othello_lab.core.game import PlayerFailure, valid_answer
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.perft import perft
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Announce, Array, Mask

POSITIONS = 200
NARROW_FROM = 4
"""From so many plies on narrow positions are asked about."""
_NARROW_SHARE = 5  # of so many usual positions there is one narrow one
_NARROW_EMPTIES = range(7, 13)
_NARROW_LEAVES = 1500  # minimax's, five plies deep
_SEED = 16
_LAST = 4  # empty squares of a position near the end of the game
_FATAL_AT_MOST = 3  # calls that have hung, or killed their process, before asking ends
_CALLS = 20_000  # of the heuristic that are noted of one answer, at most
_GAMES = 4
_GAME_EMPTIES = 22  # with which games to the end begin

Board = tuple[int, int]
"""The masks of mover and opponent."""


class RecordingEvaluation(Evaluation):
    """A heuristic that notes its calls from Python.

    seen: the positions since it was last emptied.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.seen: list[Position] = []
        self.sides, self.compiled = evaluation.sides, evaluation.compiled

    def __call__(self, position: Position) -> int:
        self.seen.append(position)
        return self.evaluation(position)

    def plain(self, position: Position) -> int:
        self.seen.append(position)
        return self.evaluation.plain(position)

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        raise NotImplementedError("that of the heuristic: see address")

    name = property(attrgetter("evaluation.name"))
    parameters = property(attrgetter("evaluation.parameters"))
    address = property(attrgetter("evaluation.address"))

    def prepare(self, announce: Announce | None = None) -> None:
        self.evaluation.prepare(announce)


class StrategyFromFactory(FunctionAgent):
    """A strategy of (player, board) that a function makes of how many plies to look ahead and of
    an evaluation, itself a function of (player, board); see
    :class:`~agents.external.FunctionAgent`."""

    def __init__(self, target: str, depth: int, evaluation: Evaluation) -> None:
        self._depth, self._evaluation = depth, evaluation
        super().__init__(target)

    def _load(self) -> Any:
        if made := made_of(find(self.target), self._depth, self._score):
            return made
        reason = "it makes no strategy of a depth and an evaluation"
        raise ValueError(f"target '{self.target}': {reason}")

    def _score(self, player: str, board: Sequence[str]) -> int:
        return self._evaluation(position_of(player, board))


class SearchQuestion(NamedTuple):
    """A position, with at least one legal move, and how many plies to look ahead."""

    position: Position
    depth: int


@dataclass(frozen=True)
class SearchAnswer:
    """The answer of a search.

    value, nodes, evaluations: as it states them; None if it does not. seen: number of its calls of
    the heuristic; None if these cannot be seen. calls: the positions of the first 20,000 calls, in
    their order. trouble: the reason if there is no legal move, else empty; fatal: True if it hung,
    or its process died.
    """

    move: int = -1
    value: float | None = None
    nodes: int | None = None
    evaluations: int | None = None
    seen: int | None = None
    calls: Sequence[Board] = ()
    trouble: str = ""
    fatal: bool = False


# ------------------------------------------------------------------ positions


@cache
def positions(count: int = POSITIONS) -> tuple[Position, ...]:
    """Return a number of positions of random games, always the same: of all stages; before passes;
    before ends of the game; with one legal move; and some of them with the colours exchanged.

    Kinds take turns, so that the first few have all of them.
    """
    rng = np.random.default_rng(_SEED)
    shares = {"any": 0.4, "pass": 0.2, "end": 0.2, "one": 0.05}
    chosen: dict[str, list[Position]] = {kind: [] for kind in shares}
    while any(len(chosen[kind]) < share * count for kind, share in shares.items()):
        line = _random_game(rng)
        chosen["any"].append(line[int(rng.integers(2, 50))])
        for position in line[-24:]:
            kind = _kind(position)
            if kind and rng.random() < 0.5:
                chosen[kind].append(position)
    usual, passing = chosen["any"], chosen["pass"]
    mirrored = [
        Position(position.mover, position.opponent, position.to_move.other)
        for position in (*usual[::2], *passing[::2])
    ]
    kinds = usual, passing, chosen["end"], usual[1::2], mirrored, chosen["one"]
    mixed = chain.from_iterable(zip_longest(*kinds))
    return tuple(dict.fromkeys(root for root in mixed if root and root.legal_mask))[:count]


def _random_game(rng: np.random.Generator) -> list[Position]:
    position = Position.start()
    line = [position]
    while not position.is_over:
        position = position.play(int(rng.choice(position.moves or (PASS,))))
        line.append(position)
    return line if len(line) > 50 else _random_game(rng)


def _kind(position: Position) -> str:
    """Return the special kind of a position: the ``end`` of the game is near, there is but ``one``
    legal move, or a ``pass`` may follow."""
    if not position.legal_mask:
        return ""
    if position.empties <= _LAST:
        return "end"
    if position.legal_mask.bit_count() == 1:
        return "one"
    return "pass" if any(position.play(move).must_pass for move in position.moves) else ""


@cache
def narrow_positions(count: int = POSITIONS) -> tuple[Position, ...]:
    """Return the positions for deep searches: a fifth of ``count``, at least four.

    They are late positions of random games, always the same, with trees small enough for slow
    programs; in them sides pass, and different moves lead to one position. Every second one comes
    before a pass.
    """
    rng = np.random.default_rng(_SEED)
    chosen: list[Position] = []
    while len(chosen) < max(4, count // _NARROW_SHARE):
        line = [root for root in _random_game(rng) if root.legal_mask and root not in chosen]
        late = [root for root in line if root.empties in _NARROW_EMPTIES]
        if len(chosen) % 2:
            late = [root for root in late if _kind(root) == "pass"]
        chosen += [root for root in late if perft(root, 5) <= _NARROW_LEAVES][:1]
    return tuple(chosen)


def positions_at(depth: int, count: int = POSITIONS) -> tuple[Position, ...]:
    """Return the positions for the questions to a search of this depth."""
    return narrow_positions(count) if depth >= NARROW_FROM else positions(count)


# ------------------------------------------------------------------ asking


@dataclass(frozen=True)
class SearchUnderTest:
    """A search with the way of asking it.

    agents: by the depth that they look ahead. limited: True if the depth is given as a limit,
    rather than set. watched: the heuristic, if it was handed over. patience: seconds that a call
    may take.
    """

    agents: Mapping[int, Agent]
    limited: bool
    watched: RecordingEvaluation | None
    patience: float

    def limits(self, depth: int) -> Limits:
        return Limits(depth=depth) if self.limited else Limits()


def ask(
    search: SearchUnderTest,
    questions: Sequence[SearchQuestion],
    until: float,
    forgetful: bool = False,
) -> list[SearchAnswer | None]:
    """Return the answers to questions, asked one after another; None for those not asked because
    the time was over (``until`` by the monotonic clock), or because it hung, or died, too often.

    forgetful: True if it shall find nothing in the dictionaries that are its attributes.
    """
    answers: list[SearchAnswer | None] = []
    for _ in range(_FATAL_AT_MOST):
        try:
            for _, answer in _items(
                search, _answer_all, questions[len(answers) :], until, forgetful
            ):
                answers.append(answer)
            break
        except Interrupted as reason:
            answers.append(SearchAnswer(trouble=str(reason), fatal=True))
    return [*answers, *[None] * (len(questions) - len(answers))]


def ask_in_games(
    search: SearchUnderTest, depth: int, until: float
) -> list[tuple[SearchQuestion, SearchAnswer]]:
    """Return its answers from move to move in some games, played to their ends against random
    moves; none is begun or continued after ``until`` by the monotonic clock."""
    played: list[tuple[SearchQuestion, SearchAnswer]] = []
    with suppress(Interrupted):  # what it has answered until then counts
        for obf, answer in _items(search, _play_games, depth, until):
            played.append((SearchQuestion(Position.from_obf(obf), depth), answer))
    return played


def _items(
    search: SearchUnderTest, main: Callable[..., None], *more: Any
) -> Iterator[tuple[str, SearchAnswer]]:
    """Yield positions and answers of a process of its own."""
    for obf, answer in items_apart(main, search, *more, patience=search.patience):
        calls = [(mine, others) for mine, others in answer["calls"]]
        yield obf, SearchAnswer(**answer | {"calls": calls})


class _ForgetfulDict(dict[Any, Any]):
    """A dictionary in which ``in`` and ``get`` find nothing."""

    def __contains__(self, key: object) -> bool:
        return False

    def get(self, key: Any, default: Any = None) -> Any:
        return default


def _make_forgetful(agent: Agent) -> None:
    """Replace the dictionaries that an agent has, and those that it will set."""
    kind = type(agent)

    def set_attribute(self: Agent, name: str, value: object) -> None:
        kind.__setattr__(self, name, _ForgetfulDict(value) if type(value) is dict else value)

    with suppress(TypeError):  # if it has slots, it remembers as before
        agent.__class__ = type(kind.__name__, (kind,), {"__setattr__": set_attribute})
        for name, value in list(vars(agent).items()):
            setattr(agent, name, value)


def _answer_all(
    send: Send,
    search: SearchUnderTest,
    questions: Sequence[SearchQuestion],
    until: float,
    forgetful: bool,
) -> None:
    """Send the answers to questions."""
    for agent in search.agents.values() if forgetful else ():
        _make_forgetful(agent)
    for question in questions:
        if time.monotonic() > until:
            break
        _begin(search, question)
        send(["", asdict(_answer(search, question))])


def _begin(search: SearchUnderTest, question: SearchQuestion) -> None:
    position = question.position
    with suppress(Exception, SystemExit):  # what it cannot begin it will not answer
        search.agents[question.depth].begin_game(position.to_move, position, 1)


def _answer(search: SearchUnderTest, question: SearchQuestion) -> SearchAnswer:
    """Return its decision, or the error."""
    seen = search.watched.seen if search.watched else []
    seen.clear()
    position, decision, trouble = question.position, None, ""
    try:
        agent, limits = search.agents[question.depth], search.limits(question.depth)
        decision = valid_answer(agent.decide(position, limits))
        position.play(decision.move)
    except (Exception, SystemExit) as error:
        refused = isinstance(error, IllegalMove | PlayerFailure | ValueError)
        raised = "" if refused else "raised "
        trouble = f"{raised}{type(error).__name__}: {error}"[:300]
    calls = [(position.mover, position.opponent) for position in seen[:_CALLS]]
    if decision is None or trouble:
        return SearchAnswer(calls=calls, trouble=trouble)
    nodes, evaluations = decision.stats.nodes or None, decision.stats.evaluations or None
    return SearchAnswer(decision.move, decision.value, nodes, evaluations, len(seen) or None, calls)


def _play_games(send: Send, search: SearchUnderTest, depth: int, until: float) -> None:
    """Send positions and answers of games, each as far as it answers with legal moves."""
    rng, agent = np.random.default_rng(_SEED), search.agents[depth]
    for _ in range(_GAMES):
        line = _random_game(rng)
        start = next(at for at in line if at.empties <= _GAME_EMPTIES and at.legal_mask)
        _begin(search, SearchQuestion(start, depth))
        position = start
        while not position.is_over:
            if time.monotonic() > until:
                return
            if position.to_move is start.to_move and position.legal_mask:
                answer = _answer(search, SearchQuestion(position, depth))
                send([position.to_obf(), asdict(answer)])
                if answer.trouble:
                    break
                move = answer.move
            else:
                move = int(rng.choice(position.moves or (PASS,)))
            position = position.play(move)
            agent.observe(move, position)
