"""A match of two sides, from words or from objects of a program: its settings, checks and play."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.composing import compose, typed_value
from othello_lab.agents.config import build_agent
from othello_lab.agents.evaluation import Evaluation, as_evaluation
from othello_lab.agents.limited import Limited
from othello_lab.agents.naming import names_by_difference, names_by_files
from othello_lab.agents.sides import SEARCH, Side, side_of
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import (
    Plan,
    RunConfig,
    checked_settings,
    make_agent,
    match_name,
    plan_of,
    rename_agents,
)
from othello_lab.experiments.jobs.replan import about_object
from othello_lab.experiments.jobs.result import RunResult
from othello_lab.experiments.jobs.run import run

PLACES = ("first", "second")
SHORT = dict.fromkeys(("seconds", "cpu_seconds", "nodes", "clock"), "limits.")
SHORT |= {"workers": "executor."}
"""Settings that need no prefix in a match, with that prefix."""
_DECIDED = "until=decided"
_NO_BUDGET = "minutes=null"
_LIMITS = ("depth", "nodes", "seconds", "cpu_seconds", "clock")
_BY_TIME = ("depth_by_time", "endgame_by_time")
_USUAL_SECONDS = 0.1
"""Seconds of processor time a move of a search that goes by its time, where no limit is set."""


def match(
    first: Any, second: Any, *settings: str, check: bool = True, quiet: bool = True, **named: Any
) -> RunResult:
    """Play two sides against each other until it is decided which is better.

    first, second: an evaluation, an agent, a strategy or a program, by its name, path or command as
    in ``othello-lab match``; or an object: a function of ``(mover, opponent)``, an Evaluation, an
    Agent. settings, named: as there: ``games=200``, ``minutes=5``, ``depth=6``, ``seconds=0.05``,
    ``agent="pvs"``; those with a dot as words, ``"first.depth=6"``. check: first hold classes of
    agents in files to their contract, and their searches to minimax. quiet: False prints progress
    and results.

    Raises ConfigError (a ValueError).

    >>> from othello_lab.agents.evaluation.helpers import CORNERS, count
    >>> def corners(mover, opponent):
    ...     return count(mover & CORNERS) - count(opponent & CORNERS)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = match(corners, "iago", games=4, depth=1, results=folder, figures="none")
    ...     sorted(result.summary["agent"])
    ['corners', 'iago']
    """
    words = [*settings, *(f"{key}={typed_value(value)}" for key, value in named.items())]
    search, words = search_and_settings(words)
    sides = [_side(thing, search) for thing in (first, second)]
    return play_sides(sides, words, "othello_lab.match(...)", Console(quiet=quiet), check=check)


def play_sides(
    sides: Sequence[MatchSide],
    settings: Sequence[str],
    command: str,
    console: Console,
    folders: Sequence[str] = (),
    check: bool = True,
    lines: Sequence[str] = (),
) -> RunResult:
    """Check two sides, and play them against each other; raises ConfigError.

    settings: words of the configuration. command: as typed. folders: further ones of YAMLs. about:
    lines on the sides, printed if they can play.
    """
    plan, checks = planned(sides, settings, folders)

    def tell(*sentences: str) -> None:
        for sentence in sentences:
            console.print(plain(sentence), soft_wrap=True)

    tell(*lines, *checks)
    for side in (match_side.side for match_side in sides if check and is_checked(match_side.side)):
        tell(f"checking {side.target} (up to {MOST_SECONDS:g} s; --no-check plays at once)")
        verdicts = check_side(side)
        tell(*verdicts)
        checks += verdicts
    return run(plan, command, console, checks=checks)


@dataclass(frozen=True)
class MatchSide:
    """A side, and the object that it is, if a program gave one: an Agent or an Evaluation."""

    side: Side
    thing: Agent | Evaluation | None = None


def _side(thing: Any, search: str) -> MatchSide:
    if isinstance(thing, str):
        return MatchSide(side_of(thing, search))
    if isinstance(thing, Agent):
        label = re.sub("_?agent$", "", type(thing).__name__.lower()) or "agent"
        return MatchSide(Side(label, "an agent", ["agent@PLACE=random"]), thing)
    try:
        evaluation = as_evaluation(thing)
    except ValueError as error:
        what = f"{thing!r:.80} is no side of a match"
        if not (inspect.isfunction(thing) or isinstance(thing, Evaluation)):
            raise ConfigError(
                f"{what}: a name, a function of (mover, opponent), an Evaluation or an Agent is "
                "needed"
            ) from None
        raise ConfigError(f"{what}: {error}") from error
    label = evaluation.name.replace(" ", "_")
    return MatchSide(Side(label, "an evaluation", [f"agent@PLACE={search}"]), evaluation)


def search_and_settings(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the agent around evaluations, and the words of a run for those of a match.

    Raises ConfigError.
    """
    search, settings = SEARCH, []
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"cannot read '{word}': settings are written key=value")
        if key == "agent":
            search = value.strip("'")
        elif key in PLACES:
            raise ConfigError(
                f"{word}: {key} is a side of the match, with settings {key}.NAME=...; seconds=... "
                "limits a move"
            )
        elif key == "until":
            if word.replace("'", "") != _DECIDED:
                raise ConfigError(f"{word}: {_DECIDED} is the only choice; or games=N, minutes=M")
            settings.append(_NO_BUDGET)
        else:
            settings.append(f"{SHORT.get(key, '')}{word}")
    keys = {word.partition("=")[0] for word in settings}
    if "games" in keys and "minutes" not in keys:
        settings.append(_NO_BUDGET)
    return search, settings


