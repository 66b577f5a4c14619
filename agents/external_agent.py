"""Agents from outside the lab, and a proxy for one in processes that must not run its code.

An agent is *from outside* if its class is not the lab's own, if it plays through another program,
or if it calls a user's function or heuristic as ordinary Python. Its code runs in processes of its
own (see ``docs/security.md``).
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Files, Limits
from othello_lab.agents.config import build_agent
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.function import FunctionEvaluation
from othello_lab.agents.loading import LAB, own_class
from othello_lab.agents.named_code import named_code
from othello_lab.core.game import Player
from othello_lab.core.position import Position
from othello_lab.core.system import call_filter
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.confinement import ConfinedProcess, Confinement
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants, end_with_parent
from othello_lab.core.system.settings import ConfigError, one_line

START_SECONDS = 300.0
"""Seconds for an agent to be imported, made and prepared; preparing may have to compile."""
_MORE_SECONDS = 10.0  # for its supervisor to report that
_ALIKE_SECONDS = 10.0  # for one that nobody waits for: it is made again to play
_MOST = 1 << 20
_LONGEST = 2000  # characters of an exception's message
_FLAGS = ("reproducible", "watches_clock", "selective", "from_start")


def names_outside(settings: Any) -> bool:
    """Return True if settings name a class or a heuristic's function that is not the lab's own."""
    return any(True for _ in _targets(settings))


def own_kind(settings: Mapping[str, Any]) -> type | None:
    """Return the class of an agent if it is the lab's own, otherwise None."""
    return own_class(str(settings.get("_target_")))


def _targets(settings: Any) -> Iterator[str]:
    """Yield the classes and functions in settings that are not the lab's own."""
    for named in named_code(settings):
        if not named.program and not named.is_ours:
            yield named.target


def _folders_of(settings: Any) -> Iterator[str]:
    """Yield the folders with the code from outside that settings name; nothing is imported."""
    for target in _targets(settings):
        file, in_file, _ = target.partition(".py:")
        if in_file:
            yield os.path.dirname(os.path.abspath(os.path.expanduser(file)))
            continue
        with contextlib.suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(target.partition(".")[0])
            if spec is not None and spec.submodule_search_locations:
                yield from spec.submodule_search_locations
            elif spec is not None and spec.origin:
                yield os.path.dirname(spec.origin)


def is_outside(agent: Agent) -> bool:
    """Return True if an agent runs code that is not the lab's own, compiled heuristics aside."""
    return isinstance(agent, ExternalAgent) or _is_outside(agent)


def _is_outside(thing: Agent | Evaluation) -> bool:
    if not type(thing).__module__.startswith(LAB) or getattr(thing, "from_outside", False):
        return True
    if isinstance(thing, FunctionEvaluation) and not thing.compiled:
        return True
    interpreted = getattr(thing, "compiled", True) is False
    return any(
        _is_outside(part) or (interpreted and isinstance(part, FunctionEvaluation))
        for part in _evaluations(thing)
    )


def _evaluations(thing: Agent | Evaluation) -> Iterator[Evaluation]:
    """Yield the evaluations inside an agent or another evaluation."""
    for value in vars(thing).values():
        if isinstance(value, np.ndarray) and value.dtype != object:
            continue  # a search's memory
        content = value.values() if isinstance(value, Mapping) else value
        for part in content if isinstance(content, Iterable) else [content]:
            if isinstance(part, Evaluation):
                yield part


def observes(agent: Agent) -> bool:
    """Return True if an agent implements ``observe``."""
    if isinstance(agent, ExternalAgent):
        return agent.observes
    return type(agent).observe is not Player.observe


