"""The process of one agent: it receives questions, and answers.

The questions and answers are JSON, one a message: ``[number, call, argument, ...]`` and ``[number,
kind, ...]`` with the number of the question. So the other side never has to run anything that comes
from here. :class:`~experiments.playing.agent_proxy.AgentProxy` is the other side.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
import threading
import traceback
from operator import attrgetter
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.core.game import PlayerFailure, SearchStats, valid_answer
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.forked import Channel
from othello_lab.experiments.record.turns import COUNTS

LONGEST_TEXT = 10_000
"""Characters of a message or traceback that are kept."""
MOST_LOGGED = 1 << 20
"""Characters that the agent of a process may log; what comes later is dropped."""

_counts = attrgetter(*COUNTS)


def sit(link: Channel, agent: Agent, may_fork: bool, log_level: int) -> None:
    """The main function of a confined agent's process. may_fork: False if it may start no other."""
    if not may_fork:
        agent.forbid_children()
    # What was there before the fork stays: no need for the garbage collector to go through it,
    # and copy it, again and again.
    gc.freeze()
    _AgentServer(link, agent, log_level).serve()


class _AgentServer:
    def __init__(self, link: Channel, agent: Agent, log_level: int) -> None:
        self._link = link
        self._agent, self._is_new = agent, False
        self._lock = threading.Lock()
        root = logging.getLogger()
        for other in list(root.handlers):
            root.removeHandler(other)
        root.addHandler(_SendText(self._send))
        root.setLevel(log_level)

    def serve(self) -> None:
        call = ""
        while call != "close":
            try:
                number, call, *arguments = json.loads(self._link.receive())
            except EOFError:
                return
            try:
                answer = _encoded([number, *(getattr(self, f"_{call}")(*arguments) or ["ok"])])
            except PlayerFailure as fault:  # of a program that the agent stands for
                answer = _encoded([number, "fault", fault.reason, _cut(fault.detail)])
            except BaseException as error:  # whatever it is, it is the agent's own
                answer = _encoded([number, "raised", _text(error)])
            self._send(answer)

    def _send(self, message: bytes) -> None:
        with self._lock:
            self._link.send(message)

    def _make(self) -> None:
        if isinstance(self._agent, ExternalAgent):
            self._agent = self._agent.make()
            self._is_new = True

    def _prepare(self) -> None:
        if self._is_new:
            self._agent.prepare()

    def _begin(self, color: str, start: list[Any], seed: int) -> None:
        self._agent.begin_game(Color(color), _position(start), seed)

    def _observe(self, move: int, position: list[Any]) -> None:
        self._agent.observe(move, _position(position))

    def _decide(self, position: list[Any], limits: list[Any]) -> list[Any]:
        answer = self._agent.decide(_position(position), Limits(*limits))
        try:
            made = valid_answer(answer)
        except ValueError as flaw:
            return ["garbage", str(flaw)]
        return ["decision", made.move, made.value, made.pv, made.depth, _counts(made.stats)]

    def _close(self) -> None:
        self._agent.close()


def _encoded(message: list[Any]) -> bytes:
    return json.dumps(message).encode()


def _text(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException as another:  # its own methods are the agent's, too
        text = f"{type(error).__name__}, which cannot be told ({type(another).__name__})"
    return _cut(text)


def _cut(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        half = LONGEST_TEXT // 2
        text = f"{text[:half]}\n[...]\n{text[-half:]}"
    return text


class _SendText(logging.Handler):
    """Log handler that sends records as text; a child of the agent's process prints them."""

    def __init__(self, send: Any) -> None:
        super().__init__()
        self._send_message = send
        self._owner = os.getpid()
        self._left = MOST_LOGGED

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)[:LONGEST_TEXT]
        except BaseException as error:
            text = f"a log record that cannot be told: {type(error).__name__}"
        if os.getpid() != self._owner:
            print(text, file=sys.stderr)
        elif self._left > 0:
            self._left -= len(text)
            if self._left <= 0:
                text = "it has logged too much; the rest is dropped"
            self._send_message(_encoded([None, "log", record.levelno, str(record.name), text]))


def plain_position(position: Position) -> list[Any]:
    """A position as JSON has it."""
    return [position.mover, position.opponent, position.to_move.value, position.ruleset.name]


def _position(plain: list[Any]) -> Position:
    mover, opponent, to_move, rules = plain
    return Position(mover, opponent, Color(to_move), ruleset(rules))


def read_decision(plain: list[Any]) -> Decision:
    """Return a decision from the data that a process sends; its sense is not checked. Raises
    TypeError or ValueError for other data."""
    move, value, pv, depth, counts = plain
    return Decision(move, value, tuple(pv), depth, SearchStats(*counts))
