"""``othello-lab agents check-engine``: each check finds the engine that fails it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from chosen import mostly_nightly

from othello_lab.agents.command_line import main
from othello_lab.agents.external.check_gtp import CHECKS, GtpEngineUnderTest
from othello_lab.agents.external.checking import FAILED, NOT_ASKED, OK, EngineFinding, findings
from othello_lab.agents.external.program import Program

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "tests" / "gtp_engine.py"
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
needs_rhino = pytest.mark.skipif(RHINO is None, reason="needs gtp-rhino (Debian's grhino)")

BROKEN = {
    "garbage": {"starts"},
    "version-1": {"version"},
    "nameless": {"name"},
    "no-genmove": {"list"},
    "knows-all": {"known"},
    "no-numbers": {"numbers"},
    "answers-nothing": {"blank"},
    "answers-comments": {"blank"},
    "any-size": {"sizes"},
    "plays-go": {"game"},
    "no-capitals": {"letters"},
    "plays-anything": {"illegal", "keeps", "no pass"},
    "any-color": {"turn"},
    "never-clears": {"clear", "play", "two games"},
    "shows-nothing": {"show"},
    "undoes-all": {"undo"},
    "sets-nothing": {"set"},
    "illegal": {"white", "whole game"},
    "nonsense": {"genmove", "white"},
    "forgets-its-moves": {"keeps", "whole game"},
    "never-passes": {"pass"},
    "passes-freely": {"no pass", "passes"},
    "scores-wrongly": {"score"},
    "flips-too-few": {"moves"},
    "no-clock": {"time"},
    "accepts-anything": {"unknown", "nonsense", "sizes"},
    "stays": {"quit"},
    "dies": {"whole game"},
}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def engine(*traits: str) -> str:
    return f"{sys.executable} {ENGINE} {' '.join(traits)}"


def found_of(command: str, patience: float, think: float) -> list[EngineFinding]:
    return list(findings(GtpEngineUnderTest(Program(command), patience, think), CHECKS))


def test_an_engine_that_does_all_right_passes() -> None:
    assert len(CHECKS) >= 20
    found = found_of(engine(), 30, 30)
    assert {each.outcome for each in found} == {OK}, [e for e in found if e.outcome != OK]
    assert all(each.exchanges for each in found)


@pytest.mark.parametrize("trait", mostly_nightly(BROKEN, ("version-1", "any-size", "no-capitals")))
def test_each_check_finds_the_engine_that_fails_it(trait: str) -> None:
    patience = 3 if trait in ("stays", "passes-freely") else 30
    failed = {each.name for each in found_of(engine(trait), patience, 30) if each.outcome == FAILED}
    assert BROKEN[trait] & failed, failed


def test_what_an_engine_need_not_know_is_not_asked() -> None:
    traits = ["set_game", "known_command", "undo", "showboard", "setboard", "time_left"]
    traits += ["final_score", "reg_genmove"]
    found = list(found_of(engine(*(f"no-{each}" for each in traits)), 30, 30))
    skipped = {each.name for each in found if each.outcome == NOT_ASKED}
    assert skipped == {"known", "game", "show", "undo", "set", "reg", "score", "time"}
    assert not any(each.outcome == FAILED for each in found)


def test_an_engine_that_cannot_play_is_asked_nothing_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check-engine", "gtp", "cat"]) == 1
    printed = capsys.readouterr().out
    assert "starts      failed" in printed
    assert "answered '1 list_commands' to 'list_commands'; = or ? is needed" in printed
    assert printed.count("not asked  see starts") == len(CHECKS) - 1
    assert "cat fails 1: starts\ncat does not play: no valid answer: " in printed


def test_an_answer_to_a_comment_is_found_where_it_was_sent() -> None:
    found = found_of(engine("answers-comments"), 30, 30)
    assert {each.name for each in found if each.outcome == FAILED} == {"blank"}


def test_a_refused_legal_move_is_shown_with_its_position() -> None:
    (failed,) = (each for each in found_of(engine("flips-too-few"), 30, 30) if each.name == "moves")
    assert "though it is legal" in failed.detail and "  a b c d e f g h\n1 " in failed.detail


VERDICTS = {
    "blank-before-numbers": ("fails 1: numbers", "plays, with these settings: commands without "),
    "no-list_commands": ("fails 1: list", "; commands found by trying; colours black and white; "),
    "short-colors": ("fails 1: letters", "; colours b and w; squares as d3; "),
    "says-PA": ("passes all checks", "; a pass as PA; "),
    "no-setboard": (
        "passes all checks",
        "; boards by the moves from the start, as no command sets one; ",
    ),
    "illegal": ("whole game", "does not play: generated a1: "),
}


@pytest.mark.parametrize("trait", mostly_nightly(VERDICTS, ("blank-before-numbers", "illegal")))
def test_the_last_line_tells_if_and_how_the_engine_plays(
    trait: str, capsys: pytest.CaptureFixture[str]
) -> None:
    checks, plays = VERDICTS[trait]
    code = main(["check-engine", "gtp", engine(trait), "--patience", "30"])
    *_, summary, verdict = (
        line for line in capsys.readouterr().out.splitlines() if line.startswith(engine(trait))
    )
    assert code == int("fails" in summary)
    assert checks in summary and plays in verdict


@pytest.mark.integration
def test_what_was_sent_and_answered_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-engine", "gtp", engine("nameless")]) == 1
    printed = capsys.readouterr().out
    assert "name        failed     It has a name and a version\n    it has no name\n" in printed
    assert "      > name\n      < = \n" in printed
    assert "> play black d3" not in printed
    assert main(["check-engine", "gtp", engine(), "--all"]) == 0
    printed = capsys.readouterr().out
    assert "      > play black d3\n      < = \n" in printed
    assert f"{engine()} passes all checks\n{engine()} plays, with these settings: " in printed


@needs_rhino
def test_gtp_rhino_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-engine", "gtp", f"{RHINO} -l 1"]) == 0, capsys.readouterr().out


@pytest.mark.integration
def test_our_own_engine_passes(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{sys.executable} -m play gtp agent=greedy"
    # It may have to compile.
    assert main(["check-engine", "gtp", command, "--patience", "300"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["gtp", "no-such-engine"], "the program 'no-such-engine' is not there"),
        (["uci", "cat"], "invalid choice: 'uci'"),
        (["gtp"], "required: COMMAND"),
        (["gtp", "cat", "--patience", "-1"], "seconds of more than 0 are needed"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(["check-engine", *words])
    except SystemExit as exit:
        code = exit.code
    printed = capsys.readouterr()
    assert code == 2 and printed.err.count("\n") == 1 and complaint in printed.err
