"""Whether an agent keeps to the contract of :class:`agents.agent.Agent`: a test for any agent.

>>> from othello_lab.agents.simple import RandomAgent
>>> verdict = check(RandomAgent())
>>> verdict.holds
True
>>> [finding.name for finding in verdict.findings if finding.outcome != OK]
['depth', 'nodes']

Each check has a process of its own, forked from this one, so that an agent that hangs or dies does
no harm. Before each call into the agent the process says what it is about to ask.
"""

from __future__ import annotations

import copy
import os
import pickle
import random
import textwrap
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.simple import RandomAgent
from othello_lab.core.game import FINISHED, PlayerFailure, play_game, valid_answer
from othello_lab.core.notation import PASS, IllegalMove, square_name
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import RULESETS, Color, Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants

OK, FAILED, NOT_ASKED = "ok", "failed", "not asked"
PATIENCE = 10.0
"""Seconds after which an agent that has not answered a call counts as hung."""
PREPARE_SECONDS = 300.0
"""The same for ``prepare``, which may have to compile."""
_NODES = 1000
_SECONDS = 0.5


@dataclass(frozen=True)
class ContractFinding:
    """What a check has found.

    name: of the check. asked: what was asked of the agent, a sentence.
    outcome: OK, FAILED or NOT_ASKED. detail: why it is not OK; after a failure the answer, and the
    position as a board.

    As a string it is a line, with what went wrong in the lines below it.
    """

    name: str
    asked: str
    outcome: str
    detail: str = ""

    def __str__(self) -> str:
        said = self.detail if self.outcome == NOT_ASKED else self.asked
        lines = [f"{self.name:<9}  {self.outcome:<9}  {said}"]
        if self.outcome == FAILED:
            for line in self.detail.splitlines():
                lines.append(
                    textwrap.fill(line, 78, initial_indent="    ", subsequent_indent="    ")
                )
        return "\n".join(lines)


