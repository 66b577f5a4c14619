"""Sides of a match: the agent that a user's word names.

A word may name an agent or an evaluation of the lab, a class or function in a file of Python, the
YAML of an agent, or a program and its arguments. Code of the user runs in a process of its own.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from othello_lab.agents import loading
from othello_lab.agents.agent import Agent, Limits
from othello_lab.agents.conf_folder import NEEDS_A_TARGET
from othello_lab.agents.config import FILLED_BY_RUN, OPEN, choices
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.board_list import PIECES, board_list, square_at
from othello_lab.agents.evaluation.function import is_heuristic
from othello_lab.agents.external import GtpAgent, LineAgent, NBoardAgent, WpiAgent
from othello_lab.agents.external.program import words_in
from othello_lab.agents.hydra_parts import typed_value
from othello_lab.agents.loading import last_line
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
    if word in agents and word not in _needing_more(agents):
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
    opened = []
    for word in words:
        if match := re.fullmatch(r"\+?agent@([^=]+)='?([^,']+\.py:\w+)'?", word):
            place, target = match.groups()
            about = _answer_of_child(_describe, target, target)
            keys = [f"{place}.{name}" for name in about.get("open", ())]
            opened += [f"{key}='{OPEN}'" for key in keys if key not in said]
    return [*words, *opened]


def _is_program(command: str) -> bool:
    """Return True if a word names a program. A file of Python alone is described first."""
    try:
        words = words_in(command)
    except ValueError:
        return False
    return shutil.which(words[0]) is not None and not (len(words) == 1 and words[0].endswith(".py"))


def _needing_more(agents: Mapping[str, str]) -> set[str]:
    """Return the agents that need a command or a function, which a single word cannot say."""
    return {name for name in agents if name in (*_PROTOCOLS, "function", "openspiel")}


def _evaluation_side(label: str, target: str, search: str) -> Side:
    words = [f"agent@PLACE={search}", f"PLACE.evaluation={typed_value(target)}"]
    outside = target if ":" in target else ""
    return Side(label, f"an evaluation, in {search}", words, outside)


# ------------------------------------------------------------------ Python


def _python_side(word: str, search: str) -> Side:
    about = _answer_of_child(_describe, word, f"{word}: loading it")
    if "error" in about:
        raise ConfigError(f"{word}: {about['error']}")
    if about["kind"] == "program":
        return _program_side(word if Path(word).stat().st_mode & 0o100 else f"python3 {word}")
    target = about["target"]
    label = re.split(r"[.:]", target.partition("(")[0])[-1]
    if about["kind"] == "evaluation":
        return _evaluation_side(label, target, search)
    if about["kind"] == "evaluation class":
        described = typed_value({"_target_": target})
        words = [f"agent@PLACE={search}", f"PLACE.evaluation={described}"]
        return Side(label, f"an evaluation, in {search}", words, target)
    if about["kind"] == "strategy":
        words = ["agent@PLACE=function", f"PLACE.target={typed_value(target)}"]
        return Side(label, "a strategy", words, target)
    maker = target
    words = []
    if about["kind"] == "maker":
        target = "othello_lab.agents.diagnosis:StrategyFromFactory"
        words = [f"PLACE.target={typed_value(maker)}"]
    words = [f"agent@PLACE={target}", *words]
    words += [f"PLACE.{name}='{OPEN}'" for name in about["open"]]
    searches = set(about["open"]) == set(FILLED_BY_RUN)
    return Side(label, "an agent", words, maker, searches, is_agent=True)


def _describe(link: Channel, target: str) -> None:
    """Tell what a target is, as the main function of a process."""
    sys.stdin = open(os.devnull)  # noqa: SIM115  a program that reads its input ends at once
    describe = _about_file if target.endswith(".py") else _about
    try:
        told = describe(target)
    except Exception as error:
        file = str(Path(target.partition(".py:")[0].removesuffix(".py") + ".py").resolve())
        reason = str(error) if isinstance(error, ValueError) else last_line(error, file)
        told = {"error": " ".join(reason.split())}
    link.send(json.dumps(told).encode())


def _about(target: str) -> dict[str, Any]:
    """Describe the object that a target names; raises ValueError.

    An exception of a function that is tried passes through.
    """
    thing = loading.find(target)
    kind = _kind_of(thing)
    if not kind:
        raise ValueError(
            f"it is {_shown(thing)}; an agent (a class), an evaluation (@heuristic), a strategy of "
            "(player, board) or a maker of one from (depth, evaluation) is needed"
        )
    wanted = _required(thing) if kind in ("agent", "maker") else []
    opened = (
        list(FILLED_BY_RUN)
        if kind == "maker"
        else [name for name in FILLED_BY_RUN if name in wanted]
    )
    if missing := [name for name in wanted if kind == "agent" and name not in FILLED_BY_RUN]:
        raise ValueError(f"its class needs {', '.join(missing)}; put them into a YAML of the agent")
    return {"kind": kind, "open": opened, "target": target}


def _shown(thing: object) -> str:
    if isinstance(thing, type):
        return f"the class {thing.__name__}, which is no othello_lab.Agent"
    if isinstance(thing, Agent):
        return "an agent that is made already; name its class, with the settings as first.NAME=..."
    with suppress(TypeError, ValueError):
        return f"a function of {inspect.signature(thing)}"  # type: ignore[arg-type]
    return f"{thing!r:.80}"


def _about_file(file: str) -> dict[str, Any]:
    """Describe the one thing that a file has for a side; raises ValueError."""
    module = loading.load_module(file)
    kinds = {
        name: kind
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", None) == module.__name__ and (kind := _kind_of(thing))
    }
    if len(names := list(kinds)) == 1:
        return _about(f"{file}:{names[0]}")
    if kinds:
        listed = ", ".join(f"{file}:{name} ({kind})" for name, kind in kinds.items())
        raise ValueError(f"it holds several; name one of {listed}")
    return {"kind": "program", "target": file}


def _kind_of(thing: Any) -> str:
    """Return the kind of an object in a user's file, "" for none."""
    if isinstance(thing, type):
        base = next((kind for kind in (Agent, Evaluation) if issubclass(thing, kind)), None)
        return {Agent: "agent", Evaluation: "evaluation class", None: ""}[base]
    if is_heuristic(thing):
        return "evaluation"
    try:
        names = list(inspect.signature(thing).parameters)
    except (TypeError, ValueError, NameError):  # Python 3.14 evaluates annotations here
        return ""
    if names == ["player", "board"]:
        return "strategy" if _plays(thing) else "evaluation"
    depths = {"depth", "plies", "ply"}
    return "maker" if len(names) == 2 and depths & set(names) else ""


def _plays(function: Callable[[str, list[str]], Any]) -> bool:
    """Return True if a function of (player, board) answers with legal moves."""
    position = Position.start()
    for _ in range(4):
        answer = function(PIECES[position.to_move], board_list(position.black, position.white))
        try:
            position = position.play(square_at(answer))
        except (TypeError, ValueError):
            return False
    return True


def _required(thing: Any) -> list[str]:
    """Return the parameters of a class, or a function, that have no default."""
    parameters = inspect.signature(thing).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in parameters if p.default is p.empty and p.kind in kinds]


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
        agent = _PROTOCOLS[protocol](command)
        with closing(agent):
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
    return (
        {"error": f"{where} took over {_SECONDS:g} s"} if message is None else json.loads(message)
    )
