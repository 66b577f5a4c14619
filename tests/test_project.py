"""Each package that the lab needs is declared, used, and explained in docs/inside.md; all files
that name the version name the same."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from without_extras import LAB, canonical

from othello_lab.core.system.rooms import ROOMS
from othello_lab.play.review import MARKS

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"othello_lab", *(path.stem for path in (ROOT / "tests").iterdir())}

RUN = {"build", "ipykernel", "mypy", "optuna", "pytest-xdist", "ruff", "twine"}
"""Commands, plugins, and what code on a page uses: no file imports them."""
BY_PARTS = {"seaborn"}
"""Loaded without its own ``__init__``, by experiments/report/figures/quick_seaborn.py."""
ELSEWHERE = {"docs", "benchmarks"}
"""Extras of what is not in the rooms and not in the tests."""


def declared() -> dict[str, set[str]]:
    """Return the extras by package; "" is for everybody."""
    extras = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    packages: dict[str, set[str]] = {}
    for extra, lines in extras.items():
        for requirement in map(Requirement, lines):
            if requirement.name != LAB:
                packages.setdefault(canonical(requirement.name), set()).add(extra)
    return packages


def imported(folders: tuple[str, ...]) -> set[str]:
    """Return the distributions that files in these folders import, installed or not."""
    names: set[str] = set()
    for file in (file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        if "data" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(str(node.module))
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OURS
    brought = packages_distributions() | {"pyspiel": ["open_spiel"]}
    return {canonical(package) for top in tops for package in brought.get(top, [top])}


def explained() -> dict[str, set[str]]:
    """Return the extras by package as docs/inside.md has them."""
    page = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\w, ]*)\| \S.* \|$", page, re.MULTILINE)
    rows = [(package, extras.strip()) for package, extras in rows if package != "package"]
    assert len(rows) > 20
    return {canonical(package): set(extras.split(", ")) for package, extras in rows}


def test_version_changelog_and_citation_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    headings = re.findall(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert PROJECT["version"] == str(citation["version"]) == headings[0]
    assert citation["license"] == PROJECT["license"]
    assert citation["abstract"].rstrip(".") == PROJECT["description"]
    assert headings == sorted(headings, key=lambda v: [*map(int, v.split("."))], reverse=True)


def test_a_blunder_is_one_thing() -> None:
    """The review's marks are as words.md has them; the rest of the lab has another word."""
    words = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    (entry,) = re.findall(r"^- \*\*inaccuracy\*\*.*$", words, re.MULTILINE)
    assert re.findall(r"\*\*(\w+)\*\*", entry) == [*reversed(MARKS)]
    assert [*map(float, re.findall(r"\d+", entry))] == sorted(MARKS.values())
    for file in (file for room in ("experiments", "conf") for file in (ROOT / room).rglob("*.*")):
        assert (
            file.suffix == ".pyc" or b"lunder" not in file.read_bytes() or file.name == "errors.py"
        )


def test_each_package_has_its_reason() -> None:
    assert explained() == declared()


@pytest.mark.integration
def test_what_is_imported_is_declared_and_what_is_declared_is_used() -> None:
    rooms, tests, docs = map(imported, ((*ROOMS, "othello_lab"), ("tests",), ("docs",)))
    packages = declared()
    assert (rooms | tests) - set(packages) == set()
    wanted = {package for package, extras in packages.items() if not extras & ELSEWHERE}
    assert wanted - rooms - tests - docs == (RUN | BY_PARTS) & wanted
    assert set(packages) >= RUN | BY_PARTS
