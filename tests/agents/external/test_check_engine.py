"""``othello-lab agents check-engine``: each check finds the engine that fails it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from chosen import mostly_nightly

from othello_lab.agents.command_line import main
from othello_lab.agents.external import check_gtp, check_nboard
from othello_lab.agents.external.check_gtp import GtpEngineUnderTest
from othello_lab.agents.external.check_nboard import NBoardEngineUnderTest
from othello_lab.agents.external.checking import FAILED, NOT_ASKED, OK, EngineFinding, findings
from othello_lab.agents.external.program import Program

ROOT = Path(__file__).parents[3]
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
NIGHTLY = pytest.mark.nightly
INTEGRATION = pytest.mark.integration

BROKEN = [
    pytest.param(
        "gtp",
        "version-1 nameless knows-all any-size plays-go no-capitals any-color shows-nothing "
        "undoes-all sets-nothing no-clock scores-wrongly",
        "version name known sizes game letters turn show undo set time score",
        marks=INTEGRATION,
    ),
    pytest.param(
        "gtp",
        "no-numbers answers-comments plays-anything passes-freely",
        "numbers blank illegal nonsense passes no_pass whole_game moves",
        marks=INTEGRATION,
    ),
    pytest.param("gtp", "flips-too-few never-passes", "moves pass score", marks=INTEGRATION),
    pytest.param("gtp", "dies", "whole_game", marks=INTEGRATION),
    pytest.param("gtp", "accepts-anything", "unknown nonsense sizes", marks=NIGHTLY),
    pytest.param("gtp", "garbage", "starts", marks=NIGHTLY),
    pytest.param("gtp", "no-genmove", "list", marks=NIGHTLY),
    pytest.param("gtp", "answers-nothing", "blank", marks=NIGHTLY),
    pytest.param("gtp", "never-clears", "clear two_games", marks=NIGHTLY),
    pytest.param("gtp", "illegal", "white whole_game", marks=NIGHTLY),
    pytest.param("gtp", "nonsense", "genmove white", marks=NIGHTLY),
    pytest.param("gtp", "forgets-its-moves", "keeps whole_game", marks=NIGHTLY),
    pytest.param("gtp", "stays", "quit", marks=NIGHTLY),
    ("nboard", "bad-nodes no-hints answers-all", "nodes hint unknown blank"),
    pytest.param("nboard", "moves-itself", "stays", marks=INTEGRATION),
    pytest.param("nboard", "sets-once", "again", marks=INTEGRATION),
    pytest.param("nboard", "deaf", "move", marks=INTEGRATION),
    pytest.param("nboard", "no-moves", "white", marks=INTEGRATION),
    pytest.param("nboard", "stays", "quit", marks=INTEGRATION),
    pytest.param("nboard", "same-pong", "pings", marks=NIGHTLY),
    pytest.param("nboard", "illegal", "game", marks=NIGHTLY),
    pytest.param("nboard", "nonsense", "game", marks=NIGHTLY),
    pytest.param("nboard", "dies", "game", marks=NIGHTLY),
]
"""Of each engine of the tests: its traits, and the checks that find them."""


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def engine(protocol: str, *traits: str) -> str:
    return f"{sys.executable} {ROOT / 'tests' / f'{protocol}_engine.py'} {' '.join(traits)}"


def found_of(protocol: str, *traits: str, patience: float = 30) -> list[EngineFinding]:
    program = Program(engine(protocol, *traits))
    if protocol == "gtp":
        return list(findings(GtpEngineUnderTest(program, patience, 30), check_gtp.CHECKS))
    return list(findings(NBoardEngineUnderTest(program, patience, 30), check_nboard.CHECKS))


def names(found: list[EngineFinding], outcome: str) -> set[str]:
    return {each.name for each in found if each.outcome == outcome}


@pytest.mark.integration
@pytest.mark.parametrize("protocol", ["gtp", "nboard"])
def test_an_engine_that_does_all_right_passes(protocol: str) -> None:
    found = found_of(protocol)
    assert len(found) >= 20
    assert not names(found, FAILED) | names(found, NOT_ASKED), found
    assert all(each.exchanges for each in found)


@pytest.mark.parametrize(("protocol", "traits", "checks"), BROKEN)
def test_each_check_finds_the_engine_that_fails_it(protocol: str, traits: str, checks: str) -> None:
    patience = {"stays": 5, "same-pong": 2}.get(traits, 30)
    found = found_of(protocol, *traits.split(), patience=patience)
    failed = names(found, FAILED)
    assert {check.replace("_", " ") for check in checks.split()} <= failed
    if " " in traits:
        assert len(failed) == len(checks.split()), failed
    for each in found:
        if protocol == "gtp" and each.name == "moves" and each.outcome == FAILED:
            assert "legal" in each.detail and "  a b c d e f g h\n1 " in each.detail


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "traits", "skipped"),
    [
        (
            "gtp",
            "no-set_game no-known_command no-undo no-showboard no-setboard no-time_left "
            "no-final_score no-reg_genmove",
            {"known", "game", "show", "undo", "set", "reg", "score", "time"},
        ),
        ("nboard", "bare", {"value"}),
        ("nboard", "nameless no-learning", {"name", "learn"}),
    ],
)
def test_what_an_engine_need_not_know_is_not_asked(
    protocol: str, traits: str, skipped: set[str]
) -> None:
    found = found_of(protocol, *traits.split())
    assert names(found, NOT_ASKED) == skipped
    assert names(found, OK) | skipped == {each.name for each in found}


@pytest.mark.parametrize(("protocol", "patience"), [("gtp", "30"), ("nboard", "0.3")])
def test_an_engine_that_cannot_play_is_asked_nothing_more(
    protocol: str, patience: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-engine", protocol, "cat", "--patience", patience]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("starts      failed")
    assert protocol == "nboard" or "'1 list_commands'" in printed  # its answer
    assert printed.count("see starts") >= 20
    assert "\ncat fails 1: " in printed and "\ncat does not play: " in printed


VERDICTS = {
    "blank-before-numbers": ("fails 1: numbers", "plays, with these settings: commands without "),
    "no-list_commands": ("fails 1: list", "found by trying; colours black and white; "),
    "no-setboard": ("passes all checks", "no command sets one; "),
    "illegal": ("whole game", "does not play: generated a1: "),
}


@pytest.mark.integration
@pytest.mark.parametrize("trait", mostly_nightly(VERDICTS, ["illegal", "no-setboard"]))
def test_the_last_line_tells_if_and_how_the_engine_plays(
    trait: str, capsys: pytest.CaptureFixture[str]
) -> None:
    checks, plays = VERDICTS[trait]
    command = engine("gtp", trait)
    code = main(["check-engine", "gtp", command, "--patience", "30"])
    lines = capsys.readouterr().out.splitlines()
    summary, verdict = (line for line in lines if line.startswith(command))
    assert code == int("fails" in summary)
    assert checks in summary and plays in verdict


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
