"""All files that name the version name the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def test_version_changelog_and_citation_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    headings = re.findall(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert project["version"] == str(citation["version"]) == headings[0]
    assert citation["license"] == project["license"]
    assert citation["abstract"].rstrip(".") == project["description"]
    assert headings == sorted(headings, key=lambda v: [*map(int, v.split("."))], reverse=True)