def planned(
    sides: Sequence[MatchSide], settings: Sequence[str], folders: Sequence[str] = ()
) -> tuple[Plan, list[str]]:
    """Return the plan of a match of two sides, and sentences on the limits that it adds.

    settings: further words of the configuration; they override those of the sides. Raises
    ConfigError.
    """
    said = {word.partition("=")[0] for word in settings}
    of_sides = [
        word
        for position, side in zip(PLACES, sides, strict=True)
        for word in side.side.words(position)
        if word.partition("=")[0] not in said
    ]
    words = [*dict.fromkeys(of_sides), *settings]
    config = checked_settings(compose("match", words, folders), words)
    names = [side.side.label for side in sides]
    if names[0] == names[1]:
        names = names_by_files([side.side.target for side in sides]) or names
    if names[0] == names[1]:
        names = names_by_difference(list(config.agents.values()), names)
    rename_agents(config, dict(zip(config.agents, names, strict=True)))
    if "name" not in said:
        config.name = match_name(list(config.agents))
    is_function = any(isinstance(side.thing, Evaluation) for side in sides)
    added = [] if is_function else _limit(config, said)
    return plan_of(config, _objects(config, sides)), added


def _limit(config: RunConfig, said: Collection[str]) -> list[str]:
    """Limit each search that goes by its time, where nothing does; return sentences on them."""
    if any(getattr(config.limits, name) is not None for name in _LIMITS):
        return []
    added = []
    for position, (name, agent) in zip(PLACES, config.agents.items(), strict=True):
        if any(agent.get(setting) for setting in _BY_TIME) and f"{position}.depth" not in said:
            limits = {"agent": agent, "cpu_seconds": _USUAL_SECONDS}
            config.agents[name] = {"_target_": f"{Limited.__module__}.{Limited.__name__}", **limits}
            added.append(
                f"{name} has {_USUAL_SECONDS:g} s of processor time a move, as no limit is set "
                f"(seconds=... limits both sides, {position}.depth=... this one)."
            )
    return added


def _objects(config: RunConfig, sides: Sequence[MatchSide]) -> Mapping[str, Agent] | None:
    """Return the agents of a match of objects, and describe them in its settings; else None."""
    if all(side.thing is None for side in sides):
        return None
    agents: dict[str, Agent] = {}
    for (name, settings), side in zip(config.agents.items(), sides, strict=True):
        if isinstance(side.thing, Agent):
            agents[name] = side.thing
        elif side.thing is not None:
            agents[name] = build_agent({**settings, "evaluation": side.thing}, name)
        else:
            agents[name] = make_agent(settings, name, config)
    config.agents = {name: about_object(agent) for name, agent in agents.items()}
    return agents


SEARCH_SECONDS = 10.0
"""Seconds for a search to think while it is held to minimax."""
MOST_SECONDS = 90.0
"""Seconds for each of its checks to end."""
_HOLDS, _BROKEN = 0, 1  # exit codes of `agents check`


