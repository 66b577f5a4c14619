"""Figures as SVG: inline in a page, or as a file.

matplotlib writes the SVG. :func:`annotate` declares the rest, added here: titles, shown by browsers
as tooltips, and the series of an element. Inline, colours become CSS variables, so that a figure
follows the scheme of its page. The same figure gives the same text.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from othello_lab.core.system.escaping import visible
from othello_lab.experiments.report.figures.palette import css_variables

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_HREF, _GROUP, _TITLE = f"{{{_XLINK}}}href", f"{{{_SVG}}}g", f"{{{_SVG}}}title"
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_FAMILY = re.compile(r"font-family: [^;]*(?:; )?|; ?text-anchor: start")
_COMMAND = re.compile(r"\s*([MLCQz])\s*")
_BOX = re.compile(r"M(\S+) (\S+)L(\S+) \2L\3 (\S+)L\1 \4(?:L\1 \2|z)+")
_POINT = 96 / 72  # pixels

ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", _XLINK)


def annotate(
    artists: Artist | Iterable[Any] | None,
    series: str | None = None,
    title: str | None = None,
    titles: Sequence[str] | None = None,
    ink: str | None = None,
) -> None:
    """Attach a series, tooltips or a colour to artists, for their SVG. Containers and lists of
    artists are taken apart; None in them is left out.

    series: the name by which elements are lit together. title: a tooltip. titles: a tooltip for
    each cell of a mesh, row by row. ink: the CSS variable of a text's colour.
    """
    if artists is None:
        return
    if not isinstance(artists, Artist):
        for artist in artists:
            annotate(artist, series, title, titles, ink)
        return
    said: dict[str, Any] = {"series": series, "title": title, "titles": titles, "ink": ink}
    known = json.loads(artists.get_gid() or "{}")
    artists.set_gid(json.dumps(known | {key: said[key] for key in said if said[key] is not None}))


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """Return a figure as an element of a page.

    name: unique in the page; ids within begin with it. label: for screen readers.
    """
    root = _tree(figure, name)
    for element in root.findall(f"{{{_SVG}}}defs"):
        if element.find(f"{{{_SVG}}}style") is not None:
            root.remove(element)  # it would hold for the whole page
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    root.attrib.clear()
    root.attrib.update(
        {
            "viewBox": f"0 0 {width:.6g} {height:.6g}",
            "width": f"{width * _POINT:.0f}",
            "height": f"{height * _POINT:.0f}",
            "style": f"--width: {width * _POINT:.0f}px",
            "role": "img",
            "aria-label": label,
        }
    )
    _shorten(root, name)
    _use_variables(root)
    return ElementTree.tostring(root, encoding="unicode").replace(f' xmlns="{_SVG}"', "", 1)


def svg_file(figure: Figure, name: str) -> str:
    """Return a figure as the text of an SVG file, in the colours of a light page."""
    root = _tree(figure, name)
    _shorten(root, name)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(
        root, encoding="unicode"
    )


def _tree(figure: Figure, salt: str) -> ElementTree.Element:
    """Draw a figure as a tree of elements, with titles and series in place."""
    drawing = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        FigureCanvasSVG(figure).print_svg(drawing, metadata={"Date": None})
    root = ElementTree.fromstring(drawing.getvalue())
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for element in list(root.iter()):
        if (notes := element.attrib.get("id", "")).startswith("{"):
            del element.attrib["id"]
            _put(element, json.loads(notes))
    return root


def _put(element: ElementTree.Element, notes: dict[str, Any]) -> None:
    """Add the attributes from :func:`annotate` to an element."""
    if "series" in notes:
        element.set("data-series", visible(notes["series"]))
    if "ink" in notes:
        for text in element.iter(f"{{{_SVG}}}text"):
            text.set("data-ink", notes["ink"])
    if "title" in notes:
        _add_title(element, notes["title"])
    if "titles" in notes:
        cells = list(element.iter(f"{{{_SVG}}}path"))
        for cell, title in zip(cells, notes["titles"], strict=True):
            if title:
                _add_title(cell, title)


def _add_title(element: ElementTree.Element, text: str) -> None:
    title = ElementTree.Element(_TITLE)
    title.text = visible(text, keep="\n")
    element.insert(0, title)


def _shorten(root: ElementTree.Element, name: str) -> None:
    """Leave out all that draws nothing: ids without a reference, further digits, idle groups."""
    for element in root.iter():
        element.tail = None
        if element.text and not element.text.strip():
            element.text = None
    _unwrap(root)
    used = _references(root, name)
    for element in root.iter():
        if (old := element.attrib.pop("id", "")) in used:
            element.set("id", used[old])
        if (target := element.attrib.pop(_HREF, "")) != "":
            element.set("href", f"#{used[target[1:]]}")
        for key, value in list(element.attrib.items()):
            if value.startswith("rotate(-0 "):
                del element.attrib[key]
            elif not key.startswith("data-"):
                element.set(key, _short(value, used))


def _references(root: ElementTree.Element, name: str) -> dict[str, str]:
    """Return new ids for those with references, in their order."""
    new: dict[str, str] = {}
    for element in root.iter():
        for key, value in element.attrib.items():
            targets = [value[1:]] if key == _HREF else _REFERENCE.findall(value)
            for old in targets:
                new.setdefault(old, f"{name}-{len(new) + 1}")
    return new


def _short(value: str, used: Mapping[str, str]) -> str:
    value = _NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
    if value.startswith("M"):
        value = _BOX.sub(r"M\1 \2H\3V\4H\1z", _COMMAND.sub(r"\1", value).strip())
    return _REFERENCE.sub(lambda reference: f"url(#{used[reference[1]]})", value)


def _unwrap(element: ElementTree.Element) -> None:
    """Put the content of groups that say nothing in the place of the groups."""
    children = []
    for child in element:
        _unwrap(child)
        idle = child.tag == _GROUP and set(child.attrib) <= {"id"} and child.find(_TITLE) is None
        children += list(child) if idle else [child]
    element[:] = children


def _use_variables(root: ElementTree.Element) -> None:
    """Replace colours by CSS variables, and leave the font to the page's style."""
    variables = css_variables()
    for element in root.iter():
        ink = element.attrib.pop("data-ink", None)
        if style := element.get("style"):
            style = _COLOUR.sub(lambda colour: f"var({variables[colour[0]]})", style)
            if ink:
                style = re.sub(r"fill: var\([^)]*\)", f"fill: var({ink})", style)
            element.set("style", _FAMILY.sub("", style))
