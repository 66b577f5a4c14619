"""Questions to a search, and its answers, in a process of its own."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from othello_lab.agents.agent import Agent, Limits
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
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants

POSITIONS = 200
NARROW_FROM = 4
"""From so many plies on narrow positions are asked about."""
_NARROW_SHARE = 5  # of so many usual positions there is one narrow one
_NARROW_EMPTIES = range(7, 13)
_NARROW_LEAVES = 1500  # minimax's, five plies deep
_SEED = 16
_LAST = 4  # empty squares of a position near the end of the game
_FATAL_AT_MOST = 3
"""After so many calls that have hung, or killed their process, nothing more is asked."""
_CALLS = 20_000
"""So many calls of the heuristic are noted of one answer, at most."""
_GAMES = 4
_GAME_EMPTIES = 22
"""Games to the end begin with about so many empty squares."""


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

    @property
    def name(self) -> str:
        return self.evaluation.name

    @property
    def parameters(self) -> np.ndarray:
        return self.evaluation.parameters

    @property
    def address(self) -> int:
        return self.evaluation.address

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
        made = made_of(find(self.target), self._depth, self._score)
        if made is None:
            raise ValueError(
                f"target '{self.target}': it makes no strategy of a depth and an evaluation"
            )
        return made

    def _score(self, player: str, board: Sequence[str]) -> int:
        return self._evaluation(position_of(player, board))


@dataclass(frozen=True)
class SearchQuestion:
    """A position, with at least one legal move, and how many plies to look ahead."""

    position: Position
    depth: int


@dataclass(frozen=True)
class SearchAnswer:
    """The answer of a search.

    value, nodes, evaluations: as it states them; None if it does not. seen: number of its calls of
    the heuristic; None if these cannot be seen. calls: the positions of the first 20,000 calls, as
    (mover, opponent), in the order of the calls. trouble: the reason if there is no legal move,
    else empty; fatal: True if it hung, or its process died.
    """

    move: int = -1
    value: float | None = None
    nodes: int | None = None
    evaluations: int | None = None
    seen: int | None = None
    calls: Sequence[Sequence[int]] = ()
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
    wanted = {"any": 0.4, "pass": 0.2, "end": 0.2, "one": 0.05}
    found: dict[str, list[Position]] = {kind: [] for kind in wanted}
    while any(len(found[kind]) < share * count for kind, share in wanted.items()):
        line = _random_game(rng)
        found["any"].append(line[int(rng.integers(2, 50))])
        for position in line[-24:]:
            kind = _kind(position)
            if kind and rng.random() < 0.5:
                found[kind].append(position)
    mirrored = [
        Position(each.mover, each.opponent, each.to_move.other)
        for each in chain(found["any"][::2], found["pass"][::2])
    ]
    kinds = [found["any"], found["pass"], found["end"], found["any"][1::2], mirrored, found["one"]]
    mixed = chain.from_iterable(zip_longest(*kinds))
    usable = dict.fromkeys(each for each in mixed if each and each.legal_mask)
    return tuple(usable)[:count]


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
        line = [each for each in _random_game(rng) if each.legal_mask]
        late = [each for each in line if each.empties in _NARROW_EMPTIES]
        if len(chosen) % 2:
            late = [each for each in late if _kind(each) == "pass"]
        small = (each for each in late if perft(each, 5) <= _NARROW_LEAVES)
        chosen += [each for each in small if each not in chosen][:1]
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
    asked: SearchUnderTest,
    questions: Sequence[SearchQuestion],
    until: float,
    forgetful: bool = False,
) -> list[SearchAnswer | None]:
    """Return the answers to questions, asked one after another; None for those not asked because
    the time was over (``until`` by the monotonic clock), or because it hung, or died, too often."""
    answers: list[SearchAnswer | None] = []
    failed = 0
    while len(answers) < len(questions) and failed < _FATAL_AT_MOST:
        rest = questions[len(answers) :]
        with closing(ForkedProcess(_answer_all, asked, rest, until, forgetful)) as process:
            trouble = _collect(process, asked.patience, answers, len(questions))
            end_descendants([process.number])
        if not trouble:
            break
        answers.append(SearchAnswer(trouble=trouble, fatal=True))
        failed += 1
    return [*answers, *[None] * (len(questions) - len(answers))]


def _collect(
    process: ForkedProcess, patience: float, answers: list[SearchAnswer | None], most: int
) -> str:
    """Append a process's answers; return the reason if it has stopped too early."""
    try:
        while len(answers) < most:
            message = process.receive_within(patience)
            if message is None:
                return f"no answer for {patience:g} s"
            told = json.loads(message)
            if told is None:
                return ""
            answers.append(SearchAnswer(**told))
    except (EOFError, OSError):
        return f"its process died (exit code {process.exit_code()})"
    return ""


