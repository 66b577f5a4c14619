"""``othello-lab play levels``: list the levels, or measure them and the agents of all line-ups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from rich import box
from rich.table import Table

from othello_lab.agents.composing import choices, compose, conf_folder
from othello_lab.agents.ladder import MEASURED, levels
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.files import write_file
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import plan_of, settings_of

LEVELS = "levels"
"""The line-up of the levels, the weakest first."""
_PLAN = (f"agents={LEVELS}", "openings=balanced", f"name={LEVELS}", "games=500")
NOT_MEASURED = {LEVELS, "alone", "duel", "folder", "champion_switches"}
"""Line-ups of agents that a user names, or that need a limit."""


def levels_command(arguments: Sequence[str]) -> int:
    """List the levels, or measure them; the exit code."""
    parser = Parser(
        prog="othello-lab play levels",
        description="List the levels: ten opponents for people, each with its Elo, where random "
        "moves have 0. With --measure each level plays the next one, and the agents of all "
        "line-ups play the levels of their strength. Their Elo is written to "
        f"conf/{MEASURED}; othello-lab agents show prints it.",
    )
    parser.add_argument("--measure", action="store_true", help="play, and write the Elo")
    parser.add_argument("--output", type=Path, help=f"write this file, not conf/{MEASURED}")
    parser.add_argument(
        "words", nargs="*", metavar="key=value", help="settings of the run, such as games=100"
    )
    options = parser.parse_intermixed_args(list(arguments))
    if options.measure:
        command = as_typed(["play", "levels", *arguments])
        return _measure(options.words, options.output, command)
    if options.words or options.output:
        raise ConfigError(f"{options.words[0] if options.words else '--output'}: needs --measure")
    table = Table("level", box=box.SIMPLE_HEAD)
    table.add_column("Elo", justify="right")
    table.add_column("95 %")
    table.add_column("it plays")
    for level in levels():
        table.add_row(level.name, f"{level.elo}", plain(level.interval), level.summary)
    console = make_console()
    console.print(table)
    console.print("Play one: othello-lab play terminal white=casual, or in the browser's dialog.")
    return 0


def line_up_agents() -> dict[str, tuple[Any, dict[str, str]]]:
    """Return the agents of the measured line-ups, by LINEUP.NAME: their settings, and the names of
    their agent and evaluation in ``conf/``. Raises ConfigError."""
    agents = {}
    for line_up in choices("agents"):
        if line_up in NOT_MEASURED:
            continue
        chosen = compose("run", [f"agents={line_up}"]).hydra.runtime.choices
        for name, settings in settings_of([f"agents={line_up}"]).agents.items():
            names = {"agent": chosen[f"agent@agents.{name}"]}
            if "evaluation" in settings:
                key = f"evaluation@agents.{name}.evaluation"
                names["evaluation"] = chosen.get(key, chosen["evaluation"])
            agents[f"{line_up}.{name}"] = (settings, names)
    return agents


def _measure(words: Sequence[str], output: Path | None, command: str) -> int:
    from othello_lab.experiments.jobs.run import run

    path = output or conf_folder() / MEASURED
    if not path.parent.is_dir():
        raise ConfigError(f"--output {path}: no such folder")
    settings, agents = settings_of([*_PLAN, *words]), line_up_agents()
    rungs = list(settings.agents)
    for name, (agent, _) in agents.items():
        if agent not in settings.agents.values():  # the same agent plays once
            settings.agents[name] = agent
    ladder = "othello_lab.experiments.pairing.ladder.Ladder"
    settings.schedule = {"_target_": ladder, "rungs": len(rungs)}
    console = make_console()
    result = run(plan_of(settings), command, console)
    if not result.complete:
        return 130
    ratings = result.summary.rename(columns={"elo_low": "low", "elo_high": "high"})
    ratings.loc[ratings["bound"] != "", "elo"] = math.nan  # all games won, or all lost
    elo = ratings.set_index("agent")[["elo", "low", "high"]].to_dict("index")
    played = {}
    for name, (agent, names) in agents.items():
        like = next(other for other, settled in settings.agents.items() if settled == agent)
        played[name] = elo[like] | names
    write_ladder({name: elo[name] for name in rungs}, played, int(ratings["games"].min()), path)
    console.print(plain(f"Elo  {path}"), soft_wrap=True)
    return 0


def write_ladder(
    levels: Mapping[str, Mapping[str, Any]],
    agents: Mapping[str, Mapping[str, Any]],
    games: int,
    path: Path,
) -> None:
    """Write elo, low and high of levels, the weakest first, and of agents, with what else is known
    of these. games: the least number of an agent. Raises ConfigError if that is impossible."""
    zero = next(iter(levels.values()))["elo"]

    def rounded(row: Mapping[str, Any]) -> dict[str, Any]:
        elo = [row[key] for key in ("elo", "low", "high")]
        if not all(map(math.isfinite, elo)):
            raise ConfigError("too few games for the Elo of every agent; give games=N")
        return dict(row) | {key: round(row[key] - zero) for key in ("elo", "low", "high")}

    content = {
        "games": games,
        "levels": {name: rounded(row) for name, row in levels.items()},
        "agents": {name: rounded(row) for name, row in agents.items()},
    }
    text = (
        "# Elo of the levels in conf/level and of agents of line-ups, whose open settings\n"
        "# are those of a run. Random moves have 0. low, high: the 95 % interval.\n"
        "# Written by: othello-lab play levels --measure\n"
    )
    text += yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=200)
    try:
        write_file(path, text, durable=True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error