@dataclass(frozen=True)
class ContractVerdict:
    """All findings about an agent. ``holds``: whether no check has failed."""

    findings: tuple[ContractFinding, ...]

    @property
    def holds(self) -> bool:
        return all(finding.outcome != FAILED for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


def check(
    agent: Agent, patience: float = PATIENCE, announce: Announce | None = None
) -> ContractVerdict:
    """Hold an agent to the contract; takes seconds with an agent that answers quickly.

    patience: seconds that one call into the agent may take. announce: see ``Agent.prepare``.
    The agent itself is only prepared; it plays in copies of this process.
    """
    return ContractVerdict(tuple(findings(agent, patience, announce)))


def findings(
    agent: Agent, patience: float = PATIENCE, announce: Announce | None = None
) -> Iterator[ContractFinding]:
    """The findings of :func:`check`, each as it is made. Nothing more is asked of an agent that
    hangs, or that fails in what all other checks need."""
    prepare_rules(announce)  # once here rather than in each process
    useless = ""
    for each in CHECKS:
        if useless:
            yield ContractFinding(each.name, each.asked, NOT_ASKED, useless)
            continue
        outcome, detail = OK, ""
        try:
            answer = _ask(each, 0, agent, patience, announce)
            if each.twice:
                _compare(answer, _ask(each, 1, agent, patience, announce))
        except _NotApplicable as reason:
            outcome, detail = NOT_ASKED, str(reason)
        except _ContractViolation as broken:
            outcome, detail = FAILED, str(broken)
            if isinstance(broken, _NoAnswer):
                useless = f"it hangs: see {each.name}"
            elif each.name in _NEEDED:
                useless = f"see {each.name}"
        yield ContractFinding(each.name, each.asked, outcome, detail)
        if each.name == "prepare" and not useless:
            agent.prepare(announce)  # so that the processes to come have all that it loads


class _ContractViolation(Exception):
    """The agent does not do what the contract says."""


class _NoAnswer(_ContractViolation):
    """It does not answer."""


class _NotApplicable(Exception):
    """The question does not concern this agent."""


def _at(position: Position) -> str:
    return f"at\n{position}"


_Call = tuple[str, Position | None, float]
"""What is called, where, and how many seconds it may take at least."""
_BEGAN: _Call = "it began", None, 0.0


def _call(last: _Call) -> str:
    name, position, _ = last
    return f"{name} {_at(position)}" if position else name


def _said(decision: Decision) -> str:
    """A decision, without what it leaves out."""
    said = {"value": decision.value, "depth": decision.depth} | asdict(decision.stats)
    parts = [f"{name} {number}" for name, number in said.items() if number not in (None, 0)]
    parts += [f"line {' '.join(map(_name, decision.pv))}"] if decision.pv else []
    return f"{_name(decision.move)} ({', '.join(parts)})" if parts else _name(decision.move)


def _name(move: int) -> str:
    return square_name(move) if 0 <= move <= PASS else str(move)


# ------------------------------------------------------------------ processes


def _ask(
    each: ContractCheck, number: int, agent: Agent, patience: float, announce: Announce | None
) -> Any:
    """What a check returns, run in a process of its own; raises what it raises, and _Broken if the
    process hangs or dies."""
    last, seconds = _BEGAN, patience
    with closing(ForkedProcess(_answer, each, number, agent, announce)) as process:
        try:
            while (message := process.receive_within(seconds)) is not None:
                kind, content = pickle.loads(message)
                if kind == "answer":
                    return content
                if kind == "trouble":
                    raise content
                last = content
                seconds = max(last[2], patience)
        except (EOFError, OSError):
            died = f"its process died (exit code {process.exit_code()})"
            raise _ContractViolation(f"{died} after {_call(last)}") from None
        end_descendants([process.number])
    raise _NoAnswer(f"no answer for {seconds:g} s after {_call(last)}")


def _answer(
    link: Channel, each: ContractCheck, number: int, agent: Agent, announce: Announce | None
) -> None:
    """The main function of a process."""
    adopt_orphans()
    with suppress(OSError):
        outcome = _outcome(each, number, _AgentUnderTest(agent, link, announce))
        end_descendants([os.getpid()])  # an agent may stand for another program
        link.send(pickle.dumps(outcome))


def _outcome(each: ContractCheck, number: int, case: _AgentUnderTest) -> tuple[str, Any]:
    try:
        return "answer", each.run(case, number)
    except (_ContractViolation, _NotApplicable) as trouble:
        return "trouble", trouble
    except PlayerFailure as fault:
        return "trouble", _ContractViolation(
            f"{fault.reason}: {fault.detail}, after {_call(case.last)}"
        )
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__}: {error}, in {where.filename}, line {where.lineno}"
        return "trouble", _ContractViolation(f"raised {raised}, after {_call(case.last)}")


def _compare(first: Any, second: Any) -> None:
    """Raise _Broken at the first position where two lists of (position, decision) differ."""
    for (position, one), (other_position, other) in zip(first, second, strict=False):
        if (position, one) != (other_position, other):
            raise _ContractViolation(
                f"answered {_said(one)}, and another time {_said(other)}, {_at(position)}"
            )


# ------------------------------------------------------------------ what is asked


@dataclass(frozen=True)
class _GameBeginning:
    """The beginning of a game: its start, and each move with the position it leads to. In the
    last position there is a legal move."""

    start: Position
    moves: tuple[tuple[int, Position], ...]

    @property
    def positions(self) -> list[Position]:
        return [self.start, *(position for _, position in self.moves)]

    @property
    def position(self) -> Position:
        return self.positions[-1]


def _random_line(start: Position, plies: int, rng: np.random.Generator) -> _GameBeginning:
    """So many random plies, or fewer if the game has no more."""
    position = start
    moves: list[tuple[int, Position]] = []
    while len(moves) < plies and not position.is_over:
        move = int(rng.choice(position.moves or (PASS,)))
        position = position.play(move)
        moves.append((move, position))
    while moves and not moves[-1][1].legal_mask:
        moves.pop()
    return _GameBeginning(start, tuple(moves))


