"""Sides of a match: the agent that a user's word names.

A word may name an agent or an evaluation of the lab, a class or function in a file of Python, the
YAML of an agent, or a program and its arguments. Code of the user runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from othello_lab.agents.agent import Agent, Limits
from othello_lab.agents.composing import FILLED_BY_RUN, NEEDS_A_TARGET, OPEN, choices, typed_value
from othello_lab.agents.external import GtpAgent, LineAgent, NBoardAgent, WpiAgent
from othello_lab.agents.external.program import words_in
from othello_lab.agents.loading import last_line
from othello_lab.agents.recognition import (
    DOUBTFUL,
    EVALUATION,
    EVALUATION_CLASS,
    MAKER,
    PROGRAM,
    STRATEGY,
    about,
)
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants
from othello_lab.core.system.settings import ConfigError, nearest

SEARCH = "alphabeta"
"""The agent around a side that is an evaluation."""
_SECONDS = 30.0  # for a user's file to load, and for a program to answer in one protocol
_PATIENCE = 3.0  # for a program's answer that is no move
_INTERPRETERS = re.compile(r"(python|pypy|java|node|deno|ruby|perl|bash|sh|mono|dotnet)[\d.]*")
_PROTOCOLS: Mapping[str, Callable[[str], Agent]] = {
    "gtp": lambda command: GtpAgent(command, patience=_PATIENCE),
    "nboard": lambda command: NBoardAgent(command, depth=1, patience=_PATIENCE),
    "line": lambda command: LineAgent(command, patience=_PATIENCE),
    "wpi": lambda command: WpiAgent(command, patience=_PATIENCE),
}
"""Protocols of programs in the order in which they are tried."""
_NEEDING_MORE = (*_PROTOCOLS, "function", "openspiel")
"""Agents that need a command or a function, which a single word cannot say."""


@dataclass(frozen=True)
class Side:
    """One side of a match.

    label: a short name. kind: what the word was understood as, in words. settings: words of the
    configuration of a duel, as ``run`` takes them, without their place. target: the user's code or
    command; "" for an agent of the lab. searches: True if it takes a depth and an evaluation.
    is_agent: True for a class, or a function, that chooses moves.
    """

    label: str
    kind: str
    settings: Sequence[str]
    target: str = ""
    searches: bool = False
    is_agent: bool = False

    def words(self, place: str) -> list[str]:
        """Return the settings of the place ``first`` or ``second``."""
        return [word.replace("PLACE", place, 1) for word in self.settings]


def side_of(word: str, search: str = SEARCH, folders: Sequence[str | Path] = ()) -> Side:
    """Return the side that a word names.

    search: the agent around an evaluation. folders: further folders of YAMLs. Raises ConfigError
    that says what was understood.
    """
    evaluations, agents = (choices(group, folders) for group in ("evaluation", "agent"))
    if word in agents and word not in _NEEDING_MORE:
        return Side(word, "an agent", [f"agent@PLACE={word}"])
    if word in evaluations and word != NEEDS_A_TARGET:
        return _evaluation_side(word, word, search)
    if word.endswith((".yaml", ".yml")):
        return Side(Path(word).stem, "an agent's YAML", [f"agent@PLACE={typed_value(word)}"], word)
    if _is_program(word):
        return _program_side(word)
    if re.search(r"\.py(:|$)", word) or re.fullmatch(r"[\w.]+:.+", word):
        return _python_side(word, search)
    raise ConfigError(
        f"'{word}': no agent, evaluation or program has this name; needed is a name of "
        "`othello-lab agents list`, file.py:NAME, the YAML of an agent, or a program with its "
        f"arguments.{nearest(word, [*agents, *evaluations])}"
    )


def with_open_settings(words: Sequence[str]) -> list[str]:
    """Return overrides of a run in which an agent given by its class leaves open all that it needs
    of ``depth`` and ``evaluation``, unless a word sets it.

    The run then fills both. A word that cannot be understood here stays as it is.
    """
    said = {word.lstrip("+").partition("=")[0] for word in words}
    opened, kept = [], []
    for word in words:
        if match := re.fullmatch(r"(\+?)agent@([^=]+)='?([^,']+\.py:\w+)'?", word):
            plus, place, target = match.groups()
            told = _answer_of_child(_describe, target, target)
            if settings := settings_of_function(told):
                word = f"{plus}agent@{place}={_agent_word(settings)}"
                opened.append(f"{place}.target={typed_value(target)}")
            keys = [f"{place}.{name}" for name in told.get("open", ())]
            opened += [f"{key}='{OPEN}'" for key in keys if key not in said]
        kept.append(word)
    return [*kept, *opened]


def _agent_word(settings: Mapping[str, Any]) -> str:
    """Return the word of a configuration for an agent that plays as a function."""
    target = str(settings.get("_target_", ""))
    return "function" if target.endswith(":FunctionAgent") else target


def settings_of_function(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an agent that plays as a function, or as one makes strategies; none
    for anything else. told: see :func:`described`."""
    if told.get("kind") in (STRATEGY, DOUBTFUL):
        return {"_target_": "othello_lab.agents.external:FunctionAgent", "target": told["target"]}
    if told.get("kind") == MAKER:
        target = "othello_lab.agents.diagnosis:StrategyFromFactory"
        return {"_target_": target, "target": told["target"]}
    return {}


