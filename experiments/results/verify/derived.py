"""Comparison of the files of a job's folder with those that its record gives.

They are written anew, by the functions that wrote them. On another machine, or with other versions
of libraries, floats may differ by :data:`TOLERANCE`, and figures are not compared.
"""

from __future__ import annotations

import csv
import html
import io
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from othello_lab.core.system.escaping import visible
from othello_lab.core.system.files import MOST_DATA, read_bytes, read_text, write_file
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import FIGURE_FILES, IN_REPORT, NO_FIGURES, Plan
from othello_lab.experiments.jobs.job import CONFIG, LOG, write_yaml
from othello_lab.experiments.record.folder import CHECKS, is_locked
from othello_lab.experiments.record.provenance import PACKAGES, differences, machine
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.report.citing import bibtex, latex_tables
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.findings import findings
from othello_lab.experiments.report.plan_from_record import AbsentAgent, last_session
from othello_lab.experiments.report.report import write
from othello_lab.experiments.results.export import FORMATS, TABLES, export, export_tables
from othello_lab.experiments.studies.study_session import StudySession, concluding

TOLERANCE = 1e-9
"""The largest relative difference of floats that were computed elsewhere."""
_FIRST_HAND = {LOG, "output.txt", CHECKS, "minutes.json"}  # not of the record
_DRAWN = (".png", ".svg", ".parquet")  # compared by the same libraries alone
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?")
_PLACE = re.compile("play replay (.+) game=0")
_FIGURE = re.compile("<svg.*?</svg>", re.DOTALL)
_PACKED = re.compile('(?<=id="games-data">)[^<]*')
_LIBRARIES = {"python", *PACKAGES[1:]}
_MOST = 1000  # differences of a file that are looked at


class DerivedFiles:
    """The comparison of a folder: the count of its files, what is wrong, and what is unchecked."""

    def __init__(self, record: Record, plan: Plan, now: Mapping[str, str]) -> None:
        self._record, self._folder, self._head = record, record.path.parent, record.head()
        self.count, self.wrong, self.unchecked = 0, list[str](), list[str]()
        (before, there), here = last_session(record), machine()
        ours = [{k: v for k, v in known.items() if k not in _LIBRARIES} for known in (before, now)]
        self._why = "; ".join(differences(*ours))
        missed = [name for name, agent in plan.agents.items() if getattr(agent, "missed", False)]
        self._missed = f"without {', '.join(missed)} it cannot be written anew" if missed else ""
        if missed:  # what needs an agent is left out, not written with a part of them
            rows = record.agents().itertuples()
            plan = replace(plan, agents={row.name: AbsentAgent(row, plan.settings) for row in rows})
        same = all(there.get(key) == here[key] for key in ("architecture", "processor", "cores"))
        self._plan, self._exact = plan, same and before == now
        self._drawn = self._exact and not missed
        if not self._drawn:
            self.unchecked.append("figures: machine, versions or agents are not the run's")
        if is_locked(self._folder):
            self.unchecked.append("files: the run is being played")
        else:
            with TemporaryDirectory(prefix="othello-lab-verify-") as scratch:
                self._compare_all(Path(scratch, "due"))

    def _compare_all(self, to: Path) -> None:
        present = {n for n in self._present() if not re.match(rf"{FILE}|(.*/)?\.", n)}
        if first_hand := ", ".join(sorted(present & _FIRST_HAND)):
            self.unchecked.append(f"{first_hand}: nothing in the record gives them")
        due = self._written(to, present)
        if not self._head["complete"] and "report.md" not in present:
            self.unchecked.append("reports: the run has not ended, and has none yet")
            due &= present
        self.count = len(due)
        for name in sorted((due | present) - _FIRST_HAND):
            self._compare(name, self._folder / name, to / name if name in due else None)

    def _compare(self, name: str, path: Path, due: Path | None) -> None:
        if not path.is_file():
            said, unsure = "it is missing", False
        elif due is None:
            said, unsure = "the record gives no such file", True
        elif path.suffix in _DRAWN and not self._drawn:
            return
        elif differences := list(islice(differing(path, due, self._exact, self._drawn), _MOST)):
            said, unsure = min(differences, key=lambda difference: difference[1])
            said += ", and so on" if len(differences) > 1 else ""
        else:
            return
        if why := self._why or self._missed * unsure:
            self.unchecked.append(f"{name}: {said}; {why}")
        else:
            self.wrong.append(f"{name}: {said}")

    def _present(self) -> set[str]:
        return _names(self._folder)

    def _report(self) -> tuple[str, str]:
        """Return the text of the report, and where its figures are drawn."""
        files = [self._folder / f"report.{kind}" for kind in ("md", "html")]
        texts = [read_bytes(path).decode(errors="replace") for path in files if path.is_file()]
        text = html.unescape("".join(texts))
        how = IN_REPORT if re.search('id="figure-|[.]html#figure-', text) else NO_FIGURES
        how = FIGURE_FILES if ".png)" in text else how
        return text, how if text else self._plan.settings.figures

    def _written(self, to: Path, present: set[str]) -> set[str]:
        """Write the files of the run, and later ones that are present; return their names."""
        text, how = self._report()
        named = _PLACE.search(text)  # the folder may have been moved since
        folder = named[1] if named else shlex.quote(str(self._folder))
        facts = self._write(to, how, folder)
        due = _names(to)
        further = present - due - _FIRST_HAND
        with suppress(ConfigError, ImportError):  # then it is no file of the lab
            for kind, form in FORMATS.items():
                if (name := f"games{form.endings[0]}") in further:
                    export(self._folder, kind, to / name)
            for kind in [kind for kind, name in TABLES.items() if name in further]:
                export_tables(self._record, kind, to)
        for name in further:
            if name.endswith((".tex", ".bib")):
                made = latex_tables(facts) if name.endswith(".tex") else bibtex(self._head)
                write_file(to / name, visible(made, keep="\n") + "\n")
        further -= _names(to)
        if any(name.endswith((*_DRAWN, ".csv")) for name in further) and not self._missed:
            self._write(drawn := to.with_name("drawn"), FIGURE_FILES, folder)
            for name in further & _names(drawn):
                (drawn / name).rename(to / name)
        return due | (_names(to) & present)

    def _write(self, to: Path, figures: str, folder: str) -> RunFacts:
        """Write the files of the run. figures: as in its settings. folder: its name."""
        to.mkdir()
        for name in (LOG, "output.txt"):  # pages of programs quote them
            (to / name).symlink_to((self._folder / name).resolve())
        settings = replace(self._plan.settings, figures=figures)
        facts = RunFacts(self._record, replace(self._plan, settings=settings))
        write(facts, findings(facts), to, Console(quiet=True))
        self._record.export(to, settings.export)
        write_yaml(to / CONFIG, self._head["config"])
        shown = {"report.md": folder, "report.html": html.escape(folder, quote=False)}
        for name, path in shown.items():
            text = read_text(to / name, MOST_DATA).replace(str(to), path)
            write_file(to / name, text)
        return facts


