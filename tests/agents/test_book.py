"""Opening books, and agents that play from them."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from othello_lab import MCTS, AlphaBeta, DiscCount, GreedyAgent, Position
from othello_lab.agents.agent import Agent, Limits, compiled_player
from othello_lab.agents.book import SHIPPED_BOOK, Book, book_of, key_of, path_of, with_book, write
from othello_lab.agents.config import ConfigError, build_agent, fill_open, load
from othello_lab.agents.contract import check
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.agents.learned.weights import ABOUT
from othello_lab.agents.limited import Limited
from othello_lab.agents.search import SearchAgent
from othello_lab.core.bitboard import symmetric_forms
from othello_lab.core.game import play_game
from othello_lab.core.notation import parse_square, square_name
from othello_lab.core.rules import RULESETS, Color

START = Position.start()
AFTER_F5 = START.play("f5")
WIDTH = 1.0
REPLIES = {"d6": 40, "f6": 30, "f4": -60}
"""Hundredths of a disc: the last reply loses exactly the width."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A book of the start and of the position after f5."""
    positions = {}
    for position, values in ((START, {"f5": 10}), (AFTER_F5, REPLIES)):
        key, squares = key_of(position)
        positions[key] = {squares[parse_square(name)]: value for name, value in values.items()}
    return write(tmp_path / "mine.npz", positions, WIDTH, {"command": "by hand"})


def named(name: str, **settings: object) -> Agent:
    """Build an agent of the lab, with further settings."""
    filled, _ = fill_open(
        {name: load("agent", name)}, depth=2, evaluation=load("evaluation", "disc_count")
    )
    return build_agent({**filled[name], **settings}, name)


def drawn(agent: Agent, position: Position, seeds: int = 400) -> Counter[str]:
    """Return how often an agent makes each move, by name."""
    found: Counter[str] = Counter()
    for seed in range(seeds):
        agent.begin_game(position.to_move, position, seed)
        found[square_name(agent.decide(position, Limits(depth=1)).move)] += 1
    return found


def games(agent: Agent, opponent: Agent, seeds: int = 20, limits: Limits | None = None) -> set[str]:
    players = {Color.BLACK: agent, Color.WHITE: opponent}
    found = set()
    for seed in range(seeds):
        own = {Color.BLACK: 2 * seed, Color.WHITE: 2 * seed + 1}
        record = play_game(players, seeds=own, limits=limits)
        assert record.end_reason == "finished", record.detail
        found.add(record.transcript)
    return found


# ---------------------------------------------------------------------- the file


def test_symmetric_positions_have_the_same_moves_each_turned_like_its_position(file: Path) -> None:
    book = Book.read(file)
    position = AFTER_F5
    known = book.moves(position)
    assert known == {parse_square(name): value / 100 for name, value in REPLIES.items()}
    turned = list(symmetric_forms(position.mover, position.opponent, 8))
    squares = {move: list(symmetric_forms(1 << move, 0, 8)) for move in known}
    assert len(set(turned)) == 8
    for number, masks in enumerate(turned):
        there = Position(*masks, Color.WHITE)
        expected = {
            squares[move][number][0].bit_length() - 1: value for move, value in known.items()
        }
        assert book.moves(there) == expected
        assert set(expected) <= set(there.moves)


def test_other_positions_and_boards_are_not_in_it(file: Path) -> None:
    book = Book.read(file)
    assert not book.moves(AFTER_F5.play("d6"))
    assert not book.moves(Position.start(RULESETS["mini6"]))
    assert book.moves(Position.start(RULESETS["wpi"]))


def test_better_moves_are_drawn_more_often_and_bad_ones_never(file: Path) -> None:
    book = Book.read(file)
    moves = [book.draw(AFTER_F5, seed) for seed in range(2000)]
    share = Counter(moves)[parse_square("d6")] / len(moves)
    assert share == pytest.approx(1 / 1.9, abs=0.05)  # chances 1 and 0.9
    assert parse_square("f4") not in moves
    assert moves == [book.draw(AFTER_F5, seed) for seed in range(2000)]
    assert book.draw(AFTER_F5.play("d6"), 1) is None


@pytest.mark.parametrize("name", ["none.npz", "book.txt", "iago"])
def test_a_file_that_is_no_book_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"^agent 'greedy': book=\S*" + name) as error:
        named("greedy", book=str(tmp_path / name))
    assert "\n" not in str(error.value)


def test_weights_and_damaged_books_are_refused(tmp_path: Path, file: Path) -> None:
    weights = path_of(SHIPPED_BOOK).parents[1] / "patterns.npz"
    with pytest.raises(ConfigError, match="kind patterns; book"):
        named("greedy", book=str(weights))
    content = file.read_bytes()
    file.write_bytes(content[:-20])
    with pytest.raises(ConfigError, match="sha256"):
        named("greedy", book=str(file))
    file.write_bytes(content)
    about = file.with_suffix(ABOUT)
    about.write_text(about.read_text().replace("width: 1.0", "width: wide"))
    with pytest.raises(ConfigError, match="width, are not those of a book"):
        named("greedy", book=str(file))
    about.unlink()
    with pytest.raises(ConfigError, match=f"{about.name}: No such file"):
        named("greedy", book=str(file))


