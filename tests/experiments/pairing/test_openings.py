"""Openings are legal, distinct and reproducible, wherever they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chosen import mostly_nightly
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from runs import follow_games, line_of, played, read_openings

from othello_lab import PASS, RULESETS, Color, Position, Ruleset
from othello_lab.core.notation import format_ggf, split_transcript
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.wthor import WthorGame, format_wthor
from othello_lab.experiments.pairing import (
    AllOpenings,
    BalancedOpenings,
    FileOpenings,
    RandomOpenings,
    StartOpening,
    balanced,
)
from othello_lab.experiments.pairing import openings as openings_module
from othello_lab.experiments.pairing.openings import BALANCED, Opening, all_openings
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.searches import searched_positions

STANDARD = RULESETS["standard"]
START_OBF = Position.start().to_obf()
FORCED_PASS = "a2a3b4c1a4b1a1"  # 4x4: a pass is due after the fifth move
GGF = (
    "(;GM[Othello]TY[8]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- "
    "-------- *]B[d3//0.01]W[c5]B[e6]W[f5];)"
)


KINDS = {
    "all": AllOpenings,
    "balanced": BalancedOpenings,
    "file": FileOpenings,
    "random": RandomOpenings,
    "start": StartOpening,
}


def canonical(openings: Iterable[Opening], rules: Ruleset) -> list[Position]:
    return [opening.reach(rules).canonical() for opening in openings]


def choose(count: int, rules: Ruleset = STANDARD, seed: int = 1, **setting: Any) -> list[Opening]:
    return KINDS[setting.pop("kind")](**setting).choose(count, rules, seed)


def file_of(folder: Path, *lines: str) -> str:
    path = folder / "mine.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@given(name=st.sampled_from(list(RULESETS)), plies=st.integers(0, 11), seed=st.integers(0, 99))
@settings(max_examples=25)
def test_what_the_record_says_can_be_read_again(name: str, plies: int, seed: int) -> None:
    rules = RULESETS[name]
    for opening in RandomOpenings(plies=plies).find(1, rules, seed):
        assert Opening.read(opening.text, rules) == opening
        reached = opening.reach(rules)
        placed = Opening(start=reached)
        assert Opening.read(placed.text, rules) == placed
        assert placed.reach(rules) == placed.begin(rules) == reached


def test_passes_are_plies_of_an_opening() -> None:
    opening = Opening.read(FORCED_PASS, "mini4")
    assert len(opening.moves) == 8
    assert opening.moves[5] == PASS
    assert opening.text == FORCED_PASS
    cut = Opening.read(FORCED_PASS, "mini4", plies=6)
    assert cut.moves == opening.moves[:6]
    assert cut.text == FORCED_PASS[:10] + "--"
    assert Opening.read(cut.text, "mini4") == cut
    with pytest.raises(ValueError, match="a1"):
        Opening(bytes([0])).reach("standard")


@pytest.mark.parametrize("kind", KINDS)
def test_a_longer_list_begins_with_the_shorter_and_comes_from_the_arguments(
    kind: str, tmp_path: Path
) -> None:
    """Whatever was asked for before: runs are continued later, in other processes."""
    setting: dict[str, Any] = {
        "random": {"plies": 4},
        "all": {"plies": 4},
        "start": {"repeats": True},
        "file": {
            "file": file_of(tmp_path, *(o.text for o, _ in all_openings(4, STANDARD))),
            "shuffle": True,
        },
    }.get(kind, {})
    long = choose(50, kind=kind, **setting)
    for count in (1, 7, 30, 49, 50):
        assert choose(count, kind=kind, **setting) == long[:count]
    if kind != "start":
        assert choose(50, seed=2, kind=kind, **setting) != long
        assert len(set(canonical(long, STANDARD))) == 50


@pytest.mark.parametrize(
    ("kind", "there_are"), [("start", 1), ("random", 3), ("all", 3), ("file", 2)]
)
def test_more_pairs_than_openings(kind: str, there_are: int, tmp_path: Path) -> None:
    setting: dict[str, Any] = {"kind": kind}
    if kind in ("random", "all"):
        setting["plies"] = 2  # one first move and three second ones up to symmetry
    lines = ["f5d6", "# c4e3 is the same turned round", "c4e3", "f5f4"]
    if kind == "file":
        setting["file"] = file_of(tmp_path, *lines)
    few = choose(there_are, **setting)
    assert len(set(canonical(few, STANDARD))) == there_are
    with pytest.raises(ConfigError) as caught:
        choose(there_are + 1, **setting)
    for part in (
        f"games={2 * there_are + 2}: ",
        "only one" if there_are == 1 else f"only {there_are}",
        *(f"games={2 * there_are},", "openings.repeats=true"),
    ):
        assert part in str(caught.value)
    again = choose(7, repeats=True, **setting)
    assert again[:there_are] == few if kind != "file" else again[0] == few[0]
    assert again == (again[: len(lines) - 1 if kind == "file" else there_are] * 7)[:7]


@pytest.mark.parametrize("rules", RULESETS.values(), ids=RULESETS)
def test_random_openings_are_legal_and_distinct_up_to_symmetry(rules: Ruleset) -> None:
    count, plies = (200, 8) if rules.side == 8 else (30, 6)
    openings = choose(count, rules, 3, kind="random", plies=plies)
    reached = [opening.reach(rules) for opening in openings]
    assert all(len(opening.moves) == plies for opening in openings)
    assert not any(position.is_over for position in reached)
    assert len({position.canonical() for position in reached}) == count


def test_all_positions_of_a_ply_are_there_once() -> None:
    """Distinct positions up to symmetry, https://oeis.org/A124005 beside perft's plies; here 1, 3,
    14, 60, 322, held to what random games reach."""
    for plies, there_are in enumerate((1, 1, 3, 14, 60, 322)):
        listed = canonical((o for o, _ in all_openings(plies, STANDARD)), STANDARD)
        assert len(listed) == len(set(listed)) == there_are
        assert set(
            canonical(RandomOpenings(plies=plies).find(there_are, STANDARD, 1), STANDARD)
        ) <= set(listed)
    chosen = choose(60, kind="all", plies=4)
    assert set(canonical(chosen, STANDARD)) == set(
        canonical(RandomOpenings(plies=4).find(60, STANDARD, 1), STANDARD)
    )


def test_openings_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openings_module, "ENUMERABLE", 100)  # there are 60 at ply 4
    with pytest.raises(ConfigError, match=r"100 .* ply 5 .* at most 4, .*openings=random"):
        choose(1, kind="all", plies=20)
    monkeypatch.undo()
    for kind in ("all", "random"):
        with pytest.raises(ConfigError, match=r"openings\.plies=25: .*mini4"):
            choose(1, RULESETS["mini4"], kind=kind, plies=25)


def test_a_file_of_all_notations(tmp_path: Path) -> None:
    other = GGF.replace("---O*--- ---*O---", "---OO--- ---**---").replace(
        "W[c5]B[e6]W[f5]", "W[c6]"
    )
    scores = f"{START_OBF}; C4:+3; D3:+3;"
    path = file_of(
        tmp_path, "# my lines", "", "f5 d6 c3", scores, f"  {GGF}", f"2 {GGF}{other}", "% end"
    )
    text = Path(path).read_bytes()  # as some editors write it
    Path(path).write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    openings = read_openings(Path(path), STANDARD)
    moved = Position.from_transcript("d3c5e6f5")
    assert [o.text for o in openings[:4]] == ["f5d6c3", START_OBF, "d3c5e6f5", "d3c5e6f5"]
    assert openings[4].start is not None
    assert openings[4].moves == b""
    assert openings[2].reach(STANDARD) == moved != openings[4].start
    assert openings[4].start.discs == 6
    cut = read_openings(Path(path), STANDARD, plies=1)
    assert [o.text for o in cut[:4]] == ["f5", START_OBF, "d3", "d3"]
    assert cut[4].reach(STANDARD).discs == 5
    # In the file's own order, positions that differ in nothing but a symmetry only once.
    assert choose(4, kind="file", file=path) == [*openings[:3], openings[4]]
    every = choose(6, kind="file", file=path, repeats=True)
    assert every == [*openings, openings[0]]


WHOLE_GAME = "e6f4e3f6g5d6e7f5c5"  # after nine moves White has no disc left
BAD_LINES = {
    "f5d6a1": r"move 3 .*a1",
    "f5f5": r"move 2 .*f5: square occupied",
    "f5d6c": r"'f5d6c': 'c'",
    "f5--": r"move 2 .*pass",
    "f5 d6 k9": r"move 3 .*'k9': .*a1 to h8",
    WHOLE_GAME: r"over .*openings\.plies=N",
    START_OBF.replace("-", "X"): r"is over",
    START_OBF[1:]: r"63 squares .* 64",
    START_OBF[:-1]: r"to move ''",
    "-" * 16 + " X": r"16 squares .* 64",
    GGF.replace("W[f5]", "W[a1]"): r"move 4 .*a1",
    GGF.replace("W[f5]", "B[f5]"): r"move 4 .*f5: white",
    GGF + GGF.replace("W[f5]", "W[a1]"): r"move 4 .*a1",
    GGF[:-2]: r"GGF: .*cut off",
    "(;GM[Othello]BO[4 ---- -O*- -*O- ---- *];)": r"4x4; .*8x8",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=str)
def test_a_bad_line_is_named_with_the_reason(line: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, "# openings", "f5d6", line)
    with pytest.raises(ConfigError, match=BAD_LINES[line]) as caught:
        choose(1, kind="file", file=path)
    assert str(caught.value).startswith(f"{path}, line 3: ")
    assert "openings.partly=true" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = file_of(tmp_path, "f5d6")
    with pytest.raises(ConfigError, match=r"line 1: move 1 .*'f5': .*a1 to d4"):
        choose(1, RULESETS["mini4"], kind="file", file=path)
    empty, binary = file_of(tmp_path, "# nothing"), tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=f"{binary}, byte 0: not text"):
        choose(1, kind="file", file=str(binary))
    for path, why in (
        (str(tmp_path / "nowhere.txt"), "No such file"),
        (str(tmp_path), "a folder"),
        (empty, "no opening"),
    ):
        with pytest.raises(ConfigError, match=re.escape(f"openings.file={path}: ") + f".*{why}"):
            choose(1, kind="file", file=path)


def wthor_file(folder: Path, *transcripts: str) -> Path:
    """A WTHOR file of these games."""
    games = [
        WthorGame(bytes(Position.start().follow(split_transcript(text))[1]), 32)
        for text in transcripts
    ]
    path = folder / "WTH_2025.WTB"
    path.write_bytes(format_wthor(games, date(2026, 1, 31), 2025))
    return path


def test_a_file_of_wthor_games(tmp_path: Path) -> None:
    path = wthor_file(tmp_path, "f5d6c3", WHOLE_GAME)
    read = read_openings(path, STANDARD, plies=3)
    assert [o.text for o in read] == ["f5d6c3", "e6f4e3"]
    # These rules have another start, so the games lead to positions of their own.
    (first, _) = read_openings(path, RULESETS["wpi"], plies=3)
    assert first.start is not None and first.start.to_move is Color.WHITE
    openings = FileOpenings(file=str(path), plies=4)
    assert [o.text for o in openings.choose(1, STANDARD, 1)] == ["e6f4e3f6"]
    assert f"1 game of {path} is over by ply 4" in openings.remark(STANDARD)
    assert FileOpenings(file=str(path), plies=3).remark(STANDARD) == ""
    for rules, plies, complaint in (
        (STANDARD, 9, "over by ply 9"),  # the second one too
        (RULESETS["mini6"], 3, "8x8; .*6x6"),
        (STANDARD, None, "game 2, .*byte 84: .*over"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            choose(1, rules, kind="file", file=str(path), plies=plies)


def whole_game() -> str:
    """A game of nine moves in GGF."""
    plies = Position.start().follow(split_transcript(WHOLE_GAME))[1]
    moves = list(zip(cycle(Color), plies, strict=False))
    return format_ggf(Position.start().to_obf(), moves)


@pytest.mark.integration
@pytest.mark.parametrize("executor", mostly_nightly(["serial", "processes"], ["serial"]))
def test_a_run_from_positions_of_its_own_can_be_replayed(tmp_path: Path, executor: str) -> None:
    """Also the game of a player whose process dies, which its watcher writes down."""
    positions = [Position.from_transcript(text).to_obf() for text in ("f5d6c3", "f5f6e6f4")]
    path = file_of(tmp_path, positions[0], "f5d6c5", positions[1], whole_game())
    words = ["agents=ab_mirror", "depth=2", "games=6", f"executor={executor}"]
    if executor == "processes":
        words.append("+agents.dies._target_=misbehaving.Dies")
    result = played(tmp_path, *words, "openings=file", f"openings.file={path}", "openings.plies=9")
    with Record.open(result.folder) as record:
        assert record.openings() == [positions[0], "f5d6c5", positions[1]]
        searched = searched_positions(record, 6, 1)
        assert set() < {text for text, _ in searched} <= set(record.openings())
        assert all(position.moves for _, position in searched)
    counts = result.games["opening"].value_counts()
    assert len(counts) == 3 and set(counts) == {len(result.games) // 3}
    follow_games(result, "standard")
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    assert f"3 (from {path}), each played twice" in report
    assert "1 game of" in report and "over by ply 9" in report


def test_the_shipped_openings_are_legal_and_distinct() -> None:
    openings = BalancedOpenings().find(10_000, STANDARD, 1)
    recipe = OmegaConf.load(BALANCED.with_suffix(".yaml"))
    assert len(openings) == recipe.kept >= 1000
    assert {len(opening.moves) for opening in openings} == {8}
    assert len(set(canonical(openings, STANDARD))) == len(openings)


def test_wpi_plays_the_mirror_image() -> None:
    """The same squares, which are upside down there, with colours exchanged: for the one who begins
    nothing is different."""
    for opening in choose(100, kind="balanced"):
        ours, theirs = opening.reach(STANDARD), opening.reach(RULESETS["wpi"])
        assert (ours.black, ours.white) == (theirs.white, theirs.black)
        assert ours.to_move is theirs.to_move.other
        drawn = [str(position).splitlines()[1:9] for position in (ours, theirs)]
        swapped = str.maketrans("XO", "OX")
        assert drawn[0] == [line.translate(swapped) for line in reversed(drawn[1])]


def test_the_shipped_openings_are_balanced() -> None:
    """Searched again, a few of them have about the expected score that the recorded fit promises;
    what the evaluation has learned may be newer than the openings."""
    made = OmegaConf.load(BALANCED.with_suffix(".yaml"))
    recipe = balanced.Recipe(**made.settings)
    curve = balanced.ScoreCurve(made.fit.intercept, made.fit.slope)
    searcher = balanced.PositionSearcher(recipe)
    searcher.prepare(lambda line: None)
    for opening in choose(6, seed=5, kind="balanced"):
        value = searcher.value(recipe.depth, opening.reach(STANDARD))
        assert recipe.low - 0.1 <= curve.score(value) <= recipe.high + 0.1, opening.text
    assert (recipe.low, recipe.high) == (0.45, 0.55)


def test_the_curve_is_found_again() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(5000, 20000, 20000)
    true = balanced.ScoreCurve(-0.3, 5e-5)
    chances = true.score(values)
    scores = (rng.random(len(values)) < chances).astype(float)
    scores[:2000] = 0.5 * (scores[:2000] + (rng.random(2000) < chances[:2000]))  # with draws
    curve = balanced.fit_curve(values, scores)
    assert curve.intercept == pytest.approx(true.intercept, abs=0.05)
    assert curve.slope == pytest.approx(true.slope, rel=0.05)
    for hopeless in (np.ones(len(values)), (values > 0).astype(float), 1 - scores):
        with pytest.raises(ConfigError, match="--games"):
            balanced.fit_curve(values, hopeless)


QUICK = balanced.Recipe(4, "square_weights", 3, 2, 40, 1, 0.4, 0.6, 10, 2)


@pytest.fixture(scope="module")
def one() -> balanced.BalancedList:
    """What one worker makes by this recipe."""
    return balanced.make(QUICK, 1)


@pytest.mark.integration
def test_the_command_writes_a_file_that_openings_file_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: balanced.BalancedList
) -> None:
    monkeypatch.chdir(tmp_path)
    words = (
        "openings mine.txt --plies 4 --evaluation square_weights --depth 3 --shallow 2 --games 40 "
        "--play-depth 1 --most 10 --seed 2 --band 0.4 0.6"
    )
    printed = line_of(*words.split(), "--workers", "2")
    assert "60 positions at ply 4" in printed
    foretold = "60 positions, 60 of them searched 3 plies deep, 50 games"
    assert re.search(rf"about \d+ seconds by 2 workers: {foretold}", printed)
    recipe = OmegaConf.load("mine.yaml")
    assert balanced.Recipe(**recipe.settings) == QUICK
    assert recipe.command == f"othello-lab {words}"
    openings = choose(recipe.kept, kind="file", file="mine.txt")
    assert openings == one.openings  # by any number of workers
    assert 0 < one.notes["kept"] == recipe.kept == len(openings) < recipe.candidates == 60
    searcher = balanced.PositionSearcher(QUICK)
    curve = balanced.ScoreCurve(recipe.fit.intercept, recipe.fit.slope)
    for opening in openings:
        assert 0.4 <= curve.score(searcher.value(3, opening.reach(STANDARD))) <= 0.6


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("x.txt --shallow 9 --depth 8", "--shallow=9: "),
        ("x.txt --band 0.6 0.4", "--low=0.6: less than --high=0.4"),
        ("x.txt --band 0.4 1.5", "--high=1.5: "),
        ("x.txt --play-depth 99", "--play-depth=99: a whole number from 1 to 64"),
        ("x.txt --evaluation iagu", "'iagu'"),
        ("nowhere/x.txt", "nowhere/x.txt: "),
        ("x.yaml", "x.yaml: "),
    ],
)
def test_a_recipe_that_cannot_be_followed(
    words: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert why in line_of("openings", "--plies", "2", *words.split(), code=2)
    assert not list(tmp_path.iterdir())
