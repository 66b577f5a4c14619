"""``python -m experiments export``: games go out and come back unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import query
from rich.console import Console

from core import Position
from core.notation import PASS, parse_ggf, square_name
from experiments.__main__ import main
from experiments.config import read
from experiments.run import run

COMMON = ["agents=duel", "agent@first=greedy", "agent@second=random", "figures=false"]


def played(folder: Path, *words: str) -> Path:
    more = [f"results={folder}", "executor=serial", "study.positions=1"]
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


def test_the_lab_reads_what_it_has_written(tmp_path: Path) -> None:
    folder, file = played(tmp_path, "games=6"), tmp_path / "mine.ggf"
    assert main(["export", str(folder), "ggf", "--output", str(file)]) == 0
    words = ["openings=file", f"openings.file={file}", "openings.plies=8", "games=6"]
    again = played(tmp_path / "again", *words, "openings.shuffle=false")
    openings = [
        query(each, "select text from openings order by number") for each in (folder, again)
    ]
    assert openings[0] == openings[1]


def test_forfeits_are_told(tmp_path: Path) -> None:
    folder = played(tmp_path, "games=2", "second._target_=misbehaving.Raises")
    assert main(["export", str(folder), "ggf"]) == 0
    first, second = (folder / "games.ggf").read_text().splitlines()
    assert {"RE[+64.000:r]" in first, "RE[-64.000:r]" in first} == {True, False}
    assert ("RE[+64" in first) != ("RE[+64" in second)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere", "ggf"], "nowhere"),
        (["FOLDER", "pgn"], "invalid choice: 'pgn'"),
        (["FOLDER", "ggf", "--output", "no/such/file"], "no/such/file: cannot be written"),
        (["FOLDER", "ggf", "--output", "FOLDER/log.txt/x"], "log.txt/x: cannot be written"),
        (["FOLDER", "ggf", "--output", "FOLDER"], "cannot be written (Is a directory)"),
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
