"""Libraries that not everybody has, and training needs."""

from __future__ import annotations

import importlib.util


def needs(library: str, package: str, extra: str) -> None:
    """Raise ValueError, naming the extra that brings it, where a library is not installed.

    library: as it is imported. package: as it is installed.
    """
    if importlib.util.find_spec(library) is None:
        install = f"pip install 'othello-strategy-lab[{extra}]'"
        raise ValueError(f"this training needs {package}; {install} or {package}")
