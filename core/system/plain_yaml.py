"""YAML that somebody else may have written, or damaged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from othello_lab.core.system.files import UnreadableFile, read_text

_MOST_PARTS = 100_000
# The parser in C takes a tenth of the time; it is not everywhere.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> Any:
    """Return the plain data of a YAML. Raises ValueError, in one line: also for data that contains
    itself, or that is large only because its parts are named again and again."""
    try:
        _refuse_repetition(text)
        return yaml.load(text, Loader=_LOADER)
    except Exception as error:  # of the parser, and of numbers and dates that are none
        raise ValueError(f"{' '.join(str(error).split()):.300}") from error


def _refuse_repetition(text: str) -> None:
    """Count the parts with those named again (``*name``), before anything is made of them."""
    if "&" not in text:
        return
    sizes: dict[str | None, int] = {}
    outer: list[tuple[str | None, int]] = []
    anchor, size = None, 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            outer.append((anchor, size))
            anchor, size = event.anchor, 1
        elif isinstance(event, yaml.NodeEvent):
            added = (
                sizes.get(event.anchor, _MOST_PARTS) if isinstance(event, yaml.AliasEvent) else 1
            )
            sizes[event.anchor] = added
            size += added
        elif isinstance(event, yaml.CollectionEndEvent):
            sizes[anchor], (anchor, outer_size) = size, outer.pop()
            size += outer_size
        if size > _MOST_PARTS:
            raise ValueError("it contains itself, or its parts are named too often")


def checked_text(path: Path | str) -> str:
    """Return the text of a YAML for another reader, which finds errors of its grammar; raises
    OSError."""
    text = read_text(path)
    try:
        with suppress(yaml.YAMLError):
            _refuse_repetition(text)
    except ValueError as error:
        raise UnreadableFile(path, str(error)) from None
    return text


def read_yaml(path: Path | str) -> Any:
    """Return the plain data of a file; raises OSError, and ValueError as :func:`parse_yaml`."""
    return parse_yaml(read_text(path))