def test_the_shipped_book_has_legal_moves_alone() -> None:
    book = Book.read(SHIPPED_BOOK)
    assert len(book.positions) >= 1000
    assert book.path.stat().st_size < 300_000
    assert {"command", "begun", "settings", "versions"} <= set(book.about)
    for masks, moves in book.positions.items():
        position = Position(*masks, Color.BLACK)
        assert set(moves) <= set(position.moves), position
        assert max(moves.values()) - min(moves.values()) < book.width
        assert key_of(position)[0] == masks
    assert book.moves(START).keys() & set(START.moves)


# ---------------------------------------------------------------------- agents


@pytest.mark.parametrize("name", ["greedy", "alphabeta", "mcts", "random"])
def test_any_agent_plays_from_it(file: Path, name: str) -> None:
    agent = named(name, book=str(file))
    agent.prepare()
    assert set(drawn(agent, AFTER_F5, 60)) == {"d6", "f6"}
    assert set(drawn(agent, START, 5)) == {"f5"}
    assert book_of(agent) is not None and book_of(named(name)) is None
    later = AFTER_F5.play("d6")
    assert drawn(agent, later, 3) == drawn(named(name), later, 3)


@pytest.mark.parametrize("nothing", [None, False])
def test_no_book_is_no_book(nothing: object) -> None:
    assert type(named("greedy", book=nothing)) is GreedyAgent


def test_an_agent_stays_what_it_is_but_compiled_games_would_miss_its_book(file: Path) -> None:
    agent, plain = named("alphabeta", book=str(file)), named("alphabeta")
    assert isinstance(agent, SearchAgent) and isinstance(agent, AlphaBeta)
    assert repr(agent) == repr(plain)
    plain.prepare()
    assert compiled_player(plain, START.ruleset, Limits()) is not None
    assert compiled_player(agent, START.ruleset, Limits()) is None
    assert agent.search(AFTER_F5).value == plain.search(AFTER_F5).value


def test_an_agent_inside_another_has_one(file: Path) -> None:
    inner = {"_target_": "othello_lab.agents.simple.GreedyAgent", "book": str(file)}
    agent = build_agent({"_target_": f"{Limited.__module__}.Limited", "agent": inner}, "outer")
    assert set(drawn(agent, AFTER_F5, 60)) == {"d6", "f6"}
    assert compiled_player(agent, START.ruleset, Limits()) is None


@pytest.mark.integration
def test_the_contract_holds_with_a_book(file: Path) -> None:
    for agent in (GreedyAgent(), AlphaBeta(2, DiscCount()), MCTS(playouts=10)):
        findings = check(with_book(agent, str(file)))
        assert findings.holds, findings


def test_a_program_that_plays_whole_games_has_none(file: Path) -> None:
    settings = {**load("agent", "wpi"), "command": "true", "book": str(file)}
    with pytest.raises(ConfigError, match="makes every move of a game itself"):
        build_agent(settings, "it")


OWN = """\
from othello_lab import Agent, Decision

class Mine(Agent):
    def __init__(self, {setting}="a novel"):
        self.title = {setting}

    def decide(self, position, limits):
        return Decision(position.moves[-1])
"""


def test_a_setting_of_that_name_belongs_to_its_class(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(OWN.format(setting="book"))
    agent = build_agent({"_target_": f"{tmp_path}/reader.py:Mine", "book": "Emma"}, "mine")
    assert agent.title == "Emma" and book_of(agent) is None  # type: ignore[attr-defined]


def test_an_agent_from_outside_plays_from_it(tmp_path: Path, file: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN.format(setting="title"))
    settings = {"_target_": f"{tmp_path}/mine.py:Mine", "book": str(file)}
    proxy = ExternalAgent(settings, "mine")
    assert {str(file), str(file.with_suffix(ABOUT))} <= set(proxy.files().reads)
    assert set(drawn(proxy.make(), AFTER_F5, 60)) == {"d6", "f6"}
    with pytest.raises(ConfigError, match="there is no file"):
        ExternalAgent(settings | {"book": str(tmp_path / "none.npz")}, "mine")


def test_a_changed_file_is_read_again(tmp_path: Path, file: Path) -> None:
    before = named("greedy", book=str(file))
    key, squares = key_of(START)
    other = write(tmp_path / "other.npz", {key: {squares[parse_square("c4")]: 0}}, 2.0, {})
    for suffix in (".npz", ABOUT):
        shutil.copy(other.with_suffix(suffix), file.with_suffix(suffix))
    after = named("greedy", book=str(file))
    assert set(drawn(before, START, 3)) == {"f5"} and set(drawn(after, START, 3)) == {"c4"}


def test_two_champions_play_many_games_from_the_start() -> None:
    champions = [build_agent({**load("agent", "champion"), "book": True}, "it") for _ in range(2)]
    for champion in champions:
        champion.prepare()
    shallow = Limits(depth=1, nodes=2000)
    first = games(champions[0], champions[1], limits=shallow)
    assert len(first) > 10
    assert first == games(champions[0], champions[1], limits=shallow)
    openings = Counter(game[:12] for game in first)
    assert len(openings) > 2
