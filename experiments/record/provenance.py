"""Provenance of a run: versions, code and machine; and the changes since then."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

from othello_lab.agents.loading import split_target
from othello_lab.core.system.cli import DISTRIBUTION
from othello_lab.core.system.compile import processor
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.promises import broken

PACKAGES = (DISTRIBUTION, "numba", "llvmlite", "numpy", "scipy", "pandas", "matplotlib")
COMMIT = "commit"
"""Of the repository that the lab runs from, among the versions; a wheel has none."""
_HARMLESS = ("scipy", "pandas", "matplotlib", COMMIT)  # for reports, not for games
OURS = "othello_lab"
"""The lab's own package."""
_SHAPE_GAMES = (
    *("core", "agents"),
    *("experiments/pairing", "experiments/playing", "experiments/statistics"),
)


def versions(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of Python, of the lab and of the packages that its numbers depend on;
    ``code``, a hash of the lab's own sources; and a hash of each file of the user's that the
    settings name. Nothing is imported for that."""
    found = {"python": platform.python_version()} | _installed()
    found["code"] = _hash(_our_sources())
    named = {each.file for each in named_code(settings) if each.file and not each.is_ours}
    called = Counter(path.name for path in named)
    for path in sorted(named):
        found[path.name if called[path.name] == 1 else str(path)] = file_hash(path)
    return found


def recorded_hash(path: Path, recorded: Mapping[str, str]) -> str | None:
    """Return the hash of a file in the ``versions`` of a record, by its name, or by its path if
    several have that name; None if there is none."""
    return recorded.get(str(path), recorded.get(path.name))


@functools.cache
def _installed() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    lab = Path(__file__).resolve().parents[2]
    if (lab / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            asked = ["git", "-C", str(lab), "rev-parse", "HEAD"]
            found[COMMIT] = subprocess.check_output(asked, text=True, stderr=subprocess.DEVNULL)[
                :40
            ]
    return found


def differences(recorded: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the changes between two sets of versions, in words."""
    return [
        f"{name} {recorded.get(name, 'none')} -> {now.get(name, 'none')}"
        for name in dict.fromkeys((*recorded, *now))
        if name not in _HARMLESS and recorded.get(name) != now.get(name)
    ]


BROKEN, BROKEN_CLOSED = "promises broken", "promises broken when closed"
"""Where a description of a machine has :func:`core.system.promises.broken`."""
_BROKEN_IN_WORDS = {
    BROKEN: "cannot keep these promises of isolation",
    BROKEN_CLOSED: "cannot keep these of closed agents",
}


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    name, _ = processor()
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": name,
        "cores": available_cores(),
        BROKEN: broken(closed=False),
        BROKEN_CLOSED: broken(closed=True),
    }


def machine_in_words(about: Mapping[str, Any]) -> str:
    """Return a description of a machine in a line. Promises of isolation stand there only where it
    cannot keep them.

    >>> machine_in_words({"cores": 2, BROKEN: [], BROKEN_CLOSED: ["it hides no process"]})
    'cores 2, cannot keep these of closed agents: it hides no process'
    """
    words = []
    for key, value in about.items():
        if key not in _BROKEN_IN_WORDS:
            words.append(f"{key} {value}")
        elif value:
            words.append(f"{_BROKEN_IN_WORDS[key]}: {'; '.join(value)}")
    return ", ".join(words)


def _our_sources() -> Iterator[Path]:
    lab = Path(__file__).parents[2]
    for room in _SHAPE_GAMES:
        yield from sorted((lab / room).rglob("*.py"))


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
        """True if its name is one in the lab's own packages."""
        if self.program or ".py:" in self.target:
            return False
        return self.target.partition(".")[0] == OURS


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
    place = split_target(target)[0] if ":" in target.strip(":") else target
    path = Path(place).expanduser() if place.endswith(".py") else _module_file(place)
    return path if path is not None and path.is_file() else None


def _files_of(command: str, place: object = None) -> list[Path]:
    """Return the files that a command names: its program, and those among its arguments. place: the
    file or folder relative to which they are given; None for the working folder."""
    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        return []
    paths = [Path(word) for word in (shutil.which(program) or program, *arguments)]
    if isinstance(place, str):
        folder = Path(place) if os.path.isdir(place) else Path(place).parent
        paths = [folder / path for path in paths]
    with suppress(OSError):  # a word may be too long for a file's name
        return [path for path in paths if path.is_file()]
    return []


def _module_file(name: str) -> Path | None:
    """The file of the module that a dotted name begins with. ``importlib.util.find_spec`` would
    import the packages that the module is in; so they are gone through one by one."""
    parts = name.split(".")
    found, folders = None, None
    for last in range(1, len(parts) + 1):
        module = ".".join(parts[:last])
        try:
            spec = (
                importlib.util.find_spec(module)
                if folders is None
                else PathFinder.find_spec(module, folders)
            )
        except (ImportError, ValueError):
            break
        if spec is None:
            break
        found, folders = spec.origin, spec.submodule_search_locations
        if folders is None:
            break
    return Path(found) if found else None


def file_hash(*paths: Path) -> str:
    """The hash of a file, or of several together, as :func:`versions` has it."""
    return _hash(paths)


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
