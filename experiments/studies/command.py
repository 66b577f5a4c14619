"""``python -m experiments study``: make a study, or tell which there are."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import yaml
from rich.console import Console

from agents.config import ConfigError, choices, conf_folder, unknown
from core.cli import Parser
from core.shown import visible
from experiments.command_line import as_typed
from experiments.studies.planning import GROUP, read
from experiments.studies.running import study

USAGE = """\
usage: python -m experiments study NAME [key=value ...]

Answer a question that one run of games cannot: each study has settings of its own, study.key=value,
and takes all of those of a run (python -m experiments run --help). It is recorded in results/ as a
run is, can be interrupted and resumed (python -m experiments resume FOLDER), and ends with findings
in words, tables, figures and a report.

  python -m experiments study NAME --help    the settings of one
"""


def study_command(arguments: Sequence[str], console: Console) -> int:
    """``study NAME [key=value ...]``; the exit code."""
    parser = Parser(prog="python -m experiments study", add_help=False)
    parser.add_argument("name", nargs="?")
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--config-dir", type=Path)
    parser.add_argument("-h", "--help", action="store_true")
    options, rest = parser.parse_known_intermixed_args(list(arguments))
    if rest:
        raise ConfigError(f"unknown option {rest[0]}; see python -m experiments study --help")
    folders = [str(options.config_dir)] if options.config_dir else []
    if options.help or options.name is None:
        told = study_help(options.name, folders)
        print(visible(told, keep="\n"), end="")
        return 0
    if "=" in options.name:
        raise ConfigError(f"{options.name}: first the name of a study; {_names(folders)}")
    plan = read(options.name, options.settings, folders)
    return study(plan, as_typed(["study", *arguments]), console).exit_code


def _names(folders: Sequence[str]) -> str:
    return f"choose from {', '.join(choices(GROUP, folders))}"


def study_words() -> list[str]:
    """The names of all studies, and what their settings begin with, for a shell's completion."""
    found = list(choices(GROUP))
    for name in choices(GROUP):
        text = (conf_folder() / GROUP / f"{name}.yaml").read_text(encoding="utf-8")
        said = yaml.safe_load(text)
        settings = said.get(GROUP, said)
        keys = (f"{GROUP}.{key}=" for key in settings if key not in ("_target_", "defaults"))
        found += [key for key in keys if key not in found]
    return found


def study_help(name: str | None = None, folders: Sequence[str] = ()) -> str:
    """All studies with what each asks; or of the one of this name its settings, with the comments
    that stand beside them. Raises ConfigError."""
    known = choices(GROUP, folders)
    if name is not None and name not in known:
        raise unknown("study", name, known)
    parts = [
        USAGE if name is None else f"usage: python -m experiments study {name} [key=value ...]\n"
    ]
    for each, about in known.items():
        if name is None:
            parts.append(textwrap.fill(f"{each}: {about}", 100, subsequent_indent="    "))
        elif each == name:
            parts += [f"{about}\n", *_settings(each, folders), ""]
            parts.append("All settings of a run can be given too: python -m experiments run --help")
    return "\n".join(parts) + "\n"


def _settings(name: str, folders: Sequence[str]) -> list[str]:
    """The lines of a study's file, without those that say what it is."""
    paths = (place / GROUP / f"{name}.yaml" for place in (conf_folder(), *map(Path, folders)))
    lines = next(path for path in paths if path.is_file()).read_text(encoding="utf-8").splitlines()
    body = lines[next(n for n, line in enumerate(lines) if not line.startswith("#")) :]
    return [line for line in body if not line.strip().startswith("_target_:")]
