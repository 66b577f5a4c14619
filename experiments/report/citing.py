"""A run in a paper: its tables in LaTeX, a reference in BibTeX, and the packages behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any

from othello_lab.core.system.cli import DISTRIBUTION
from othello_lab.experiments.record.provenance import COMMIT, PACKAGES
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.sections import highest_matches
from othello_lab.experiments.report.tables import (
    MATCH_COLUMNS,
    SELECTIVE_MARK,
    cells,
    columns_of,
    order_note,
)

LATEX_PACKAGES = "% \\usepackage{booktabs, textcomp}"
"""The packages of all tables, as a comment above them."""

_PRINTED = {SELECTIVE_MARK: r"\dag{}", ">": "$>$", "<": "$<$", "µ": r"\textmu{}"}
"""Signs that LaTeX writes otherwise; all else that is special to it pandas escapes."""


def pinned(versions: Mapping[str, str]) -> str:
    """Return the commands that install the lab and the packages of a run, at its versions. No index
    of packages has the lab: its source is the commit of the run, or the tag of its version.

    >>> known = {"python": "3.11.7", DISTRIBUTION: "0.3.0", "numpy": "2.4.6", "code": "14631"}
    >>> print(pinned(known))
    git checkout v0.3.0  # in a clone of the lab's repository; version 0.3.0, code 14631
    pip install . numpy==2.4.6  # Python 3.11.7
    """
    known = {name: text for name, text in versions.items() if re.fullmatch(r"[\w.+]+", text)}
    lab = known.pop(DISTRIBUTION, "?")
    source = known.get(COMMIT, f"v{lab}")
    packages = " ".join(f"{name}=={known[name]}" for name in PACKAGES if name in known)
    return (
        f"git checkout {source}  # in a clone of the lab's repository; version {lab}, "
        f"code {known.get('code', '?')}\n"
        f"pip install . {packages}  # Python {known.get('python', '?')}"
    )


def latex_tables(facts: RunFacts) -> str:
    """Return the standings and the matches of a run as LaTeX tables; they need ``booktabs``."""
    name = str(facts.record.head()["name"])
    columns = columns_of(facts.standings, facts.tournament_columns)
    matches = highest_matches(facts)
    order = order_note(facts.standings, facts.tournament_columns)
    caption = f"Standings of {name}: {facts.context}. {order}".strip()
    parts = [latex_table(columns, cells(columns, facts.standings), caption, "standings")]
    if len(matches):
        match_cells = cells(MATCH_COLUMNS, matches)
        parts.append(latex_table(MATCH_COLUMNS, match_cells, f"Matches of {name}.", "matches"))
    return "\n".join([LATEX_PACKAGES, *parts])


def latex_table(
    columns: Iterable[str], rows: Sequence[Sequence[str]], caption: str, label: str
) -> str:
    """Return a table of texts as LaTeX; it needs :data:`LATEX_PACKAGES`."""
    import pandas as pd

    shown = pd.DataFrame(rows, columns=list(columns))
    words = [name for name in shown if name in ("agent", "opponent", "ends")]
    text = shown.to_latex(
        index=False,
        escape=True,
        caption=caption.replace("_", r"\_").replace("%", r"\%"),
        label=f"tab:{label}",
        column_format="".join("l" if name in words else "r" for name in shown),
    )
    for sign, printed in _PRINTED.items():
        text = text.replace(sign, printed)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", str(text))  # a minus, no hyphen


def bibtex(head: Mapping[str, Any], kind: str = "Run") -> str:
    """Return a reference to the lab, with the version, the hash of the code and the command of a
    run or sweep.

    head: of :meth:`~experiments.record.store.Record.head`.
    """
    code = f", code {head['versions']['code']}" if "code" in head["versions"] else ""
    fields = {
        "title": "{The Othello strategy lab}",
        "author": "{The Othello strategy lab's contributors}",
        "version": head["versions"].get(DISTRIBUTION) or metadata.version(DISTRIBUTION),
        "year": str(head["started"])[:4],
        "note": f"{kind} \\texttt{{{_escaped(head['name'])}}}, seed {head['seed']}{code}: "
        f"\\texttt{{{_escaped(head['command'])}}}",
    }
    lines = [f"  {key} = {{{value}}}," for key, value in fields.items()]
    return "\n".join(["@software{othello_strategy_lab,", *lines, "}"])


def _escaped(text: object) -> str:
    """Return text as LaTeX has it, on one line."""
    line = " ".join(str(text).split())
    marks = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return re.sub(r"[\\~^#$%&_{}]", lambda sign: marks.get(sign[0], f"\\{sign[0]}"), line)
