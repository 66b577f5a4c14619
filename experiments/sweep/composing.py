"""The combinations of a sweep, and the differences between them. Nothing here reads a file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from othello_lab.core.system.settings import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

# Hydra is loaded where it is needed: it takes a quarter of a second, and every command of the lab
# imports this package.

_ZIP = re.compile(r"^([^=]+)=\s*zip\((.*)\)\s*$", re.DOTALL)
COLUMN_OF = {"games": "games_per_pairing"}
"""The columns of settings whose names the standings use otherwise."""
_TYPED = {column: setting for setting, column in COLUMN_OF.items()}
Values = Mapping[str, Mapping[int, Any]]
"""The values of the settings that vary, by column and number of combination."""


def expand(overrides: Sequence[str]) -> list[list[str]]:
    """The combinations of a sweep's overrides, each a list of ``key=value``.

    Values separated by commas, ``choice(...)``, ``range(...)`` and ``glob(...)`` are crossed, as in
    Hydra; all keys written ``key=zip(...)`` advance together, and are crossed with the others.
    Raises ConfigError.

    >>> expand(["depth=1,2", "seed=5"])
    [['depth=1', 'seed=5'], ['depth=2', 'seed=5']]
    >>> expand(["evaluation=glob(mobility*)"])
    [['evaluation=mobility'], ['evaluation=mobility_ratio']]
    >>> expand(["a=zip(1,2)", "b=zip(x,y)", "games=4,8"])
    [['games=4', 'a=1', 'b=x'], ['games=4', 'a=2', 'b=y'], ['games=8', 'a=1', 'b=x'], ['games=8', 'a=2', 'b=y']]
    """  # noqa: E501
    from othello_lab.agents.composing import all_values

    zipped: dict[str, list[str]] = {}
    crossed: dict[str, list[str]] = {}
    for override in overrides:  # the last word on a key counts, as in Hydra
        match = _ZIP.match(override)
        values = all_values(f"{match[1]}={match[2]}" if match else override)
        key = values[0].partition("=")[0]
        for words in (zipped, crossed):
            words.pop(key, None)
        (zipped if match else crossed)[key] = values
    if len({len(values) for values in zipped.values()}) > 1:
        lengths = ", ".join(f"{key} has {len(values)}" for key, values in zipped.items())
        raise ConfigError(f"zip: all keys need as many values; {lengths}")
    rows = list(zip(*zipped.values(), strict=True)) if zipped else [()]
    return [[*product, *row] for product in itertools.product(*crossed.values()) for row in rows]


def varied(known: Sequence[Sequence[str]]) -> Values:
    """Return the keys that differ between combinations, and their values by number of combination:
    numbers, words, truth values and None as such, lists and mappings as written."""
    from othello_lab.agents.composing import parse

    written: dict[str, dict[int, str]] = {}
    for number, words in enumerate(known):
        for word in words:
            written.setdefault(word.partition("=")[0], {})[number] = word
    columns = {}
    for key, settings in written.items():
        if len(settings) < len(known) or len(set(settings.values())) > 1:
            name = key.lstrip("+")
            columns[COLUMN_OF.get(name, name)] = {
                number: _value(parse(setting)) for number, setting in settings.items()
            }
    return columns


def _value(override: Override) -> Any:
    value = override.value()
    if isinstance(value, bool | int | float | str | None):
        return value
    text = override.get_value_element_as_str()
    return text.strip("'\"") if hasattr(value, "text") else text


def short_names(keys: Iterable[str]) -> dict[str, str]:
    """For each key, a column of :func:`varied`, the shortest end of it that no other key has, as a
    user types it.

    >>> short_names(["first.depth", "second.depth", "agents.second.evaluation.weights.corners"])
    {'first.depth': 'first.depth', 'second.depth': 'second.depth', \
'agents.second.evaluation.weights.corners': 'corners'}
    """
    keys = list(keys)
    names = {}
    for key in keys:
        parts = key.split(".")
        ends = (".".join(parts[-n:]) for n in range(1, len(parts)))
        short = next((e for e in ends if sum(f".{k}".endswith(f".{e}") for k in keys) == 1), key)
        names[key] = _TYPED.get(short, short)
    return names


def in_a_line(values: Values, number: int) -> str:
    """Return the varied settings of one combination: ``depth=3 evaluation=iago``."""
    short = short_names(values)
    return " ".join(f"{short[k]}={v[number]}" for k, v in values.items() if number in v)
