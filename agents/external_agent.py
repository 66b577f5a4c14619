"""Agents from outside the lab: who they are, and what stands for one where its code must not run.

An agent whose class is not the lab's own, that stands for another program, or that calls a
function or heuristic of somebody's as ordinary Python, is *from outside*. Its code runs in
processes of its own (see ``docs/security.md``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.config import ConfigError, build_agent, one_line, resolve
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.function import FunctionEvaluation
from othello_lab.core.game import Player
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.confinement import confine
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants, end_with_parent

START_SECONDS = 300.0
"""So long an agent may take to be imported, made and prepared, which may have to compile."""
_MORE_SECONDS = 10.0  # until its supervisor has said so
_MOST = 1 << 20
_LONGEST = 2000  # characters of what an exception says
_OURS = "othello_lab"


def is_ours(name: str) -> bool:
    """Whether a module or class of this name is the lab's own; what stands in a file of its own
    (``agents.py:Mine``) is not."""
    return ".py:" not in name and name.partition(".")[0] == _OURS


def names_outside(settings: Any) -> bool:
    """Whether settings name a class, or a function of a heuristic, that is not the lab's own."""
    if isinstance(settings, Mapping):
        for key in ("_target_", "target"):
            if isinstance(settings.get(key), str) and not is_ours(settings[key]):
                return True
        return any(names_outside(value) for value in settings.values())
    return isinstance(settings, list | tuple) and any(map(names_outside, settings))


def is_outside(agent: Agent) -> bool:
    """Whether an agent runs code that is not the lab's own, compiled heuristics aside."""
    return isinstance(agent, ExternalAgent) or _is_outside(agent)


def _is_outside(thing: Agent | Evaluation) -> bool:
    if not is_ours(type(thing).__module__) or getattr(thing, "from_outside", False):
        return True
    if isinstance(thing, FunctionEvaluation) and not thing.compiled:
        return True
    interpreted = getattr(thing, "compiled", True) is False
    return any(
        _is_outside(part) or (interpreted and isinstance(part, FunctionEvaluation))
        for part in _evaluations(thing)
    )


def _evaluations(thing: Agent | Evaluation) -> Iterator[Evaluation]:
    """The evaluations that an agent, or another evaluation, is made of."""
    for value in vars(thing).values():
        inside = value.values() if isinstance(value, Mapping) else value
        for part in inside if isinstance(inside, Iterable) else [inside]:
            if isinstance(part, Evaluation):
                yield part


def observes(agent: Agent) -> bool:
    """Whether an agent wants to be told of moves."""
    if isinstance(agent, ExternalAgent):
        return agent.observes
    return type(agent).observe is not Player.observe


class ExternalAgent(Agent):
    """Stands for an agent from outside where its code must not run: it knows what the agent says of
    itself, and how to make it. All that is asked of the agent itself is asked in another process.
    """

    def __init__(self, settings: Mapping[str, Any], name: str) -> None:
        """
        settings: of the agent, as :func:`agents.config.build_agent` takes them. Raises ConfigError
        if it cannot be made.
        """
        self._settings = settings
        self._name = name
        about = self._asked("about", None)
        try:
            version = about["version"]
            if type(version) is not int or not -(1 << 63) <= version < 1 << 63:
                raise ValueError(f"version is {version!r:.100}; a whole number is needed")
            self.version = version
            self.reproducible = bool(about["reproducible"])
            self.watches_clock = bool(about["watches_clock"])
            self.selective = bool(about["selective"])
            self.from_start = bool(about["from_start"])
            self.observes = bool(about["observes"])
            self._sides = frozenset(map(int, about["sides"]))
            self._overrides = set(map(str, about["overrides"]))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ConfigError(f"agent '{name}': {one_line(error)}") from None

    @property
    def kind(self) -> type | None:
        """Its class, where that is the lab's own, so that only its settings name what is not, such
        as a heuristic; otherwise None."""
        target = self._settings.get("_target_")
        found = resolve(target) if isinstance(target, str) and is_ours(target) else None
        return found if isinstance(found, type) else None

    def make(self) -> Agent:
        """The agent itself, in the process in which it plays; raises ConfigError."""
        return build_agent(self._settings, self._name)

    def boards(self) -> frozenset[int]:
        return self._sides

    def check_limits(self, limits: Limits) -> None:
        if "check_limits" in self._overrides:
            self._asked("check_limits", limits)

    def prepare(self, announce: Announce | None = None) -> None:
        if "prepare" in self._overrides:
            if announce is not None:
                announce(f"agent '{self._name}' prepares itself ...")
            self._asked("prepare", None)  # what it compiles there is kept for later processes

    def decide(self, position: Position, limits: Limits) -> Decision:
        raise NotImplementedError(f"'{self._name}' plays in a process of its own")

    def _asked(self, question: str, limits: Limits | None) -> dict[str, Any]:
        """What the agent answers, made in another process; raises ConfigError, or ValueError if it
        refuses the limits."""
        where = f"agent '{self._name}'"
        child = ForkedProcess(_supervise, os.getpid(), self, question, limits, most=_MOST)
        with closing(child):
            try:
                message = child.receive_within(START_SECONDS + _MORE_SECONDS)
                answer = None if message is None else json.loads(message)
            except EOFError:
                raise ConfigError(f"{where}: the process that makes it was killed") from None
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{where}: an answer that cannot be read: {error}") from None
        if answer is None:
            raise ConfigError(f"{where}: was not made within {START_SECONDS:g} s")
        _raise_if_refused(answer)
        return answer


