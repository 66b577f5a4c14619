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
        "player.out out of turn",
    ),
    "elsewhere": (
        {"trouble": "open('Player.txt', 'w').write(text); signal.pause()", "after": 0},
        "white",
        r"time exceeded: .*player.out \(but Player.txt\) within 0.5 s",
    ),
    "slow": ({"trouble": "signal.pause()", "after": 2}, "games", "time exceeded: "),
    "crash": ({"begin": "1 / 0"}, "starts", "process died: .*ZeroDivisionError"),
    "curious": ({"begin": "open('/etc/hostname')"}, "starts", "Permission"),
    "stays": ({"end": "signal.pause()"}, "ends", "5 s after the last move"),
    "asleep": ({"begin": "signal.pause()"}, "starts", "player.in within 10 s"),
}


@pytest.mark.integration
def test_the_example_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = player(tmp_path, name="anna")
    assert main(["check", "file", command, "total=300"]) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    assert len(re.findall(r"^[a-z ]{10}  ok  ", printed, re.MULTILINE)) == len(CHECKS), printed
    assert "< " not in printed
    assert re.search(rf"^{re.escape(command)} .*; its slowest move took ", printed, re.MULTILINE)


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
