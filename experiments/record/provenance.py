"""What a run was made with: versions, code and machine; and whether they are still the same."""

from __future__ import annotations

import hashlib
import importlib.util
import platform
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import agents
import core
from core.compile import processor
from experiments.system import available_cores

_PACKAGES = ("othello-strategy-lab", "numba", "llvmlite", "numpy", "scipy", "pandas")
_HARMLESS = ("scipy", "pandas")  # for reports, not for games
_OURS = ("agents", "core", "experiments")
_SHAPE_GAMES = ("pairing", "playing", "statistics")  # rooms of experiments/


def versions(agents_settings: Mapping[str, Any]) -> dict[str, str]:
    """Versions of Python, of the lab and of what its numbers depend on; ``code``, a hash of the
    lab's own sources; and a hash of each file of the user's that the agents' settings name."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    found["code"] = _hash(_our_sources())
    for path in sorted(set(_named_files(agents_settings))):
        found[path.name] = _hash([path])
    return found


def differences(recorded: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What has changed of what games depend on, in words."""
    return [
        f"{name} {recorded.get(name, 'none')} -> {now.get(name, 'none')}"
        for name in dict.fromkeys((*recorded, *now))
        if name not in _HARMLESS and recorded.get(name) != now.get(name)
    ]


def machine() -> dict[str, Any]:
    """What games are played on."""
    name, _ = processor()
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": name,
        "cores": available_cores(),
    }


def _our_sources() -> Iterator[Path]:
    rooms = Path(__file__).parent.parent
    for folder in (
        Path(core.__path__[0]),
        Path(agents.__path__[0]),
        *(rooms / name for name in _SHAPE_GAMES),
    ):
        yield from sorted(folder.rglob("*.py"))


def _named_files(settings: Any) -> Iterator[Path]:
    """The Python files outside the lab that settings name, as a class or as FILE.py:FUNCTION."""
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            if key == "_target_" and isinstance(value, str):
                yield from _file_of(value)
            else:
                yield from _named_files(value)
    elif isinstance(settings, str) and ".py:" in settings:
        path = Path(settings.rpartition(":")[0])
        if path.is_file():
            yield path


def _file_of(target: str) -> Iterator[Path]:
    module = target.rpartition(".")[0]
    if not module or module.partition(".")[0] in _OURS:
        return
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return
    if spec is not None and spec.origin is not None and Path(spec.origin).is_file():
        yield Path(spec.origin)


def _hash(paths: Any) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