def is_checked(side: Side) -> bool:
    """Return True if a side is an agent in the user's Python."""
    return side.is_agent and ":" in side.target


def check_side(side: Side) -> list[str]:
    """Return the findings on a side that :func:`is_checked`, as sentences.

    The commands ``agents check`` and ``agents check --search`` run in processes of their own.
    """
    contract, search = _start(side.target), None
    if side.searches:
        search = _start(side.target, "--search", "--json", f"--seconds={SEARCH_SECONDS:g}")
    verdicts = [_on_contract(side, *_answer(contract))]
    return [*verdicts, _on_search(side, *_answer(search))] if search else verdicts


def _start(target: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "othello_lab", "agents", "check", target, *options]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _answer(process: subprocess.Popen[str]) -> tuple[int | None, str]:
    """Return the exit code, None if it took too long, and the output or the error."""
    try:
        said, errors = process.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, ""
    return process.returncode, said if process.returncode in (_HOLDS, _BROKEN) else errors


def _on_contract(side: Side, code: int | None, said: str) -> str:
    """Return the verdict of ``agents check``, its last line."""
    if code is None:
        return f"{side.label}: the check of its contract took over {MOST_SECONDS:g} s."
    last = _last_line(said).removeprefix(side.target).strip()
    if code == _HOLDS:
        return f"{side.label} {last}."
    more = f" (othello-lab agents check {side.target})" if code == _BROKEN else ""
    return f"{side.label} {last}{more}."


def _on_search(side: Side, code: int | None, said: str) -> str:
    """Return the verdict of ``agents check --search``, with the probable cause."""
    if code is None:
        return f"{side.label}: the check of its search took over {MOST_SECONDS:g} s."
    if code == _HOLDS:
        return f"{side.label} searches as minimax does."
    if code != _BROKEN:
        return f"{side.label}: its search was not checked: {_last_line(said)}."
    causes: Sequence[dict[str, str]] = json.loads(said)["causes"]
    cause = f": probable cause: {causes[0]['name']}" if causes else ""
    return (
        f"{side.label}: its search fails a check{cause} (othello-lab agents check --search "
        f"{side.target})."
    )


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].rstrip(".") if lines else "nothing was said"


def match_command(arguments: Sequence[str], console: Console) -> int:
    """``match``: compare two sides; returns the exit code."""
    options = _parser().parse_intermixed_args(list(arguments))
    search, words = search_and_settings(options.settings)
    folders = options.config_dir
    targets = options.first, options.second
    sides = [MatchSide(side_of(target, search, folders)) for target in targets]
    lines = [f"{word} is {side.side.kind}" for word, side in zip(targets, sides, strict=True)]
    command = as_typed(["match", *arguments])
    return play_sides(sides, words, command, console, folders, options.check, lines).exit_code


def _parser() -> Parser:
    parser = Parser(
        prog="othello-lab match",
        description="Play two sides against each other, in pairs of games from balanced openings "
        "with colours swapped, until the better one is clear or the time is over. Then write "
        "one page with the answer: the better side, its lead, the costs, and the differences.",
        epilog="Examples: match ./mine.py:hollow iago · match ./mine.py:Student alphabeta · "
        "match 'java Bert' mcts · match champion 'gtp-engine -l 3' seconds=0.05 · "
        "match alphabeta alphabeta first.depth=4 second.depth=6",
    )
    for side in PLACES:
        parser.add_argument(
            side,
            metavar=side.upper(),
            help="an evaluation (iago, file.py:function), an agent (alphabeta, file.py:Class, its "
            "YAML), a strategy of (player, board), or a program with its arguments, in quotes",
        )
    parser.add_argument(
        "settings",
        nargs="*",
        default=[],  # without it argparse's error calls them required
        metavar="key=value",
        help="games=N, minutes=M (default 1) or until=decided: the end; depth=4, agent=alphabeta: "
        "the search around evaluations; seconds=, nodes=, clock=: limits of a move, or of a game; "
        "first.NAME=, second.NAME=: settings of one side; all settings of `othello-lab run --help`",
    )
    parser.add_argument(
        "--no-check", dest="check", action="store_false", help="play at once, without checking"
    )
    parser.add_argument("--config-dir", nargs=1, default=[], metavar="DIR", help="more YAMLs")
    return parser
