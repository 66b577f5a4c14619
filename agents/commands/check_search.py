"""``othello-lab agents check --search``: whether a search is right, and what is wrong with it."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.commands.shared import announce, print_finding, typed_agent
from othello_lab.agents.config import (
    OPEN,
    ConfigError,
    build,
    build_agent,
    evaluation_settings,
    resolve,
)
from othello_lab.agents.diagnosis import (
    POSITIONS,
    Diagnosis,
    RecordingEvaluation,
    SearchUnderTest,
    StrategyFromFactory,
    diagnose,
)
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.external import FunctionAgent
from othello_lab.agents.loading import find
from othello_lab.core.system.cli import seconds, whole_number
from othello_lab.core.system.escaping import plain

RIGHT, WRONG = 0, 1
_DEPTHS = (1, 2, 3)
_DEEPEST = 6
_EVALUATION = "square_weights"
_SECONDS = 60.0
_SIDE = 8
_WIDTH = 78


def add_options(parser: Any) -> None:
    """Declare ``--search`` and what goes with it."""
    parser.add_argument(
        "--search",
        action="store_true",
        help="hold its search to minimax instead: moves, values, counts, whether it prunes; of "
        "what is wrong the probable cause is told. TARGET may also be a function of (player, "
        "board), or one that makes such of (depth, evaluation)",
    )
    options = parser.add_argument_group("with --search")
    options.add_argument(
        "--depths",
        type=_depths,
        metavar="N[,N]",
        help=f"how many plies it is asked to look ahead (default {','.join(map(str, _DEPTHS))}); "
        "one number for a search with a depth of its own",
    )
    options.add_argument(
        "--evaluation",
        metavar="NAME",
        help="the heuristic that it uses, if it brings one of its own: a name of `agents "
        f"list evaluations`, or path/to/file.py:function; others are handed {_EVALUATION}",
    )
    options.add_argument(
        "--positions",
        type=whole_number(1),
        default=POSITIONS,
        metavar="N",
        help=f"of each depth (default {POSITIONS})",
    )
    options.add_argument(
        "--seconds",
        type=seconds,
        default=_SECONDS,
        metavar="SECONDS",
        help=f"that it may think in all; slow searches are asked less (default {_SECONDS:g})",
    )
    options.add_argument("--prunes", action="store_true", help="fail a search that does not prune")
    options.add_argument("--json", action="store_true", help="print all that was found as JSON")


def _depths(text: str) -> tuple[int, ...]:
    """The type of ``--depths``."""
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise ArgumentTypeError(f"'{text}': numbers of plies are needed, such as 3 or 1,2,3")
    depths = tuple(sorted({int(each) for each in text.split(",")}))
    if not 1 <= depths[0] <= depths[-1] <= _DEEPEST:
        raise ArgumentTypeError(f"{text}: from 1 to {_DEEPEST} plies")
    return depths


def run(options: Namespace, console: Console) -> int:
    """Print what was found; ConfigError for what cannot be asked."""
    asked, evaluation = _asked(options)
    if not options.json:
        told = "its own" if asked.watched is None else "that it was given"
        announce(f"asking {options.target}; heuristic: {evaluation.name}, {told}")
    diagnosis = diagnose(asked, evaluation, options.positions, options.seconds, options.prunes)
    if options.json:
        said = {"target": options.target, "right": diagnosis.holds} | asdict(diagnosis)
        print(json.dumps(said, indent=2))
    else:
        _print(diagnosis, options.target, console)
    return RIGHT if diagnosis.holds else WRONG


def _print(diagnosis: Diagnosis, target: str, console: Console) -> None:
    for finding in diagnosis.findings:
        print_finding(finding, console)
    for note in diagnosis.notes:
        console.print(plain(f"note: {note}"), soft_wrap=True)
    for number, cause in enumerate(diagnosis.causes):
        title = "also possible" if number else "probable cause"
        share = f" (explains {cause.explained:.0%} of its answers)" if cause.explained else ""
        console.print(plain(f"\n{title}: {cause.name}{share}", keep="\n"), soft_wrap=True)
        indent = "    "
        advice = textwrap.fill(
            cause.advice, _WIDTH, initial_indent=indent, subsequent_indent=indent
        )
        console.print(plain(advice, keep="\n"), soft_wrap=True)
        if not number:
            evidence = textwrap.indent(cause.evidence, indent)
            console.print(plain(evidence, keep="\n"), soft_wrap=True)
    verdict = "searches as minimax does" if diagnosis.holds else "does not search as it should"
    console.print(plain(f"{target} {verdict}"), soft_wrap=True)


# ------------------------------------------------------------------ who is asked


def _asked(options: Namespace) -> tuple[SearchUnderTest, Evaluation]:
    """The search, one agent for each depth, and the heuristic that it uses; ConfigError."""
    if made := _function(options):
        return made
    settings = typed_agent(options.target, options.settings, options.config_dir)
    taken = _parameters(settings["_target_"])
    watched: RecordingEvaluation | None = None
    chosen = settings.get("evaluation", OPEN)
    if "evaluation" in taken and (options.evaluation is None or chosen == OPEN):
        name = options.evaluation or _EVALUATION
        evaluation = _evaluation(name if chosen == OPEN else chosen)
        watched = RecordingEvaluation(evaluation)
        settings["evaluation"] = watched
    else:
        evaluation = _own(options)
    limited = "depth" not in taken or settings.get("depth", OPEN) != OPEN
    depths = options.depths or ((settings["depth"],) if limited and "depth" in taken else _DEPTHS)
    agents = {
        depth: build_agent(settings if limited else settings | {"depth": depth}, options.target)
        for depth in depths
    }
    _refuse(next(iter(agents.values())), options.target)
    asked = SearchUnderTest(agents, limited, watched, options.patience)
    for depth, agent in agents.items():
        try:
            agent.check_limits(asked.limits(depth))
        except ValueError as error:
            raise ConfigError(f"{options.target} cannot be asked to look {depth} plies ahead: "
                              f"{error}") from None  # fmt: skip
    return asked, evaluation


def _function(options: Namespace) -> tuple[SearchUnderTest, Evaluation] | None:
    """The same for a function, or what makes one; None for anything else."""
    target = options.target
    if ":" not in target:
        return None
    found = find(target)
    if isinstance(found, type):
        return None
    if options.settings:
        raise ConfigError(f"{options.settings[0]}: a function has no settings")
    if StrategyFromFactory.makes(found) and not target.endswith(")"):
        evaluation = _evaluation(options.evaluation or _EVALUATION)
        watched = RecordingEvaluation(evaluation)
        depths = options.depths or _DEPTHS
        agents: dict[int, Agent] = {
            depth: StrategyFromFactory(target, depth, watched) for depth in depths
        }
        return SearchUnderTest(agents, False, watched, options.patience), evaluation
    strategy = FunctionAgent(target)
    evaluation = _own(options)
    if options.depths is None or len(options.depths) > 1:
        raise ConfigError(f"{target} looks as far ahead as it likes: how far is --depths N")
    return SearchUnderTest({options.depths[0]: strategy}, False, None, options.patience), evaluation


def _parameters(target: str) -> Mapping[str, inspect.Parameter]:
    """What a class is made with; whether it can be is found out when it is built."""
    try:
        return inspect.signature(resolve(target)).parameters
    except Exception:
        return {}


def _own(options: Namespace) -> Evaluation:
    """The heuristic of a search that is not handed one."""
    if options.evaluation is None:
        raise ConfigError(
            f"{options.target} takes no setting evaluation: which heuristic it uses is "
            "--evaluation NAME or --evaluation path/to/file.py:function"
        )
    return _evaluation(options.evaluation)


def _evaluation(described: str | Mapping[str, Any]) -> Evaluation:
    settings = evaluation_settings(described) if isinstance(described, str) else described
    evaluation: Evaluation = build(settings, "evaluation", Evaluation)
    if _SIDE not in evaluation.sides:
        raise ConfigError(f"evaluation {evaluation.name} is not made for a board of 8x8")
    return evaluation


def _refuse(agent: Agent, name: str) -> None:
    """ConfigError for who cannot be held to minimax."""
    reasons: Sequence[tuple[bool, str]] = (
        (_SIDE not in agent.boards(), "does not play on a board of 8x8"),
        (agent.from_start, "knows whole games only, and cannot be asked in any position"),
        (agent.selective, "leaves moves out on probability: its values are not minimax's"),
    )
    for applies, why in reasons:
        if applies:
            raise ConfigError(f"{name} {why}")
