"""Hold any agent to the contract of :class:`agents.agent.Agent`.

>>> from othello_lab.agents.simple import RandomAgent
>>> verdict = check(RandomAgent())
>>> verdict.holds
True
>>> [finding.name for finding in verdict.findings if finding.outcome != OK]
['depth', 'nodes']

Each check runs in a process of its own, forked from this one, so an agent that hangs or dies does
no harm. The process announces each call into the agent beforehand.
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
from othello_lab.core.game import FAIR_ENDS, RESIGNED, PlayerFailure, play_game, valid_answer
from othello_lab.core.notation import PASS, IllegalMove, square_name
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import RULESETS, Color, Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants

OK, FAILED, NOT_ASKED = "ok", "failed", "skipped"
PATIENCE = 10.0
"""Seconds for a call; after them the agent counts as hung."""
PREPARE_SECONDS = 300.0
"""Seconds for ``prepare``, which may have to compile."""
_NODES = 1000
_SECONDS = 0.5


@dataclass(frozen=True)
class ContractFinding:
    """The outcome of one check.

    name: of the check. asked: the requirement, a sentence. outcome: OK, FAILED or NOT_ASKED.
    detail: the reason for any outcome but OK; after a failure the answer and the position as a
    board.

    ``str`` gives one line, and after a failure the detail in further lines.
    """

    name: str
    asked: str
    outcome: str
    detail: str = ""

    def __str__(self) -> str:
        text = self.detail if self.outcome == NOT_ASKED else self.asked
        lines = [f"{self.name:<9}  {self.outcome:<9}  {text}"]
        if self.outcome == FAILED:
            for line in self.detail.splitlines():
                lines.append(
                    textwrap.fill(line, 78, initial_indent="    ", subsequent_indent="    ")
                )
        return "\n".join(lines)


@dataclass(frozen=True)
class ContractVerdict:
    """All findings about an agent. ``holds``: true if no check has failed."""

    findings: tuple[ContractFinding, ...]

    @property
    def holds(self) -> bool:
        return all(finding.outcome != FAILED for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


def check(
    agent: Agent, patience: float = PATIENCE, announce: Announce | None = None
) -> ContractVerdict:
    """Hold an agent to the contract; a quick agent takes some seconds.

    patience: seconds for one call into the agent. announce: see ``Agent.prepare``. In this process
    the agent is only prepared; it plays in copies of the process.
    """
    return ContractVerdict(tuple(findings(agent, patience, announce)))


def findings(
    agent: Agent, patience: float = PATIENCE, announce: Announce | None = None
) -> Iterator[ContractFinding]:
    """Run the checks of :func:`check` and yield each finding at once.

    The remaining checks are skipped if the agent hangs or fails a check that all others need.
    """
    prepare_rules(announce)  # once here, not in each process
    reason_to_skip = ""
    for contract_check in CHECKS:
        name, asked = contract_check.name, contract_check.asked
        if reason_to_skip:
            yield ContractFinding(name, asked, NOT_ASKED, reason_to_skip)
            continue
        outcome, detail = OK, ""
        try:
            answer = _run_in_process(contract_check, 0, agent, patience, announce)
            if contract_check.twice:
                _compare(answer, _run_in_process(contract_check, 1, agent, patience, announce))
        except _NotApplicable as reason:
            outcome, detail = NOT_ASKED, str(reason)
        except _ContractViolation as violation:
            outcome, detail = FAILED, str(violation)
            if isinstance(violation, _NoAnswer):
                reason_to_skip = f"it hangs: see {name}"
            elif name in _NEEDED:
                reason_to_skip = f"see {name}"
        yield ContractFinding(name, asked, outcome, detail)
        if name == "prepare" and not reason_to_skip:
            agent.prepare(announce)  # the processes of later checks inherit all that it loads


class _ContractViolation(Exception):
    """The agent breaks the contract."""


class _NoAnswer(_ContractViolation):
    """The agent does not answer."""


class _NotApplicable(Exception):
    """The check does not apply to this agent."""


def _at(position: Position) -> str:
    return f"at\n{position}"


_Call = tuple[str, Position | None, float]
"""Name of a call, its position, and the least patience for it in seconds."""
_BEGAN: _Call = "it began", None, 0.0


def _call(last: _Call) -> str:
    name, position, _ = last
    return f"{name} {_at(position)}" if position else name


def _describe(decision: Decision) -> str:
    """Describe a decision by its move and all fields that have a value."""
    fields = {"value": decision.value, "depth": decision.depth} | asdict(decision.stats)
    parts = [f"{name} {number}" for name, number in fields.items() if number not in (None, 0)]
    parts += [f"line {' '.join(map(_name, decision.pv))}"] if decision.pv else []
    return f"{_name(decision.move)} ({', '.join(parts)})" if parts else _name(decision.move)


def _name(move: int) -> str:
    return square_name(move) if 0 <= move <= PASS else str(move)


# ------------------------------------------------------------------ processes


def _run_in_process(
    contract_check: ContractCheck,
    number: int,
    agent: Agent,
    patience: float,
    announce: Announce | None,
) -> Any:
    """Run a check in a process of its own and return its result.

    Raises the exception of the check, and _ContractViolation if the process hangs or dies.
    """
    last, seconds = _BEGAN, patience
    with closing(ForkedProcess(_answer, contract_check, number, agent, announce)) as process:
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
    link: Channel,
    contract_check: ContractCheck,
    number: int,
    agent: Agent,
    announce: Announce | None,
) -> None:
    """Run one check and send its outcome, as the main function of a process."""
    adopt_orphans()
    with suppress(OSError):
        outcome = _outcome(contract_check, number, _AgentUnderTest(agent, link, announce))
        end_descendants([os.getpid()])  # an agent may have started another program
        link.send(pickle.dumps(outcome))


def _outcome(contract_check: ContractCheck, number: int, case: _AgentUnderTest) -> tuple[str, Any]:
    try:
        return "answer", contract_check.run(case, number)
    except (_ContractViolation, _NotApplicable) as trouble:
        return "trouble", trouble
    except PlayerFailure as fault:
        if fault.reason == RESIGNED:
            return "trouble", _NotApplicable("it resigned")
        return "trouble", _ContractViolation(
            f"{fault.reason}: {fault.detail}, after {_call(case.last)}"
        )
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__}: {error}, in {where.filename}, line {where.lineno}"
        return "trouble", _ContractViolation(f"raised {raised}, after {_call(case.last)}")


def _compare(first: Any, second: Any) -> None:
    """Raise _ContractViolation at the first difference of two lists of (position, decision)."""
    for (position, one), (other_position, other) in zip(first, second, strict=False):
        if (position, one) != (other_position, other):
            raise _ContractViolation(
                f"answered {_describe(one)}, and another time {_describe(other)}, {_at(position)}"
            )


# ------------------------------------------------------------------ positions and calls


@dataclass(frozen=True)
class _GameBeginning:
    """The beginning of a game: its start, and each move with the position after it.

    The last position has a legal move.
    """

    start: Position
    moves: tuple[tuple[int, Position], ...]

    @property
    def positions(self) -> list[Position]:
        return [self.start, *(position for _, position in self.moves)]

    @property
    def position(self) -> Position:
        return self.positions[-1]


def _random_line(start: Position, plies: int, rng: np.random.Generator) -> _GameBeginning:
    """Play ``plies`` random plies, or fewer if the game ends."""
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
    """An agent, inside the process that examines it."""

    def __init__(self, agent: Agent, link: Channel, announce: Announce | None) -> None:
        self.agent = agent
        self.announce = announce
        self.rng = np.random.default_rng(1)
        self.last = _BEGAN
        self._link = link

    def tell(self, call: str, position: Position | None = None, seconds: float = 0.0) -> None:
        """Announce the next call and the least patience for it in seconds."""
        self.last = call, position, seconds
        self._link.send(pickle.dumps(("call", self.last)))

    @property
    def rulesets(self) -> list[Ruleset]:
        """The rulesets that the agent plays, the largest board first."""
        boards = self.agent.boards()
        return [rules for rules in RULESETS.values() if rules.side in boards]

    @property
    def limits(self) -> Limits:
        """No limits if the agent needs none, otherwise limits that it accepts."""
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
        """Return the limits; raises _NotApplicable if the agent refuses them."""
        try:
            self.agent.check_limits(limits)
        except ValueError as error:
            raise _NotApplicable(f"it does not play so: {error}") from None
        return limits

    def lines(self, count: int) -> Iterator[_GameBeginning]:
        """Yield ``count`` random lines by each ruleset of the agent, ended at any stage."""
        for rules in self.rulesets:
            for _ in range(count):
                yield self.line(rules, int(self.rng.integers(rules.squares - 4)))

    def line(self, rules: Ruleset, plies: int) -> _GameBeginning:
        """Play ``plies`` random plies; none for an agent that plays whole games only."""
        return _random_line(Position.start(rules), 0 if self.agent.from_start else plies, self.rng)

    def lead(self, line: _GameBeginning, seed: int = 1) -> None:
        """Begin a game and send the agent its moves."""
        self.tell("begin_game", line.start)
        self.agent.begin_game(line.position.to_move, line.start, seed)
        for move, position in line.moves:
            self.tell(f"observe of the move {_name(move)}, which leads", position)
            self.agent.observe(move, position)

    def ask(self, line: _GameBeginning, limits: Limits | None = None, seed: int = 1) -> Decision:
        """Return the agent's decision at the end of a line.

        Raises _ContractViolation if it is no legal move.
        """
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
                f"answered {_describe(decision)}: {error}, {_at(position)}"
            ) from None
        return decision

    def play(self, rules: Ruleset, color: Color, seed: int) -> list[tuple[Position, Decision]]:
        """Return the agent's decisions in a whole game against random moves.

        Raises _ContractViolation if it forfeits.
        """

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
        if record.end_reason not in FAIR_ENDS:
            reason = f"{record.end_reason}: {record.detail.strip()}"
            raise _ContractViolation(f"lost a game by {rules.name}, {reason}, {_at(record.final)}")
        position, answers = Position.start(rules), []
        for ply in record.plies:
            if ply.color is color and ply.decision:
                answers.append((position, ply.decision))
            position = position.play(ply.move)
        return answers

    def needs_reproducible(self) -> None:
        """Raise _NotApplicable if the agent's answers may differ from time to time."""
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
        # Selective searches may look further than their depth.
        if decision.depth is not None and len(decision.pv) > max(1, decision.depth):
            wrong = "" if case.agent.selective else "its line is longer than it looked ahead"
        after = position
        try:
            for move in decision.pv:
                after = after.play(move)
        except IllegalMove as error:
            wrong = f"its line cannot be played: {error}"
        if wrong:
            raise _ContractViolation(f"answered {_describe(decision)}: {wrong}, {_at(position)}")


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
    """Return the smallest ruleset that gives different random games."""
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
    # Near the start of games on a large board: an agent may solve endgames beyond any depth.
    lines = [case.line(case.rulesets[0], plies) for plies in range(6)]
    decisions = [(line.position, case.ask(line, limits)) for line in lines]
    for position, decision in decisions:
        if decision.depth is not None and decision.depth > 1:
            raise _ContractViolation(f"answered {_describe(decision)} {_at(position)}")
    if all(decision.depth is None for _, decision in decisions):
        raise _NotApplicable("it does not say how far it looks")


def _nodes(case: _AgentUnderTest, number: int) -> None:
    limits = case.accepted(Limits(nodes=_NODES))
    decisions = [(line.position, case.ask(line, limits)) for line in case.lines(3)]
    for position, decision in decisions:
        if decision.stats.nodes > 2 * _NODES:  # it may finish a step, such as a playout
            raise _ContractViolation(f"answered {_describe(decision)} {_at(position)}")
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
    """One requirement on an agent.

    name, asked: as in :class:`ContractFinding`. run: called with the case and 0; raises
    _ContractViolation. twice: true to call it with 1 too, in another process; both results have to
    be equal.
    """

    name: str
    asked: str
    run: Callable[[_AgentUnderTest, int], Any]
    twice: bool = False


CHECKS = (
    ContractCheck("itself", "Its attributes, boards and limits are well-formed", _itself),
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
