"""Making opening books."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from othello_lab import AlphaBeta, Position
from othello_lab.__main__ import main
from othello_lab.agents.book import Book, Key, key_of
from othello_lab.agents.config import ConfigError, load_evaluation
from othello_lab.core.rules import Color
from othello_lab.training.book_making import (
    BookMove,
    BookRecipe,
    MoveSearcher,
    backed_up,
    good_moves,
    log_of,
    next_positions,
)

QUICK = ["--agent", "alphabeta", "--depth", "3", "--workers", "1"]
START = Position.start()


def made(path: Path, positions: int, *words: str) -> Book:
    assert main(["book", str(path), *QUICK, "--positions", str(positions), *words]) == 0
    return Book.read(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book made without interruption."""
    path = tmp_path_factory.mktemp("whole") / "mine.npz"
    made(path, 60)
    return path


# ---------------------------------------------------------------------- values and choice


def test_a_move_is_worth_the_mean_of_an_even_and_an_odd_search() -> None:
    recipe = BookRecipe(agent="alphabeta", depth=4)
    position = START.play("f5").play("d6")
    key, squares = key_of(position)
    evaluation = load_evaluation("patterns")
    values = MoveSearcher(recipe).values(key)
    turned = Position(*key, Color.BLACK)
    assert values.keys() == set(squares.values())
    for move, value in values.items():
        after = turned.play(move)
        searches = [AlphaBeta(plies, evaluation).search(after).value for plies in (2, 3)]
        assert value == pytest.approx(-sum(each or 0 for each in searches) / 2, abs=1)


def key(discs: int, number: int) -> Key:
    return (1 << discs) - 1, number << 60


def test_values_go_back_by_minimax_and_the_cheapest_positions_come_next() -> None:
    root, _ = key_of(START)
    bad, good, worse = key(4, 1), key(4, 2), key(4, 3)
    searched = {root: [BookMove(1, bad, False, 50), BookMove(2, good, False, 30)]}
    recipe = BookRecipe(positions=100, width=0.6, replies=3.0)
    assert backed_up(searched) == {root: {1: 50, 2: 30}}
    assert next_positions(searched, recipe) == [bad, good]
    # The opponent has a reply that makes the first move worth less.
    searched[bad] = [BookMove(3, worse, False, 200), BookMove(4, key(5, 4), True, 0)]
    assert backed_up(searched)[root] == {1: -200, 2: 30}
    assert good_moves(searched, 0.6) == {root: {2: 30}, bad: {3: 200}}
    # Only the other side makes the bad move, which loses 2.3 discs; a game that is over ends there.
    assert next_positions(searched, recipe) == [good, worse]
    assert next_positions(searched, BookRecipe(positions=100, width=0.6, replies=2.0)) == [good]
    assert next_positions(searched, BookRecipe(positions=3, width=0.6)) == [good]
    assert next_positions(searched, BookRecipe(positions=100, plies=1)) == [good]


def test_the_moves_of_a_book_are_legal_and_lose_little(whole: Path) -> None:
    book = Book.read(whole)
    assert len(book.positions) == 60 and book.width == 1.0
    for masks, moves in book.positions.items():
        position = Position(*masks, Color.BLACK)
        assert moves and set(moves) <= set(position.moves)
        assert max(moves.values()) - min(moves.values()) < book.width
    assert book.about["settings"]["depth"] == 3 and "--positions 60" in book.about["command"]


# ---------------------------------------------------------------------- interruptions


@pytest.mark.integration
def test_a_killed_book_goes_on_and_is_the_same_file(tmp_path: Path, whole: Path) -> None:
    path = tmp_path / "mine.npz"
    words = ["book", str(path), *QUICK, "--positions", "60"]
    child = subprocess.Popen([sys.executable, "-m", "othello_lab", *words])
    while child.poll() is None and _lines(log_of(path)) < 10:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    begun = log_of(path).read_bytes()
    log_of(path).write_bytes(begun[: begun.rfind(b"\n") - 5])  # as if cut off in a line
    before = _lines(log_of(path))
    assert before >= 9
    made(path, 60)
    assert path.read_bytes() == whole.read_bytes()
    assert _lines(log_of(path)) == _lines(log_of(whole))


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_larger_book_takes_over_all_searches(tmp_path: Path, whole: Path) -> None:
    path = tmp_path / "mine.npz"
    made(path, 20)
    before = log_of(path).read_bytes()
    made(path, 60)
    assert log_of(path).read_bytes().startswith(before)
    assert path.read_bytes() == whole.read_bytes()


def test_two_workers_make_the_same_book(tmp_path: Path, whole: Path) -> None:
    path = tmp_path / "mine.npz"
    made(path, 60, "--workers", "2")
    assert path.read_bytes() == whole.read_bytes()


def test_other_searches_are_not_mixed_unawares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.npz"
    made(path, 5)
    words = ["book", str(path), *QUICK, "--positions", "6"]
    assert main([*words, "--depth", "4"]) == 2
    assert "depth 3 -> 4" in capsys.readouterr().err
    head, *lines = log_of(path).read_text().splitlines()
    origin = json.loads(head)
    origin["versions"]["code"] = "another"
    log_of(path).write_text("\n".join([json.dumps(origin), *lines, ""]))
    assert main(words) == 2
    assert "code another -> " in capsys.readouterr().err
    assert main([*words, "--force"]) == 0
    about = Book.read(path).about
    assert about["versions"]["code"] == "another" and "another" in about["changed"][0]


@pytest.mark.parametrize("damage", ["{}\n", "no json\n", '{"position": [1, 2], "values": {}}\n'])
def test_a_file_that_is_no_log_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    path = tmp_path / "mine.npz"
    made(path, 3)
    with log_of(path).open("a") as log:
        log.write(damage)
    assert main(["book", str(path), *QUICK, "--positions", "4"]) == 2
    assert "no log of searches" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("book.txt", "end .npz"),
        ("none/book.npz", "can be written"),
        ("book.npz --depth 2", "--depth=2: a whole number from 3"),
        ("book.npz --width 0", "--width=0"),
        ("book.npz --agent random", "a search of the lab"),
        ("book.npz --agent nobody", "unknown agent 'nobody'"),
    ],
)
def test_words_that_make_no_book_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["book", *words.split()]) == 2
    assert problem in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_agent_whose_values_are_no_discs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not count discs"):
        MoveSearcher(BookRecipe(agent="weighted"))
