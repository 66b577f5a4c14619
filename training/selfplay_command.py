"""``othello-lab selfplay`` and ``positions``: make positions to learn from, of games that
are played or read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from othello_lab.agents.composing import settings_text
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.command_line import SettingsParser
from othello_lab.experiments.jobs.kinds import SELFPLAY
from othello_lab.training.selfplay import NAME, read, selfplay

GROUP = SELFPLAY.group
USAGE = """\
usage: othello-lab selfplay [key=value ...]
       othello-lab positions FILE ... [key=value ...]

Make positions to learn from, each with its score: of games that an agent plays against itself, or
that files hold: WTHOR (.wtb), GGF, transcripts a line each, and folders of runs. They are written
to results/NAME/DATE/positions.parquet, split by game into train, validation and test. It can be
interrupted and resumed (othello-lab resume FOLDER).

  othello-lab selfplay --yes                       (with all defaults)
  othello-lab selfplay games=100000 depth=4 evaluation=composite
  othello-lab selfplay agent=mcts limits.nodes=1000 data.exact=12
  othello-lab selfplay agents=classics data.random_plies=[8,16]
  othello-lab positions WTH_2023.wtb games.ggf results/classics/2026-01-01_00-00-00

== Settings, here with their defaults; those of a run can be given too (run --help) ==
"""

PLAYED = (
    *("games", "agent", "agents", "depth", "evaluation", "openings", "limits"),
    *(f"{GROUP}.{name}" for name in ("random_plies", "trace", "unit")),
)
"""Settings that only games which are played have."""
MEASURED = (
    *("schedule", "rating", "record", "export", "figures"),
    *("searches", "published"),
)
"""Settings of a run that say who is compared with whom, and what is told of it."""


def selfplay_command(arguments: Sequence[str], console: Console) -> int:
    """``selfplay [key=value ...]``; the exit code."""
    return _made("selfplay", arguments, console)


def positions_command(arguments: Sequence[str], console: Console) -> int:
    """``positions FILE ... [key=value ...]``; the exit code."""
    return _made("positions", arguments, console)


def _made(command: str, arguments: Sequence[str], console: Console) -> int:
    parser = SettingsParser(command)
    parser.add_argument("--yes", action="store_true")
    options = parser.parsed(arguments)
    if options.help:
        print(visible(selfplay_help(), keep="\n"), end="")
        return 0
    words = list(options.words)
    if command == "positions":
        files = [word for word in words if "=" not in word or Path(word).exists()]
        if not files:
            raise ConfigError("positions: FILE is needed: a .wtb, a .ggf, or the folder of a run")
        quoted = ",".join(_quoted(file) for file in files)
        words = [word for word in words if word not in files]
        words = [f"{GROUP}.{word}" if word.startswith("partly=") else word for word in words]
        reason = "games that are read are taken as they are"
        _refuse(words, PLAYED, f"{reason}, so it has no effect; it is a setting of selfplay")
        words = [f"name={command}", f"{GROUP}.read=[{quoted}]", *words]
    reason = "positions are made here, and nobody is measured"
    _refuse(words, MEASURED, f"{reason}, so it has no effect; it is a setting of run")
    plan = read(words, options.folders)
    if not words and not options.yes:
        settings = plan.plan.settings
        players = ", ".join(settings.agents)
        raise ConfigError(
            f"{command} would play {settings.games:,} games of {players} against itself and write "
            f"their positions to {settings.results}/{settings.name}/; say how many, such as "
            "games=1000, or --yes"
        )
    return selfplay(plan, as_typed([command, *arguments]), console).exit_code


def _refuse(words: Sequence[str], settings: Sequence[str], why: str) -> None:
    """Raise ConfigError where a word sets one of these, or a part of it."""
    for word in words:
        key = word.lstrip("+~").partition("=")[0]
        if key in settings or key.partition(".")[0].partition("@")[0] in settings:
            raise ConfigError(f"{word}: {why}")


def _quoted(file: str) -> str:
    """Return a text quoted for Hydra."""
    escaped = file.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def selfplay_help() -> str:
    """Return the usage of the commands, and their settings as SelfPlay declares them."""
    return USAGE + "\n".join(settings_text(GROUP, NAME)) + "\n"