class StudyFiles(DerivedFiles):
    """The comparison of a study's folder, but for what is in the folders within it."""

    def __init__(self, session: StudySession) -> None:
        self._maker = session.maker
        super().__init__(session.record, session.plan.plan, session.versions())

    def _present(self) -> set[str]:
        return {path.name for path in self._folder.iterdir() if path.is_file()}

    def _written(self, to: Path, present: set[str]) -> set[str]:
        to.mkdir()
        _, how = self._report()
        session = concluding(self._record, Console(quiet=True), how, self._maker)
        session.report(session.material(), to)
        write_yaml(to / CONFIG, self._head["config"])
        return _names(to)


def _names(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def differing(path: Path, due: Path, exact: bool, drawn: bool) -> Iterator[tuple[str, bool]]:
    """Yield the differences of a file from the one that is due; True where only one of them has a
    line. exact: False if floats and packed games may differ a little. drawn: True if figures must
    be the same."""
    try:
        contents = [read_bytes(path) for path in (path, due)]
        if contents[0] == contents[1]:
            return
        texts = [content.decode() for content in contents]
        if path.suffix == ".csv":
            rows = [csv.reader(io.StringIO(text, newline="")) for text in texts]
            yield from _other_cells(rows[0], rows[1], exact)
        else:
            lines = [_lines(text, exact, drawn) for text in texts]
            yield from _other_lines(lines[0], lines[1], exact)
    except (OSError, ValueError, csv.Error) as error:
        binary = isinstance(error, UnicodeDecodeError)
        yield f"its bytes differ{'' if binary else f': {one_line(error)}'}", False


def _other_cells(
    rows: Iterator[list[str]], due: Iterator[list[str]], exact: bool
) -> Iterator[tuple[str, bool]]:
    columns, none = list[str](), list[str]()
    for line, (row, wanted) in enumerate(zip_longest(rows, due, fillvalue=none), start=1):
        columns = columns or wanted
        for number, cells in enumerate(zip_longest(row, wanted, fillvalue="nothing")):
            if not _same(*cells, exact):
                column = columns[number] if number < len(columns) else number + 1
                yield f"line {line}, column {column}: {_said(*cells)}", False


def _lines(text: str, exact: bool, drawn: bool) -> list[str]:
    text = text if drawn else _FIGURE.sub("", text)
    return (text if exact else _PACKED.sub("", text)).splitlines()


def _other_lines(lines: list[str], due: list[str], exact: bool) -> Iterator[tuple[str, bool]]:
    shapes = [[_NUMBER.sub("#", line) for line in text] for text in (lines, due)]
    parts: Any = [("equal", 0, len(lines), 0, len(due))]
    if shapes[0] != shapes[1]:
        parts = SequenceMatcher(None, shapes[0], shapes[1]).get_opcodes()
    for kind, start, end, begin, until in parts:
        if kind != "equal":
            texts = "\n".join(lines[start:end]), "\n".join(due[begin:until])
            yield f"line {start + 1}: {_said(*texts)}", True
        for number in range(start, end if kind == "equal" else start):
            both = lines[number], due[number - start + begin]
            for one, other in zip(*map(_NUMBER.findall, both), strict=True):
                if not _same(one, other, exact):
                    yield f"line {number + 1}: {_said(one, other)}", False


def _same(text: str, due: str, exact: bool) -> bool:
    """Return True if two texts are equal, or numbers with a fraction that are."""
    try:
        one, other = float(text), float(due)
    except ValueError:
        return text == due
    near = not exact and math.isclose(one, other, rel_tol=TOLERANCE)
    return text == due or (bool(re.search("[.e]", due)) and (one == other or near))


def _said(text: str, due: str) -> str:
    first = next((n for n, (a, b) in enumerate(zip(text, due, strict=False)) if a != b), 0)
    around = slice(max(0, first - 20), first + 40)
    return f"{text[around]!r} found, {due[around]!r} expected"
