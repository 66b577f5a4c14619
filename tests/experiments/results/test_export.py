"""``othello-lab export``: games go out and come back unchanged."""

from __future__ import annotations

import io
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from records import query
from rich.console import Console
from runs import DUEL, changed, line_of, played
from shared import copied

from othello_lab import Position
from othello_lab.core.notation import PASS, parse_ggf, square_name
from othello_lab.core.wthor import numbered_games
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.results.export import FORMATS, export_command

PLACED = Position.start().play("d3").play("c3").to_obf()
COLUMNS = "black, white, disc_difference, transcript, result"


@pytest.fixture
def duel(recorded_duel: Path, tmp_path: Path) -> Path:
    """A run of eight games."""
    return copied(recorded_duel, tmp_path)


def games_of(folder: Path) -> list[tuple[str, str, int, str, str]]:
    """Names, disc difference, transcript and result of each game."""
    names = dict(query(folder, "select agent, name from agents"))
    rows = query(folder, f"select {COLUMNS} from games order by game")
    return [(names[black], names[white], *rest) for black, white, *rest in rows]


def makes_the_round_trip(folder: Path, rules: str) -> None:
    line_of("export", folder, "ggf")
    lines = (folder / "games.ggf").read_text().splitlines()
    for line, (black, white, difference, transcript, _) in zip(
        lines, games_of(folder), strict=True
    ):
        (game,) = parse_ggf(line)
        position, moves = Position.from_obf(game.start, rules).follow(game.words, game.colors)
        assert position.is_over
        assert "".join(square_name(move) for move in moves if move != PASS) == transcript
        assert len(game.words) == len(moves)  # passes are written
        assert f"PB[{black}]PW[{white}]RE[{difference:+.3f}]" in line


@pytest.mark.integration
@pytest.mark.parametrize("rules", ["wpi", "mini6"])
def test_games_make_the_round_trip(rules: str, tmp_path: Path) -> None:
    """Those of the usual rules do in test_wthor_leaves_out_what_it_has_no_place_for."""
    makes_the_round_trip(played(tmp_path, *DUEL, f"ruleset={rules}", "games=20").folder, rules)


def test_forfeits_are_told(duel: Path) -> None:
    changes = "end_reason = 'illegal move', disc_difference = null"
    changed(duel, f"update games set {changes}, result = 'black' where game = 0")
    changed(duel, f"update games set {changes}, result = 'white' where game = 1")
    line_of("export", duel, "ggf")
    first, second, *others = (duel / "games.ggf").read_text().splitlines()
    assert "RE[+64.000:r]" in first and "RE[-64.000:r]" in second
    assert not any(":r]" in line for line in others)


def rename(folder: Path, *names: str) -> None:
    """Give the agents of a record other names."""
    for agent, name in enumerate(names):
        changed(folder, f"update agents set name = '{name}' where agent = {agent}")


def names_in(file: Path, length: int) -> list[str]:
    """The names of a WTHOR file of players (20 bytes each) or tournaments (26)."""
    content = file.read_bytes()[16:]
    parts = [content[at : at + length] for at in range(0, len(content), length)]
    return [part.rstrip(b"\0").decode("latin-1") for part in parts]


def test_wthor_holds_the_games_and_the_names(duel: Path) -> None:
    rename(duel, "gr\u00e9edy of a long name", "random")
    line_of("export", duel, "wthor")
    games = [game for _, game in numbered_games((duel / "games.wtb").read_bytes())]
    assert names_in(duel / "games.jou", 20) == ["gr\u00e9edy of a long na", "random"]
    assert names_in(duel / "games.trn", 26) == ["duel"]
    for game, (black, white, difference, transcript, _) in zip(games, games_of(duel), strict=True):
        assert "".join(map(square_name, game.moves)) == transcript
        assert (game.black, game.white) == (int(black == "random"), int(white == "random"))
        assert 2 * game.black_discs - 64 == difference
    rename(duel, "a rather long name of one", "a rather long name of two")
    line_of("export", duel, "wthor")
    assert names_in(duel / "games.jou", 20) == ["a rather long name ", "1~a rather long nam"]


