"""Configuration of Sphinx, which makes a site of these pages: ``make site``.

The source folder is the whole project. So a link from any page to any file leads somewhere: to a
page of the site, or to a copy of the file. The pages have no syntax of their own, and read the same
on GitHub; this file adds what is made from the code.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

from reference import columns_text, settings_pages

from othello_lab.agents.commands.show import described_names, description, ladder_text

ROOT = Path(__file__).resolve().parent.parent

project = "The Othello strategy lab"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
MADE = "build/pages"
"""The folder of pages that have no file in the repository, made anew for each site."""

EXTRA = "build/extra"
"""The folder of the gallery's pages, which stand in the site as they are."""

include_patterns = ["README.md", "CONTRIBUTING.md", "results/README.md", "docs/**", f"{MADE}/**"]
_FOLDERS = {pattern.partition("/")[0] for pattern in include_patterns}
exclude_patterns = ["results/*/*", *(name for name in os.listdir(ROOT) if name not in _FOLDERS)]
myst_heading_anchors = 6
default_role = "code"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"

html_theme = "furo"
html_extra_path = [f"../{EXTRA}"] if (ROOT / EXTRA).is_dir() else []
html_title = project
html_static_path = ["_static"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_copyright = html_show_sphinx = False
html_show_search_summary = False  # it would read other pages, which browsers refuse on file://

# ------------------------------------------------------------------ contents

CONTENTS = "docs/README.md"
"""The table of contents: a page of links, in groups."""


def tables_of_contents() -> str:
    """Return the groups of links on the page of contents, as Sphinx wants them."""
    page = (ROOT / CONTENTS).read_text(encoding="utf-8")
    return "".join(
        toctree(_entries(links), f":hidden:\n:caption: {caption}")
        for caption, links in re.findall(r"^#+ (.*)\n([^#]*)", page, re.MULTILINE)
    )


def toctree(entries: Iterable[str], options: str = "") -> str:
    """Return a table of contents in Sphinx's words, to be put below a text."""
    return "\n\n" + "\n".join(["```{toctree}", options, "", *entries, "```", ""])


def _entries(links: str) -> Iterator[str]:
    for title, target in re.findall(r"^- \[(.*)\]\((.*)\.md\)", links, re.MULTILINE):
        name = os.path.normpath(f"docs/{target}")
        yield f"{title} <{'self' if name == root_doc else name}>"


# ------------------------------------------------------------------ Python interface

API = {
    "agents": "agents.agent agents.simple agents.contract agents.checks.search",
    "searches": "agents.search.search_agent agents.search.window.minimax "
    "agents.search.window.alphabeta agents.search.window.search agents.search.window.pvs "
    "agents.search.window.mtdf agents.search.window.plain agents.search.montecarlo.mcts "
    "agents.search.endgame.solver",
    "evaluations": "agents.evaluation.evaluation agents.evaluation.function "
    "agents.evaluation.helpers agents.evaluation.composite",
    "game": "core.position core.rules core.notation core.game core.perft",
    "experiments": "experiments.jobs.run experiments.sweep experiments.pairing "
    "experiments.statistics experiments.studies",
}
"""The pages of the Python interface, and the modules on each."""


def api_pages() -> dict[str, str]:
    """Return the pages of the Python interface by name."""
    return {
        name: "\n\n".join([f"# {name.capitalize()}", *map(_of_module, modules.split())])
        for name, modules in API.items()
    }


def _of_module(name: str) -> str:
    name = f"othello_lab.{name}"
    return f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n```"


def list_names(
    app: Sphinx, what: str, name: str, of: object, options: object, text: list[str]
) -> None:
    """Make a list of a docstring's paragraphs that read ``name: description``."""
    text[:] = "\n\n".join(map(_as_list, "\n".join(text).split("\n\n"))).splitlines()


def _as_list(paragraph: str) -> str:
    before, *parts = _NAMED.split(paragraph)
    if before or not parts:
        return paragraph
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return "\n".join(f"- **{names}**: {' '.join(text.split())}" for names, text in pairs)


_NAMED = re.compile(r"(?:^|(?<=[.)])\s)([a-z_]\w*(?:, [a-z_]\w*)*): ", re.MULTILINE)

# ------------------------------------------------------------------ what is added to pages


GENERATED = {
    "agents": lambda: {
        "ladder": f"# The ladder\n\n{ladder_text()}",
        **{name: description(name) for name in described_names()},
    },
    "api": api_pages,
    "settings": settings_pages,
}
"""The folders of generated pages, and for each a function that returns their texts by name."""

FIRST = {"run", "play", "ladder"}
"""Generated pages that are listed before the others of their folder."""


def write_pages(app: Sphinx) -> None:
    """Write the pages that have no file in the repository."""
    shutil.rmtree(ROOT / MADE, ignore_errors=True)
    for folder, texts in GENERATED.items():
        (ROOT / MADE / folder).mkdir(parents=True)
        for name, text in texts().items():
            (ROOT / MADE / folder / f"{name}.md").write_text(text, encoding="utf-8")


def add_to_page(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == CONTENTS.removesuffix(".md"):
        source[0] = "---\norphan: true\n---\n" + source[0]
    if docname == root_doc:
        source[0] += tables_of_contents()
    if docname == "docs/gallery" and html_extra_path:
        source[0] = re.sub(r"(!\[.*\]\(gallery/(\w+)\.png\))", linked_to_report, source[0])
    if docname == "docs/reference/columns":
        source[0] += f"\n\n{columns_text()}"
    folder = docname.removeprefix("docs/reference/")
    if (made := ROOT / MADE / folder).is_dir():
        names = sorted(page.stem for page in made.glob("*.md"))
        names.sort(key=lambda name: name not in FIRST)
        source[0] += toctree(f"/{MADE}/{folder}/{name}" for name in names)


def linked_to_report(picture: re.Match[str]) -> str:
    """Return a picture of the gallery as a link to its report, and a link below it."""
    page = f"../gallery/{picture[2]}/report.html"
    return f'<a href="{page}">\n\n{picture[1]}\n\n</a>\n\n<a href="{page}">Open this page</a>'


def add_index(app: Sphinx, error: Exception | None) -> None:
    """Copy the start page to the name that servers show for a folder."""
    if error is None:
        shutil.copyfile(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_pages)
    app.connect("source-read", add_to_page)
    app.connect("autodoc-process-docstring", list_names)
    app.connect("build-finished", add_index)
