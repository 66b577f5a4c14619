"""The parts of seaborn that figures use: its styles and its palettes.

``import seaborn`` also loads all its charts, and with these the parts of scipy that compute
densities and clusters, which takes several times as long.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType

_PARTS = ("rcmod", "palettes", "cm")  # the last one names its colour maps for matplotlib


def _load() -> list[ModuleType]:
    """Load the parts as those of a package that is not run itself. Whoever imports seaborn
    later gets all of it."""
    if "seaborn" in sys.modules:
        return [import_module(f"seaborn.{part}") for part in _PARTS]
    spec = find_spec("seaborn")
    if spec is None:
        raise ModuleNotFoundError("No module named 'seaborn'", name="seaborn")
    sys.modules["seaborn"] = module_from_spec(spec)
    try:
        return [import_module(f"seaborn.{part}") for part in _PARTS]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "seaborn"]:
            del sys.modules[name]


styles, palettes, _ = _load()
