"""The review of a game is held to the solver, move by move."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from runs import printed

from othello_lab import AlphaBeta, DiscCount, RandomAgent, run_match
from othello_lab.agents.agent import Limits
from othello_lab.core.notation import PASS, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.game import GameState
from othello_lab.play.review import GOOD, MoveReview, Reviewer, accuracy, comment, reason


def a_game(rules: str, seed: int) -> GameState:
    rng = random.Random(seed)
    game = GameState(Position.start(rules))
    while not game.is_over:
        game.play(rng.choice(game.position.moves or (PASS,)), "random")
    return game


def reviewed(game: GameState, numbers: range | None = None) -> list[MoveReview]:
    rules = game.start.ruleset
    numbers = numbers or range(1, len(game.turns) + 1)
    with AgentProcesses(rules, Limits(), 60, lambda text: None) as thinkers:
        return list(Reviewer(thinkers, rules.side).review(game, numbers))


def worth(position: Position) -> int:
    """Plain negamax to the end, in discs to the mover."""
    if position.is_over:
        return position.disc_difference
    return max(-worth(position.play(move)) for move in position.moves or (PASS,))


@pytest.mark.parametrize("seed", [1, 2])
def test_late_moves_lose_what_perfect_play_says(seed: int) -> None:
    game = a_game("standard", seed)
    late = [n for n, turn in enumerate(game.turns, start=1) if turn.before.empties <= 7]
    for review in reviewed(game, range(late[0], late[-1] + 1)):
        turn = game.turns[review.number - 1]
        assert review.exact
        assert review.best_value == worth(turn.before)
        assert review.value == -worth(turn.after)
        assert review.loss == review.best_value - review.value
        assert -worth(turn.before.play(review.best)) == review.best_value
        position = turn.before
        for move in review.line:
            position = position.play(move)  # a legal line


@pytest.mark.integration
def test_early_moves_are_estimates_and_all_boards_are_reviewed() -> None:
    for rules in ("standard", "mini6", "mini4"):
        game = a_game(rules, 5)
        reviews = reviewed(game, range(1, 4))
        assert [review.exact for review in reviews] == [rules == "mini4"] * 3
        assert all(review.loss >= 0 and abs(review.value) <= 64 for review in reviews)


def review_of(value: float, best: float, exact: bool = True) -> MoveReview:
    return MoveReview(9, Color.WHITE, 0, 7, (7, 1), value, best, exact, 5, "It does.")


@pytest.mark.parametrize(
    ("value", "best", "exact", "mark", "changed"),
    [
        (10, 10, True, "", False),
        (10, 12, True, "inaccuracy", False),
        (-2, 0, True, "mistake", True),
        (2, 6.5, True, "mistake", False),
        (-2, 20, True, "blunder", True),
        (-0.5, 2.5, False, "inaccuracy", False),
        (-3, 3, False, "mistake", True),
    ],
)
def test_marks(value: float, best: float, exact: bool, mark: str, changed: bool) -> None:
    review = review_of(value, best, exact)
    assert (review.mark, review.changed) == (mark, changed)
    assert bool(comment(review)) == (review.loss >= GOOD)


def test_a_comment_has_the_loss_the_better_line_and_the_reason() -> None:
    said = comment(review_of(-4, 6))
    assert said == "blunder: loses 10 discs, and the winner changes; better h1 b1. It does."
    assert "loses about 10 discs" in comment(review_of(-4, 6, exact=False))


def test_a_corner_is_the_first_reason() -> None:
    rows = "-" * 8 + "-OOOOO--" + "-OXXXO--" + "-OXXXO--" + "-OOOOO--" + "-" * 24
    x_square, other = parse_square("g2"), parse_square("d1")
    assert "opens the corner" not in reason(Position.from_obf(f"{rows} X"), [other], [x_square])
    rows = "-OX" + "-" * 5 + "-" * 24 + "XO------" + "-" * 24
    taken = reason(Position.from_obf(f"{rows} X"), [34], [0])
    assert taken.startswith("c5 leaves the corner a1")


def test_accuracy_counts_moves_with_a_choice() -> None:
    forced = MoveReview(1, Color.BLACK, 0, 0, (0,), 4, 4, True, 1)
    result = accuracy([review_of(0, 0), review_of(-3, 3), forced])
    white, black = result[Color.WHITE], result[Color.BLACK]
    assert (white.moves, white.good, white.loss, black.moves) == (2, 1, 3, 0)


@pytest.mark.integration
def test_the_command_reviews(tmp_path: Path) -> None:
    game = a_game("mini4", 1)
    text = "".join(square_name(move) for move in game.moves if move != PASS)
    file = tmp_path / "game.txt"
    file.write_text(text)
    out = printed("play", "review", file, "--ruleset", "mini4")
    reviews = reviewed(game)
    assert out.count(" exact\n") == len(reviews)
    assert "with a choice were best" in out
    comments = [comment(one) for one in reviews if comment(one)]
    assert comments
    assert all(comment in " ".join(out.split()) for comment in comments)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("game", "moves", "end"),
    [
        ("a2a3b4c1a4d3c4b1a1d4d2d1", 12, "is over"),
        ("a2a3b4", 3, "stops after 3 moves, White to move"),
    ],
)
def test_the_review_is_a_page_with_the_game_in_it(
    game: str, moves: int, end: str, tmp_path: Path
) -> None:
    file, page = tmp_path / "game.txt", tmp_path / "pages" / "review.html"
    file.write_text(game, encoding="utf-8")
    words = ["review", str(file), "--ruleset", "mini4", "--page"]
    out = printed("play", *words, page)
    text = page.with_suffix(".md").read_text(encoding="utf-8")
    assert text.count("| exact |") == moves  # a line for each move
    assert end in out and end in text
    assert ("is over" in text) == (end == "is over")
    assert "## The course of the game" in text
    html = page.read_text(encoding="utf-8")
    assert 'id="figure-course"' in html and 'id="games-data"' in html
    printed("play", *words, tmp_path / "review.txt", code=2)


@pytest.mark.integration
def test_a_game_of_a_run_is_reviewed(tmp_path: Path) -> None:
    agents = {"searcher": AlphaBeta(2, DiscCount()), "random": RandomAgent()}
    where = {"results": tmp_path, "ruleset": "mini4", "workers": 0, "figures": False}
    folder = run_match(agents, games=2, **where).folder
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert f"othello-lab play review {folder} game=0" in report
    assert "(random)" in printed("play", "review", folder, "game=1")
    printed("play", "review", folder, "game=2", code=2)
