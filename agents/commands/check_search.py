"""``othello-lab agents check --search``: hold a search to minimax and name probable mistakes."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent, Limits
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
    NARROW_FROM,
    POSITIONS,
    Diagnosis,
    RecordingEvaluation,
    SearchUnderTest,
    StrategyFromFactory,
    alike,
    diagnose,
    inside_of,
)
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.external import FunctionAgent
from othello_lab.agents.loading import find
from othello_lab.agents.recognition import DOUBTFUL, MAKER, STRATEGY
from othello_lab.agents.sides import described
from othello_lab.core.system.cli import seconds, whole_number
from othello_lab.core.system.escaping import plain

RIGHT, WRONG, UNJUDGED = 0, 1, 3
_DEPTHS = (1, 2, 3, 4, 5)
_DEEPEST = 6
_EVALUATION = "square_weights"
_SECONDS = 60.0
_SIDE = 8
_WIDTH = 78


def add_options(parser: Any) -> None:
    """Declare ``--search`` and its options."""
    parser.add_argument(
        "--search",
        action="store_true",
        help="hold its search to minimax instead: moves, values, counts, pruning; a wrong search "
        "is shown with its probable cause. TARGET may also be a function of (player, board), or a "
        "function of (depth, evaluation) that makes one",
    )
    options = parser.add_argument_group("with --search")
    options.add_argument(
        "--depths",
        type=_depths,
        metavar="N[,N]",
        help=f"plies to look ahead (default {','.join(map(str, _DEPTHS))}); one number for a "
        "search with a depth of its own",
    )
    options.add_argument(
        "--evaluation",
        metavar="NAME",
        help="the heuristic inside it, if it takes none: a name of `agents list evaluations`, or "
        f"path/to/file.py:function; other searches get {_EVALUATION} by default",
    )
    options.add_argument(
        "--positions",
        type=whole_number(1),
        default=POSITIONS,
        metavar="N",
        help=f"number for each depth (default {POSITIONS}); from {NARROW_FROM} plies on a fifth of "
        "that, narrow ones",
    )
    options.add_argument(
        "--seconds",
        type=seconds,
        default=_SECONDS,
        metavar="SECONDS",
        help=f"total time to think; a slow search gets fewer positions (default {_SECONDS:g})",
    )
    options.add_argument(
        "--prunes",
        action="store_true",
        help="fail a search that does not prune, or cuts too seldom",
    )
    options.add_argument("--json", action="store_true", help="print all findings as JSON")


def _depths(text: str) -> tuple[int, ...]:
    """Parse ``--depths``."""
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise ArgumentTypeError(f"'{text}': numbers of plies are needed, such as 3 or 1,2,3")
    depths = tuple(sorted({int(number) for number in text.split(",")}))
    if not 1 <= depths[0] <= depths[-1] <= _DEEPEST:
        raise ArgumentTypeError(f"{text}: from 1 to {_DEEPEST} plies")
    return depths


def run(options: Namespace, console: Console) -> int:
    """Print the findings and return the exit code; raises ConfigError for an unsuitable target."""
    try:
        search, evaluation = _search_under_test(options)
    except _CannotJudge as reason:
        console.print(plain(f"{options.target} cannot be judged: {reason}"), soft_wrap=True)
        return UNJUDGED
    if not options.json:
        origin = "its own" if evaluation.name != _EVALUATION else "passed to it"
        announce(f"checking {options.target}; heuristic: {evaluation.name}, {origin}")
    diagnosis = diagnose(search, evaluation, options.positions, options.seconds, options.prunes)
    unjudged = diagnosis.unjudged if options.prunes else ""
    if options.json:
        right = None if unjudged and diagnosis.holds else diagnosis.holds
        document = {"target": options.target, "right": right} | asdict(diagnosis)
        print(json.dumps(document, indent=2))
    else:
        _print(diagnosis, options.target, console)
    if diagnosis.holds and unjudged:
        if not options.json:
            told = f"whether {options.target} prunes cannot be judged: {unjudged}"
            console.print(plain(told), soft_wrap=True)
        return UNJUDGED
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
    plies = "1 ply" if diagnosis.depth == 1 else f"{diagnosis.depth} plies"
    narrow = f" (from {NARROW_FROM} on in narrow positions)" * (diagnosis.depth >= NARROW_FROM)
    console.print(plain(f"{target} {verdict}; checked to {plies}{narrow}"), soft_wrap=True)


# ------------------------------------------------------------------ the search under test


class _CannotJudge(Exception):
    """The reason why nothing can be said about a search."""


def _search_under_test(options: Namespace) -> tuple[SearchUnderTest, Evaluation]:
    """Build the search, one agent a depth, and its heuristic; raises ConfigError."""
    if built := _function(options):
        return built
    settings = typed_agent(options.target, options.settings, options.config_dir)
    parameters = _parameters(settings["_target_"])
    watched: RecordingEvaluation | None = None
    chosen = settings.get("evaluation", OPEN)
    if "evaluation" in parameters and (options.evaluation is None or chosen == OPEN):
        name = options.evaluation or _EVALUATION
        evaluation = _evaluation(name if chosen == OPEN else chosen)
        watched = RecordingEvaluation(evaluation)
        settings["evaluation"] = watched
    else:
        evaluation = _own_evaluation(options)
    has_depth = "depth" in parameters
    limited = not has_depth or settings.get("depth", OPEN) != OPEN
    depths = options.depths or ((settings["depth"],) if limited and has_depth else _DEPTHS)
    agents = {
        depth: build_agent(settings if limited else settings | {"depth": depth}, options.target)
        for depth in depths
    }
    _refuse(next(iter(agents.values())), options.target)
    search = SearchUnderTest(agents, limited, watched, options.patience)
    for depth, agent in agents.items():
        try:
            agent.check_limits(search.limits(depth))
        except ValueError as error:
            raise ConfigError(
                f"{options.target} cannot look {depth} plies ahead: {error}"
            ) from None
    return search, evaluation


def _function(options: Namespace) -> tuple[SearchUnderTest, Evaluation] | None:
    """Build the same for a function or a maker of functions; None for anything else."""
    target = options.target
    if ":" not in target:
        return None
    function = find(target)
    if isinstance(function, type):
        return None
    if options.settings:
        raise ConfigError(f"{options.settings[0]}: a function has no settings")
    kind = described(target)["kind"]
    if kind not in (STRATEGY, MAKER, DOUBTFUL):
        raise ConfigError(f"{target} is an evaluation; a search is needed")
    if kind == MAKER:
        evaluation = _evaluation(options.evaluation or _EVALUATION)
        watched = RecordingEvaluation(evaluation)
        depths = options.depths or _DEPTHS
        agents: dict[int, Agent] = {
            depth: StrategyFromFactory(target, depth, watched) for depth in depths
        }
        return SearchUnderTest(agents, False, watched, options.patience), evaluation
    return _with_inside(options, FunctionAgent(target))


def _with_inside(options: Namespace, agent: Agent) -> tuple[SearchUnderTest, Evaluation]:
    """Build the same for a search that has its evaluation, and perhaps its depth, inside."""
    target, depths = options.target, options.depths
    if depths is not None and len(depths) > 1:
        raise ConfigError(f"{target} has a depth of its own; name it by --depths N")
    place, colon, name = (options.evaluation or "").partition(".py:")
    own = bool(colon) and Path(f"{place}.py").resolve() == _file_of(target)
    found = inside_of(agent, Limits(), name if own else "")
    evaluation = _evaluation(options.evaluation) if options.evaluation else None
    if found and evaluation and not own and not alike(found[0], evaluation):
        found = None
    if found is None and (evaluation is None or depths is None):
        missing = "--evaluation NAME or --evaluation path/to/file.py:function"
        missing += " and its depth by --depths N" if depths is None else ""
        raise _CannotJudge(
            f"no function of its file is seen to be its evaluation; name it by {missing}"
        )
    watched = found[0] if found else None
    if evaluation is None:
        assert watched is not None
        evaluation = watched.evaluation
    depth = depths[0] if depths else found[1] if found else 0
    return SearchUnderTest({depth: agent}, False, watched, options.patience), evaluation


def _file_of(target: str) -> Path:
    return Path(target.partition(".py:")[0] + ".py").resolve()


def _parameters(target: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a class; none if the class cannot be found.

    Building it will report the error.
    """
    try:
        return inspect.signature(resolve(target)).parameters
    except Exception:
        return {}


def _own_evaluation(options: Namespace) -> Evaluation:
    """Return the heuristic inside a search that takes none."""
    if options.evaluation is None:
        raise ConfigError(
            f"{options.target} has no setting evaluation; name the heuristic inside it by "
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
    """Raise ConfigError for an agent that cannot be held to minimax."""
    reasons: Sequence[tuple[bool, str]] = (
        (_SIDE not in agent.boards(), "does not play on a board of 8x8"),
        (agent.from_start, "plays whole games only, so no single position can be checked"),
        (agent.selective, "leaves moves out on probability: its values are not minimax's"),
    )
    for applies, reason in reasons:
        if applies:
            raise ConfigError(f"{name} {reason}")
