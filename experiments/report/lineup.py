"""The agents of a run as a report writes them: their names, and what each one is."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Collection, Mapping
from typing import Any

SELECTIVE_MARK = "\N{DAGGER}"
"""Follows the names of agents that search selectively wherever their results are shown."""


def marked(name: str, selective: bool) -> str:
    """An agent's name, with the mark if it searches selectively."""
    return f"{name} {SELECTIVE_MARK}" if selective else name


def described(agents: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Each agent's settings in a line: ``AlphaBeta, depth 4, evaluation SquareWeights``. What is as
    it is by default is left out, unless the agents differ in it."""
    values: dict[str, set[str]] = {}
    for settings in agents.values():
        for key, value in settings.items():
            values.setdefault(key, set()).add(str(value))
    differing = {key for key, found in values.items() if len(found) > 1}
    return {name: _in_words(settings, differing) for name, settings in agents.items()}


def _in_words(settings: Mapping[str, Any], differing: Collection[str] = ()) -> str:
    target = str(settings.get("_target_") or settings.get("object", ""))
    defaults = _defaults(target)
    words = [target.rpartition(".")[2]]
    for key, value in settings.items():
        off = (value is None or value is False) and not defaults.get(key)
        if off or key in ("_target_", "object"):
            continue
        if isinstance(value, Mapping) and ("_target_" in value or "object" in value):
            words.append(f"{key} {_in_words(value)}")
        elif isinstance(value, Mapping):
            words.append(
                f"{key} {' '.join(f'{name} {part}' for name, part in value.items() if part)}"
            )
        elif key in differing or key not in defaults or defaults[key] != value:
            words.append(f"{key} {value}")
    return ", ".join(words)


def _defaults(target: str) -> dict[str, Any]:
    """The default values of a class's settings; none where it is out of reach by its name."""
    try:
        line = pkgutil.resolve_name(target).__mro__
    except (ImportError, AttributeError, ValueError):
        return {}
    makers = [kind.__init__ for kind in reversed(line) if "__init__" in vars(kind)]
    parameters = [each for make in makers for each in inspect.signature(make).parameters.values()]
    return {parameter.name: parameter.default for parameter in parameters}
