"""Code from outside the lab that a record names. Whoever goes on with a run, or a sweep, runs it
with their own rights, and the record may be somebody else's: so it is shown, and asked for, before
anything of it is imported."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.config import ConfigError
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.system.escaping import plain
from othello_lab.experiments.pairing import Openings, Schedule
from othello_lab.experiments.playing import Executor
from othello_lab.experiments.record.provenance import (
    OURS,
    NamedCode,
    file_hash,
    named_code,
    recorded_hash,
)

_KINDS = (Agent, Evaluation, Openings, Schedule, Executor)


def foreign_code(
    described: Mapping[str, Any], recorded: Mapping[str, str], kinds: tuple[type, ...] = ()
) -> list[str]:
    """What would run that is not the lab's own, a line each: where it is named, as what, the file,
    and whether that is as it was. Nothing from outside is imported.

    described: of :func:`experiments.config.built_from`. recorded: the versions in the record, which
    have a hash of every such file. kinds: classes of ours that it may name, beside those that a
    run has.
    """
    lines = [_about(each, recorded) for each in named_code(described) if not _is_ours(each, kinds)]
    address = described.get("executor", {}).get("address")
    if address is not None:
        lines.append(f"executor.address: the Dask scheduler at {address}, whose messages are code")
    return lines


def _is_ours(named: NamedCode, kinds: tuple[type, ...]) -> bool:
    """Whether it is one of the lab's own agents, evaluations, and so on. A name of ours alone would
    not do: ``othello_lab.experiments.jobs.run.os.system`` begins with one."""
    if not named.is_ours:
        return False
    with suppress(Exception):
        kind = pkgutil.resolve_name(named.target)
        home = kind.__module__.partition(".")[0]
        return isinstance(kind, type) and issubclass(kind, (*_KINDS, *kinds)) and home == OURS
    return False


def _about(named: NamedCode, recorded: Mapping[str, str]) -> str:
    if named.file is None:
        return f"{named.where}: {named.target} (no file of it is found)"
    before = recorded_hash(named.file, recorded)
    state = "unchanged" if before == file_hash(named.file) else "changed"
    since = "not in the record" if before is None else f"{state} since the record"
    return f"{named.where}: {named.target} ({named.file.resolve()}, {since})"


def check_trusted(what: object, lines: Sequence[str], trust: bool, console: Console) -> None:
    """Ask whether foreign code is to be run; ConfigError if not, or if nobody is there to ask.

    what: the folder that names it. lines: of :func:`foreign_code`.
    """
    if not lines or trust:
        return
    if not (console.is_terminal and sys.stdin.isatty()) or console.quiet:
        raise ConfigError(
            f"{what} runs code from outside the lab, with your rights: {'; '.join(lines)}. If you "
            "trust it: --trust (in Python trust=True)"
        )
    console.print(plain(f"{what} runs code from outside the lab, with your rights:"))
    for line in lines:
        console.print(plain(f"  {line}"), soft_wrap=True)
    try:
        answer = input("Go on? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise ConfigError(f"{what}: not trusted, so nothing of it was run")