def _line_with_pass(start: Position, rng: np.random.Generator) -> _GameBeginning:
    while True:
        line = _random_line(start, 64, rng)
        if any(move == PASS for move, _ in line.moves):
            return line


class _AgentUnderTest:
    """An agent, in a process in which it is examined."""

    def __init__(self, agent: Agent, link: Channel, announce: Announce | None) -> None:
        self.agent = agent
        self.announce = announce
        self.rng = np.random.default_rng(1)
        self.last = _BEGAN
        self._link = link

    def tell(self, call: str, position: Position | None = None, seconds: float = 0.0) -> None:
        """Say what is called next, and how long it may take at least."""
        self.last = call, position, seconds
        self._link.send(pickle.dumps(("call", self.last)))

    @property
    def rulesets(self) -> list[Ruleset]:
        """Those that it plays, the largest board first."""
        boards = self.agent.boards()
        return [rules for rules in RULESETS.values() if rules.side in boards]

    @property
    def limits(self) -> Limits:
        """None if it can do without, otherwise some that it accepts."""
        for limits in (Limits(), Limits(nodes=_NODES), Limits(seconds=0.1)):
            try:
                self.agent.check_limits(limits)
                return limits
            except ValueError as error:
                refusal = error
        raise _ContractViolation(
            f"check_limits refuses to play without limits, with {_NODES} nodes and with 0.1 s a "
            f"move alike: {refusal}"
        )

    def accepted(self, limits: Limits) -> Limits:
        """The limits, if it can play within them."""
        try:
            self.agent.check_limits(limits)
        except ValueError as error:
            raise _NotApplicable(f"it does not play so: {error}") from None
        return limits

    def lines(self, count: int) -> Iterator[_GameBeginning]:
        """So many random lines by each ruleset that it plays, from its start to any later stage."""
        for rules in self.rulesets:
            for _ in range(count):
                yield self.line(rules, int(self.rng.integers(rules.squares - 4)))

    def line(self, rules: Ruleset, plies: int) -> _GameBeginning:
        """So many random plies, or the bare start for who knows whole games only."""
        return _random_line(Position.start(rules), 0 if self.agent.from_start else plies, self.rng)

    def lead(self, line: _GameBeginning, seed: int = 1) -> None:
        """Begin a game and tell of its moves."""
        self.tell("begin_game", line.start)
        self.agent.begin_game(line.position.to_move, line.start, seed)
        for move, position in line.moves:
            self.tell(f"observe of the move {_name(move)}, which leads", position)
            self.agent.observe(move, position)

    def ask(self, line: _GameBeginning, limits: Limits | None = None, seed: int = 1) -> Decision:
        """Its decision at the end of a line; raises _Broken if that is no legal move."""
        self.lead(line, seed)
        position, limits = line.position, limits or self.limits
        self.tell("decide", position)
        answer = self.agent.decide(position, limits)
        try:
            decision = valid_answer(answer)
        except ValueError as flaw:
            raise _ContractViolation(f"answered {flaw!s:.600}, {_at(position)}") from None
        try:
            position.play(decision.move)
        except IllegalMove as error:
            raise _ContractViolation(
                f"answered {_said(decision)}: {error}, {_at(position)}"
            ) from None
        return decision

    def play(self, rules: Ruleset, color: Color, seed: int) -> list[tuple[Position, Decision]]:
        """What it answers in a whole game against random moves; raises _Broken if it forfeits."""

        def before_call(position: Position, called: Color, plies: Any) -> None:
            if called is color:
                self.tell("a call in a game", position)

        record = play_game(
            {color: self.agent, color.other: RandomAgent()},
            Position.start(rules),
            limits=self.limits,
            grace=PATIENCE,
            seeds={color: seed, color.other: 1},
            before_call=before_call,
        )
        if record.end_reason != FINISHED:
            lost = f"{record.end_reason}: {record.detail.strip()}"
            raise _ContractViolation(f"lost a game by {rules.name}, {lost}, {_at(record.final)}")
        position, answers = Position.start(rules), []
        for ply in record.plies:
            if ply.color is color and ply.decision:
                answers.append((position, ply.decision))
            position = position.play(ply.move)
        return answers

    def needs_reproducible(self) -> None:
        """Raise _NotAsked if it does not always answer alike."""
        if not self.agent.reproducible:
            raise _NotApplicable("it says that it is not reproducible")
        if self.agent.watches_clock and self.limits.timed:
            raise _NotApplicable("it only plays by the clock")


