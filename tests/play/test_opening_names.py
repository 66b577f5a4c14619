"""Names of openings."""

from __future__ import annotations

from othello_lab.core.bitboard import symmetric_forms
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.play.game import GameState
from othello_lab.play.game_files import game_of
from othello_lab.play.opening_names import LINES, named_positions, opening_names


def test_all_lines_are_legal_and_end_in_different_positions() -> None:
    rows = LINES.splitlines()
    assert len(named_positions()) == len(rows) == 77
    assert len({row.partition(" ")[2] for row in rows}) == len(rows)


def test_the_last_name_holds() -> None:
    for text, name in {
        "f5": "",
        "c4e3f6e6f5": "Tiger",
        "d3c5f6f5e6": "Tiger",  # the same, mirrored
        "f5d6c3d3c4": "Tiger",  # and turned
        "f5d6c3d3c4f4": "Tiger",  # until there is another name
        "c4e3f6e6f5c5c3": "Stephenson",
        "f5f6": "Diagonal Opening",
        "f5f4": "Parallel Opening",
    }.items():
        assert opening_names(game_of(text, ruleset("standard")))[-1] == name
    assert opening_names(GameState(Position.start("mini4"))) == [""]
    assert set(opening_names(game_of("c4", ruleset("wpi")))) == {""}


def test_every_form_of_a_line_has_its_name() -> None:
    position = Position.from_transcript("c4e3f4c5d6f3e6c3d3e2")
    forms = {
        Position(int(mover), int(opponent), position.to_move).canonical()
        for mover, opponent in symmetric_forms(*position.masks, 8)
    }
    assert {named_positions()[form] for form in forms} == {"Rose"}
