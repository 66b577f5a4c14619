"""``othello-lab agents list``: agents, evaluations and line-ups."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from othello_lab.agents.commands.shared import add_config_dir, announce
from othello_lab.agents.composing import NEEDS_A_TARGET, choices
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.function import check_positions
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, kernel
from othello_lab.core.system.escaping import plain
from othello_lab.core.vector import call_evaluation

_GROUPS = {
    "agents": ("agent", "agents", "agent@first=NAME, or in a line-up"),
    "evaluations": (
        "evaluation",
        "evaluations",
        "evaluation=NAME; with the processor's time for a call on this machine",
    ),
    "lineups": ("agents", "line-ups", "agents=NAME"),
}
_CALLS = 4
"""Calls for each position in a round: a round takes a millisecond or less, so that among many some
are not disturbed."""
_ROUNDS = 100


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "list",
        help="agents, evaluations and line-ups, a line each",
        description="List agents, evaluations and line-ups with a description and the setting "
        "that chooses them in othello-lab run. Each is a YAML in conf/.",
    )
    parser.add_argument("kind", nargs="?", choices=sorted(_GROUPS), help="only these")
    add_config_dir(parser, "list")
    parser.set_defaults(run=run)


@kernel
def _call_all(
    address: Address, movers: np.ndarray, opponents: np.ndarray, parameters: Address, calls: int
) -> int:
    """Evaluate each position ``calls`` times."""
    total = 0
    for _ in range(calls):
        for i in range(len(movers)):
            total += call_evaluation(address, movers[i], opponents[i], parameters)
    return total


def nanoseconds_a_call(evaluation: Evaluation, positions: Sequence[Position]) -> float:
    """Measure the processor's time for one call from compiled code: the least of several rounds.

    Time in which other programs had the processor is not counted.
    """
    movers = np.array([position.mover for position in positions], dtype=np.uint64)
    opponents = np.array([position.opponent for position in positions], dtype=np.uint64)
    address, parameters = np.intp(evaluation.address), np.intp(evaluation.parameters_address)

    def round_seconds() -> float:
        started = time.thread_time()
        _call_all(address, movers, opponents, parameters, _CALLS)
        return time.thread_time() - started

    round_seconds()
    return min(round_seconds() for _ in range(_ROUNDS)) / _CALLS / len(positions) * 1e9


def run(options: Namespace, console: Console) -> None:
    """Print names and descriptions, and for the lab's own evaluations the time of a call.

    Raises ConfigError.
    """
    for kind in [options.kind] if options.kind else _GROUPS:
        group, title, use = _GROUPS[kind]
        table = Table.grid(padding=(0, 2))
        ours = choices(group)
        for name, description in choices(group, options.config_dir).items():
            cost = ""
            if kind == "evaluations" and name in ours and name != NEEDS_A_TARGET:
                evaluation = load_evaluation(name)
                evaluation.prepare(announce)
                cost = f"{nanoseconds_a_call(evaluation, check_positions()):.0f} ns"
            table.add_row(plain(f"  {name}", "bold"), cost, plain(description))
        console.print(f"[bold]{title}[/]  ({use})")
        console.print(table)
        console.print()