def ask_afresh(
    asked: SearchUnderTest, questions: Sequence[SearchQuestion], forgetful: bool = False
) -> list[SearchAnswer | None]:
    """Return the answers to questions, each in a process that was asked nothing before.

    forgetful: True if it shall find nothing in the dictionaries that are its attributes.
    """
    return [ask(asked, [each], _soon(asked), forgetful)[0] for each in questions]


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
        kept = _ForgetfulDict(value) if type(value) is dict else value
        kind.__setattr__(self, name, kept)

    try:
        agent.__class__ = type(kind.__name__, (kind,), {"__setattr__": set_attribute})
        for name, value in list(vars(agent).items()):
            setattr(agent, name, value)
    except TypeError:
        pass  # it has slots: it remembers as before


def ask_in_games(
    asked: SearchUnderTest, depth: int, until: float
) -> list[tuple[SearchQuestion, SearchAnswer]]:
    """Return its answers from move to move in some games, played to their ends against random
    moves; none is begun or continued after ``until`` by the monotonic clock."""
    played: list[tuple[SearchQuestion, SearchAnswer]] = []
    with closing(ForkedProcess(_play_games, asked, depth, until)) as process:
        try:
            while (message := process.receive_within(asked.patience)) is not None:
                told = json.loads(message)
                if told is None:
                    break
                question = SearchQuestion(Position.from_obf(told.pop("at")), depth)
                played.append((question, SearchAnswer(**told)))
        except (EOFError, OSError):
            pass  # in the middle of a game: what it has answered until then counts
        end_descendants([process.number])
    return played


def _soon(asked: SearchUnderTest) -> float:
    return time.monotonic() + asked.patience


def silence() -> None:
    """Prepare a process for an agent: its output is hidden."""
    adopt_orphans()
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silent, stream)


def _answer_all(
    link: Channel,
    asked: SearchUnderTest,
    questions: Sequence[SearchQuestion],
    until: float,
    forgetful: bool,
) -> None:
    """The main function of a process."""
    silence()
    if forgetful:
        for agent in asked.agents.values():
            _make_forgetful(agent)
    for question in questions:
        if time.monotonic() > until:
            break
        _begin(asked, question)
        link.send(json.dumps(asdict(_answer(asked, question))).encode())
    link.send(b"null")
    end_descendants([os.getpid()])


def _begin(asked: SearchUnderTest, question: SearchQuestion) -> None:
    try:
        position = question.position
        asked.agents[question.depth].begin_game(position.to_move, position, 1)
    except (Exception, SystemExit):
        pass  # what it cannot begin it will not answer


def _answer(asked: SearchUnderTest, question: SearchQuestion) -> SearchAnswer:
    """Return its decision, or the error."""
    if asked.watched:
        asked.watched.seen.clear()
    position = question.position
    try:
        agent, limits = asked.agents[question.depth], asked.limits(question.depth)
        decision = valid_answer(agent.decide(position, limits))
        position.play(decision.move)
    except (IllegalMove, PlayerFailure, ValueError) as error:
        trouble = f"{type(error).__name__}: {error}"[:300]
        return SearchAnswer(calls=_calls(asked), trouble=trouble)
    except (Exception, SystemExit) as error:
        trouble = f"raised {type(error).__name__}: {error}"[:300]
        return SearchAnswer(calls=_calls(asked), trouble=trouble)
    stats, seen = decision.stats, asked.watched.seen if asked.watched else []
    return SearchAnswer(
        decision.move,
        decision.value,
        stats.nodes or None,
        stats.evaluations or None,
        len(seen) or None,
        _calls(asked),
    )


def _calls(asked: SearchUnderTest) -> list[tuple[int, int]]:
    seen = asked.watched.seen[:_CALLS] if asked.watched else []
    return [(each.mover, each.opponent) for each in seen]


def _play_games(link: Channel, asked: SearchUnderTest, depth: int, until: float) -> None:
    """The main function of a process."""
    silence()
    rng = np.random.default_rng(_SEED)
    for _ in range(_GAMES):
        if time.monotonic() > until:
            break
        line = _random_game(rng)
        start = next(each for each in line if each.empties <= _GAME_EMPTIES and each.legal_mask)
        for question, answer in _game(asked, start, depth, rng):
            told = asdict(answer) | {"at": question.position.to_obf()}
            link.send(json.dumps(told).encode())
            if time.monotonic() > until:
                break
    link.send(b"null")
    end_descendants([os.getpid()])


def _game(
    asked: SearchUnderTest, start: Position, depth: int, rng: np.random.Generator
) -> Iterator[tuple[SearchQuestion, SearchAnswer]]:
    """One game, as far as it answers with legal moves."""
    agent, position = asked.agents[depth], start
    _begin(asked, SearchQuestion(start, depth))
    while not position.is_over:
        if position.to_move is start.to_move and position.legal_mask:
            question = SearchQuestion(position, depth)
            answer = _answer(asked, question)
            yield question, answer
            if answer.trouble:
                return
            move = answer.move
        else:
            move = int(rng.choice(position.moves or (PASS,)))
        position = position.play(move)
        agent.observe(move, position)
