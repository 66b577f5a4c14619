"""``othello-lab export``: games go out and come back unchanged."""

from __future__ import annotations

import io
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from records import query
from rich.console import Console

from othello_lab import Position
from othello_lab.__main__ import main
from othello_lab.agents.config import ConfigError
from othello_lab.core.notation import PASS, parse_ggf, square_name
from othello_lab.core.wthor import parse_wthor
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.results.export import FORMATS, export_command

COMMON = ["agents=duel", "agent@first=greedy", "agent@second=random", "figures=false"]


def played(folder: Path, *words: str) -> Path:
    more = [f"results={folder}", "executor=serial", "searches.positions=1"]
    return run(read([*COMMON, *more, *words]), "test", Console(quiet=True)).folder


@pytest.mark.parametrize(
    ("rules", "openings"),
    [("standard", "random"), ("wpi", "random"), ("mini6", "random"), ("standard", "file")],
)
def test_games_make_the_round_trip(rules: str, openings: str, tmp_path: Path) -> None:
    positions = tmp_path / "positions.txt"
    start = Position.start().play("d3").play("c3")
    positions.write_text(f"{start.to_obf()}\n{start.play('b3').to_obf()}\n")
    words = [f"ruleset={rules}", "games=40" if openings == "random" else "games=4"]
    words += [f"openings={openings}"]
    words += [f"openings.file={positions}"] if openings == "file" else []
    folder = played(tmp_path, *words)
    assert main(["export", str(folder), "ggf"]) == 0
    lines = (folder / "games.ggf").read_text().splitlines()
    names = dict(query(folder, "select agent, name from agents"))
    columns = "black, white, disc_difference, transcript"
    rows = query(folder, f"select {columns} from games order by game")
    assert len(lines) == len(rows)
    for line, (black, white, difference, transcript) in zip(lines, rows, strict=True):
        (game,) = parse_ggf(line)
        position, moves = Position.from_obf(game.start, rules).follow(game.words, game.colors)
        assert position.is_over
        assert "".join(square_name(move) for move in moves if move != PASS) == transcript
        assert len(game.words) == len(moves)  # passes are written
        assert f"PB[{names[black]}]PW[{names[white]}]RE[{difference:+.3f}]" in line


def test_forfeits_are_told(tmp_path: Path) -> None:
    folder = played(tmp_path, "games=2", "second._target_=misbehaving.Raises")
    assert main(["export", str(folder), "ggf"]) == 0
    first, second = (folder / "games.ggf").read_text().splitlines()
    assert {"RE[+64.000:r]" in first, "RE[-64.000:r]" in first} == {True, False}
    assert ("RE[+64" in first) != ("RE[+64" in second)


def rename(folder: Path, *names: str) -> None:
    """Give the agents of a record other names."""
    with closing(sqlite3.connect(folder / FILE)) as record, record:
        rows = [(name, agent) for agent, name in enumerate(names)]
        record.executemany("update agents set name = ? where agent = ?", rows)


def names_in(file: Path, length: int) -> list[str]:
    """The names of a WTHOR file of players (20 bytes each) or tournaments (26)."""
    content = file.read_bytes()[16:]
    parts = [content[at : at + length] for at in range(0, len(content), length)]
    return [part.rstrip(b"\0").decode("latin-1") for part in parts]


def test_wthor_holds_the_games_and_the_names(tmp_path: Path) -> None:
    folder = played(tmp_path, "games=20")
    rename(folder, "gr\u00e9edy of a long name", "random")
    assert main(["export", str(folder), "wthor"]) == 0
    games = parse_wthor((folder / "games.wtb").read_bytes())
    players = names_in(folder / "games.jou", 20)
    assert players == ["gr\u00e9edy of a long na", "random"]
    assert names_in(folder / "games.trn", 26) == ["duel"]
    columns = "black, white, disc_difference, transcript"
    rows = query(folder, f"select {columns} from games order by game")
    numbers = {agent: n for n, (agent,) in enumerate(query(folder, "select agent from agents"))}
    for game, (black, white, difference, transcript) in zip(games, rows, strict=True):
        assert "".join(map(square_name, game.moves)) == transcript
        assert (game.black, game.white) == (numbers[black], numbers[white])
        assert 2 * game.black_discs - 64 == difference


def test_names_that_are_cut_to_one_are_told_apart(tmp_path: Path) -> None:
    folder = played(tmp_path, "games=2")
    rename(folder, "a rather long name of one", "a rather long name of two")
    assert main(["export", str(folder), "wthor"]) == 0
    assert names_in(folder / "games.jou", 20) == ["a rather long name ", "1~a rather long nam"]


@pytest.mark.parametrize("format", ["ggf", "wthor"])
def test_openings_come_from_games(format: str, tmp_path: Path) -> None:
    folder, file = (
        played(tmp_path, "games=6"),
        tmp_path / f"MINE{FORMATS[format].endings[0].upper()}",
    )
    assert main(["export", str(folder), format, "--output", str(file)]) == 0
    words = ["openings=file", f"openings.file={file}", "openings.plies=8", "games=6"]
    again = played(tmp_path / "again", *words, "openings.shuffle=false")
    openings = [
        query(each, "select text from openings order by number") for each in (folder, again)
    ]
    assert openings[0] == openings[1]


