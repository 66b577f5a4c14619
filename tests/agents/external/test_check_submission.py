"""Programs as students hand them in are checked by the kind that a tournament sees in them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from bots import EXAMPLES
from chosen import mostly_nightly
from submitted import AGENT, hand_in

from othello_lab.__main__ import main


def check(*words: str) -> int:
    return main(["agents", "check", *words])


def test_a_folder_has_a_line_for_each_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path, ["missing", "data", "dying"])
    assert check(f"folder={tmp_path}", "limit=2") == 1
    lines = capsys.readouterr().out.splitlines()
    for line, words in zip(
        lines,
        (
            ["unclear", "failed", "start", "data1.bin"],
            ["file", "./dying2", "failed", "starts", "died", ".in"],
            ["missing0", "missing0.py:First", "failed"],
            ["3 submissions", "3 failed", "data1, dying2, missing0"],
        ),
        strict=True,
    ):
        assert all(word in line for word in words), line


def test_one_program_shows_its_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zoe.py").write_text(AGENT.format(trouble="return Decision(0)"))
    monkeypatch.chdir(tmp_path)
    assert check("zoe.py") == 1
    out = capsys.readouterr().out
    assert "zoe.py:First" in out.splitlines()[0]
    assert out.rindex(" ok   ") < out.index("moves       failed")  # failed ones are last
    assert "answered a1" in out


NAMES = ["anna.c", "bert", "carla.py", "dora.py", "emil.sh"]


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(NAMES, ["carla.py"]))
def test_the_examples_are_right(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for suffix, compiler in ((".c", "cc"), ("bert", "javac")):
        if name.endswith(suffix) and shutil.which(compiler) is None:
            pytest.skip(f"needs {compiler}")
    monkeypatch.chdir(EXAMPLES / "class")
    assert check(name) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.endswith(f"{name} is ok\n")


def test_code_of_a_submission_is_run_apart_and_closed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither its import nor its moves reach this process or its files."""
    secret = tmp_path / "secret"
    secret.write_text("of the teacher")
    handed = tmp_path / "handed"
    handed.mkdir()
    spy = f"import os\nos.environ['SEEN'] = open({str(secret)!r}).read()\n"
    (handed / "zoe.py").write_text(spy + AGENT.format(trouble="pass"))
    assert check(f"folder={handed}") == 1
    assert "SEEN" not in os.environ
    assert "Permission denied" in capsys.readouterr().out
