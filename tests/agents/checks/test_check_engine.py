"""``othello-lab agents check-engine``: each check finds the engine that fails it."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import engines
import pytest
from bots import InProcess, engine, player
from chosen import mostly_nightly
from engines import EDAX, GtpEngine, NBoardEngine

from othello_lab.agents.checks.check import FAILED, OK, SKIPPED, Finding
from othello_lab.agents.checks.engine import EngineUnderTest
from othello_lab.agents.checks.files import FileProgramUnderTest
from othello_lab.agents.checks.gtp import GtpEngineUnderTest
from othello_lab.agents.checks.nboard import NBoardEngineUnderTest
from othello_lab.agents.command_line import main
from othello_lab.agents.external import program
from othello_lab.agents.external.program import Program

ROOT = Path(__file__).parents[3]
INTEGRATION = pytest.mark.integration
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")

PROTOCOLS: dict[str, tuple[Any, type[EngineUnderTest]]] = {
    "gtp": (GtpEngine, GtpEngineUnderTest),
    "nboard": (NBoardEngine, NBoardEngineUnderTest),
}

ONE_FAULT = {
    "gtp": "starts=garbage, version=version-1, name=nameless, list=hides-quit, known=knows-all, "
    "unknown=allows-no_such_command, numbers=no-numbers, blank=answers-comments, sizes=any-size, "
    "game=plays-go, play=black-is-alone, letters=no-capitals, illegal=plays-on-discs, "
    "nonsense=color-blind, turn=white-begins, clear=stuck-after-6, show=shows-nothing, "
    "undo=undoes-all, set=sets-nothing, genmove=lost-after-, white=lost-after-d3, keeps=repeats, "
    "reg=reg-plays, pass=never-passes, passes=skips-passes skips-one-late, no pass=passes-freely, "
    "whole game=tires, moves=flips-too-few, score=scores-wrongly, time=no-clock, "
    "two games=stuck-after-7, quit=stays",
    "nboard": "starts=mute, pings=volunteers, number=short-numbers, unknown=answers-unknown, "
    "blank=answers-blank, name=anonymous, go=stumbles, white=lost-after-d3, game=two-moves, "
    "stays=moves-itself, move=only-capitals, notes=no-notes, board=usual-start, again=sets-once, "
    "value=praise, nodes=bad-nodes, hint=wrong-hints, depth=deep-sinks, pass=never-passes, "
    "passes=no-passes-in-games, whole game=tires, learn=moves-to-learn, quit=stays",
}
"""Of each check the traits of an engine that fails this check, and no other."""
CASES = [
    (protocol, *case.split("="))
    for protocol, row in ONE_FAULT.items()
    for case in [*row.split(", "), "="]  # the last has no fault
]
ALWAYS = [("gtp", "turn"), ("nboard", "name"), ("nboard", "value"), ("nboard", "learn")]
"""Could once not be failed."""


def findings_of(protocol: str, program: Program, patience: float = 30) -> list[Finding]:
    return list(PROTOCOLS[protocol][1](program, patience, 30).findings())


def findings_with(protocol: str, traits: str, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    monkeypatch.setattr(engines, "TRAITS", set(traits.split()))
    return findings_of(protocol, InProcess(PROTOCOLS[protocol][0]))


def names(findings: list[Finding], outcome: str) -> set[str]:
    return {finding.name for finding in findings if finding.outcome == outcome}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.parametrize(
    ("protocol", "check", "traits"),
    [pytest.param(*case, marks=() if case[:2] in ALWAYS else INTEGRATION) for case in CASES],
)
def test_an_engine_with_one_fault_fails_one_check(
    protocol: str, check: str, traits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = findings_with(protocol, traits, monkeypatch)
    checks = [name for other, name, _ in CASES if other == protocol]
    assert [*(finding.name for finding in findings), ""] == checks
    failed = [finding for finding in findings if finding.outcome == FAILED]
    assert [finding.name for finding in failed] == [check] * bool(check), failed
    assert bool(names(findings, SKIPPED)) == (check == "starts")
    assert all(finding.exchanges for finding in findings if finding.outcome != SKIPPED)
    assert check != "moves" or "  a b c d e f g h\n1 " in failed[0].detail


@pytest.mark.parametrize(
    ("protocol", "traits", "passed", "skipped"),
    [
        ("gtp", "gives-up", "moves", "clear undo set genmove white keeps pass time two_games"),
        pytest.param(
            "gtp",
            "no-set_game no-known_command no-undo no-showboard no-setboard no-time_left "
            "no-final_score no-reg_genmove",
            "moves",
            "known game show undo set reg score time",
            marks=INTEGRATION,
        ),
        ("nboard", "bare", "go", "value"),
        ("nboard", "nameless no-learning", "go", "name learn"),
    ],
)
def test_what_an_engine_need_not_do_is_no_fault(
    protocol: str, traits: str, passed: str, skipped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = findings_with(protocol, traits, monkeypatch)
    assert names(findings, SKIPPED) == {name.replace("_", " ") for name in skipped.split()}
    assert not names(findings, FAILED) and passed in names(findings, OK)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "trait", "check"),
    [("gtp", "dies", "whole game"), ("nboard", "dies", "game"), ("nboard", "same-pong", "pings")],
)
def test_a_program_that_dies_or_says_nothing_fails(protocol: str, trait: str, check: str) -> None:
    findings = findings_of(
        protocol, Program(engine(protocol, trait)), 2 if trait == "same-pong" else 30
    )
    assert check in names(findings, FAILED)


@pytest.mark.parametrize(("protocol", "patience"), [("gtp", "30"), ("nboard", "0.3")])
def test_an_engine_that_cannot_play_is_asked_nothing_more(
    protocol: str, patience: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-engine", protocol, "cat", "--patience", patience]) == 1
    printed = capsys.readouterr().out
    assert "starts      failed" in printed
    assert protocol == "nboard" or "'1 list_commands'" in printed  # its answer
    assert printed.count("see starts") >= 20
    assert "\ncat fails 1: " in printed and "\ncat does not play: " in printed


@pytest.mark.parametrize(
    ("traits", "fails", "plays"),
    [
        (EDAX, "fails 2: numbers, letters", "plays, with these settings: numbered commands; "),
        pytest.param("no-list_commands", "fails 1: list", "found by trying; ", marks=INTEGRATION),
        pytest.param("no-setboard", "passes all", "no command sets one; ", marks=INTEGRATION),
        pytest.param("resigns=9", "passes all checks", "resigned 1 game of 2", marks=INTEGRATION),
        pytest.param("illegal", "whole game", "does not play: generated a1: ", marks=INTEGRATION),
    ],
)
def test_the_last_line_tells_if_and_how_the_engine_plays(
    traits: str,
    fails: str,
    plays: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(engines, "TRAITS", set(traits.split()))
    monkeypatch.setattr(program, "Program", lambda command: InProcess(GtpEngine))
    code = main(["check-engine", "gtp", sys.executable])
    lines = capsys.readouterr().out.splitlines()
    summary, verdict = (line for line in lines if line.startswith(sys.executable))
    assert code == int("fails" in summary)
    assert fails in summary and plays in verdict


@pytest.mark.integration
def test_what_was_sent_and_answered_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-engine", "gtp", engine("gtp", "nameless")]) == 1
    printed = capsys.readouterr().out
    assert "name        failed " in printed and "      > name\n      < = \n" in printed
    assert "> play black d3" not in printed
    assert main(["check-engine", "gtp", engine("gtp"), "--all"]) == 0
    assert "      > play black d3\n      < = \n" in capsys.readouterr().out


@pytest.mark.integration
@pytest.mark.skipif(RHINO is None, reason="needs gtp-rhino (Debian's grhino)")
def test_gtp_rhino_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-engine", "gtp", f"{RHINO} -l 1"]) == 0, capsys.readouterr().out


@pytest.mark.integration
@pytest.mark.parametrize("words", ["gtp agent=greedy", "nboard agent=alphabeta agent.depth=2"])
def test_our_own_engine_passes(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{sys.executable} -m play {words}"
    # It may have to compile.
    code = main(["check-engine", words.split()[0], command, "--patience", "300"])
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert "nboard" not in words or ("skipped" not in printed and "depth=2" in printed)


# ------------------------------------------------------------------ programs of the file protocol

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
    assert len(re.findall(r"^[a-z ]{10}  ok  ", printed, re.MULTILINE)) == len(
        FileProgramUnderTest.checks
    ), printed
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
