"""Games in GGF, and what is said of those that cannot be read."""

from __future__ import annotations

import pytest
from boards import played_out, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from othello_lab import PASS, RULESETS, Color, NotationError, Position
from othello_lab.core.notation import format_ggf, is_ggf, is_obf, parse_ggf

# As the Generic Game Server writes it.
START = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
GAME = (
    "(;GM[Othello]PC[GGS/os]DT[2003-12-15_13:24:03.MST]PB[one]PW[two]RB[2197.01]RW[2199.72]"
    f"TI[05:00//02:00]TY[8]RE[-12.00]BO[{START}]B[d3//0.01]W[C5/1.5/2]B[e6]W[f5//0.1];)"
)


def test_a_game_as_the_server_writes_it() -> None:
    (game,) = parse_ggf(GAME)
    assert game.side == 8
    assert game.words == ("d3", "C5", "e6", "f5")
    assert game.colors == (Color.BLACK, Color.WHITE) * 2
    position = Position.from_obf(game.start)
    assert position == Position.start()
    after, plies = position.follow(game.words, game.colors)
    assert after == Position.from_transcript("d3c5e6f5")
    assert plies == (19, 34, 44, 37)


@pytest.mark.parametrize("between", ["", " ", "\n", "2 "])
def test_several_games_in_one_text(between: str) -> None:
    assert parse_ggf(between + GAME + between + GAME) == 2 * parse_ggf(GAME)


@given(
    name=st.sampled_from(list(RULESETS)),
    seed=seeds,
    length=st.integers(0, 60),
    passes=st.booleans(),
)
@settings(max_examples=60)
def test_what_is_written_is_read(name: str, seed: int, length: int, passes: bool) -> None:
    """Any game under any rules, with its passes or without them."""
    turns = played_out(name, seed)[:length]
    told = [(each.to_move, move) for each, move in turns if move != PASS or not passes]
    obf = Position.start(name).to_obf()
    text = format_ggf(obf, told, PB="a [b]; \\c", PW="gr\u00f6\u00dfer\n")
    assert "PB[a b c]PW[gr\u00f6\u00dfer]" in text and "\n" not in text
    (game,) = parse_ggf(text)
    plies = [move for _, move in turns]
    while passes and plies and plies[-1] == PASS:
        plies.pop()  # nothing after it tells of it
    begin = Position.from_obf(game.start, name)
    assert begin == Position.start(name)
    assert begin.follow(game.words, game.colors)[1] == tuple(plies)


BAD = {
    "(;GM[Othello]B[d3]": ";)",
    "(;GM[Othello]BO[": "B[d3] 'BO['",
    "(;GM[Othello] d3;)": "B[d3] 'd3;)'",
    f"{GAME} and more": "(; 'and more'",
    "(;GM[Go]BO[8];)": "GM[Go]: Othello",
    f"(;BO[{START}];)": "GM[...]",
    "(;GM[Othello]B[d3];)": "BO[...]",
    GAME.replace("TY[8]", "TY[8a]"): "TY[8a]: fewest",
    GAME.replace("BO[8", "BO[6"): "edge squares, side",
    "(;GM[Othello]BO[];)": "BO[]: edge",
}


@pytest.mark.parametrize("text", BAD, ids=str)
def test_text_that_is_no_game(text: str) -> None:
    with refused(*BAD[text].split(), error=NotationError):
        parse_ggf(text)


def test_a_move_by_the_wrong_side() -> None:
    for words, second, named in (
        (["d3", "c5"], Color.BLACK, "move 2 of|c5: white"),
        (["d3", "d3"], Color.WHITE, "move 2 of|d3:|occupied"),
    ):
        with refused(*named.split("|"), error=NotationError):
            Position.start().follow(words, [Color.BLACK, second])


def test_a_line_tells_what_it_is() -> None:
    obf = Position.start().to_obf()
    assert [is_ggf(text) for text in (GAME, obf, "f5d6c3", "")] == [True, False, False, False]
    assert [is_obf(text) for text in (f"{obf}; C4:+2;", "f5 d6", "")] == [True, False, False]
