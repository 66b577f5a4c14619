"""Position: what it is, what it refuses, and how it is drawn and written."""

from __future__ import annotations

import dataclasses
import pickle
import re
from itertools import pairwise
from xml.etree import ElementTree

import oracle
import pytest
from boards import random_game, seeds, symmetric
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from othello_lab import PASS, RULESETS, Color, IllegalMove, NotationError, Position, ruleset
from othello_lab.core.notation import parse_square, square_name

names = st.sampled_from(list(RULESETS))


# White begins and row 1 is at the bottom; the top left disc of the centre is white all the same.
WPI_AFTER_D3 = """\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . * O X . . .
4 . . . O O . . .
3 . . * O * . . .
2 . . . . . . . .
1 . . . . . . . .
Black (X) to move, X 1, O 4"""


SHORTEST_GAME = "e6f4e3f6g5d6e7f5c5"  # after nine moves White has no disc left
# Black, to move, has no move; White takes a1 and has all the discs.
MUST_PASS = Position.from_obf("-XOO" + "-" * 12 + " X", "mini4")
OVER = MUST_PASS.play("pass").play("a1")


def random_position(name: str, seed: int) -> Position:
    """Discs strewn over the board of a ruleset."""
    rules = RULESETS[name]
    board = oracle.random_board(rules.side, seed)
    mover, opponent = oracle.masks(board, oracle.BLACK)
    return Position(mover, opponent, list(Color)[seed % 2], rules)


def test_equal_positions_hash_equally_and_differ_in_any_field() -> None:
    one, two = Position.start(), Position.start()
    assert one.moves  # only one of them keeps its moves from now on
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    assert one != dataclasses.replace(two, to_move=Color.WHITE)
    assert one != dataclasses.replace(two, ruleset=RULESETS["wpi"])
    assert one != dataclasses.replace(two, mover=two.opponent, opponent=two.mover)
    assert one != str(two)


@settings(max_examples=20)
@given(name=names, seed=seeds)
def test_positions_survive_pickling(name: str, seed: int) -> None:
    # This is how other processes receive them.
    game = random_game(name, seed)
    copies = pickle.loads(pickle.dumps(game))
    assert copies == game
    assert [copy.moves for copy in copies] == [position.moves for position in game]


def test_impossible_boards_are_refused() -> None:
    with refused("b1"):
        Position(0b10, 0b10)
    for mask, rules in ((1 << 6, "mini6"), (1 << 48, "mini6"), (1 << 64, "standard")):
        with refused(f"outside the board of ruleset {rules}"):
            Position(mask, 0, ruleset=RULESETS[rules])
    with refused("outside the board"):
        Position(0, -1)
    with refused("'chess'", *RULESETS):
        ruleset("chess")
    with refused("'standard'"):
        Position.start("standrad")


def test_the_lab_has_the_rulesets_of_the_oracle() -> None:
    assert {name: oracle.declared(name) for name in oracle.RULES} == oracle.RULES


def test_drawing() -> None:
    assert str(Position.start("wpi").play("d3")) == WPI_AFTER_D3
    assert str(MUST_PASS).splitlines()[-1] == "Black (X) must pass, X 1, O 2"
    assert str(OVER).splitlines()[-1] == "game over, X 0, O 4"


@given(name=names, seed=seeds)
def test_drawings_agree_with_the_oracles(name: str, seed: int) -> None:
    position = random_position(name, seed)
    # The oracle drew the mover's discs as black ones; where White is to move colours are swapped.
    board = oracle.random_board(position.ruleset.side, seed)
    expected = oracle.draw(board, position.ruleset.first_row_on_top)
    if position.to_move is Color.WHITE:
        expected = expected.translate(str.maketrans("XO", "OX"))
    rows = [line[2:].replace(" ", "") for line in str(position).splitlines()[1:-1]]
    assert "\n".join(rows).replace("*", ".") == expected
    assert str(position).count("*") == len(position.moves)


