"""``othello-lab agents check``: hold an agent to the contract."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.commands import check_search
from othello_lab.agents.commands.shared import add_config_dir, announce, print_finding, typed_agent
from othello_lab.agents.config import OPEN, ConfigError, build_agent, load
from othello_lab.agents.contract import FAILED, PATIENCE, findings
from othello_lab.core.system.cli import seconds
from othello_lab.core.system.escaping import plain

HOLDS, BROKEN, INTERRUPTED = 0, 1, 130
_DEPTH = 2
_EVALUATIONS = ("disc_count", "square_weights")
"""For an agent without an evaluation: the first one that it accepts. The first one plays on every
board; the second one has fitted parameters of Multi-ProbCut."""


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "check",
        help="hold an agent to the contract",
        description="Hold an agent to the contract: legal moves on all its boards, whole games, "
        "the same game from the same seed, limits, and so on. The exit code is 1 if it breaks the "
        "contract, or does not search as it should, 2 if there is no such agent.",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="one of othello-lab agents list agents, module.Class, or path/to/file.py:Class",
    )
    parser.add_argument(
        "settings",
        nargs="*",
        default=[],
        metavar="key=value",
        help=f"its settings; by default depth={_DEPTH} and an evaluation that suits",
    )
    parser.add_argument(
        "--patience",
        type=seconds,
        default=PATIENCE,
        metavar="SECONDS",
        help=f"a call that takes longer counts as hung (default {PATIENCE:g})",
    )
    add_config_dir(parser, "find the agents of")
    check_search.add_options(parser)
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Print each finding at once, then the verdict; raises ConfigError if there is no such agent.

    Returns the exit code.
    """
    if options.search:
        return check_search.run(options, console)
    settings = typed_agent(options.target, options.settings, options.config_dir)
    if settings.get("depth") == OPEN:
        settings["depth"] = _DEPTH
    agent = _build(settings, options.target)
    failed = []
    try:
        for finding in findings(agent, options.patience, announce):
            print_finding(finding, console)
            if finding.outcome == FAILED:
                failed.append(finding.name)
    except KeyboardInterrupt:
        console.print("interrupted")
        return INTERRUPTED
    verdict = f"breaks the contract: {', '.join(failed)}" if failed else "keeps to the contract"
    console.print(plain(f"{options.target} {verdict}"), soft_wrap=True)
    return BROKEN if failed else HOLDS


def _build(settings: dict[str, Any], name: str) -> Agent:
    """Build the agent; if it has no evaluation yet, with the first one that suits."""
    if settings.get("evaluation") != OPEN:
        return build_agent(settings, name)
    first, second = ({"evaluation": load("evaluation", known)} for known in _EVALUATIONS)
    try:
        return build_agent(settings | first, name)
    except ConfigError:
        return build_agent(settings | second, name)
