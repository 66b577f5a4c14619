"""``othello-lab agents check --search``: hold a search to minimax and name probable mistakes."""

from __future__ import annotations

import json
import re
import textwrap
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent, Limits
from othello_lab.agents.checking import indented
from othello_lab.agents.commands.shared import (
    add_seconds,
    announce,
    parameters_of,
    print_finding,
    typed_agent,
)
from othello_lab.agents.composing import OPEN
from othello_lab.agents.config import build, build_agent, evaluation_settings
from othello_lab.agents.diagnosis import (
    DEEPEST,
    NARROW_FROM,
    POSITIONS,
    Diagnosis,
    InsideEvaluation,
    RecordingEvaluation,
    SearchUnderTest,
    alike,
    diagnose,
    inside_of,
)
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.external import FunctionAgent
from othello_lab.agents.sides import described
from othello_lab.core.system.cli import whole_number
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.settings import ConfigError

RIGHT, WRONG, UNJUDGED = 0, 1, 3
_DEPTHS = (1, 2, 3, 4, 5)
_EVALUATION = "square_weights"
_SECONDS = 60.0
_SIDE = 8


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
    use = "total time to think; a slow search gets fewer positions"
    add_seconds(options, "--seconds", _SECONDS, use)
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
    if not 1 <= depths[0] <= depths[-1] <= DEEPEST:
        raise ArgumentTypeError(f"{text}: from 1 to {DEEPEST} plies")
    return depths


def run(options: Namespace, console: Console) -> int:
    """Print the findings and return the exit code; raises ConfigError for an unsuitable target."""
    try:
        search, evaluation = _search_under_test(options)
    except _CannotJudge as reason:
        console.print(plain(f"{options.target} cannot be judged: {reason}"), soft_wrap=True)
        return UNJUDGED
    if not options.json:
        given = search.watched and not isinstance(search.watched.evaluation, InsideEvaluation)
        origin = "passed to it" if given else "its own"
        announce(f"checking {options.target}; heuristic: {evaluation.name}, {origin}")
    diagnosis = diagnose(search, evaluation, options.positions, options.seconds, options.prunes)
    unjudged = diagnosis.unjudged if options.prunes else ""
    code = WRONG if not diagnosis.holds else UNJUDGED if unjudged else RIGHT
    if options.json:
        right = {RIGHT: True, WRONG: False}.get(code)
        print(json.dumps({"target": options.target, "right": right} | asdict(diagnosis), indent=2))
        return code
    _print(diagnosis, options.target, console)
    if code == UNJUDGED:
        told = f"whether {options.target} prunes cannot be judged: {unjudged}"
        console.print(plain(told), soft_wrap=True)
    return code


def _print(diagnosis: Diagnosis, target: str, console: Console) -> None:
    for finding in diagnosis.findings:
        print_finding(finding, console)
    for note in diagnosis.notes:
        console.print(plain(f"note: {note}"), soft_wrap=True)
    for number, cause in enumerate(diagnosis.causes):
        title = "also possible" if number else "probable cause"
        share = f" (explains {cause.explained:.0%} of its answers)" if cause.explained else ""
        lines = [f"\n{title}: {cause.name}{share}", indented(cause.advice)]
        lines += [] if number else [textwrap.indent(cause.evidence, "    ")]
        console.print(plain("\n".join(lines), keep="\n"), soft_wrap=True)
    verdict = "searches as minimax does" if diagnosis.holds else "does not search as it should"
    plies = "1 ply" if diagnosis.depth == 1 else f"{diagnosis.depth} plies"
    narrow = f" (from {NARROW_FROM} on in narrow positions)" * (diagnosis.depth >= NARROW_FROM)
    console.print(plain(f"{target} {verdict}; checked to {plies}{narrow}"), soft_wrap=True)


# ------------------------------------------------------------------ the search under test


class _CannotJudge(Exception):
    """The reason why nothing can be said about a search."""