# ------------------------------------------------------------------ checks


def _itself(case: _AgentUnderTest, number: int) -> None:
    agent = case.agent
    case.tell("boards()")
    boards = agent.boards()
    if not isinstance(boards, frozenset | set) or not boards or not boards <= {4, 6, 8}:
        raise _ContractViolation(
            f"boards() is {boards!r}; a set of sizes out of 4, 6 and 8 is needed"
        )
    if type(agent.version) is not int:
        raise _ContractViolation(f"version is {agent.version!r}; a whole number is needed")
    for name in ("reproducible", "watches_clock", "selective", "from_start"):
        if type(getattr(agent, name)) is not bool:
            raise _ContractViolation(f"{name} is {getattr(agent, name)!r}; true or false is needed")
    case.tell("check_limits()")
    _ = case.limits


def _prepare(case: _AgentUnderTest, number: int) -> None:
    case.tell("prepare()", seconds=PREPARE_SECONDS)
    case.agent.prepare(case.announce)


def _twice(case: _AgentUnderTest, number: int) -> Any:
    case.needs_reproducible()
    if number:
        _prepare(case, number)  # it was prepared before the process was forked
    return [(line.position, case.ask(line)) for line in case.lines(2)]


def _moves(case: _AgentUnderTest, number: int) -> None:
    for line in case.lines(15):
        case.ask(line)


def _pv(case: _AgentUnderTest, number: int) -> None:
    for line in case.lines(5):
        decision, position = case.ask(line), line.position
        wrong = ""
        if decision.pv and decision.pv[0] != decision.move:
            wrong = "its line begins with another move"
        # Selective searches may look further than asked.
        if decision.depth is not None and len(decision.pv) > max(1, decision.depth):
            wrong = "" if case.agent.selective else "its line is longer than it looked ahead"
        there = position
        try:
            for move in decision.pv:
                there = there.play(move)
        except IllegalMove as error:
            wrong = f"its line cannot be played: {error}"
        if wrong:
            raise _ContractViolation(f"answered {_said(decision)}: {wrong}, {_at(position)}")


def _games(case: _AgentUnderTest, number: int) -> None:
    for turn, rules in enumerate(case.rulesets):
        case.play(rules, (Color.BLACK, Color.WHITE)[turn % 2], seed=1)


def _cut_short(case: _AgentUnderTest, number: int) -> None:
    for rules in case.rulesets:
        case.ask(case.line(rules, 5))
        if not case.agent.from_start:
            start = case.line(rules, 3).position
            case.ask(_line_with_pass(start, case.rng))
        case.ask(_GameBeginning(Position.start(rules), ()))


def _small_board(case: _AgentUnderTest) -> Ruleset:
    """A board large enough for chance to show, and no larger."""
    return RULESETS["mini6"] if 6 in case.agent.boards() else case.rulesets[0]


def _seed(case: _AgentUnderTest, number: int) -> Any:
    case.needs_reproducible()
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
    return case.play(_small_board(case), Color.BLACK, seed=9)


def _memory(case: _AgentUnderTest, number: int) -> Any:
    case.needs_reproducible()
    if number:
        case.play(case.rulesets[0], Color.WHITE, seed=5)
        case.play(_small_board(case), Color.WHITE, seed=5)
    return case.play(_small_board(case), Color.BLACK, seed=9)