@given(square=st.integers(0, 63))
def test_square_names(square: int) -> None:
    assert square_name(square) == oracle.name(square)
    assert parse_square(oracle.name(square)) == square
    assert parse_square(f" {oracle.name(square).upper()} ") == square


def test_a_move_is_given_by_name_or_by_number() -> None:
    start = Position.start()
    assert start.play("d3") == start.play(" D3 ") == start.play(19)
    assert start.legal_moves() == ("d3", "c4", "f5", "e6")
    assert start.moves == (19, 26, 37, 44)
    for word in ("--", "pass", "ps", "PASS", " Ps "):
        assert parse_square(word) == PASS
        after = MUST_PASS.play(word)
        assert (after.black, after.white) == (MUST_PASS.black, MUST_PASS.white)
        assert after.to_move is Color.WHITE
    assert square_name(PASS) == "--"
    assert MUST_PASS.must_pass and not MUST_PASS.is_over
    assert OVER.is_over and not OVER.must_pass


@pytest.mark.parametrize(
    ("position", "move", "words"),
    [
        (Position.start(), "d4", "d4: occupied"),
        (Position.start(), 36, "e5: occupied"),
        (Position.start(), 20, "e3: traps nothing"),
        (Position.start(), "i9", "'i9' h8"),
        (Position.start(), "", "''"),
        (Position.start(), "d33", "'d33'"),
        (Position.start(), "3d", "'3d'"),
        (Position.start("mini6"), "g1", "'g1' f6"),
        (Position.start("mini4"), "a5", "'a5' d4"),
        (Position.start(), -1, "-1: h8"),
        (Position.start(), 65, "65:"),
        (Position.start(), 10**30, "square"),
        (Position.start("mini6"), 6, "6: f6"),
        (Position.start("mini4"), 32, "32: d4"),
        (Position.start(), "--", "pass d3, c4, f5, e6"),
        (Position.start(), PASS, "pass d3, c4, f5, e6"),
        (MUST_PASS, "d1", "d1: occupied"),
        (MUST_PASS, "a1", "a1: traps nothing"),
        (OVER, "a1", "a1: over"),
        (OVER, "pass", "pass: over"),
        (OVER, "e5", "'e5' square"),
    ],
)
def test_illegal_moves_are_refused_with_the_reason(
    position: Position, move: str | int, words: str
) -> None:
    with refused(*words.split(), error=IllegalMove):
        position.play(move)


def test_a_transcript_is_played_from_the_start() -> None:
    position = Position.start().play("f5").play("d6").play("c3")
    for text in ("f5d6c3", "F5 D6 C3", "f5, d6; c3.", "f5\nd6\nc3\n"):
        assert Position.from_transcript(text) == position
    assert Position.from_transcript("") == Position.start()
    assert Position.from_transcript("d3", "wpi") == Position.start("wpi").play("d3")


@settings(max_examples=100)
@given(name=names, seed=seeds, at_a_pass=st.sampled_from(["", "--", " ps "]))
def test_every_game_can_be_replayed(name: str, seed: int, at_a_pass: str) -> None:
    game = random_game(name, seed)
    words = []
    for before, after in pairwise(game):
        placed = (after.mover | after.opponent) & ~(before.mover | before.opponent)
        words.append(oracle.name(placed.bit_length() - 1) if placed else at_a_pass)
    assert Position.from_transcript("".join(words), name) == game[-1]


@pytest.mark.parametrize(
    ("text", "rules", "words"),
    [
        ("f5d6c", "standard", "'f5d6c':|'c'"),
        ("f5d6c3d3x9", "standard", "move 5 of|'x9':"),
        ("f5f5", "standard", "move 2 of|f5:|occupied"),
        ("a1", "standard", "move 1 of|a1:|traps nothing"),
        ("f5--", "standard", "move 2 of|pass"),
        ("f5 pass f5f6f7f4f3f2g3", "standard", "move 2 of|pass"),
        (SHORTEST_GAME + "a1", "standard", "move 10 of|a1:|over"),
        (SHORTEST_GAME + "--", "standard", "move 10 of|pass:|over"),
        ("e6", "mini4", "move 1 of|'e6':|d4"),
    ],
)
def test_bad_transcripts_are_refused_with_the_bad_part(text: str, rules: str, words: str) -> None:
    with refused(*words.split("|"), error=NotationError):
        Position.from_transcript(text, rules)


