"""Position: what it is, what it refuses, and how it is drawn and written."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Callable
from itertools import pairwise
from xml.etree import ElementTree

import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from othello_lab import PASS, RULESETS, Color, IllegalMove, NotationError, Position, ruleset
from othello_lab.core.notation import parse_square, square_name

RandomGame = Callable[[str, int], list[Position]]

names = st.sampled_from(list(RULESETS))
seeds = st.integers(0, 2**32 - 1)

START = """\
  a b c d e f g h
1 . . . . . . . .
2 . . . . . . . .
3 . . . * . . . .
4 . . * O X . . .
5 . . . X O * . .
6 . . . . * . . .
7 . . . . . . . .
8 . . . . . . . .
Black (X) to move, X 2, O 2"""

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

MINI4 = """\
  a b c d
1 . * . .
2 * O X .
3 . X O *
4 . . * .
Black (X) to move, X 2, O 2"""

SHORTEST_GAME = "e6f4e3f6g5d6e7f5c5"  # after nine moves White has no disc left
WITH_PASSES = "a2a3b4c1a4b1a1d2c4d4d1d3"  # 4x4: passes after the fifth and the tenth move

# Black, to move, has no move; White takes a1 and has all the discs.
MUST_PASS = Position.from_obf("-XOO" + "-" * 12 + " X", "mini4")
OVER = MUST_PASS.play("pass").play("a1")


def random_position(name: str, seed: int) -> Position:
    """Discs strewn over the board of a ruleset."""
    rules = RULESETS[name]
    board = oracle.random_board(rules.side, seed)
    mover, opponent = oracle.masks(board, oracle.BLACK)
    return Position(mover, opponent, list(Color)[seed % 2], rules)


# ------------------------------------------------------------------ a value like any other


def test_positions_cannot_be_changed() -> None:
    position = Position.start()
    with pytest.raises(dataclasses.FrozenInstanceError):
        position.mover = 0  # type: ignore[misc]
    before = repr(position)
    position.play("d3")
    assert repr(position) == before == repr(Position.start())


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
def test_positions_survive_pickling(random_game: RandomGame, name: str, seed: int) -> None:
    # This is how other processes receive them.
    game = random_game(name, seed)
    copies = pickle.loads(pickle.dumps(game))
    assert copies == game
    assert [copy.moves for copy in copies] == [position.moves for position in game]


def test_impossible_boards_are_refused() -> None:
    with pytest.raises(ValueError, match="b1 has a disc of both colours"):
        Position(0b10, 0b10)
    for square in (6, 48):  # g1 and a7
        with pytest.raises(ValueError, match="outside the board of ruleset mini6"):
            Position(1 << square, 0, ruleset=RULESETS["mini6"])
    for mask in (1 << 64, -1):
        with pytest.raises(ValueError, match="outside the board"):
            Position(0, mask)


# ------------------------------------------------------------------ the rulesets


@pytest.mark.parametrize("name", RULESETS)
def test_starts_are_the_oracles(name: str) -> None:
    board, colour = oracle.start(name)
    start = Position.start(name)
    assert start == Position.start(RULESETS[name])
    assert (start.mover, start.opponent) == oracle.masks(board, colour)
    assert start.to_move is (Color.BLACK if colour == oracle.BLACK else Color.WHITE)


def test_the_lab_has_the_rulesets_of_the_oracle() -> None:
    assert {name: oracle.declared(name) for name in oracle.RULES} == oracle.RULES


def test_an_unknown_ruleset_is_answered_with_the_choices() -> None:
    with pytest.raises(ValueError, match=rf"'chess'; choose from {', '.join(RULESETS)}\.$"):
        ruleset("chess")
    with pytest.raises(ValueError, match="Did you mean 'standard'"):
        Position.start("standrad")


def test_colours() -> None:
    assert Color.BLACK.other is Color.WHITE
    assert Color.WHITE.other is Color.BLACK
    start = Position.start("wpi")  # where White begins
    assert (start.white, start.black) == (start.mover, start.opponent)
    after = start.play("d3")
    assert (after.white, after.black) == (after.opponent, after.mover)


# ------------------------------------------------------------------ drawing


@pytest.mark.parametrize(
    ("position", "drawing"),
    [
        (Position.start(), START),
        (Position.start("wpi").play("d3"), WPI_AFTER_D3),
        (Position.start("mini4"), MINI4),
    ],
    ids=["standard", "wpi", "mini4"],
)
def test_drawing(position: Position, drawing: str) -> None:
    assert str(position) == drawing


def test_drawing_says_who_must_pass_and_when_the_game_is_over() -> None:
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


# ------------------------------------------------------------------ moves


@given(square=st.integers(0, 63))
def test_square_names(square: int) -> None:
    assert square_name(square) == oracle.name(square)
    assert parse_square(oracle.name(square)) == square
    assert parse_square(f" {oracle.name(square).upper()} ") == square


@pytest.mark.parametrize("word", ["--", "pass", "ps", "PASS", " Ps "])
def test_words_for_a_pass(word: str) -> None:
    assert parse_square(word) == PASS
    assert MUST_PASS.play(word) == MUST_PASS.play(PASS)
    assert square_name(PASS) == "--"


def test_moves_are_given_by_name_or_by_number() -> None:
    start = Position.start()
    assert start.play("d3") == start.play("D3") == start.play(19)
    assert start.legal_moves() == ("d3", "c4", "f5", "e6")
    assert start.moves == (19, 26, 37, 44)


def test_a_pass_changes_nothing_but_the_side_to_move() -> None:
    assert MUST_PASS.must_pass
    assert not MUST_PASS.is_over
    after = MUST_PASS.play(PASS)
    assert (after.black, after.white) == (MUST_PASS.black, MUST_PASS.white)
    assert after.to_move is Color.WHITE
    assert OVER.is_over
    assert not OVER.must_pass


@pytest.mark.parametrize(
    ("position", "move", "complaint"),
    [
        (Position.start(), "d4", "d4: square occupied"),
        (Position.start(), 36, "e5: square occupied"),
        (Position.start(), "a1", "a1: traps nothing"),
        (Position.start(), 20, "e3: traps nothing"),
        (Position.start(), "i9", "'i9': not a square (squares are a1 to h8)"),
        (Position.start(), "", "'': not a square"),
        (Position.start(), "d", "'d': not a square"),
        (Position.start(), "d33", "'d33': not a square"),
        (Position.start(), "3d", "'3d': not a square"),
        (Position.start("mini6"), "g1", "'g1': not a square (squares are a1 to f6)"),
        (Position.start("mini4"), "a5", "'a5': not a square (squares are a1 to d4)"),
        (Position.start(), -1, "-1: not a square (squares are a1 = 0 to h8)"),
        (Position.start(), 65, "65: not a square"),
        (Position.start(), 10**30, "not a square"),
        (Position.start("mini6"), 6, "6: not a square (squares are a1 = 0 to f6)"),
        (Position.start("mini4"), 32, "32: not a square (squares are a1 = 0 to d4)"),
        (Position.start(), "--", "pass while moves exist (d3, c4, f5, e6)"),
        (Position.start(), PASS, "pass while moves exist (d3, c4, f5, e6)"),
        (MUST_PASS, "d1", "d1: square occupied"),
        (MUST_PASS, "a1", "a1: traps nothing"),
        (OVER, "d4", "d4: game over"),
        (OVER, "a1", "a1: game over"),
        (OVER, "pass", "pass: game over"),
        (OVER, "e5", "'e5': not a square"),
    ],
)
def test_illegal_moves_are_refused_with_the_reason(
    position: Position, move: str | int, complaint: str
) -> None:
    with pytest.raises(IllegalMove) as refusal:
        position.play(move)
    assert complaint in str(refusal.value), position
    assert "\n" not in str(refusal.value)


# ------------------------------------------------------------------ transcripts


def test_a_transcript_is_played_from_the_start() -> None:
    position = Position.start().play("f5").play("d6").play("c3")
    for text in ("f5d6c3", "F5 D6 C3", "f5, d6; c3.", "f5\nd6\nc3\n"):
        assert Position.from_transcript(text) == position
    assert Position.from_transcript("") == Position.start()
    assert Position.from_transcript("d3", "wpi") == Position.start("wpi").play("d3")


def test_the_shortest_game() -> None:
    final = Position.from_transcript(SHORTEST_GAME)
    assert final.is_over
    assert (final.black.bit_count(), final.white) == (13, 0)
    assert final.disc_difference == -64  # White's turn; the 51 empty squares are Black's


def test_passes_in_a_transcript_may_be_left_out() -> None:
    final = Position.from_transcript(WITH_PASSES, "mini4")
    assert final.is_over
    assert final.to_obf() == "OOOXXXOXXXXOXXXX X"
    in_full = "a2a3b4c1a4 -- b1a1d2c4d4 ps d1d3"
    assert Position.from_transcript(in_full, "mini4") == final


@settings(max_examples=100)
@given(name=names, seed=seeds)
def test_every_game_can_be_replayed(random_game: RandomGame, name: str, seed: int) -> None:
    game = random_game(name, seed)
    words = []
    for before, after in pairwise(game):
        placed = (after.mover | after.opponent) & ~(before.mover | before.opponent)
        if placed:  # otherwise it was a pass
            words.append(oracle.name(placed.bit_length() - 1))
    assert Position.from_transcript("".join(words), name) == game[-1]


@pytest.mark.parametrize(
    ("text", "rules", "complaint"),
    [
        ("f5d6c", "standard", "transcript 'f5d6c': 'c' is left over"),
        ("f5d6c3d3x9", "standard", "move 5 of the transcript: 'x9': not a square"),
        ("f5f5", "standard", "move 2 of the transcript: f5: square occupied"),
        ("a1", "standard", "move 1 of the transcript: a1: traps nothing"),
        ("f5--", "standard", "move 2 of the transcript: pass while moves exist"),
        (SHORTEST_GAME + "a1", "standard", "move 10 of the transcript: a1: game over"),
        (SHORTEST_GAME + "--", "standard", "move 10 of the transcript: pass: game over"),
        ("e6", "mini4", "move 1 of the transcript: 'e6': not a square (squares are a1 to d4)"),
    ],
)
def test_bad_transcripts_are_refused_with_the_bad_part(
    text: str, rules: str, complaint: str
) -> None:
    with pytest.raises(NotationError) as refusal:
        Position.from_transcript(text, rules)
    assert complaint in str(refusal.value)


# ------------------------------------------------------------------ OBF


def test_obf_of_the_start() -> None:
    line = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27 + " X"
    assert Position.start().to_obf() == line
    assert Position.from_obf(line) == Position.start()
    # The same squares in the same order, whichever row is drawn on top.
    assert Position.start("wpi").to_obf() == "-" * 27 + "XO" + "-" * 6 + "OX" + "-" * 27 + " O"
    assert Position.start("mini4").to_obf() == "-----OX--XO----- X"


@given(name=names, seed=seeds)
def test_obf_there_and_back(name: str, seed: int) -> None:
    position = random_position(name, seed)
    assert Position.from_obf(position.to_obf(), name) == position


@pytest.mark.parametrize(
    "line",
    [
        "-----OX--XO----- X",
        "-----ox--xo----- x",
        ".....OX..XO..... X",
        ".....W*..*W..... *",
        "-----WB--BW----- B",
        "-----OX--XO-----X",
        "  -----OX--XO-----   X  ; b1:+3; a2:+3",
    ],
)
def test_obf_is_read_in_its_usual_spellings(line: str) -> None:
    assert Position.from_obf(line, "mini4") == Position.start("mini4")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "position '': 0 squares instead of 16"),
        ("-----OX--XO---- X", "position '-----OX--XO----': 15 squares instead of 16"),
        ("-----OX--XO------ X", "17 squares instead of 16"),
        ("-----OX--X?----- X", "'?' on c3"),
        ("-----OX--XO-----", "side to move '': X (black) or O (white)"),
        ("-----OX--XO----- Z", "side to move 'Z'"),
        ("-----OX--XO----- -", "side to move '-'"),
    ],
)
def test_bad_obf_is_refused_with_the_bad_part(line: str, complaint: str) -> None:
    with pytest.raises(NotationError) as refusal:
        Position.from_obf(line, "mini4")
    assert complaint in str(refusal.value)


# ------------------------------------------------------------------ symmetry


def symmetric(position: Position) -> list[Position]:
    """The position turned and mirrored in all eight ways, square by square."""
    last = position.ruleset.side - 1
    places: list[Callable[[int, int], tuple[int, int]]] = [
        lambda row, column: (row, column),
        lambda row, column: (row, last - column),
        lambda row, column: (last - row, column),
        lambda row, column: (last - row, last - column),
        lambda row, column: (column, row),
        lambda row, column: (column, last - row),
        lambda row, column: (last - column, row),
        lambda row, column: (last - column, last - row),
    ]

    def moved(mask: int, place: Callable[[int, int], tuple[int, int]]) -> int:
        chosen = [place(square // 8, square % 8) for square in range(64) if mask >> square & 1]
        return oracle.mask({8 * row + column for row, column in chosen})

    return [
        dataclasses.replace(
            position,
            mover=moved(position.mover, place),
            opponent=moved(position.opponent, place),
        )
        for place in places
    ]


@given(name=names, seed=seeds)
def test_symmetric_positions_have_one_representative(name: str, seed: int) -> None:
    position = random_position(name, seed)
    forms = symmetric(position)
    assert {form.canonical() for form in forms} == {position.canonical()}, position
    assert position.canonical() in forms, position


def test_other_positions_have_another_representative() -> None:
    start = Position.start()
    first_moves = {start.play(move).canonical() for move in start.moves}
    assert len(first_moves) == 1
    # Up to symmetry the second move is a diagonal, a perpendicular or a parallel one.
    (first,) = first_moves
    assert len({first.play(move).canonical() for move in first.moves}) == 3


@pytest.mark.parametrize("word", ["--", "pass", "PS"])
def test_a_pass_may_be_written_out(word: str) -> None:
    before = "f5f6f7f4f3f2g3"  # any beginning; the pass is refused with the reason, not misread
    with pytest.raises(NotationError, match="pass while moves exist"):
        Position.from_transcript(f"f5 {word} {before}")


def discs_drawn(picture: str) -> dict[tuple[int, int], str]:
    """Colour by column and place from the top, from an SVG."""
    root = ElementTree.fromstring(picture)
    colours = {"#1e2124": "X", "#f7f5ee": "O", "#8fbfa6": "*"}
    return {
        ((int(each.attrib["cx"]) - 42) // 40, (int(each.attrib["cy"]) - 42) // 40): colours[
            each.attrib["fill"]
        ]
        for each in root.iter("{http://www.w3.org/2000/svg}circle")
    }


@pytest.mark.parametrize("name", list(RULESETS))
def test_the_picture_of_a_position_shows_what_is_printed(name: str) -> None:
    position = Position.start(name)
    position = position.play(position.moves[0])
    lines = str(position).splitlines()
    printed = {
        (column, place): mark
        for place, line in enumerate(lines[1:-1])
        for column, mark in enumerate(line.split()[1:])
        if mark != "."
    }
    picture = position._repr_svg_()
    assert discs_drawn(picture) == printed
    assert picture.count(f">{lines[-1]}<") == 1
    columns, rows = lines[0].split(), [line.split()[0] for line in lines[1:-1]]
    assert re.findall(r">(\w)</text>", picture) == [*columns, *rows]
