"""Reports: a template makes Markdown of values, and the page is made of the Markdown.

In a template ``{{ value }}`` escapes any text, so that it is read as written; ``table``, ``code``
and ``link`` write Markdown.

The page adds features that Markdown lacks: figures are embedded and have their captions, those
under a heading of the third level are folded, wide tables scroll, a table without headings is one
of facts, a table or code after a paragraph that ends with a colon is folded under it, unless it is
a short table, and the scripts of :mod:`experiments.report.page`.
"""

from __future__ import annotations

import functools
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import jinja2
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console

from othello_lab.core.system.escaping import counted, visible
from othello_lab.core.system.files import write_file
from othello_lab.experiments.config import FIGURE_FILES, NO_FIGURES
from othello_lab.experiments.report.page import Drawing, scripts

if TYPE_CHECKING:
    from othello_lab.experiments.report.figures.drawing import ReportFigure

SHORT_TABLE = 15
"""Rows of a table that is shown unfolded."""

MOST_OPEN = 4
"""Figures that a page shows unfolded."""

_FEW_HEADINGS = 4  # of less a page needs no contents

_SPECIAL = re.compile(
    r"""[\\`*~|#$]                  # code, emphasis, cells, headings, formulas
    | (?<![^\W_])_+ | _+(?![^\W_])  # emphasis, but not within a word
    | <(?=[\w/!?])                  # HTML
    | &(?=\#?\w+;)                  # a character by its name
    | \](?=[(\[:])                  # a link""",
    re.VERBOSE,
)
_LINE_START = re.compile(r"(?=[-+>=])|\d+(?=[.)](?:\s|$))")  # lists, quotations, headings


class Markdown(str):
    """Text that is Markdown already."""


def escaped(text: object) -> str:
    """Text as Markdown that is read as this very text, on one line.

    >>> print(escaped("<b>a_1|*x*</b> > [1, 2]"))
    \\<b>a_1\\|\\*x\\*\\</b> > [1, 2]
    """
    if isinstance(text, Markdown):
        return text
    line = visible(re.sub(r"\s*[\r\n]\s*", " ", str(text)))
    return _SPECIAL.sub(lambda sign: re.sub(r"(.)", r"\\\1", sign[0]), line)


def _paragraph(text: object) -> str:
    """The same where a line may begin with it."""
    if isinstance(text, Markdown):
        return text
    line = escaped(text).strip(" \t")
    mark = _LINE_START.match(line)
    return f"{mark[0]}\\{line[mark.end() :]}" if mark else line


def table(
    header: Iterable[object],
    rows: Iterable[Iterable[object]],
    words: Collection[int] = (0,),
    code: Collection[int] = (),
) -> Markdown:
    """Return a table in Markdown. words: numbers of the columns that hold words, aligned left;
    numbers go right. code: those of the columns with letters of the same width."""
    header = list(header)
    sides = "".join("---|" if number in words else "---:|" for number in range(len(header)))
    cells = ([_typed(cell) if n in code else cell for n, cell in enumerate(row)] for row in rows)
    return Markdown("\n".join([_row(header), f"|{sides}", *map(_row, cells)]))


def _typed(text: object) -> object:
    """Text as code within a line; as it is where a sign of it would end the code or the cell."""
    return text if set("`|\r\n") & set(str(text)) or not text else Markdown(f"`{visible(text)}`")


def _row(cells: Iterable[object]) -> str:
    return f"|{'|'.join(f' {text} ' if text else ' ' for text in map(escaped, cells))}|"