def test_obf_of_the_start() -> None:
    line = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27 + " X"
    assert Position.start().to_obf() == line
    assert Position.from_obf(line) == Position.start()
    # The same squares in the same order, whichever row is drawn on top.
    assert Position.start("wpi").to_obf() == "-" * 27 + "XO" + "-" * 6 + "OX" + "-" * 27 + " O"


@given(name=names, seed=seeds)
def test_obf_there_and_back(name: str, seed: int) -> None:
    position = random_position(name, seed)
    assert Position.from_obf(position.to_obf(), name) == position


@pytest.mark.parametrize(
    "line",
    [
        "-----ox--xo----- x",
        ".....W*..*W..... *",
        "-----WB--BW----- B",
        "-----OX--XO-----X",
        "  -----OX--XO-----   X  ; b1:+3; a2:+3",
    ],
)
def test_obf_is_read_in_its_usual_spellings(line: str) -> None:
    assert Position.from_obf(line, "mini4") == Position.start("mini4")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "'': 0 squares|16"),
        ("-----OX--XO---- X", "'-----OX--XO----': 15 squares|16"),
        ("-----OX--XO------ X", "17 squares|16"),
        ("-----OX--X?----- X", "'?'|c3"),
        ("-----OX--XO-----", "side to move '':"),
        ("-----OX--XO----- Z", "side to move 'Z'"),
        ("-----OX--XO----- -", "side to move '-'"),
    ],
)
def test_bad_obf_is_refused_with_the_bad_part(line: str, words: str) -> None:
    with refused(*words.split("|"), error=NotationError):
        Position.from_obf(line, "mini4")


@given(name=names, seed=seeds)
def test_symmetric_positions_have_one_representative(name: str, seed: int) -> None:
    position = random_position(name, seed)
    forms = symmetric(position)
    assert {form.canonical() for form in forms} == {position.canonical()}, position
    assert position.canonical() in forms, position


@pytest.mark.parametrize("name", list(RULESETS))
def test_the_picture_of_a_position_shows_what_is_printed(name: str) -> None:
    position = Position.start(name)
    position = position.play(position.moves[0])
    lines = str(position).splitlines()
    picture = position._repr_svg_()
    root = ElementTree.fromstring(picture)
    marks = {"#1e2124": "X", "#f7f5ee": "O", "#8fbfa6": "*"}
    circles = [circle.attrib for circle in root.iter("{http://www.w3.org/2000/svg}circle")]
    drawn = {
        ((int(circle["cx"]) - 42) // 40, (int(circle["cy"]) - 42) // 40): marks[circle["fill"]]
        for circle in circles
    }
    assert drawn == {
        (column, row): mark
        for row, line in enumerate(lines[1:-1])
        for column, mark in enumerate(line.split()[1:])
        if mark != "."
    }
    assert picture.count(f">{lines[-1]}<") == 1
    columns, rows = lines[0].split(), [line.split()[0] for line in lines[1:-1]]
    assert re.findall(r">(\w)</text>", picture) == [*columns, *rows]
    # The edge has room for letters and numbers; below the board is a line of text, and no more.
    (board,) = root.iter("{http://www.w3.org/2000/svg}rect")
    edge, size = int(board.attrib["x"]), int(board.attrib["width"])
    assert (edge, size) == (int(board.attrib["y"]), 40 * len(rows))
    assert 0 < int(root.attrib["width"]) - edge - size <= edge
    assert int(root.attrib["height"]) == 2 * edge + size
    assert f'y="{2 * edge + size - 6}">{lines[-1]}<' in picture
