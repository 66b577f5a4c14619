"""What is measured: runs of many games, their record, statistics, figures and reports. Imports
:mod:`agents` and :mod:`core`."""

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

_ROOT = Path(__file__).parents[1]
for _name in ("core", "agents"):
    _spec = importlib.util.find_spec(_name)
    _place = Path((_spec and _spec.origin) or "nowhere").resolve()
    if _place != (_ROOT / _name / "__init__.py").resolve():
        # Python looks into the working folder first, and found somebody's file of the same name.
        _said = (
            f"'{_name}' is {_place}, not the lab's; start from another folder, or by othello-lab"
        )
        if sys.argv[:1] == ["-m"]:
            print(_said, file=sys.stderr)
            sys.exit(2)
        raise ImportError(_said)

import core as core  # noqa: E402  # first, for Ctrl-C

if TYPE_CHECKING:
    from experiments.run import RunResult, resume, run_match

__all__ = ["RunResult", "resume", "run_match"]


def __getattr__(name: str) -> Any:
    """What this package offers, loaded when it is asked for: ``--help`` needs none of it."""
    if name in __all__:
        return getattr(importlib.import_module("experiments.run"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
