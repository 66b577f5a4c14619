"""YAML of others: what cannot be used is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from othello_lab.core.system.plain_yaml import parse_yaml, read_yaml

NAMED_AGAIN = "\n".join(f"a{n}: &a{n} [{', '.join(10 * [f'*a{n - 1}'])}]" for n in range(1, 9))


@pytest.mark.parametrize(
    "text",
    ["{ ] :", "[" * 100_000, "2026-99-99", "&a [*a]", f"a0: &a0 [1]\n{NAMED_AGAIN}", "? [a]\n: b"],
)
def test_what_cannot_be_used_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]{5,400}$"):
        parse_yaml(text)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &a [1, 2.5]\nb: *a\n", encoding="utf-8")
    assert read_yaml(path) == {"a": [1, 2.5], "b": [1, 2.5]}
    with pytest.raises(FileNotFoundError):
        read_yaml(tmp_path / "none.yaml")
