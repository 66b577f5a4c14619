"""The parts of a page that Markdown does not have: its figures and its scripts.

The scripts sort its tables, light an agent in its figures, and step through games. All of them are
in the page, so it loads nothing from elsewhere.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from othello_lab.core.system.files import read_text

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Drawing:
    """A figure that is drawn. svg: an element of a page. file: name of its PNG, "" for none."""

    name: str
    title: str
    caption: str
    svg: str
    file: str = ""


def scripts(games: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Return the scripts of a page, in their order: an id and a text. Those with an id are data,
    :func:`packed`; the others are programs.

    games: data of a :class:`experiments.report.games.GameSample`; None for no games.
    """
    if games is None:
        return [("", _program("page.js"))]
    data = packed(json.dumps(games, separators=(",", ":")))
    return [("games-data", data), ("", _program("page.js")), ("", _program("browser.js"))]


def packed(text: str) -> str:
    """A text compressed (gzip) and in Base64; the same text gives the same again."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


@functools.cache
def _program(name: str) -> str:
    return read_text(_TEMPLATES / name)
