"""``othello-lab agents check file``: each check finds the program that fails it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bots import player
from chosen import mostly_nightly

from othello_lab.agents.command_line import main
from othello_lab.agents.external.check_files import CHECKS

BROKEN: dict[str, tuple[dict[str, object], str, str]] = {
    "illegal": (
        {"trouble": "honest('(W D 4)')", "after": 1},
        "white",
        r"illegal move: .*'\(W D 4\)': square occupied.*> player.in: .*\n *< \(illegal move\)\n",
    ),
    "pass": (
        {"trouble": "honest(text if 'P' not in text else '(W D 3)')", "after": 0},
        "pass",
        "illegal move: ",
    ),
    "early": (
        {"begin": "open('player.out', 'w').write('(B D 3)')"},
        "black",
        "wrote player.out out of turn",
    ),
    "elsewhere": (
        {"trouble": "open('Player.txt', 'w').write(text); sleep(300)", "after": 0},
        "white",
        r"time exceeded: .* wrote no player.out \(but Player.txt\) within 0.5 s",
    ),
    "slow": ({"trouble": "sleep(300)", "after": 2}, "games", "time exceeded: "),
    "crash": ({"begin": "1 / 0"}, "starts", "process died: .*ZeroDivisionError"),
    "curious": ({"begin": "open('/etc/hostname')"}, "starts", "Permission"),
    "stays": ({"end": "sleep(300)"}, "ends", "it is still there 5 s after the last move"),
    "asleep": ({"begin": "sleep(300)"}, "starts", "did not remove player.in within 10 s"),
}


@pytest.mark.integration
def test_the_example_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = player(tmp_path, name="anna")
    assert main(["check", "file", command, "total=300"]) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    assert len(re.findall(r"^[a-z ]{10}  ok  ", printed, re.MULTILINE)) == len(CHECKS), printed
    assert "< " not in printed
    assert f"{command} keeps to the file protocol; its slowest move took " in printed


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(BROKEN, ("illegal", "curious")))
def test_each_check_finds_the_program_that_fails_it(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trouble, check, detail = BROKEN[name]
    words = ["limit=0.5"] if name in ("elsewhere", "slow", "asleep") else ["limit=30"]
    command = player(tmp_path, **trouble)  # type: ignore[arg-type]
    assert main(["check", "file", command, "total=300", *words]) == 1
    printed = capsys.readouterr().out
    failed = set(re.findall(r"^(\S.*?) +failed ", printed, re.MULTILINE))
    assert check in failed, printed
    assert re.search(detail, printed, re.DOTALL), printed
    assert f"{command} fails {len(failed)}: " in printed


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], 'a command is needed, as in file "java Bert"'),
        (["no-such-program"], "the program 'no-such-program' is not there"),
        (["'./an na' -x"], "the program './an na' is not there"),
        (["cat 'a b'"], "its files need a name of one word; name=WORD"),
        (["cat", "limit=0"], "limit=0: a number of more than 0 is needed"),
        (["cat", "name=a/b"], "name=a/b: one word"),
        (["cat", "limits=3"], "limits"),
        (["cat", "limit"], "limit"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "file", *words]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and re.search(
        re.escape(complaint) if "|" not in complaint else complaint, printed.err
    ), printed.err
    assert not printed.out
