"""How plainly the docstrings of the lab are written, and that each class has a name of its own.

Counted in docstrings without their code: words that open a subordinate clause, phrases in inverted
order, and first words that ask a question. ``GOAL`` holds for
every room.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("core", "agents", "experiments", "training", "play", "othello_lab", "benchmarks")
SHOWN = 12  # docstrings in a failure, worst first


@dataclass(frozen=True)
class Rates:
    """Clause words and inverted phrases in 1,000 words, and docstrings that ask a question."""

    clauses: float
    inverted: float
    questions: int


GOAL = Rates(6, 0.5, 0)

CLAUSES = {"what", "which", "who", "whom", "whose", "whoever", "whatever", "whether"}
QUESTIONS = {"what", "which", "whether", "how", "who", "whose", "where", "that", "those"}
INVERTED = re.compile(
    r"\b(?:(?:of|than|by) which|those that|that which|so many|as many as|(?:is|are) gone on"
    r"|(?:is|are) (?:told|asked)|beside (?:it|that|them)|no more of|to be had|as it was"
    r"|has of|has to do with|what it (?:is|was|has|does))\b"
)


@dataclass(frozen=True)
class Docstring:
    """One docstring and its place, a file and line."""

    place: str
    text: str

    @functools.cached_property
    def prose(self) -> str:
        """The text in lower case on one line, without doctests and code spans."""
        lines = self.text.lower().splitlines()
        kept = "\n".join(line for line in lines if not line.lstrip().startswith((">>>", "...")))
        return " ".join(re.sub(r"(`+).+?\1", " ; ", kept, flags=re.DOTALL).split())

    @functools.cached_property
    def words(self) -> list[str]:
        return re.findall(r"[a-z']+", self.prose)

    @property
    def clauses(self) -> int:
        return sum(word in CLAUSES for word in self.words)

    @property
    def inverted(self) -> int:
        return len(INVERTED.findall(self.prose))

    @property
    def begins_with_question(self) -> bool:
        first = re.match(r"\w+", self.text)
        return first is not None and first.group().lower() in QUESTIONS

    @property
    def faults(self) -> float:
        """Weight of all faults by length, to list the worst docstrings first."""
        count = self.clauses + 2 * self.inverted + 2 * self.begins_with_question
        return count / (len(self.words) + 12)


def sources(room: str) -> Iterator[Path]:
    """Python files of a room; the links to other rooms in othello_lab/ are left out."""
    folder = ROOT / room
    for path in sorted(folder.rglob("*.py")):
        inner = path.relative_to(folder).parents
        if not any((folder / parent).is_symlink() for parent in inner):
            yield path


def nodes_of(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def docstrings(room: str) -> Iterator[Docstring]:
    for path in sources(room):
        for node in nodes_of(path):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
                yield Docstring(place, ast.get_docstring(node) or "")


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_are_plain(room: str) -> None:
    texts = list(docstrings(room))
    thousands = sum(len(text.words) for text in texts) / 1000
    assert thousands, f"no docstring in {room}/"
    rates = Rates(
        round(sum(text.clauses for text in texts) / thousands, 2),
        round(sum(text.inverted for text in texts) / thousands, 2),
        sum(text.begins_with_question for text in texts),
    )
    worst = sorted(texts, key=lambda text: text.faults, reverse=True)[:SHOWN]
    listed = "\n".join(f"{text.place}: {' '.join(text.text.split())[:150]}" for text in worst)
    assert (
        rates.clauses <= GOAL.clauses
        and rates.inverted <= GOAL.inverted
        and rates.questions <= GOAL.questions
    ), f"{room}: {rates} exceed {GOAL}; the worst:\n{listed}"


def test_each_class_has_a_name_of_its_own() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for room in ROOMS:
        for path in sources(room):
            for node in nodes_of(path):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert places
    twice = {name: where for name, where in places.items() if len(where) > 1}
    new = [f"{name}: {', '.join(twice[name])}" for name in sorted(twice)]
    assert not new, "classes of one name:\n" + "\n".join(new)


@pytest.mark.parametrize(
    ("text", "clauses", "inverted", "question"),
    [
        ("Return True if every check passed.", 0, 0, False),
        ("What it does beside that, by what for.", 2, 2, True),
        ("A submission of which nobody can tell what it is", 2, 2, False),
        ("Whether nothing\nhas failed.", 1, 0, True),
        ("Return ``what`` of `which`.\n\n>>> who\n... whose", 0, 0, False),
        ("Those\nthat are told.", 0, 2, True),
        ("Somewhat whichever; of ``x`` which.", 1, 0, False),
    ],
)
def test_count_of_faults(text: str, clauses: int, inverted: int, question: bool) -> None:
    docstring = Docstring("", text)
    assert (docstring.clauses, docstring.inverted) == (clauses, inverted)
    assert docstring.begins_with_question is question