def _is_program(command: str) -> bool:
    """Return True if a word names a program. A file of Python alone is described first."""
    try:
        words = words_in(command)
    except ValueError:
        return False
    return shutil.which(words[0]) is not None and not (len(words) == 1 and words[0].endswith(".py"))


def _evaluation_side(label: str, setting: Any, search: str, target: str = "") -> Side:
    words = [f"agent@PLACE={search}", f"PLACE.evaluation={typed_value(setting)}"]
    return Side(label, f"an evaluation, in {search}", words, target)


# ------------------------------------------------------------------ Python


def described(word: str) -> dict[str, Any]:
    """Return what :func:`~agents.recognition.about` says of a target, tried in a process of its
    own; raises ConfigError."""
    told = _answer_of_child(_describe, word, f"{word}: loading it")
    if "error" in told:
        raise ConfigError(f"{word}: {told['error']}")
    return told


def _python_side(word: str, search: str) -> Side:
    told = described(word)
    kind, target = told["kind"], told["target"]
    if kind == DOUBTFUL:
        raise ConfigError(f"{word}: {told['question']}")
    if kind == PROGRAM:
        try:
            return _program_side(word if Path(word).stat().st_mode & 0o100 else f"python3 {word}")
        except ConfigError as error:
            if told["question"]:
                raise ConfigError(f"{word}: {told['question']}; {error}") from None
            raise
    label = re.split(r"[.:]", target.partition("(")[0])[-1]
    if kind in (EVALUATION, EVALUATION_CLASS):
        setting = target if kind == EVALUATION else {"_target_": target}
        return _evaluation_side(label, setting, search, target)
    settings = settings_of_function(told)
    words = [f"agent@PLACE={_agent_word(settings) or target}"]
    words += [f"PLACE.target={typed_value(target)}"] if settings else []
    words += [f"PLACE.{name}='{OPEN}'" for name in told["open"]]
    what = "a strategy" if kind == STRATEGY else "an agent"
    searches = set(told["open"]) == set(FILLED_BY_RUN)
    return Side(label, what, words, target, searches, is_agent=True)


def _describe(link: Channel, target: str) -> None:
    """Tell what a target is, as the main function of a process."""
    sys.stdin = open(os.devnull)  # noqa: SIM115  a program that reads its input ends at once
    try:
        told = about(target)
    except Exception as error:
        file = str(Path(target.partition(".py:")[0].removesuffix(".py") + ".py").resolve())
        reason = str(error) if isinstance(error, ValueError) else last_line(error, file)
        told = {"error": " ".join(reason.split())}
    link.send(json.dumps(told).encode())


# ------------------------------------------------------------------ programs


def _program_side(command: str) -> Side:
    protocol = protocol_of(command)
    words = [f"agent@PLACE={protocol}", f"PLACE.command={typed_value(command)}"]
    if protocol == WHOLE_GAMES:
        words.append("openings=start")
    return Side(program_name(command), f"a program ({protocol})", words, command)


WHOLE_GAMES = "wpi"
"""The protocol of programs that play from the start alone."""


def program_name(command: str) -> str:
    """Return a short name of a program.

    >>> [program_name(command) for command in ("java Bert", "python3 -u ./my_bot.py 3", "./anna")]
    ['Bert', 'my_bot', 'anna']
    """
    words = words_in(command)
    interpreted = _INTERPRETERS.fullmatch(Path(words[0]).name)
    names = [word for word in words[1:] if not word.startswith("-")] if interpreted else []
    return Path((names or words)[0]).stem


def protocol_of(command: str) -> str:
    """Return the protocol in which a program plays: each is tried in turn; raises ConfigError."""
    complaints = []
    for protocol in _PROTOCOLS:
        answer = _answer_of_child(_try_protocol, (protocol, command), f"{command}: {protocol}")
        if "error" not in answer:
            return protocol
        complaints.append(f"{protocol}: {answer['error']:.120}")
    raise ConfigError(
        f"'{command}' is a program, but plays by no protocol here ({'; '.join(complaints)})"
    )


def _try_protocol(link: Channel, asked: tuple[str, str]) -> None:
    """Ask a program for a first move, as the main function of a process."""
    adopt_orphans()
    protocol, command = asked
    start = Position.start()
    told: dict[str, str] = {}
    try:
        with closing(_PROTOCOLS[protocol](command)) as agent:
            agent.begin_game(Color.BLACK, start, 0)
            start.play(agent.decide(start, Limits(seconds=1.0)).move)
    except (PlayerFailure, ValueError, OSError) as error:
        told["error"] = " ".join(str(getattr(error, "detail", "") or error).split())
    link.send(json.dumps(told).encode())


def _answer_of_child(main: Callable[..., None], argument: Any, where: str) -> dict[str, Any]:
    """Return the answer of a function that runs in a process of its own; raises ConfigError."""
    with closing(ForkedProcess(main, argument)) as child:
        try:
            message = child.receive_within(_SECONDS)
        except EOFError:
            return {"error": f"{where} ended its process"}
        finally:
            end_descendants([child.number])
    return json.loads(message) if message else {"error": f"{where} took over {_SECONDS:g} s"}
