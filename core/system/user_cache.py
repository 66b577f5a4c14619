"""The user's folder for everything that the lab computes once and keeps."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """Return ``$OTHELLO_LAB_CACHE``, or ``othello-strategy-lab`` in the user's cache folder."""
    if chosen := os.environ.get("OTHELLO_LAB_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "othello-strategy-lab"
