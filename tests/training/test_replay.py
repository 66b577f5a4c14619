"""Games followed in compiled code are those that positions follow move by move."""

from __future__ import annotations

import numpy as np
import pytest
from boards import played_out

from othello_lab.core.lines import draw_on
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS
from othello_lab.training.replay import LEGAL, UNTOLD, ReplayedGames, replay

RULES = ("standard", "mini6", "mini4", "wpi")


def followed(
    rules: str, lines: list[list[int]], until: int = -1, turns: list[int] | None = None
) -> ReplayedGames:
    start = Position.start(rules)
    masks = (np.full(len(lines), mask, dtype=np.uint64) for mask in (start.mover, start.opponent))
    squares = np.array([move for line in lines for move in line], dtype=np.uint8)
    ends = np.cumsum([len(line) for line in lines])
    said = None if turns is None else np.array(turns, dtype=np.uint8)
    return replay(*masks, squares, ends, start.ruleset.board, until, said)


@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("rules", RULES)
def test_all_positions_of_games(rules: str, passes: bool) -> None:
    games = [played_out(rules, seed) for seed in range(30)]
    assert any(move == PASS for game in games for _, move in game)
    result = followed(rules, [[m for _, m in game if passes or m != PASS] for game in games])
    legal = [(p.mover, p.opponent, n) for n, game in enumerate(games) for p, _ in game]
    rows = zip(result.mover.tolist(), result.opponent.tolist(), result.game.tolist(), strict=True)
    assert list(rows) == legal
    turns = [p.to_move is not game[0][0].to_move for game in games for p, _ in game]
    assert result.turn.tolist() == turns
    lasts = [game[-1][0].play(game[-1][1]) for game in games]
    assert result.last_mover.tolist() == [last.mover for last in lasts]
    assert result.last_turn.tolist() == [
        last.to_move is not g[0][0].to_move for last, g in zip(lasts, games, strict=True)
    ]
    assert result.over.all() and (result.fault == LEGAL).all()


def test_a_game_is_left_where_few_squares_are_empty() -> None:
    games = [played_out("standard", seed) for seed in range(5)]
    lines = [[move for _, move in game] for game in games]
    result = followed("standard", lines, until=20)
    empties = 64 - np.bitwise_count(result.last_mover | result.last_opponent).astype(int)
    assert empties.tolist() == [20] * 5 and not result.over.any()
    assert (64 - np.bitwise_count(result.mover | result.opponent).astype(int)).min() == 21
    lines[2][-1] = 0  # whatever comes then
    assert (followed("standard", lines, until=20).fault == LEGAL).all()


def test_games_that_end_early() -> None:
    result = followed("standard", [[19, 34], [], [19]])
    assert result.over.tolist() == [False] * 3
    assert result.game.tolist() == [0, 0, 2]
    assert result.last_mover[1] == Position.start().mover


@pytest.mark.parametrize(
    ("line", "turns", "fault"),
    [
        ([19, 63, 34], None, 1),
        ([0], None, 0),
        ([19, 200], None, 1),
        ([PASS], None, 0),
        ([19, 34], [0, 1], LEGAL),
        ([19, 34], [0, UNTOLD], LEGAL),
        ([19, 34], [0, 0], 1),
        ([19, 34], [1, 0], 0),
    ],
)
def test_moves_that_are_not_legal(line: list[int], turns: list[int] | None, fault: int) -> None:
    assert followed("standard", [line], turns=turns).fault.tolist() == [fault]


def test_nothing_but_passes_follows_the_end() -> None:
    line = [move for _, move in played_out("mini4", 1)]
    assert followed("mini4", [[*line, PASS, PASS]]).fault.tolist() == [LEGAL]
    assert followed("mini4", [[*line, 0]]).fault.tolist() == [len(line)]


@pytest.mark.parametrize("rules", RULES)
def test_random_plies_lead_where_legal_moves_lead(rules: str) -> None:
    start, plies = Position.start(rules), np.array([0, 1, 2, 3] * 50)
    masks = np.array([[start.mover, start.opponent]] * len(plies), dtype=np.uint64)
    board = RULESETS[rules].board
    reached, turns = draw_on(np.random.default_rng(1), masks, plies, board)
    again, _ = draw_on(np.random.default_rng(1), masks, plies, board)
    assert np.array_equal(reached, again)
    level, there = [start], []
    for _ in range(4):
        there.append({(p.mover, p.opponent) for p in level})
        level = [p.play(move) for p in level for move in p.moves or (PASS,)]
    for (mover, opponent), count, turn in zip(reached.tolist(), plies, turns, strict=True):
        assert (mover, opponent) in there[count] and turn == count % 2
    assert len({*map(tuple, reached[plies == 2].tolist())}) > 1


def test_a_line_in_which_the_game_ends_is_drawn_anew() -> None:
    start = Position.start("mini4")
    masks = np.array([[start.mover, start.opponent]] * 40, dtype=np.uint64)
    for count in (10, 12, 30):
        plies = np.full(40, count)
        reached, turns = draw_on(np.random.default_rng(1), masks, plies, start.ruleset.board)
        for (mover, opponent), turn in zip(reached.tolist(), turns.tolist(), strict=True):
            position = Position(mover, opponent, ruleset=start.ruleset)
            assert not position.is_over
            assert turn == count % 2 or position == start
    assert np.array_equal(reached, masks)  # no game has 30 plies
