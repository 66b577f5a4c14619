"""YAML that somebody else may have written, or damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_MOST_PARTS = 1_000_000
# The parser in C takes a tenth of the time; it is not everywhere.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> Any:
    """Return the plain data of a YAML. Raises ValueError, in one line: also for data that contains
    itself, or that is large only because its parts are named again and again."""
    try:
        data = yaml.load(text, Loader=_LOADER)
    except Exception as error:  # of the parser, and of numbers and dates that are none
        raise ValueError(f"{' '.join(str(error).split()):.300}") from error
    waiting, parts = [data], 0
    while waiting:
        part = waiting.pop()
        parts += 1
        if parts > _MOST_PARTS:
            raise ValueError("it contains itself, or has too many parts")
        if isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple | set):
            waiting += part
    return data


def read_yaml(path: Path) -> Any:
    """Return the plain data of a file; raises OSError, and ValueError as :func:`parse_yaml`."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(str(error)) from error
    return parse_yaml(text)
