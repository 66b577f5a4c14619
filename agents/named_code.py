"""Code that settings name, found without importing any of it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from othello_lab.agents.loading import own_class, place_of


class NamedCode(NamedTuple):
    """Code that settings name.

    where: its place in the settings. target: its name there. file: its path, None if none is found.
    program: True for another program, as a command.
    """

    where: str
    target: str
    file: Path | None
    program: bool = False

    @property
    def is_ours(self) -> bool:
        """True if it is a class of the lab's own that settings may name."""
        return not self.program and own_class(self.target) is not None


def named_code(settings: Any, where: str = "") -> Iterator[NamedCode]:
    """All code that settings name, as a class (``_target_``), as FILE.py:FUNCTION or
    MODULE:FUNCTION (``target``), or as a ``command``. Nothing is imported or started."""
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            if key == "_target_" or (key == "target" and ":" in str(value)):
                yield NamedCode(where, str(value), _file_of(str(value)))
            elif key == "command" and isinstance(value, str):
                files: list[Path | None] = [*_files_of(value, settings.get("path"))]
                for file in files or [None]:
                    yield NamedCode(where, value, file, program=True)
            else:
                yield from named_code(value, f"{where}.{key}".lstrip("."))
    elif isinstance(settings, list | tuple):
        for number, value in enumerate(settings):
            yield from named_code(value, f"{where}[{number}]")
    elif isinstance(settings, str) and ".py:" in settings:
        yield NamedCode(where, settings, _file_of(settings))


def _file_of(target: str) -> Path | None:
    """The file that a target's code stands in."""
    name = place_of(target)
    path = Path(name).expanduser() if name.endswith(".py") else _module_file(name)
    return path if path is not None and path.is_file() else None


def _files_of(command: str, base: object = None) -> list[Path]:
    """Return the files that a command names, relative to ``base`` or the working folder."""
    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        return []
    paths = [Path(word) for word in (shutil.which(program) or program, *arguments)]
    if isinstance(base, str):
        folder = Path(base) if os.path.isdir(base) else Path(base).parent
        paths = [folder / path for path in paths]
    with suppress(OSError):  # a word may be too long for a file's name
        return [path for path in paths if path.is_file()]
    return []


def _module_file(name: str) -> Path | None:
    """The file of the module that a dotted name begins with, found without any import."""
    parts = name.split(".")
    origin, folders = None, None
    with suppress(ImportError, ValueError):
        for last in range(1, len(parts) + 1):
            module = ".".join(parts[:last])
            spec = find_spec(module) if last == 1 else PathFinder.find_spec(module, folders)
            if spec is None:
                break
            origin, folders = spec.origin, spec.submodule_search_locations
            if folders is None:
                break
    return Path(origin) if origin else None