class ExternalAgent(Agent):
    """A proxy for an agent from outside in a process that must not run its code.

    It has the agent's attributes and can make the agent. Every other question goes to the agent in
    another process.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        name: str,
        seconds: float | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        """
        settings: of the agent, in the form of :func:`agents.config.build_agent`. seconds: for it to
        be made; None: START_SECONDS. confinement: of its process; its own files are opened. Raises
        ConfigError if it cannot be made.
        """
        self._settings = settings
        self._name = name
        self._seconds = START_SECONDS if seconds is None else seconds
        self._confinement = (confinement or Confinement()).opening(self.files())
        about = self._request("about")
        try:
            version = about["version"]
            if type(version) is not int or not -(1 << 63) <= version < 1 << 63:
                raise ValueError(f"version is {version!r:.100}; a whole number is needed")
            self.version = version
            for name in _FLAGS:
                setattr(self, name, bool(about[name]))
            self.observes = bool(about["observes"])
            self._sides = frozenset(map(int, about["sides"]))
            self._overrides = set(map(str, about["overrides"]))
            self._like = about["like"]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ConfigError(f"agent '{name}': {one_line(error)}") from None

    @property
    def kind(self) -> type | None:
        """The agent's class if it is the lab's own, otherwise None.

        Then a setting is from outside, such as a heuristic.
        """
        return own_kind(self._settings)

    def make(self) -> Agent:
        """Make the agent itself, in the process that it plays in; raises ConfigError."""
        return build_agent(self._settings, self._name)

    def boards(self) -> frozenset[int]:
        return self._sides

    def check_limits(self, limits: Limits) -> None:
        if "check_limits" in self._overrides:
            self._request("check_limits", limits)

    def prepare(self, announce: Announce | None = None) -> None:
        prepare_alike(self._like, self._name, announce)
        if "prepare" in self._overrides:
            if announce is not None:
                announce(f"agent '{self._name}' prepares itself ...")
            self._request("prepare")  # later processes find its compiled code in the cache

    def files(self) -> Files:
        return Files(tuple(_folders_of(self._settings)))

    def decide(self, position: Position, limits: Limits) -> Decision:
        raise NotImplementedError(f"'{self._name}' plays in a process of its own")

    def _request(self, question: str, limits: Limits | None = None) -> dict[str, Any]:
        seconds = START_SECONDS if question == "prepare" else self._seconds
        return _asked(self.make, self._name, self._confinement, seconds, question, limits)


def prepare_alike(like: Any, name: str, announce: Announce | None) -> None:
    """Load or compile the kernels of an object of the lab's own, see :func:`_like`: a closed
    process keeps no machine code. like: data from a stranger."""
    if isinstance(like, dict) and all(named.is_ours for named in named_code(like)):
        with contextlib.suppress(ValueError, TypeError):
            build_agent(like, name).prepare(announce)


def alike(make: Callable[[], Agent], name: str, confinement: Confinement) -> Any:
    """Return what :func:`prepare_alike` needs for an agent that is made in a process of its own;
    None if it cannot be made."""
    with contextlib.suppress(ConfigError):
        return _asked(make, name, confinement, _ALIKE_SECONDS, "about").get("like")
    return None


def _asked(
    make: Callable[[], Agent],
    name: str,
    confinement: Confinement,
    seconds: float,
    question: str,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Make an agent in another process and return its answer.

    Raises ConfigError, and ValueError if the agent refuses the limits.
    """
    where = f"agent '{name}'"
    work = make, where, confinement, question, limits
    child = ForkedProcess(_supervise, os.getpid(), seconds, work, most=_MOST)
    with closing(child):
        try:
            message = child.receive_within(seconds + _MORE_SECONDS)
            answer = None if message is None else json.loads(message)
        except EOFError:
            raise ConfigError(f"{where}: the process that makes it was killed") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{where}: an answer that cannot be read: {error}") from None
    if answer is None:
        done = "prepared" if question == "prepare" else "made"
        raise ConfigError(f"{where}: was not {done} within {seconds:g} s")
    if not isinstance(answer, dict):
        raise ConfigError("an agent's process sent a malformed answer")
    for key, kind in (("refused", ValueError), ("error", ConfigError)):
        if key in answer:
            raise kind(" ".join(str(answer[key])[:_LONGEST].split()))
    return answer


def _supervise(link: Channel, parent: int, seconds: float, work: tuple[Any, ...]) -> None:
    """Start the process that runs the agent's code, and end all processes that it leaves behind.

    This is the main function of a process that never runs the agent's code.
    """
    adopt_orphans()
    end_with_parent(parent)
    silent = os.open(os.devnull, os.O_WRONLY)
    _, where, confinement, *_ = work
    child = ConfinedProcess(_examine, *work, confinement=confinement, output=silent, most=_MOST)
    try:
        message = child.receive_within(seconds)
        answer = b"null" if message is None else message
    except EOFError:
        code = child.exit_code()
        answer = _error(f"{where}: its process ended (exit code {code}) while it was made")
    except ValueError as error:
        answer = _error(f"{where}: {error}")
    child.close()
    end_descendants([os.getpid()])
    link.send(answer)


def _examine(
    link: Channel,
    make: Callable[[], Agent],
    where: str,
    confinement: Confinement,
    question: str,
    limits: Limits | None,
) -> None:
    """Make the agent and answer one question about it, as the main function of a process."""
    try:
        if not confinement.allows_children:
            call_filter.stay_alone()
        answer = json.dumps(_answer(make(), question, limits or Limits())).encode()
    except ConfigError as error:
        answer = _error(_message_of(error))
    except BaseException as error:
        answer = _error(f"{where}: {type(error).__name__}: {_message_of(error)}")
    link.send(answer)


def _error(problem: str) -> bytes:
    return json.dumps({"error": problem}).encode()


def _answer(agent: Agent, question: str, limits: Limits) -> dict[str, Any]:
    kind = type(agent)
    if question == "about":
        return {name: getattr(agent, name) for name in ("version", *_FLAGS)} | {
            "observes": kind.observe is not Player.observe,
            "sides": sorted(agent.boards()),
            "like": _like(agent),
            "overrides": [
                name
                for name in ("check_limits", "prepare")
                if getattr(kind, name) is not getattr(Agent, name)
            ],
        }
    if question == "prepare":
        agent.prepare()
        return {}
    try:
        agent.check_limits(limits)
    except ValueError as error:
        return {"refused": _message_of(error)}
    return {}


def _like(thing: Agent | Evaluation) -> dict[str, Any] | None:
    """Return the settings of an object of the lab's own that a subclass is made from, as far as
    they are plain data: it runs the same kernels. None if there is none."""
    ours = next(kind for kind in type(thing).__mro__ if kind.__module__.startswith(LAB))
    if inspect.isabstract(ours):
        return None
    settings: dict[str, Any] = {"_target_": f"{ours.__module__}.{ours.__qualname__}"}
    for name in inspect.signature(ours).parameters:
        value = vars(thing).get(name, ...)
        if isinstance(value, Agent | Evaluation):
            settings[name] = _like(value)
        elif isinstance(value, bool | int | float | str | None):
            settings[name] = value
    return settings


def _message_of(error: BaseException) -> str:
    """Return an exception's message, cut if it is long."""
    try:
        return one_line(error)[:_LONGEST]
    except BaseException as another:  # the exception's methods are the agent's code too
        return f"its message cannot be read ({type(another).__name__})"
