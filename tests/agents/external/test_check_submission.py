"""Programs as students hand them in are checked by the kind that a tournament sees in them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from bots import EXAMPLES
from submitted import AGENT, hand_in

from othello_lab.__main__ import main


def check(*words: str) -> int:
    return main(["agents", "check", *words])


def test_a_folder_has_a_line_for_each_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path, ["missing", "data", "dying"])
    assert check(f"folder={tmp_path}", "limit=2") == 1
    first, second, third, last = capsys.readouterr().out.splitlines()
    assert "unclear" in first
    assert "failed  start: data1.bin is neither executable" in first
    assert "file protocol: ./dying2    failed  starts: process died" in second
    assert second.endswith(".in file")
    assert "missing0  Python: missing0.py:First" in third
    assert "failed" in third
    assert last == "3 submissions, 3 failed: data1, dying2, missing0"


def test_one_program_shows_its_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = "return Decision(0)"
    (tmp_path / "zoe.py").write_text(AGENT.format(trouble=trouble))
    monkeypatch.chdir(tmp_path)
    assert check("zoe.py") == 1
    out = capsys.readouterr().out
    assert out.startswith("zoe.py plays by: Python: zoe.py:First\n")
    assert out.rindex(" ok   ") < out.index("moves       failed")  # failed ones are last
    assert "answered a1" in out


@pytest.mark.integration
@pytest.mark.parametrize("name", ["anna.c", "bert", "carla.py", "dora.py", "emil.sh"])
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["folder=none"], "folder=none: No such file or directory"),
        (["folder=.", "protocol=gtp"], "protocol"),
        (["folder=.", "limit=0"], "limit"),
        (["folder=.", "what=3"], "what"),
    ],
)
def test_bad_input_is_refused_in_a_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path, ["file"])
    assert check(*[word.replace("=.", f"={tmp_path}") for word in words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
