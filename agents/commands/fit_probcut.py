"""``othello-lab agents fit-probcut``: parameters of Multi-ProbCut for an evaluation."""

from __future__ import annotations

import shlex
from argparse import Namespace
from dataclasses import astuple
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.commands.shared import (
    add_config_dir,
    announce,
    chosen_evaluations,
    empty_table,
)
from othello_lab.agents.composing import load
from othello_lab.agents.search.window.probcut_fit import FULL, fit
from othello_lab.core.system.cli import whole_number
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.rows import RowMaker
from othello_lab.core.system.settings import ConfigError


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "fit-probcut",
        help="fit Multi-ProbCut's parameters for an evaluation",
        description="Search positions of self-played games at every depth, fit deep values to "
        "shallow ones, and write the file for an agent's setting probcut. probcut=true finds it in "
        "agents/learned/shipped/probcut.",
    )
    parser.add_argument("file", type=Path, help="the YAML to write")
    parser.add_argument(
        "--evaluation",
        required=True,
        metavar="NAME",
        help="one of othello-lab agents list evaluations, or path/to/file.py:function",
    )
    parser.add_argument("--depth", type=whole_number(3), default=10, help="deepest (default 10)")
    parser.add_argument(
        "--positions", type=whole_number(1), default=1000, help="number of them (default 1000)"
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="of games (default 1)")
    parser.add_argument(
        "--glance",
        action="store_true",
        help="fit to the evaluation alone too, for probcut_glance and futility, and to one check a "
        "depth",
    )
    parser.add_argument(
        "--agent",
        metavar="NAME",
        help="fit to the own searches of this agent (champion), after a first fit to full searches "
        f"of {FULL} plies; takes --glance along",
    )
    add_config_dir(parser, "know")
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> None:
    """Fit, write the file and print the parameters; raises ConfigError."""
    (name, evaluation), *rest = chosen_evaluations(
        options.evaluation, 8, options.config_dir
    ).items()
    if rest:
        raise ConfigError("--evaluation all: parameters are fitted for one evaluation")
    if not options.file.parent.is_dir():
        raise ConfigError(f"{options.file}: there is no folder {options.file.parent}")
    evaluation.prepare(announce)
    command = f"othello-lab agents fit-probcut {shlex.quote(options.file.name)} --evaluation {name}"
    for option in ("depth", "positions", "seed"):
        command += f" --{option} {getattr(options, option)}"
    agent, glance = None, options.glance
    if options.agent is not None:
        agent, glance = load("agent", options.agent, options.config_dir), True
    command += " --glance" * glance
    command += "" if agent is None else f" --agent {shlex.quote(options.agent)}"
    numbers = options.depth, options.positions, options.seed
    rows = RowMaker(console)
    fitted = fit(evaluation, name, *numbers, command, rows, glance, agent)
    fitted.save(options.file)
    table = empty_table("depth", "check", "discs", "slope", "intercept", "sigma", "positions")
    for check in fitted.checks:
        table.add_row(*(f"{number:g}" for number in astuple(check)))
    console.print(table)
    console.print(plain(f"written to {options.file}"), soft_wrap=True)
