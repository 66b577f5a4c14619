"""A kept composition is one of the same files, or it is made anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from othello_lab.agents import kept_compositions
from othello_lab.agents.kept_compositions import kept_composition


def refuse() -> bytes:
    raise AssertionError("composed anew")


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of one YAML; compositions are kept beside it."""
    monkeypatch.setattr(kept_compositions, "user_cache", lambda: tmp_path / "cache")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "run.yaml").write_text("games: 100", encoding="utf-8")
    return tmp_path / "conf"


def test_the_same_question_is_composed_once(conf: Path) -> None:
    assert kept_composition("run", conf, lambda: b"first") == b"first"
    assert kept_composition("run", conf, refuse) == b"first"
    assert kept_composition("play", conf, lambda: b"second") == b"second"
    assert kept_composition("run", conf, refuse) == b"first"


def test_an_edited_yaml_is_composed_anew(conf: Path) -> None:
    kept_composition("run", conf, lambda: b"old")
    (conf / "run.yaml").write_text("games: 102", encoding="utf-8")
    assert kept_composition("run", conf, lambda: b"new") == b"new"


def test_an_edited_source_is_composed_anew(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_composition("run", conf, lambda: b"old")
    monkeypatch.setattr(kept_compositions, "_code", lambda: ("edited",))
    assert kept_composition("run", conf, lambda: b"new") == b"new"


@pytest.mark.parametrize("length", [0, 10, -1])
def test_a_damaged_file_is_composed_anew(conf: Path, length: int) -> None:
    kept_composition("run", conf, lambda: b"whole")
    (file,) = (conf.parent / "cache" / "compositions").iterdir()
    file.write_bytes(file.read_bytes()[:length])
    assert kept_composition("run", conf, lambda: b"again") == b"again"
    assert kept_composition("run", conf, refuse) == b"again"


def test_nothing_is_kept_where_no_folder_can_be_made(conf: Path) -> None:
    (conf.parent / "cache").write_text("a file", encoding="utf-8")
    for answer in (b"first", b"second"):
        assert kept_composition("run", conf, lambda answer=answer: answer) == answer