def _depth(case: _AgentUnderTest, number: int) -> None:
    limits = case.accepted(replace(case.limits, depth=1))
    # Near the beginning of a large board's games: an end may be solved, however deep it is.
    lines = [case.line(case.rulesets[0], plies) for plies in range(6)]
    decisions = [(line.position, case.ask(line, limits)) for line in lines]
    for position, decision in decisions:
        if decision.depth is not None and decision.depth > 1:
            raise _ContractViolation(f"answered {_said(decision)} {_at(position)}")
    if all(decision.depth is None for _, decision in decisions):
        raise _NotApplicable("it does not say how far it looks")


def _nodes(case: _AgentUnderTest, number: int) -> None:
    limits = case.accepted(Limits(nodes=_NODES))
    decisions = [(line.position, case.ask(line, limits)) for line in case.lines(3)]
    for position, decision in decisions:
        if decision.stats.nodes > 2 * _NODES:  # what is under way, such as a playout, may end
            raise _ContractViolation(f"answered {_said(decision)} {_at(position)}")
    if not any(decision.stats.nodes for _, decision in decisions):
        raise _NotApplicable("it counts no nodes")


def _seconds(case: _AgentUnderTest, number: int) -> None:
    limits = case.accepted(Limits(seconds=_SECONDS))
    for line in case.lines(1):
        for _ in range(3):  # the machine may be busy with something else
            case.lead(line)
            case.tell("decide", line.position)
            started = time.perf_counter()
            case.agent.decide(line.position, limits)
            seconds = time.perf_counter() - started
            if seconds < 2 * _SECONDS:
                break
        else:
            raise _ContractViolation(f"answered after {seconds:.2f} s {_at(line.position)}")


def _hands_off(case: _AgentUnderTest, number: int) -> None:
    for line in case.lines(3):
        limits = case.limits
        before = copy.deepcopy((line, limits))
        case.ask(line, limits)
        if limits != before[1]:
            raise _ContractViolation(
                f"the limits {before[1]} became {limits} {_at(before[0].position)}"
            )
        for position, now in zip(before[0].positions, line.positions, strict=True):
            if now != position:
                raise _ContractViolation(f"this position\n{position}\nbecame\n{now}")


def _close(case: _AgentUnderTest, number: int) -> Any:
    if number:
        case.ask(case.line(case.rulesets[0], 5))
    case.tell("close()")
    case.agent.close()
    return []


@dataclass(frozen=True)
class ContractCheck:
    """Something that is asked of an agent.

    name, asked: as in :class:`ContractFinding`. run: called with the case and 0; raises _Broken.
    twice: whether it is also called with 1, each time in a process of its own; what it returns must
    be the same.
    """

    name: str
    asked: str
    run: Callable[[_AgentUnderTest, int], Any]
    twice: bool = False


CHECKS = (
    ContractCheck("itself", "It says truly what it is and what it can play", _itself),
    ContractCheck("prepare", "prepare() does its work", _prepare),
    ContractCheck("moves", "Legal, well-formed moves in random positions", _moves),
    ContractCheck("line", "Its line begins with its move and can be played", _pv),
    ContractCheck("games", "Whole games by each ruleset that it plays", _games),
    ContractCheck("cut short", "Games that begin anywhere and are cut short", _cut_short),
    ContractCheck("depth", "Limited to depth 1, it looks no further", _depth),
    ContractCheck("nodes", f"Limited to {_NODES:,} nodes, it soon stops", _nodes),
    ContractCheck("seconds", f"Limited to {_SECONDS:g} s a move, it is in time", _seconds),
    ContractCheck("hands off", "It changes no position and no limits", _hands_off),
    ContractCheck("seed", "The same seed gives the same game", _seed, True),
    ContractCheck("memory", "Nothing is remembered from earlier games", _memory, True),
    ContractCheck("twice", "prepare() may be called again; no answer changes", _twice, True),
    ContractCheck("close", "It can be closed, played or not", _close, True),
)
_NEEDED = ("itself", "prepare", "moves")