@pytest.mark.integration
def test_games_that_are_over_too_soon_are_no_openings_and_are_counted(tmp_path: Path) -> None:
    late = [f"{name}._target_=misbehaving.Raises" for name in ("first", "second")]
    after = ["+first.after=2", "+second.after=30", "openings.plies=2", "trial=false"]
    cut_short = played(tmp_path, "games=4", *late, *after)
    lengths = [len(text) // 2 for (text,) in query(cut_short, "select transcript from games")]
    assert lengths and max(lengths) < 9
    whole, file = played(tmp_path, "games=6"), tmp_path / "games.ggf"
    texts = []
    for folder in (cut_short, whole):
        assert main(["export", str(folder), "ggf"]) == 0
        texts.append((folder / "games.ggf").read_text())
    file.write_text("".join(texts))
    words = ["openings=file", f"openings.file={file}", "openings.plies=9", "games=6"]
    again = played(tmp_path / "again", *words)
    report = (again / "report.md").read_text()
    assert f"{len(lengths)} games of {file} are over by ply 9, and left out." in report
    starts = query(again, "select text from openings")
    assert {len(text) for (text,) in starts} == {18}
    file.write_text(texts[0])
    with pytest.raises(ConfigError, match="no opening in it: its games are over by ply 9"):
        played(tmp_path / "none", *words)


def test_an_export_shows_its_progress_and_the_time_left(tmp_path: Path) -> None:
    folder = played(tmp_path, "games=4")
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    assert export_command([str(folder), "ggf"], console) == 0
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert re.search(r"exporting games.*100%.*\d:\d\d:\d\d", shown)
    quiet = Console(file=io.StringIO(), width=1000)
    assert export_command([str(folder), "ggf"], quiet) == 0
    told = quiet.file.getvalue()  # type: ignore[attr-defined]
    assert told == f"4 games in {folder / 'games.ggf'}\n"


@pytest.mark.integration
def test_wthor_leaves_out_what_it_has_no_place_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    positions = tmp_path / "positions.txt"
    start = Position.start().play("d3").play("c3")
    positions.write_text(f"f5d6\n{start.to_obf()}\n")
    words = ["openings=file", f"openings.file={positions}", "games=4"]
    folder = played(tmp_path, *words, "second._target_=misbehaving.Raises")
    capsys.readouterr()
    assert main(["export", str(folder), "wthor"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "0 games in" in said and "4 forfeited" in said
    folder = played(tmp_path / "again", *words)
    capsys.readouterr()
    assert main(["export", str(folder), "wthor"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 games in" in said
    assert "2 from positions of their own" in said


@pytest.mark.parametrize("rules", ["wpi", "mini6"])
def test_wthor_refuses_other_rules(
    rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = played(tmp_path, "games=2", f"ruleset={rules}")
    before = sorted(folder.iterdir())
    capsys.readouterr()
    assert main(["export", str(folder), "wthor"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"these are of ruleset {rules}; ggf holds them" in error
    assert sorted(folder.iterdir()) == before  # nothing half-written


def test_pgn_has_the_results(tmp_path: Path) -> None:
    folder = played(tmp_path, "games=10")
    rename(folder, 'a"b', "c\\[d]")
    assert main(["export", str(folder), "pgn-results"]) == 0
    text = (folder / "games.pgn").read_text()
    blocks = text.removesuffix("\n\n").split("\n\n")
    games = [dict(re.findall(r'^\[(\w+) "([^"]*)"\]$', block, re.M)) for block in blocks[::2]]
    names = dict(enumerate(["ab", "c[d]"]))
    columns = "game, black, white, result"
    rows = query(folder, f"select {columns} from games order by game")
    points = {"black": "0-1", "white": "1-0", "draw": "1/2-1/2"}
    expected = [
        (str(n), names[black], names[white], points[result]) for n, black, white, result in rows
    ]
    assert blocks[1::2] == [game["Result"] for game in games]
    assert [(g["Round"], g["Black"], g["White"], g["Result"]) for g in games] == expected
    assert {g["Termination"] for g in games} == {"normal"}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere", "ggf"], "nowhere"),
        (["FOLDER", "pgn"], "invalid choice: 'pgn'"),
        (["FOLDER", "ggf", "--output", "no/such/file"], "no/such/file: cannot be written"),
        (["FOLDER", "ggf", "--output", "FOLDER/log.txt/x"], "log.txt/x: cannot be written"),
        (["FOLDER", "ggf", "--output", "FOLDER"], "cannot be written (Is a directory)"),
        (
            ["FOLDER", "wthor", "--output", "x.jou"],
            "x.jou: files that end with .jou and .trn",
        ),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(played(tmp_path, "games=2")) if "FOLDER" in words else ""
    capsys.readouterr()
    try:
        code: object = main(["export", *(word.replace("FOLDER", folder) for word in words)])
    except SystemExit as exit:
        code = exit.code
    printed = capsys.readouterr()
    assert code == 2 and printed.err.count("\n") == 1 and complaint in printed.err
