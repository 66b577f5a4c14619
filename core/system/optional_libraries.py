"""Libraries that not everybody has: the extras of ``pyproject.toml`` bring them."""

from __future__ import annotations

import importlib.util

from othello_lab.core.system.settings import ConfigError


def needs(what: str, library: str, extra: str, package: str = "") -> None:
    """Raise ConfigError, with the command that installs it, where a library is missing.

    what: what needs it, for the message. library: as it is imported. extra: the one that brings it.
    package: as it is installed; default ``library``.
    """
    if importlib.util.find_spec(library) is None:
        raise ConfigError(f"{what} needs {package or library}; {install_hint(extra)}")


def install_hint(extra: str) -> str:
    """Return the command that installs an extra, as docs/start.md installs the lab."""
    return f"pip install '.[{extra}]' in the folder of the repository"