@pytest.mark.integration
@pytest.mark.parametrize("format", ["ggf", "wthor"])
def test_openings_come_from_games(format: str, duel: Path, tmp_path: Path) -> None:
    file = tmp_path / f"MINE{FORMATS[format].endings[0].upper()}"
    line_of("export", duel, format, "--output", file)
    words = ["openings=file", f"openings.file={file}", "openings.plies=8", "games=8"]
    again = played(tmp_path / "again", *DUEL, *words, "openings.shuffle=false").folder
    openings = "select text from openings order by number"
    assert query(again, openings) == query(duel, openings)


def test_tables_of_sqlite_are_those_of_data_frames(duel: Path, tmp_path: Path) -> None:
    assert line_of("export", duel, "sqlite", "--output", tmp_path) == f"tables.sqlite in {tmp_path}"
    with Record.open(duel) as record, closing(sqlite3.connect(tmp_path / "tables.sqlite")) as made:
        for name in ("agents", "games", "moves"):
            table = pd.read_sql(f"select * from {name}", made)
            pd.testing.assert_frame_equal(table, getattr(record, name)(), check_dtype=False)


def test_an_export_shows_its_progress_and_the_time_left(duel: Path) -> None:
    shown = io.StringIO()
    assert export_command([str(duel), "ggf"], Console(file=shown, force_terminal=True)) == 0
    assert re.search(r"exporting games.*100%.*\d:\d\d:\d\d", shown.getvalue())
    assert line_of("export", duel, "ggf").startswith("8 games in ")


@pytest.mark.integration
def test_wthor_leaves_out_what_it_has_no_place_for(tmp_path: Path) -> None:
    positions = tmp_path / "positions.txt"
    positions.write_text(f"f5d6\n{PLACED}\n")
    words = ["openings=file", f"openings.file={positions}", "games=4"]
    folder = played(tmp_path, *DUEL, *words).folder
    makes_the_round_trip(folder, "standard")
    said = line_of("export", folder, "wthor")
    assert "2 games in" in said and "2 from positions of their own" in said
    changed(folder, "update games set end_reason = 'illegal move'")
    said = line_of("export", folder, "wthor")
    assert "0 games in" in said and "4 forfeited" in said
    changed(folder, "update games set end_reason = 'resigned'")
    assert "4 resigned" in line_of("export", folder, "wthor")


@pytest.mark.parametrize("rules", ["wpi", "mini6"])
def test_wthor_refuses_other_rules(rules: str, duel: Path) -> None:
    config = f"config = json_set(config, '$.ruleset.name', '{rules}')"
    changed(duel, f"update job set ruleset = '{rules}', {config}")
    before = sorted(duel.iterdir())
    error = line_of("export", duel, "wthor", code=2)
    assert rules in error and "ggf" in error
    assert sorted(duel.iterdir()) == before  # nothing half-written


def test_pgn_has_the_results(duel: Path) -> None:
    rename(duel, 'a"b', "c\\[d]")
    line_of("export", duel, "pgn-results")
    blocks = (duel / "games.pgn").read_text().removesuffix("\n\n").split("\n\n")
    games = [dict(re.findall(r'^\[(\w+) "([^"]*)"\]$', block, re.M)) for block in blocks[::2]]
    names = {'a"b': "ab", "c\\[d]": "c[d]"}
    points = {"black": "0-1", "white": "1-0", "draw": "1/2-1/2"}
    assert blocks[1::2] == [game["Result"] for game in games]
    assert [(g["Round"], g["Black"], g["White"], g["Result"]) for g in games] == [
        (str(number), names[black], names[white], points[result])
        for number, (black, white, _, _, result) in enumerate(games_of(duel))
    ]
    assert {g["Termination"] for g in games} == {"normal"}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere", "ggf"], "nowhere"),
        (["FOLDER", "pgn"], "'pgn'"),
        (["FOLDER", "ggf", "--output", "no/such/file"], "no/such/file: "),
        (["FOLDER", "ggf", "--output", "FOLDER/log.txt/x"], "log.txt/x: "),
        (["FOLDER", "ggf", "--output", "FOLDER"], "a folder"),
        (["FOLDER", "wthor", "--output", "x.jou"], "x.jou: "),
    ],
)
def test_bad_input_is_one_line(words: list[str], complaint: str, recorded_duel: Path) -> None:
    words = [word.replace("FOLDER", str(recorded_duel)) for word in words]
    assert complaint in line_of("export", *words, code=2)
