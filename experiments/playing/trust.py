"""Code from outside the lab that a record names.

Continuing a run or a sweep runs this code with the user's own rights, and the record may be
somebody else's. So the code is shown, and its use confirmed, before anything of it is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.named_code import NamedCode, named_code
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.record.provenance import file_hash, recorded_hash


def foreign_code(described: Mapping[str, Any], recorded: Mapping[str, str]) -> list[str]:
    """Return the code from outside the lab that settings would run, a line each: its first place in
    the settings, its name, the file, and any change of it. Nothing from outside is imported.

    described: of :func:`experiments.config.built_from`. recorded: the versions in the record, with
    a hash of every such file.
    """
    first: dict[tuple[str, Path | None], NamedCode] = {}
    for code in named_code(described):
        first.setdefault((code.target, code.file), code)
    lines = [_description(code, recorded) for code in first.values() if not code.is_ours]
    for address in sorted(set(_addresses(described))):
        lines.append(f"executor.address: the Dask scheduler at {address}, whose messages are code")
    return lines


def foreign_targets(settings: Mapping[str, Any]) -> set[str]:
    """Return the code from outside the lab that settings name, and a Dask scheduler."""
    named = {code.target for code in named_code(settings) if not code.is_ours}
    return named | set(_addresses(settings))


def names_no_more(recorded: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Return True if the settings in the record of a part name no code from outside the lab but
    what ``known``, those of the whole, do: then it was asked for with the whole."""
    return foreign_targets(recorded) <= foreign_targets(known)


def _addresses(settings: Any) -> Iterator[str]:
    if isinstance(settings, Mapping):
        executor = settings.get("executor")
        address = executor.get("address") if isinstance(executor, Mapping) else None
        yield from () if address is None else [str(address)]
        settings = list(settings.values())
    for part in settings if isinstance(settings, list) else ():
        yield from _addresses(part)


def _description(named: NamedCode, recorded: Mapping[str, str]) -> str:
    if named.file is None:
        return f"{named.where}: {named.target} (no file of it is found)"
    before = recorded_hash(named.file, recorded)
    state = "unchanged" if before == file_hash(named.file) else "changed"
    since = "not in the record" if before is None else f"{state} since the record"
    return f"{named.where}: {named.target} ({named.file.resolve()}, {since})"


def check_trusted(what: object, lines: Sequence[str], trust: bool, console: Console) -> None:
    """Ask for permission to run foreign code; ConfigError if it is refused, or nobody is there to
    ask.

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
