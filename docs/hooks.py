"""Hooks of MkDocs that make a site of these pages; on GitHub they are readable unchanged.

Links to files outside ``docs/`` get a target in the site, and docstrings become the reference.
``mkdocs.yml`` names this file twice: as a hook, and as an extension of Griffe.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

REFERENCE = {
    "agents": (
        "othello_lab.agents.agent",
        "othello_lab.agents.simple",
        "othello_lab.agents.contract",
        "othello_lab.agents.diagnosis",
    ),
    "searches": (
        "othello_lab.agents.search.search_agent",
        "othello_lab.agents.search.window.minimax",
        "othello_lab.agents.search.window.alphabeta",
        "othello_lab.agents.search.window.search",
        "othello_lab.agents.search.window.pvs",
        "othello_lab.agents.search.window.mtdf",
        "othello_lab.agents.search.window.plain",
        "othello_lab.agents.search.montecarlo.mcts",
        "othello_lab.agents.search.endgame.solver",
    ),
    "evaluations": (
        "othello_lab.agents.evaluation.evaluation",
        "othello_lab.agents.evaluation.function",
        "othello_lab.agents.evaluation.helpers",
        "othello_lab.agents.evaluation.composite",
    ),
    "game": (
        "othello_lab.core.position",
        "othello_lab.core.rules",
        "othello_lab.core.notation",
        "othello_lab.core.game",
        "othello_lab.core.perft",
    ),
    "experiments": (
        "othello_lab.experiments.jobs.run",
        "othello_lab.experiments.sweep",
        "othello_lab.experiments.pairing",
        "othello_lab.experiments.statistics",
        "othello_lab.experiments.studies",
    ),
}
"""The pages of the reference, and the modules on each."""

ABOVE = {
    "index.md": "README.md",
    "columns.md": "results/README.md",
    "contributing.md": "CONTRIBUTING.md",
}
"""Pages of the site whose files are outside ``docs/``."""

_LINK = re.compile(r"(\]\()((?:\.\./)+[^)\s#]+|\w+\.py)")


# ------------------------------------------------------------------ a hook of MkDocs


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference and the pages outside ``docs/``."""
    from mkdocs.structure.files import File

    for name, modules in REFERENCE.items():
        parts = [f"# {name.capitalize()}\n", *(f"::: {module}\n" for module in modules)]
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(parts)))
    for name, path in ABOVE.items():
        text = re.sub(r"\]\((\.\./)?docs/", "](", (ROOT / path).read_text(encoding="utf-8"))
        for other, other_path in ABOVE.items():
            text = text.replace(f"]({other_path})", f"]({other})")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links out of the folder to the reference, or to a copy of the file in the site."""
    from mkdocs.structure.files import File

    def redirect(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", match[2]))
        for name, above in ABOVE.items():
            if path == above:
                return f"{match[1]}{name}"
        copy = f"source/{path}"
        if (ROOT / path).is_file():
            if files.get_file_from_path(copy) is None:
                content = (ROOT / path).read_bytes()
                files.append(File.generated(config, copy, content=content))
            return f"{match[1]}{copy}"
        return match[0]

    return _LINK.sub(redirect, markdown) if page.file.src_uri.count("/") == 0 else markdown


# ------------------------------------------------------------------ docstrings

_ROLE = re.compile(r":\w+:`~?\.?([^`]+)`")
_DOCTEST = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?:^|(?<=[.)])\s)([a-z_]\w*(?:, [a-z_]\w*)*): ", re.MULTILINE)


def as_markdown(text: str) -> str:
    """Turn a docstring of the lab into Markdown.

    The docstring may have roles of Sphinx, ``name: description`` on lines of their own, and
    examples that begin with ``>>>``.

    >>> print(as_markdown("See :class:`~core.game.Limits`.\\n\\nx, y: where. side: of it."))
    See `Limits`.
    <BLANKLINE>
    - **x, y**: where.
    - **side**: of it.
    """
    examples: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        examples.append(match[0])
        return f"\0{len(examples) - 1}\0"

    text = _DOCTEST.sub(put_aside, text)
    text = _ROLE.sub(lambda match: f"`{match[1].rpartition('.')[2]}`", text)
    text = re.sub(r"::(?=\n\n)", ":", text)
    parts = []
    for paragraph in text.split("\n\n"):
        listed = _NAMED.match(paragraph)
        parts.append(_NAMED.sub(r"\n- **\1**: ", paragraph).lstrip() if listed else paragraph)
    text = "\n\n".join(parts)
    return re.sub(r"\0(\d+)\0", lambda m: f"```pycon\n{examples[int(m[1])]}\n```", text)


try:
    from griffe import Extension
except ImportError:  # needed only to build a site
    pass
else:

    class Docstrings(Extension):  # type: ignore[misc]
        """Extension of Griffe that turns docstrings into Markdown."""

        def on_instance(self, *, obj: Any, **kwargs: Any) -> None:
            if obj.docstring:
                obj.docstring.value = as_markdown(obj.docstring.value)
