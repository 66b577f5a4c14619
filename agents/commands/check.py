"""``python -m agents check``: whether an agent keeps to the contract."""

from __future__ import annotations

import inspect
import re
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console

from agents.base import Agent
from agents.commands.shared import add_config_dir, announce
from agents.config import (
    OPEN,
    ConfigError,
    build_agent,
    evaluation_settings,
    load,
    resolve,
)
from agents.contract import FAILED, NOT_ASKED, OK, PATIENCE, findings
from core.cli import seconds
from core.shown import plain

HOLDS, BROKEN, INTERRUPTED = 0, 1, 130
_STYLES = {OK: "green", FAILED: "bold red", NOT_ASKED: "dim"}
_DEPTH = 2
_EVALUATIONS = ("disc_count", "square_weights")
"""For an agent that leaves its evaluation open: the first with which it can be built. The first
one plays on every board, with the second one Multi-ProbCut has been fitted."""


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "check",
        help="whether an agent keeps to the contract",
        description="Hold an agent to the contract: legal moves on every board it says it plays "
        "on, whole games, the same game from the same seed, limits, and so on. The exit code is 1 "
        "if it breaks the contract, 2 if there is no such agent.",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="one of python -m agents list agents, module.Class, or path/to/file.py:Class",
    )
    parser.add_argument(
        "settings",
        nargs="*",
        default=[],
        metavar="key=value",
        help=f"its settings; those left open get depth={_DEPTH} and an evaluation that suits",
    )
    parser.add_argument(
        "--patience",
        type=seconds,
        default=PATIENCE,
        metavar="SECONDS",
        help=f"a call that takes longer counts as hung (default {PATIENCE:g})",
    )
    add_config_dir(parser, "find the agents of")
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Print each finding as it is made, and the verdict; ConfigError if there is no such agent."""
    settings = _settings(options.target, options.settings, options.config_dir)
    agent = _built(settings, options.target)
    failed = []
    try:
        for finding in findings(agent, options.patience, announce):
            text = plain(finding, keep="\n")
            text.highlight_words([finding.outcome], _STYLES[finding.outcome])
            console.print(text, soft_wrap=True)
            if finding.outcome == FAILED:
                failed.append(finding.name)
    except KeyboardInterrupt:
        console.print("interrupted")
        return INTERRUPTED
    verdict = f"breaks the contract: {', '.join(failed)}" if failed else "keeps to the contract"
    console.print(plain(f"{options.target} {verdict}"), soft_wrap=True)
    return BROKEN if failed else HOLDS


def _built(settings: dict[str, Any], name: str) -> Agent:
    """The agent, with the first of the evaluations that suits where it leaves that open."""
    if settings.get("evaluation") != OPEN:
        return build_agent(settings, name)
    first, second = ({"evaluation": load("evaluation", each)} for each in _EVALUATIONS)
    try:
        return build_agent(settings | first, name)
    except ConfigError:
        return build_agent(settings | second, name)


def _settings(target: str, words: Sequence[str], folders: Sequence[str]) -> dict[str, Any]:
    """The settings of the agent that ``target`` names, with those that were typed."""
    from omegaconf import OmegaConf

    for word in words:
        if "=" not in word or word.startswith("="):
            raise ConfigError(f"cannot read '{word}': settings are written key=value")
    settings: dict[str, Any] = {}
    settings |= {"_target_": target} if "." in target else load("agent", target, folders)
    for name in [word for word in words if re.match(r"evaluation=[^{]", word)]:
        settings["evaluation"] = evaluation_settings(name.partition("=")[2])
        words = [word for word in words if word != name]
    typed: Any = OmegaConf.to_container(OmegaConf.from_dotlist(list(words)))
    with suppress(Exception):  # building it will say what is wrong
        parameters = inspect.signature(resolve(settings["_target_"])).parameters
        for key in ("depth", "evaluation"):
            if key in parameters and parameters[key].default is inspect.Parameter.empty:
                settings.setdefault(key, OPEN)
    if settings.get("depth") == OPEN:
        settings["depth"] = _DEPTH
    merged: Any = OmegaConf.to_container(OmegaConf.merge(settings, typed))
    return {str(key): value for key, value in merged.items()}