def _raise_if_refused(answer: Any) -> None:
    if not isinstance(answer, dict):
        raise ConfigError("an agent's process answered what is no answer")
    for key, kind in (("refused", ValueError), ("error", ConfigError)):
        if key in answer:
            raise kind(one_line(ValueError(str(answer[key])[:_LONGEST])))


def _supervise(
    link: Channel, parent: int, outsider: ExternalAgent, question: str, limits: Limits | None
) -> None:
    """The main function of a process that never runs the agent's code: it starts the one that does,
    and ends all that it leaves behind."""
    adopt_orphans()
    end_with_parent(parent)
    child = ForkedProcess(_examine, os.getpid(), outsider, question, limits, most=_MOST)
    try:
        message = child.receive_within(START_SECONDS)
        answer = b"null" if message is None else message
    except EOFError:
        what = f"its process ended (exit code {child.exit_code()}) while it was made"
        answer = json.dumps({"error": f"agent '{outsider._name}': {what}"}).encode()
    except ValueError as error:
        answer = json.dumps({"error": f"agent '{outsider._name}': {error}"}).encode()
    child.close()
    end_descendants([os.getpid()])
    link.send(answer)


def _examine(
    link: Channel, parent: int, outsider: ExternalAgent, question: str, limits: Limits | None
) -> None:
    """The main function of a process: make the agent, and answer one question about it."""
    silent = os.open(os.devnull, os.O_WRONLY)
    confine(parent, link.fileno(), silent, None)
    try:
        answer = json.dumps(_answer(outsider, question, limits))
    except ConfigError as error:
        answer = json.dumps({"error": _said(error)})
    except BaseException as error:
        what = f"agent '{outsider._name}': {type(error).__name__}: {_said(error)}"
        answer = json.dumps({"error": what})
    link.send(answer.encode())


def _answer(outsider: ExternalAgent, question: str, limits: Limits | None) -> dict[str, Any]:
    agent = outsider.make()
    if question == "prepare":
        agent.prepare()
    if question == "check_limits":
        try:
            agent.check_limits(limits or Limits())
        except ValueError as error:
            return {"refused": _said(error)}
    return _about(agent) if question == "about" else {}


def _said(error: BaseException) -> str:
    """What an exception says, cut if it is long."""
    try:
        return one_line(error)[:_LONGEST]
    except BaseException as another:  # its own methods are the agent's, too
        return f"it cannot be told ({type(another).__name__})"


def _about(agent: Agent) -> dict[str, Any]:
    kind = type(agent)
    return {
        "version": agent.version,
        "reproducible": agent.reproducible,
        "watches_clock": agent.watches_clock,
        "selective": agent.selective,
        "from_start": agent.from_start,
        "observes": kind.observe is not Player.observe,
        "sides": sorted(agent.boards()),
        "overrides": [
            name
            for name in ("check_limits", "prepare")
            if getattr(kind, name) is not getattr(Agent, name)
        ],
    }
