"""``othello-lab study``: make a study, or list all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Sequence

from rich.console import Console

from othello_lab.agents.composing import choices, settings_text, unknown
from othello_lab.agents.sides import with_open_settings
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.command_line import SettingsParser
from othello_lab.experiments.jobs.kinds import STUDY, KindEntry
from othello_lab.experiments.studies.study_plan import read
from othello_lab.experiments.studies.study_session import study

USAGE = """\
usage: othello-lab study NAME [key=value ...]

Answer a question that one run of games cannot: each study has settings of its own, study.key=value,
and takes all of those of a run (othello-lab run --help). It is recorded in results/ as a
run is, can be interrupted and resumed (othello-lab resume FOLDER), and ends with findings
in words, tables, figures and a report.

  othello-lab study NAME --help    the settings of one
"""


def study_command(arguments: Sequence[str], console: Console) -> int:
    """``study NAME [key=value ...]``; the exit code."""

    def make(name: str, settings: Sequence[str], folders: Sequence[str]) -> int:
        plan = read(name, with_open_settings(settings), folders)
        return study(plan, as_typed(["study", *arguments]), console).exit_code

    return named_command(STUDY, arguments, make, study_help)


def named_command(
    kind: KindEntry,
    arguments: Sequence[str],
    make: Callable[[str, Sequence[str], Sequence[str]], int],
    helped: Callable[[str | None, Sequence[str]], str],
) -> int:
    """Run the command that makes a study of this kind, ``NAME [key=value ...]``; return the exit
    code.

    make: gets name, settings and further folders of YAMLs. helped: returns the text of ``--help``,
    of all or of the one of this name.
    """
    options = SettingsParser(kind.group).parsed(arguments)
    folders, (name, *settings) = options.folders, options.words or [None]
    if options.help or name is None:
        print(visible(helped(name, folders), keep="\n"), end="")
        return 0
    if "=" in name:
        known = ", ".join(choices(kind.group, folders))
        raise ConfigError(f"{name}: first the name of a {kind.word}; choose from {known}")
    return make(name, settings, folders)


def study_help(name: str | None = None, folders: Sequence[str] = ()) -> str:
    """Return all studies with their questions; or the settings of the one of this name, as its
    class declares them. Raise ConfigError."""
    return help_of(STUDY, USAGE, name, folders)


def help_of(
    kind: KindEntry,
    usage: str,
    name: str | None,
    folders: Sequence[str],
    without: Collection[str] = (),
) -> str:
    """Return the same for a kind of studies. Raise ConfigError.

    usage: the text above the list of all. without: settings that are explained elsewhere.
    """
    known = choices(kind.group, folders)
    if name is None:
        lines = [
            textwrap.fill(f"{choice}: {meaning}", 100, subsequent_indent="    ")
            for choice, meaning in known.items()
        ]
        return "\n".join([usage, *lines]) + "\n"
    if name not in known:
        raise unknown(kind.word, name, known)
    parts = [
        f"usage: othello-lab {kind.group} {name} [key=value ...]\n",
        f"{known[name]}\n",
        *settings_text(kind.group, name, folders, without),
        "",
        "All settings of a run can be given too: othello-lab run --help",
    ]
    return "\n".join(parts) + "\n"
