"""The contract of :class:`agents.agent.Agent`, to which any agent is held.

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
import pickle
import random
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import count
from typing import Any

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.checks.check import (
    FAILED,
    OK,
    SKIPPED,
    Check,
    Finding,
    Interrupted,
    NoAnswer,
    NotApplicable,
    Send,
    Subject,
    Violation,
    items_apart,
    named_check,
)
from othello_lab.agents.simple import RandomAgent
from othello_lab.core.game import FAIR_ENDS, RESIGNED, PlayerFailure, play_game, valid_answer
from othello_lab.core.notation import PASS, IllegalMove, square_name
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import RULESETS, Color, Ruleset
from othello_lab.core.system.compile import Announce

PATIENCE = 10.0
"""Seconds for a call; after them the agent counts as hung."""
PREPARE_SECONDS = 300.0
"""Seconds for ``prepare``, which may have to compile."""
_NODES = 1000
_SECONDS = 0.5
_BEGAN = "it began"  # before the first call


@dataclass(frozen=True)
class ContractVerdict:
    """All findings about an agent. ``holds``: true if no check has failed."""

    findings: tuple[Finding, ...]

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
    return ContractVerdict(tuple(AgentUnderTest(agent, patience, announce).findings()))


def _describe(decision: Decision) -> str:
    """Describe a decision by its move and all fields that have a value."""
    fields = {"value": decision.value, "depth": decision.depth} | asdict(decision.stats)
    parts = [f"{name} {number}" for name, number in fields.items() if number not in (None, 0)]
    parts += [f"line {' '.join(map(_name, decision.pv))}"] if decision.pv else []
    return f"{_name(decision.move)} ({', '.join(parts)})" if parts else _name(decision.move)


def _name(move: int) -> str:
    return square_name(move) if 0 <= move <= PASS else str(move)


Line = tuple[list[int], list[Position]]
"""The beginning of a game: its moves, and the positions before and after them, of which the last
has a legal move."""
Answers = list[tuple[Position, Decision]]


def _random_line(start: Position, plies: int, rng: np.random.Generator) -> Line:
    """Play ``plies`` random plies, or fewer if the game ends."""
    moves, positions = list[int](), [start]
    while len(moves) < plies and not positions[-1].is_over:
        moves.append(int(rng.choice(positions[-1].moves or (PASS,))))
        positions.append(positions[-1].play(moves[-1]))
    while moves and not positions[-1].legal_mask:
        moves.pop()
        positions.pop()
    return moves, positions


class AgentUnderTest(Subject):
    """An agent under examination.

    Each check forks a process with a copy of this object. number: 0, or 1 in the second process of
    a check that runs twice. last_call: the last call into the agent that was announced.
    """

    def __init__(
        self, agent: Agent, patience: float = PATIENCE, announce: Announce | None = None
    ) -> None:
        self.agent, self.patience, self.announce = agent, patience, announce
        self.rng = np.random.default_rng(1)
        self.number, self.last_call, self.seconds = 0, _BEGAN, patience
        self._send: Send

    def findings(self) -> Iterator[Finding]:
        prepare_rules(self.announce)  # once here, not in each process
        yield from super().findings()

    def run(self, check: Check) -> None:
        """Run a check; raises its exception, and Violation if two answers differ."""
        answers = [self._run_apart(check, number) for number in range(1 + check.twice)]
        for one, other in zip(*answers, strict=False) if check.twice else ():
            if one != other:
                both = f"{_describe(one[1])}, and another time {_describe(other[1])}"
                raise Violation(f"answered {both}", one[0])
        if check is AgentUnderTest._prepare:
            self.agent.prepare(self.announce)  # later processes inherit all that it loads

    def _run_apart(self, check: Check, number: int) -> Answers:
        """Return the answers in a check; raises its exception, or Violation if it hangs or dies."""
        self.last_call, self.seconds = _BEGAN, self.patience
        try:
            for kind, *content in items_apart(
                self._examine, check, number, patience=lambda: self.seconds, confinement=None
            ):
                if kind == "call":
                    self.last_call, self.seconds = content
                elif kind == FAILED:
                    raise Violation(*content)
                elif kind == SKIPPED:
                    raise NotApplicable(*content)
                else:
                    answers: Answers = pickle.loads(bytes.fromhex(*content))
        except Interrupted as reason:
            trouble = NoAnswer if reason.hangs else Violation
            raise trouble(f"{reason} after {self.last_call}") from None
        return answers

    def _examine(self, send: Send, check: Check, number: int) -> None:
        """Run a check and send its answers or exception, as the main function of a process."""
        self._send, self.number = send, number
        try:
            message = [OK, pickle.dumps(check.run(self) or []).hex()]
        except (Exception, SystemExit) as error:
            message = self._explain(error)
        with suppress(OSError):
            send(message)

    def _explain(self, error: BaseException) -> list[str]:
        """Return the outcome of a check that has raised, and the reason."""
        if isinstance(error, NotApplicable):
            return [SKIPPED, str(error)]
        if isinstance(error, Violation):
            return [FAILED, str(error)]
        if isinstance(error, PlayerFailure):
            if error.reason == RESIGNED:
                return [SKIPPED, "it resigned"]
            raised = f"{error.reason}: {error.detail}"
        else:
            where = traceback.extract_tb(error.__traceback__)[-1]
            raised = f"raised {type(error).__name__}: {error}, "
            raised += f"in {where.filename}, line {where.lineno}"
        return [FAILED, f"{raised}, after {self.last_call}"]

    # ------------------------------------------------------------------ calls

    def tell(self, call: str, position: Position | None = None, seconds: float = 0.0) -> None:
        """Announce the next call and the least patience for it in seconds."""
        self.last_call = f"{call} at\n{position}" if position else call
        self._send(["call", self.last_call, max(seconds, self.patience)])

    @property
    def rulesets(self) -> list[Ruleset]:
        """The rulesets that the agent plays, the largest board first."""
        boards = self.agent.boards()
        return [rules for rules in RULESETS.values() if rules.side in boards]

    @property
    def small_board(self) -> Ruleset:
        """The smallest ruleset that gives different random games."""
        return RULESETS["mini6"] if 6 in self.agent.boards() else self.rulesets[0]

    @property
    def limits(self) -> Limits:
        """No limits if the agent needs none, otherwise limits that it accepts."""
        for limits in (Limits(), Limits(nodes=_NODES), Limits(seconds=0.1)):
            if not (refusal := self.refusal(limits)):
                return limits
        raise Violation(
            f"check_limits refuses to play without limits, with {_NODES} nodes and with 0.1 s a "
            f"move alike: {refusal}"
        )

    def accepted(self, limits: Limits) -> Limits:
        """Return the limits; raises NotApplicable if the agent refuses them."""
        if refusal := self.refusal(limits):
            raise NotApplicable(f"it does not play so: {refusal}")
        return limits

    def refusal(self, limits: Limits) -> str:
        """Return the reason why the agent refuses limits; empty if it accepts them."""
        try:
            self.agent.check_limits(limits)
        except ValueError as error:
            return str(error) or "ValueError"
        return ""

    def lines(self, count: int) -> Iterator[Line]:
        """Yield ``count`` random lines by each ruleset of the agent, ended at any stage."""
        for rules in self.rulesets:
            for _ in range(count):
                yield self.line(rules, int(self.rng.integers(rules.squares - 4)))

    def line(self, rules: Ruleset, plies: int) -> Line:
        """Play ``plies`` random plies; none for an agent that plays whole games only."""
        return _random_line(Position.start(rules), 0 if self.agent.from_start else plies, self.rng)

    def lead(self, line: Line) -> Position:
        """Begin a game and send the agent its moves; return the position that it has to decide."""
        start, *rest = line[1]
        self.tell("begin_game", start)
        self.agent.begin_game(line[1][-1].to_move, start, 1)
        for move, position in zip(line[0], rest, strict=True):
            self.tell(f"observe of the move {_name(move)}, which leads", position)
            self.agent.observe(move, position)
        self.tell("decide", line[1][-1])
        return line[1][-1]

    def ask(self, line: Line, limits: Limits | None = None) -> tuple[Position, Decision]:
        """Return the position at the end of a line, and the agent's decision there.

        Raises Violation if it is no legal move.
        """
        position = self.lead(line)
        answer = self.agent.decide(position, limits or self.limits)
        try:
            decision = valid_answer(answer)
        except ValueError as flaw:
            raise Violation(f"answered {flaw!s:.600}", position) from None
        try:
            position.play(decision.move)
        except IllegalMove as error:
            raise Violation(f"answered {_describe(decision)}: {error}", position) from None
        return position, decision

    def play(self, rules: Ruleset, color: Color, seed: int) -> Answers:
        """Return the agent's decisions in a whole game against random moves.

        Raises Violation if it forfeits.
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
            raise Violation(f"lost a game by {rules.name}, {reason}", record.final)
        position, answers = Position.start(rules), list[tuple[Position, Decision]]()
        for ply in record.plies:
            if ply.color is color and ply.decision:
                answers.append((position, ply.decision))
            position = position.play(ply.move)
        return answers

    def needs_reproducible(self) -> None:
        """Raise NotApplicable if the agent's answers may differ from time to time."""
        if not self.agent.reproducible:
            raise NotApplicable("it says that it is not reproducible")
        if self.agent.watches_clock and self.limits.timed:
            raise NotApplicable("it only plays by the clock")

    # ------------------------------------------------------------------ checks

    @named_check("itself", "Its attributes, boards and limits are well-formed", needed=True)
    def _itself(self) -> None:
        agent = self.agent
        self.tell("boards()")
        boards = agent.boards()
        if not isinstance(boards, frozenset | set) or not boards or not boards <= {4, 6, 8}:
            raise Violation(f"boards() is {boards!r}; a set of sizes out of 4, 6 and 8 is needed")
        if type(agent.version) is not int:
            raise Violation(f"version is {agent.version!r}; a whole number is needed")
        for name in ("reproducible", "watches_clock", "selective", "from_start"):
            if type(getattr(agent, name)) is not bool:
                raise Violation(f"{name} is {getattr(agent, name)!r}; true or false is needed")
        self.tell("check_limits()")
        _ = self.limits

    @named_check("prepare", "prepare() does its work", needed=True)
    def _prepare(self) -> None:
        self.tell("prepare()", seconds=PREPARE_SECONDS)
        self.agent.prepare(self.announce)

    @named_check("moves", "Legal, well-formed moves in random positions", needed=True)
    def _moves(self) -> None:
        for line in self.lines(15):
            self.ask(line)

    @named_check("line", "Its line begins with its move and can be played")
    def _pv(self) -> None:
        for position, decision in map(self.ask, self.lines(5)):
            wrong = ""
            if decision.pv and decision.pv[0] != decision.move:
                wrong = "its line begins with another move"
            # Selective searches may look further than their depth.
            if decision.depth is not None and len(decision.pv) > max(1, decision.depth):
                wrong = "" if self.agent.selective else "its line is longer than it looked ahead"
            try:
                reduce(Position.play, decision.pv, position)
            except IllegalMove as error:
                wrong = f"its line cannot be played: {error}"
            if wrong:
                raise Violation(f"answered {_describe(decision)}: {wrong}", position)

    @named_check("games", "Whole games by each ruleset that it plays")
    def _games(self) -> None:
        for turn, rules in enumerate(self.rulesets):
            self.play(rules, (Color.BLACK, Color.WHITE)[turn % 2], seed=1)

    @named_check("cut short", "Games that begin anywhere and are cut short")
    def _cut_short(self) -> None:
        for rules in self.rulesets:
            self.ask(self.line(rules, 5))
            if not self.agent.from_start:
                start = self.line(rules, 3)[1][-1]
                lines = (_random_line(start, 64, self.rng) for _ in count())
                self.ask(next(line for line in lines if PASS in line[0]))
            self.ask(([], [Position.start(rules)]))

    @named_check("depth", "Limited to depth 1, it looks no further")
    def _depth(self) -> None:
        limits = self.accepted(replace(self.limits, depth=1))
        # Near the start of games on a large board: an agent may solve endgames beyond any depth.
        answers = [self.ask(self.line(self.rulesets[0], plies), limits) for plies in range(6)]
        for position, decision in answers:
            if decision.depth is not None and decision.depth > 1:
                raise Violation(f"answered {_describe(decision)}", position)
        if all(decision.depth is None for _, decision in answers):
            raise NotApplicable("it does not say how far it looks")

    @named_check("nodes", f"Limited to {_NODES:,} nodes, it soon stops")
    def _nodes(self) -> None:
        limits = self.accepted(Limits(nodes=_NODES))
        answers = [self.ask(line, limits) for line in self.lines(3)]
        for position, decision in answers:
            if decision.stats.nodes > 2 * _NODES:  # it may finish a step, such as a playout
                raise Violation(f"answered {_describe(decision)}", position)
        if not any(decision.stats.nodes for _, decision in answers):
            raise NotApplicable("it counts no nodes")

    @named_check("seconds", f"Limited to {_SECONDS:g} s a move, it is in time")
    def _seconds(self) -> None:
        limits = self.accepted(Limits(seconds=_SECONDS))
        for line in self.lines(1):
            for _ in range(3):  # the machine may be busy with something else
                position = self.lead(line)
                started = time.perf_counter()
                self.agent.decide(position, limits)
                seconds = time.perf_counter() - started
                if seconds < 2 * _SECONDS:
                    break
            else:
                raise Violation(f"answered after {seconds:.2f} s", position)

    @named_check("hands off", "It changes no position and no limits")
    def _hands_off(self) -> None:
        for line in self.lines(3):
            limits = self.limits
            (_, positions), old_limits = copy.deepcopy((line, limits))
            self.ask(line, limits)
            if limits != old_limits:
                raise Violation(f"the limits {old_limits} became {limits}", positions[-1])
            for position, now in zip(positions, line[1], strict=True):
                if now != position:
                    raise Violation(f"this position\n{position}\nbecame\n{now}")

    @named_check("seed", "The same seed gives the same game", twice=True)
    def _seed(self) -> Answers:
        self.needs_reproducible()
        random.seed(self.number)
        np.random.seed(self.number)  # noqa: NPY002
        return self.play(self.small_board, Color.BLACK, seed=9)

    @named_check("memory", "Nothing is remembered from earlier games", twice=True)
    def _memory(self) -> Answers:
        self.needs_reproducible()
        if self.number:
            self.play(self.rulesets[0], Color.WHITE, seed=5)
            self.play(self.small_board, Color.WHITE, seed=5)
        return self.play(self.small_board, Color.BLACK, seed=9)

    @named_check("twice", "prepare() may be called again; no answer changes", twice=True)
    def _twice(self) -> Answers:
        self.needs_reproducible()
        if self.number:
            self._prepare.run(self)  # it was prepared before the process was forked
        return [*map(self.ask, self.lines(2))]

    @named_check("close", "It can be closed, played or not", twice=True)
    def _close(self) -> None:
        if self.number:
            self.ask(self.line(self.rulesets[0], 5))
        self.tell("close()")
        self.agent.close()
