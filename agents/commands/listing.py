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
from othello_lab.agents.conf_folder import NEEDS_A_TARGET
from othello_lab.agents.config import choices, load_evaluation
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.function import check_positions
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, kernel
from othello_lab.core.system.escaping import plain
from othello_lab.core.vector import call_evaluation

_GROUPS = {
    "agents": ("agent", "agents", "agent@first=NAME, or in a line-up"),
    "evaluations": ("evaluation", "evaluations", "evaluation=NAME"),
    "lineups": ("agents", "line-ups", "agents=NAME"),
}
_TIMED_ROUNDS = 20


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
    address: Address, movers: np.ndarray, opponents: np.ndarray, parameters: Address, rounds: int
) -> int:
    """Evaluate all positions ``rounds`` times."""
    total = 0
    for _ in range(rounds):
        for i in range(len(movers)):
            total += call_evaluation(address, movers[i], opponents[i], parameters)
    return total


def nanoseconds_a_call(evaluation: Evaluation, positions: Sequence[Position]) -> float:
    """Measure the mean time of one call from compiled code, one core, the fastest of five."""
    movers = np.array([position.mover for position in positions], dtype=np.uint64)
    opponents = np.array([position.opponent for position in positions], dtype=np.uint64)
    address, parameters = np.intp(evaluation.address), np.intp(evaluation.parameters_address)

    def seconds(rounds: int) -> float:
        started = time.perf_counter()
        _call_all(address, movers, opponents, parameters, rounds)
        return time.perf_counter() - started

    seconds(1)
    return min(seconds(_TIMED_ROUNDS) for _ in range(5)) / _TIMED_ROUNDS / len(positions) * 1e9


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
        note = "; with the time of a call on this machine" if kind == "evaluations" else ""
        console.print(f"[bold]{title}[/]  ({use}{note})")
        console.print(table)
        console.print()
