"""What MkDocs does to these pages, which read as they are on GitHub, to make a site of them.

Links to what is not below ``docs/`` get a target in the site, and the reference is made from
docstrings. ``mkdocs.yml`` names this file twice: as a hook, and as an extension of Griffe.
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
"""Pages of the site that are not below ``docs/``."""

_LINK = re.compile(r"(\]\()((?:\.\./)+[^)\s#]+|\w+\.py)")


# ------------------------------------------------------------------ a hook of MkDocs


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference, and those that stand elsewhere."""
    from mkdocs.structure.files import File

    for name, modules in REFERENCE.items():
        parts = [f"# {name.capitalize()}\n", *(f"::: {module}\n" for module in modules)]
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(parts)))
    for name, path in ABOVE.items():
        text = re.sub(r"\]\((\.\./)?docs/", "](", (ROOT / path).read_text(encoding="utf-8"))
        for other, its_path in ABOVE.items():
            text = text.replace(f"]({its_path})", f"]({other})")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links out of the folder to the reference, or to a copy of the file in the site."""
    from mkdocs.structure.files import File

    def led(match: re.Match[str]) -> str:
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

    return _LINK.sub(led, markdown) if page.file.src_uri.count("/") == 0 else markdown


# ------------------------------------------------------------------ docstrings

_ROLE = re.compile(r":\w+:`~?\.?([^`]+)`")
_DOCTEST = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?:^|(?<=[.)])\s)([a-z_]\w*(?:, [a-z_]\w*)*): ", re.MULTILINE)


def as_markdown(text: str) -> str:
    """A docstring as these packages have them (roles of Sphinx, ``name: what it is`` on lines of
    their own, examples that begin with ``>>>``), in Markdown.

    >>> print(as_markdown("See :class:`~core.game.Limits`.\\n\\nx, y: where. side: of it."))
    See `Limits`.
    <BLANKLINE>
    - **x, y**: where.
    - **side**: of it.
    """
    examples: list[str] = []

    def kept(match: re.Match[str]) -> str:
        examples.append(match[0])
        return f"\0{len(examples) - 1}\0"

    text = _DOCTEST.sub(kept, text)
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
except ImportError:  # where no site is built
    pass
else:

    class Docstrings(Extension):  # type: ignore[misc]
        """Turns docstrings into Markdown before they are shown."""

        def on_instance(self, *, obj: Any, **kwargs: Any) -> None:
            if obj.docstring:
                obj.docstring.value = as_markdown(obj.docstring.value)
