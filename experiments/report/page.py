"""What a page has beside its text: the scripts that sort its tables, draw charts that answer to the
mouse, and step through games. All of it is in the page, which loads nothing from elsewhere."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import logging
import os
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from othello_lab.core.system.compile import user_cache

log = logging.getLogger("lab.report")

_AT_HAND = "window.vegaEmbed = vegaEmbed"
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Extras:
    """What only a page can show.

    games: data of a :class:`experiments.report.games.GameSample`; None for no games.
    charts: Vega-Lite specifications, by the name of the figure in whose place they are drawn.
    """

    games: dict[str, Any] | None = None
    charts: dict[str, dict[str, Any]] = field(default_factory=dict)


NO_EXTRAS = Extras()


def scripts(extras: Extras) -> list[tuple[str, str]]:
    """The scripts of a page, in their order: an id and a text. Those with an id are data,
    :func:`packed`; the others are programs."""
    found = []
    if extras.games is not None:
        found.append(("games-data", packed(json.dumps(extras.games, separators=(",", ":")))))
    if extras.charts and (bundle := vega()):
        charts = json.dumps(extras.charts, separators=(",", ":"))
        found += [("charts-data", packed(charts)), ("charts-program", bundle)]
    found.append(("", _program("page.js")))
    if extras.games is not None:
        found.append(("", _program("browser.js")))
    return found


def packed(text: str) -> str:
    """A text compressed (gzip) and in Base64; the same text gives the same again."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


@functools.cache
def _program(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@functools.cache
def vega() -> str:
    """The program that draws charts, :func:`packed`: Vega, Vega-Lite and Vega-Embed in one, from
    the package that Altair uses for charts that work offline. Making it takes a second, so it is
    kept in the user's cache folder. "" where it cannot be made."""
    import altair
    import vl_convert

    made_by = metadata.version("vl-convert-python")
    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    kept = user_cache() / f"vega-{version}-{made_by}.js.gz"
    try:
        return base64.b64encode(kept.read_bytes()).decode()
    except OSError:
        pass
    try:
        bundle = vl_convert.javascript_bundle(_AT_HAND, version)
    except (RuntimeError, ValueError) as error:
        log.warning("charts that answer to the mouse are left out: %s", error)
        return ""
    text = packed(bundle)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_bytes(base64.b64decode(text))
        new.replace(kept)
    except OSError:
        pass  # then it is made again the next time
    return text
