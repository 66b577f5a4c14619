"""Provenance of a run: versions, code and machine; and the changes since then."""

from __future__ import annotations

import functools
import hashlib
import platform
import subprocess
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from othello_lab.agents.loading import LAB
from othello_lab.agents.named_code import named_code
from othello_lab.core.system.cli import DISTRIBUTION
from othello_lab.core.system.compile import processor
from othello_lab.core.system.files import read_bytes
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.promises import broken

PACKAGES = (DISTRIBUTION, "numba", "llvmlite", "numpy", "scipy", "pandas", "matplotlib")
COMMIT = "commit"
"""Of the repository that the lab runs from, among the versions; a wheel has none."""
_HARMLESS = ("scipy", "pandas", "matplotlib", COMMIT)  # for reports, not for games
_SHAPE_GAMES = (
    *("core", "agents"),
    *("experiments/pairing", "experiments/playing", "experiments/statistics"),
)


def versions(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of Python, of the lab and of the packages that its numbers depend on;
    ``code``, a hash of the lab's own sources; and a hash of each file of the user's that the
    settings name. Nothing is imported for that."""
    known = {"python": platform.python_version()} | _installed()
    lab = Path(__file__).parents[2]
    sources = (path for room in _SHAPE_GAMES for path in sorted((lab / room).rglob("*.py")))
    known["code"] = file_hash(*sources)
    named = {
        code.file
        for code in named_code(settings)
        if code.file and (code.program or not code.target.startswith(LAB))
    }
    called = Counter(path.name for path in named)
    for path in sorted(named):
        known[path.name if called[path.name] == 1 else str(path)] = file_hash(path)
    return known


def recorded_hash(path: Path, recorded: Mapping[str, str]) -> str | None:
    """Return the hash of a file in the ``versions`` of a record, by its name, or by its path if
    several have that name; None if there is none."""
    return recorded.get(str(path), recorded.get(path.name))


@functools.cache
def _installed() -> dict[str, str]:
    known = dict.fromkeys(PACKAGES, "not installed")
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            known[package] = metadata.version(package)
    lab = Path(__file__).resolve().parents[2]
    if (lab / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            command = ["git", "-C", str(lab), "rev-parse", "HEAD"]
            commit = subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL)
            known[COMMIT] = commit[:40]
    return known


def differences(recorded: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the changes between two sets of versions, in words."""
    return [
        f"{name} {recorded.get(name, 'none')} -> {now.get(name, 'none')}"
        for name in dict.fromkeys((*recorded, *now))
        if name not in _HARMLESS and recorded.get(name) != now.get(name)
    ]


BROKEN = "promises broken when closed"
"""Where a description of a machine has :func:`core.system.promises.broken`."""


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    name, _ = processor()
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": name,
        "cores": available_cores(),
        BROKEN: broken(),
    }


def machine_in_words(machine: Mapping[str, Any]) -> str:
    """Return a description of a machine in a line. Promises of isolation stand there only where it
    cannot keep them.

    >>> machine_in_words({"cores": 2, BROKEN: ["it has no network"]})
    'cores 2, cannot keep these promises on closed agents: it has no network'
    """
    words = [f"{key} {value}" for key, value in machine.items() if not isinstance(value, list)]
    if machine.get(BROKEN):
        words.append(f"cannot keep these promises on closed agents: {'; '.join(machine[BROKEN])}")
    return ", ".join(words)


def file_hash(*paths: Path) -> str:
    """The hash of a file, or of several together, as :func:`versions` has it."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + read_bytes(path) + b"\0")
    return digest.hexdigest()[:12]
