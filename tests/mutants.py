"""Do the tests have teeth? Plant small mistakes in the sources, one at a time, and run the tests.

Run: python tests/mutants.py FILE --count 50 --seed 1 [--skip 3,17]

A mutant changes an operator, a bound, a sign, a default or a constant in a line drawn by the seed
over all source lines. Each is tried in a copy of the last commit: first by the tests of its room,
then by all default and integration tests. FILE gets a JSON line for each; another call goes on
there. --skip: numbers of mutants that change nothing (equivalent ones); others take their places.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("core", "agents", "experiments", "training", "play")
MOST_SECONDS = 1200
"""For the tests of one mutant and tier; who takes longer turns round in a circle."""
OTHER = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not"},
    **{"+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "//", "&": "|", "|": "&"},
    **{"<<": ">>", ">>": "<<", "and": "or", "or": "and", "in": "not in", "not in": "in"},
    **{"is not": "is", "True": "False", "False": "True"},
}


class Mutant(NamedTuple):
    """A change of one line of a file. start, end: columns of what becomes ``after``."""

    file: str
    line: int
    start: int
    end: int
    before: str
    after: str


def between(lines: list[str], left: ast.expr, right: ast.expr) -> Iterator[tuple[int, int, str]]:
    """Yield line, column and text of an operator between two operands of one line."""
    if left.end_lineno == right.lineno and left.end_col_offset is not None:
        gap = lines[right.lineno - 1][left.end_col_offset : right.col_offset]
        operator = gap.strip("() ")
        if operator in OTHER:
            yield right.lineno, left.end_col_offset + gap.index(operator), operator


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree, but for annotations."""
    yield tree
    for name, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in ("annotation", "returns"):
                yield from nodes(child)


def changes(lines: list[str], tree: ast.AST) -> Iterator[tuple[int, int, str, str]]:
    """Yield line, column, before and after of each possible mistake."""
    for node in nodes(tree):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Compare):
            pairs = list(zip([node.left, *node.comparators], node.comparators, strict=False))
        elif isinstance(node, ast.BinOp):
            pairs = [(node.left, node.right)]
        elif isinstance(node, ast.BoolOp):
            pairs = list(zip(node.values, node.values[1:], strict=False))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            word = "-" if isinstance(node.op, ast.USub) else "not "
            if lines[node.lineno - 1][node.col_offset :].startswith(word):
                yield node.lineno, node.col_offset, word, ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
            text = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
            if text in OTHER:
                yield node.lineno, node.col_offset, text, OTHER[text]
            elif text.isdecimal():
                yield node.lineno, node.col_offset, text, str(int(text) + 1)
        for left, right in pairs:
            for line, column, operator in between(lines, left, right):
                yield line, column, operator, OTHER[operator]


def mutants(seed: int) -> Iterator[Mutant]:
    """Yield mutants for ever, each in a line drawn over all source lines."""
    chance = random.Random(seed)
    places = []
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        lines = path.read_text("utf-8").splitlines()
        places += [(path, number) for number in range(1, len(lines) + 1)]
    while True:
        path, number = chance.choice(places)
        text = path.read_text("utf-8")
        if not text.isascii():  # columns of the syntax tree count bytes
            continue
        every = changes(text.splitlines(), ast.parse(text))
        possible = [change for change in every if change[0] == number]
        if possible:
            line, column, before, after = chance.choice(sorted(possible))
            file = str(path.relative_to(ROOT))
            yield Mutant(file, line, column, column + len(before), before, after)


def tests_of(file: str) -> list[str]:
    """Return the test folders of a file's room, the nearest first."""
    parents = [Path("tests", parent) for parent in Path(file).parents if parent.name]
    return [str(folder) for folder in parents if (ROOT / folder).is_dir()]


def killer(copy: Path, mutant: Mutant) -> str:
    """Return the first failing test, or an empty text if the mutant survives all of them."""
    path = copy / mutant.file
    lines = path.read_text("utf-8").splitlines(keepends=True)
    line = lines[mutant.line - 1]
    lines[mutant.line - 1] = line[: mutant.start] + mutant.after + line[mutant.end :]
    path.write_text("".join(lines), "utf-8")
    environment = os.environ | {"PYTHONPATH": str(copy)}
    for folders in ([folder] for folder in [*tests_of(mutant.file), ""]):
        for tier in ("not integration and not nightly", "integration"):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", tier]
            process = subprocess.Popen(
                [*command, *filter(None, folders)],
                cwd=copy,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            try:
                printed = process.communicate(timeout=MOST_SECONDS)[0].splitlines()
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return f"no end within {MOST_SECONDS} s"
            if process.returncode not in (0, 5):
                failed = [row for row in printed if row.startswith(("FAILED", "ERROR"))]
                return (failed or printed[-1:] or ["?"])[0][:200]
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", default="")
    options = parser.parse_args()
    skipped = {int(number) for number in options.skip.split(",") if number}
    rows = options.file.read_text().splitlines() if options.file.exists() else []
    done = {json.loads(row)["number"]: json.loads(row)["killer"] for row in rows}
    for number, mutant in enumerate(mutants(options.seed), 1):
        if number in skipped:
            continue
        if number not in done:
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder, "lab")
                subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
                done[number] = killer(copy, mutant)
                shutil.rmtree(copy)
            row = {"number": number, **mutant._asdict(), "killer": done[number]}
            with options.file.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)
        tried = [key for key in done if key not in skipped and key <= number]
        if len(tried) == options.count:
            break
    print(f"{sum(bool(done[key]) for key in tried)} of {len(tried)} killed")


if __name__ == "__main__":
    main()