def _search_under_test(options: Namespace) -> tuple[SearchUnderTest, Evaluation]:
    """Build the search, one agent a depth, and its heuristic; raises ConfigError."""
    if options.target.endswith(".py"):
        options.target = described(options.target)["target"]
    target, depths = options.target, options.depths
    settings = typed_agent(target, options.settings, options.config_dir)
    parameters = parameters_of(settings["_target_"])
    watched: RecordingEvaluation | None = None
    chosen = settings.get("evaluation", OPEN)
    if "evaluation" in parameters and (options.evaluation is None or chosen == OPEN):
        evaluation = _evaluation((options.evaluation or _EVALUATION) if chosen == OPEN else chosen)
        settings["evaluation"] = watched = RecordingEvaluation(evaluation)
    has_depth = "depth" in parameters
    limited = not has_depth or settings.get("depth", OPEN) != OPEN
    if limited and has_depth and not depths:
        depths = (settings["depth"],)
    open_depth = {} if limited else {"depth": (depths or _DEPTHS)[0]}
    agent = build_agent(settings | open_depth, target)
    _refuse(agent, target)
    fixed = isinstance(agent, FunctionAgent) and not has_depth
    if watched is None:
        watched, evaluation, seen = _inside(options, agent, fixed)
        depths = depths or ((seen,) if fixed else None)
    agents = {
        depth: agent if limited else build_agent(settings | {"depth": depth}, target)
        for depth in depths or _DEPTHS
    }
    search = SearchUnderTest(agents, limited and not fixed, watched, options.patience)
    for depth, each in agents.items():
        try:
            each.check_limits(search.limits(depth))
        except ValueError as error:
            raise ConfigError(f"{target} cannot look {depth} plies ahead: {error}") from None
    return search, evaluation


def _inside(
    options: Namespace, agent: Agent, fixed: bool
) -> tuple[RecordingEvaluation | None, Evaluation, int]:
    """Return the heuristic inside a search, noting its calls if it can be wrapped, itself, and how
    far the search looks. fixed: True if it has one depth, its own."""
    target, depths = options.target, options.depths
    if fixed and depths is not None and len(depths) > 1:
        raise ConfigError(f"{target} has a depth of its own; name it by --depths N")
    named = _evaluation(options.evaluation) if options.evaluation else None
    place, colon, name = (options.evaluation or "").partition(".py:")
    own = colon and Path(place).resolve() == Path(target.partition(".py:")[0]).resolve()
    limits = Limits() if fixed else Limits(depth=(depths or _DEPTHS)[0])
    found = inside_of(agent, limits, name if own else "")
    if found and named and not own and not alike(found[0], named):
        found = None
    if found is None and named is None:
        missing = "--evaluation NAME or --evaluation path/to/file.py:function"
        missing += ", and its depth by --depths N" if fixed and depths is None else ""
        if type(agent).__module__.startswith("othello_lab.") and not fixed:
            raise ConfigError(f"{target} has no setting evaluation; name that inside it: {missing}")
        raise _CannotJudge(f"no function in its file is seen to be its evaluation; say {missing}")
    if found is None:
        if fixed and depths is None:
            raise ConfigError(f"{target} has a depth of its own; name it by --depths N")
        assert named is not None
        return None, named, 0
    return found[0], named or found[0].evaluation, found[1]


def _evaluation(described: str | Mapping[str, Any]) -> Evaluation:
    settings = evaluation_settings(described) if isinstance(described, str) else described
    evaluation: Evaluation = build(settings, "evaluation", Evaluation)
    if _SIDE not in evaluation.sides:
        raise ConfigError(f"evaluation {evaluation.name} is not made for a board of 8x8")
    return evaluation


def _refuse(agent: Agent, name: str) -> None:
    """Raise ConfigError for an agent that cannot be held to minimax."""
    for applies, reason in (
        (_SIDE not in agent.boards(), "does not play on a board of 8x8"),
        (agent.from_start, "plays whole games only, so no single position can be checked"),
        (agent.selective, "leaves moves out on probability: its values are not minimax's"),
    ):
        if applies:
            raise ConfigError(f"{name} {reason}")
