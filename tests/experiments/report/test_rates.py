"""A sentence that says "so many X a Y" has the interval of that number.

Sentences are f-strings of the modules that tell findings. A number with a format of its own has no
interval; ``Mean.text`` and ``interval_text`` write a number with its interval.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = ("experiments/report", "experiments/studies", "experiments/sweep", "training")
NO_FINDINGS = {
    "experiments/report/progress.py": "the speed of a run that goes on",
}
WITH_INTERVALS = {"text", "interval_text", "elo_text", "_elo", "_cost_text"}
"""Functions that write a number with its interval; a test below holds the last two to it."""

UNITS = (
    "byte|call|core|doubling|game|hour|leaf|microsecond|millisecond|minute|move|nanosecond|node|"
    "opening|pair|ply|position|search|second|step|thousand|unit|µs"
)
RATE = re.compile(
    rf"[^{{.;:,()\[\]]{{0,40}}?(?:\b(?:an?|per|by|for each|each|every)\s(?:[\d,]+ )?(?:{UNITS})s?\b"
    rf"|/(?:{UNITS}|s\b))"
)
SQL = re.compile(r"\border by\b|\bgroup by\b|\bselect\b")


def bare_rates(source: str) -> Iterator[str]:
    """Numbers in f-strings that a rate follows, and that have no interval."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr) or SQL.search(ast.unparse(node)):
            continue
        for place, part in enumerate(node.values):
            if not isinstance(part, ast.FormattedValue):
                continue
            after = "".join(
                str(rest.value) if isinstance(rest, ast.Constant) else "{"
                for rest in node.values[place + 1 :]
            )
            if RATE.match(after) and not has_interval(part):
                yield f"line {node.lineno}: {{{ast.unparse(part.value)}}}{after}"


def has_interval(part: ast.FormattedValue) -> bool:
    """A name or attribute without a format is a text that was made before."""
    if part.format_spec is not None:
        return False
    if isinstance(part.value, ast.Call):
        function = part.value.func
        return getattr(function, "attr", getattr(function, "id", "")) in WITH_INTERVALS
    return isinstance(part.value, ast.Name | ast.Attribute)


def sources() -> list[Path]:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in files if "figures" not in path.parts]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_rates_have_intervals(path: Path) -> None:
    if str(path.relative_to(ROOT)) not in NO_FINDINGS:
        assert list(bare_rates(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "sentence",
    [
        'f"{best.term} brings most: {best.ratio:,.1f} Elo by microsecond a move."',
        'f"{a} lost {loss:.2f} discs a move."',
        'f"{name} visits {nodes:,.0f} nodes a position."',
        'f"{speed:.3g} Elo per 1,000 nodes"',
        'f"{games:,.0f} games/s"',
        'f"{round(gain)} Elo for each doubling"',
        'f"took {time_text(mean)} a position"',
    ],
)
def test_a_bare_rate_is_found(sentence: str) -> None:
    assert len(list(bare_rates(sentence))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        'f"{mean_of(best).text()} discs a move"',
        'f"{interval_text(a, b, c)} Elo by doubling."',
        'f"{told} Elo by microsecond a move"',
        'f"{games:,} games from {openings:,} openings"',
        'f"{nodes:,.0f} on the same {positions:,} positions, {share:.1f} % of those of {other}"',
        'f"select {column:d} from games order by game"',
    ],
)
def test_other_numbers_are_none(sentence: str) -> None:
    assert list(bare_rates(sentence)) == []


WRITERS = [
    ("experiments/studies/scaling.py", "_elo"),
    ("experiments/studies/claims.py", "_cost_text"),
    ("experiments/report/tables.py", "elo_text"),
]


@pytest.mark.parametrize(("path", "name"), WRITERS)
def test_what_writes_numbers_for_rates_writes_intervals(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    (writer,) = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    calls = [node.func for node in ast.walk(writer) if isinstance(node, ast.Call)]
    assert {"text", "interval_text"} & {getattr(f, "attr", getattr(f, "id", "")) for f in calls}