def code(text: str, language: str = "") -> Markdown:
    """A block of code, between fences longer than any in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    shown = visible(re.sub("\r\n?", "\n", text.rstrip()), keep="\n")
    return Markdown(f"{fence}{language}\n{shown}\n{fence}")


def link(text: object, target: str) -> Markdown:
    """A link to a file beside the report."""
    return Markdown(f"[{escaped(text)}]({target})")


def write_report(
    template: str,
    folder: Path,
    title: str,
    file: str = "report",
    games_data: dict[str, Any] | None = None,
    figures: Sequence[Drawing] = (),
    **values: Any,
) -> None:
    """Write ``report.md``, or another file, from the template of this name, and ``report.html``
    from that.

    games_data: the games that can be stepped through in the page; None for none.
    """
    text = rendered(template, title=title, figures=figures, page=f"{file}.html", **values)
    write_file(folder / f"{file}.md", text, durable=True)
    html = _template("page.html.j2").render(
        title=title,
        body=html_of(text, {figure.name: figure.svg for figure in figures}),
        colours=_colours() if any("var(--" in figure.svg for figure in figures) else None,
        scripts=scripts(games_data),
    )
    write_file(folder / f"{file}.html", html, durable=True)


def drawn_figures(
    figures: Callable[[], Iterable[ReportFigure]], setting: str, folder: Path, console: Console
) -> list[Drawing]:
    """Draw the figures of a report, their files in its folder. asked: the setting ``figures``; the
    figures are made only if it wants any."""
    if setting == NO_FIGURES:
        return []
    # Loading matplotlib takes a third of a second, which a report without figures does not need.
    from othello_lab.experiments.report.figures.drawing import draw_figures

    with console.status("drawing figures"):
        return draw_figures(figures(), folder, files=setting == FIGURE_FILES)


def _colours() -> tuple[str, str]:
    # Only a page with figures needs matplotlib, as above.
    from othello_lab.experiments.report.figures.palette import stylesheet

    return stylesheet()


def rendered(template: str, **values: Any) -> str:
    """The Markdown that the template of this name makes of values."""
    return _template(f"{template}.md.j2").render(**values)


@functools.cache
def _template(file: str) -> jinja2.Template:
    """A template, of Markdown or of HTML by the name of its file; compiled once."""
    is_page = ".html." in file
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("othello_lab.experiments.report"),
        finalize=None if is_page else _paragraph,
        autoescape=is_page,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        table=table, code=code, link=link, markdown=Markdown, counted=counted, most_open=MOST_OPEN
    )
    return environment.get_template(file)


# ---------------------------------------------------------------------- the page


def html_of(markdown: str, figures: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a report as HTML. figures: their SVG, by name."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    for part in (child for token in tokens for child in token.children or ()):
        if part.type == "link_open":
            part.attrs["href"] = re.sub(r"\.md$", ".html", str(part.attrs["href"]))
    arranged = list(_with_contents(list(_arranged(tokens, figures))))
    return str(parser.renderer.render(arranged, parser.options, {}))


def _with_contents(tokens: list[Token]) -> Iterator[Token]:
    """The document with names for its headings, and before the first of them links to all."""
    headings: dict[str, str] = {}
    for token, inside in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            name = re.sub("[^a-z0-9]+", "-", inside.content.casefold()).strip("-") or "part"
            while name in headings:
                name += "-again"
            headings[name] = inside.content
            token.attrs["id"] = name
    linked = len(headings) >= _FEW_HEADINGS
    for token in tokens:
        if linked and token.type == "heading_open" and token.tag == "h2":
            linked = False
            yield from _contents(headings)
        yield token


def _contents(names: Mapping[str, str]) -> Iterator[Token]:
    """Links to headings."""
    links = []
    for name, text in names.items():
        inside = Token("inline", "", 0, content=text, children=[Token("text", "", 0, content=text)])
        links += _within("a", [inside], href=f"#{name}")
    yield from _within("nav", links, **{"class": "contents", "aria-label": "Contents"})


def _arranged(tokens: Iterable[Token], figures: Mapping[str, str]) -> Iterator[Token]:
    """The document with its figures, folded parts and tables put together."""
    blocks = deque(_blocks(tokens))
    while blocks:
        block = blocks.popleft()
        following = blocks[0][0].type if blocks else ""
        name = _figure_of(block, figures)
        introduces = block[0].type == "paragraph_open" and block[1].content.endswith(":")
        if name and following == "paragraph_open":
            yield from _captioned(name, figures[name], blocks.popleft())
        elif block[0].tag == "h3" and blocks and (name := _figure_of(blocks[0], figures)):
            blocks.popleft()
            figure = _captioned(name, figures[name], blocks.popleft())
            yield from _within("details", [*_within("summary", block[1:-1]), *figure])
        elif introduces and following in ("table_open", "fence"):
            yield from _folded(block[1:-1], blocks.popleft())
        else:
            yield from _table(block) if block[0].type == "table_open" else block


def _captioned(name: str, svg: str, caption: Sequence[Token]) -> list[Token]:
    """Return a figure with a paragraph as its caption."""
    image = Token("html_block", "", 0, content=svg)
    # tabindex: on a small screen it is moved, by keys too
    inside = [image, *_within("figcaption", caption[1:-1])]
    return _within("figure", inside, id=f"figure-{name}", tabindex="0")


def _figure_of(block: Sequence[Token], figures: Mapping[str, str]) -> str:
    """Return the name of the figure that a paragraph stands for; "" for any other block."""
    parts = [part for token in block for part in token.children or ()]
    if [part.type for part in parts] == ["image"]:
        name = Path(str(parts[0].attrs["src"])).stem
    elif [part.type for part in parts] == ["link_open", "text", "link_close"]:
        name = str(parts[0].attrs["href"]).partition("#figure-")[2]
    else:
        return ""
    return name if name in figures else ""


def _blocks(tokens: Iterable[Token]) -> list[list[Token]]:
    """The paragraphs, tables, lists and so on, each with all that is in it."""
    blocks: list[list[Token]] = []
    for token in tokens:
        if token.level == 0 and token.nesting >= 0:
            blocks.append([])
        blocks[-1].append(token)
    return blocks


def _within(tag: str, inside: Iterable[Token], **attributes: str) -> list[Token]:
    opening = Token(f"{tag}_open", tag, 1, attrs=dict(attributes), block=True)
    return [opening, *inside, Token(f"{tag}_close", tag, -1, block=True)]


def _folded(summary: list[Token], block: list[Token]) -> list[Token]:
    """A table or code that opens at a click on the summary; open already if it is a short table."""
    for part in summary[-1].children or ():
        part.content = part.content.removesuffix(":")
    is_open = {}
    if block[0].type == "table_open":
        rows = sum(token.type == "tr_open" for token in block) - 1
        is_open = {"open": ""} if rows <= SHORT_TABLE else {}
        block = _table(_narrowed(block))
    return _within("details", [*_within("summary", summary), *block], **is_open)


def _narrowed(block: list[Token]) -> list[Token]:
    """Return a table with headings that go on in a second line after their first word."""
    for heading, token in pairwise(block):
        if heading.type == "th_open" and token.children:
            first, blank, rest = token.children[0].content.partition(" ")
            if blank:
                broken = Token("hardbreak", "br", 0)
                words = [Token("text", "", 0, content=word) for word in (first, rest)]
                token.children[:1] = [words[0], broken, words[1]]
    return block


def _table(block: list[Token]) -> list[Token]:
    """A table that scrolls if it is wide; without headings it is one of facts."""
    body = next(n for n, token in enumerate(block) if token.type == "thead_close") + 1
    if not any(token.content for token in block[:body]):
        block = [block[0], *block[body:]]
        block[0].attrs["class"] = "facts"
        for number, token in enumerate(block):
            if token.type == "tr_open":
                block[number + 1].tag = block[number + 3].tag = "th"
    attributes = {"class": "wide", "tabindex": "0", "role": "group", "aria-label": "Table"}
    return _within("div", block, **attributes)
