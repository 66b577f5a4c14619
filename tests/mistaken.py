"""Students' searches with changes of a line or two, as ``data/mistakes.txt`` has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

STUDENTS = Path(__file__).parent / "agents" / "diagnosis" / "students"
PAIP = Path(__file__).parent / "agents" / "external" / "paip.py"
TABLE = Path(__file__).parent / "data" / "mistakes.txt"
LINE = re.compile(r"(\* )?(\w+) (.*?) :: (.+) =>(?: (.*))?")


class Seed(NamedTuple):
    """A change: its cause, the student's file, the right text, and the wrong text for it.

    always: True if it is tried in each run of the integration tests.
    """

    cause: str
    student: str
    right: str
    wrong: str
    always: bool = False


def seeds(kind: str) -> list[Seed]:
    """Return the changes of a kind, the name of a part of the table."""
    part = TABLE.read_text(encoding="utf-8").partition(f"\n[{kind}]\n")[2].partition("\n[")[0]
    found = []
    for line in part.strip().splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        always, student, cause, *texts = match.groups(default="")
        right, wrong = (text.replace(r"\n", "\n") for text in texts)
        found.append(Seed(cause, student, right, wrong, bool(always)))
    return found


def cases(changes: list[Seed]) -> list[Any]:
    """Return changes for ``pytest.mark.parametrize``: integration or nightly."""
    marks = {True: pytest.mark.integration, False: pytest.mark.nightly}
    return [pytest.param(seed, id=seed.cause, marks=marks[seed.always]) for seed in changes]


def written(seed: Seed, folder: Path, states_values: bool = True) -> Path:
    """Write the student's file with the change in it and return its path."""
    parts = [PAIP, STUDENTS / "inside.txt"]
    parts = parts if seed.student == "inside" else [STUDENTS / f"{seed.student}.py"]
    text = "".join(part.read_text(encoding="utf-8") for part in parts)
    assert seed.right in text, "that is not what the student has written"
    text = text.replace(seed.right, seed.wrong) if seed.right else text
    if not states_values:
        text = re.sub(r"return Decision\(([^,]*), best, .*\)", r"return Decision(\1)", text)
    path = folder / f"{seed.student}.py"
    path.write_text(text, encoding="utf-8")
    return path
