"""Self-play: positions of games, with exact scores late in them, the same however they are made."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from records import query
from runs import line_of, made
from taught import Line, positions_of, random_games

from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.stopping import RunStopped
from othello_lab.training import selfplay
from othello_lab.training.data import Positions, provenance
from othello_lab.training.labels import ROW, DataConfig, LabelledGames, labelled, levelled
from othello_lab.training.playing import COUNTS, POSITIONS
from othello_lab.training.selfplay import SelfPlay, about_of, make, read, with_defaults

SMALL = {"games": 200, "depth": 1, "data": {"exact": 6}, "executor": "serial"}


def labelled_games(games: list[Line], values: Any = None) -> LabelledGames:
    """Games as those of a file; passes, which a file leaves out, only where values are given."""
    moves = [[m for m in moves if m != PASS or values is not None] for _, moves in games]
    starts = (np.full(len(games), mask, dtype=np.uint64) for mask in Position.start().masks)
    squares = np.array([move for line in moves for move in line], dtype=np.uint8)
    return LabelledGames(*starts, squares, np.cumsum([len(line) for line in moves]), values)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(SMALL, tmp_path_factory.mktemp("selfplay") / "small")


def test_what_is_made(folder: Path) -> None:
    positions, head = Positions.read(folder), about_of(folder)
    assert head["complete"] and head["games"] == 200 and not head["left_out"]
    assert len(positions) < positions.games.sum() <= head["positions_of_games"]
    assert query(folder, "select distinct table_name from rows") == [(COUNTS,)]
    about = provenance(folder)
    assert about["config"]["data"]["exact"] == 6 and about["versions"]["numba"]
    assert about["data_hash"] == positions.data_hash and about["positions"] == len(positions)
    assert yaml.safe_load((folder / "positions.yaml").read_text())["config"]["seed"] == 1
    assert set(positions.empties.tolist()) == set(range(1, 57))
    assert np.array_equal(positions.exact, positions.empties <= 6)
    shares = np.bincount(positions.split, minlength=3) / len(positions)
    assert (shares > 0.04).all() and shares[0] > 0.7


def test_late_scores_are_those_of_perfect_play(folder: Path) -> None:
    positions, solver = Positions.read(folder), EndgameSolver(table_mb=1)
    late = positions.stage(0, 6).sample(60, np.random.default_rng(1))
    for mover, opponent, score in zip(late.mover, late.opponent, late.score, strict=True):
        assert solver.solve(Position(int(mover), int(opponent))).score == score


def test_earlier_scores_are_what_the_solver_makes_of_the_game(folder: Path) -> None:
    """Every game's score is that of its position with 6 empty squares, or of its end."""
    positions = Positions.read(folder)
    single = positions[(positions.games == 1) & (positions.empties > 6)]
    for game in range(40):
        of_game = single[single.game == game]
        assert len({abs(score) for score in of_game.score.tolist()}) == 1


@pytest.mark.integration
def test_any_number_of_workers_makes_the_same(folder: Path, tmp_path: Path) -> None:
    workers = {"_target_": "othello_lab.experiments.playing.Processes", "workers": 2}
    other = make({**SMALL, "executor": workers}, tmp_path / "other")
    assert Positions.read(other).data_hash == Positions.read(folder).data_hash


def test_another_seed_makes_others(folder: Path, tmp_path: Path) -> None:
    seeded = make({**SMALL, "seed": 2, "games": 70}, tmp_path / "seeded")
    assert not np.isin(Positions.read(seeded).mover[:50], Positions.read(folder).mover).all()


def test_what_failed_is_made_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, where = selfplay.made_of, tmp_path / "x"

    def fails_once(content: Any, context: Any, data: Any) -> Any:
        if content.number == 1:
            raise ArithmeticError("too hot")
        return whole(content, context, data)

    with monkeypatch.context() as patch:
        patch.setattr(selfplay, "made_of", fails_once)
        with pytest.raises(RunStopped, match="ArithmeticError: too hot"):
            make(SMALL, where)
    assert about_of(where)["games"] == 200 - 64 and len(Positions.read(where)) > 100
    made_pieces = query(where, f"select piece from rows where table_name = '{POSITIONS}'")
    assert made_pieces == [(0,), (2,), (3,)]
    assert make({}, where) == where
    assert Positions.read(where).data_hash == Positions.read(folder).data_hash
    assert about_of(where)["complete"] and make({}, where) == where


def test_games_of_a_line_up(tmp_path: Path) -> None:
    settings = {
        "agents": {"greedy": "greedy", "mcts": {"_target_": "othello_lab.MCTS", "playouts": 5}},
        "openings": "balanced",
        "data": {"exact": 0, "random_plies": [0, 0]},
        "executor": "serial",
        "games": 8,
    }
    positions = Positions.read(make(settings, tmp_path / "x"))
    assert positions.empties.max() == 52 and not positions.exact.any() and len(positions) > 200
    assert positions.empties.min() <= 2


@pytest.mark.parametrize("rules", ["mini4", "mini6"])
def test_small_boards(tmp_path: Path, rules: str) -> None:
    settings = {"evaluation": "disc_count", "depth": 1, "games": 30, "executor": "serial"}
    folder = make({**settings, "ruleset": {"name": rules}}, tmp_path / "x")
    positions = Positions.read(folder)
    assert positions.side == int(rules[-1]) and positions.exact.any()


def test_the_games_own_endgames() -> None:
    """Played: each of their positions is solved; perfect: perfect play follows."""
    drawn = random_games(10)
    lines = [position for line in drawn for position in positions_of(line)[:-1]]
    games = labelled_games(drawn)
    rules, solver = Position.start().ruleset, EndgameSolver(table_mb=1)
    rows, _ = labelled(games, rules, DataConfig(exact=7, endgames="played"))
    assert [(p.mover, p.opponent) for p in lines] == [(r["mover"], r["opponent"]) for r in rows]
    for row, position in zip(rows, lines, strict=True):
        assert row["exact"] == (position.empties <= 7)
        if row["exact"]:
            assert solver.solve(position).score == row["score"]
    perfect, _ = labelled(games, rules, DataConfig(exact=7))
    early = ~perfect["exact"]
    assert np.array_equal(perfect[early], rows[~rows["exact"]])
    assert Counter(perfect["game"][~early].tolist()).keys() == set(range(10))


def test_scores_lean_on_what_searches_expected() -> None:
    """Each score is mixed from what was expected there and the score one move later, by hand."""
    (game,) = random_games(1, seed=4)
    *lines, position = positions_of(game)
    rng = np.random.default_rng(4)
    values = [rng.normal() if p.moves and rng.random() < 0.8 else np.nan for p in lines]
    games = labelled_games([game], np.float32(values))
    rows, _ = labelled(games, position.ruleset, DataConfig(exact=0, trace=0.7))
    score, player = position.disc_difference, position.to_move
    ended = [score if before.to_move is player else -score for before in lines]
    assert rows["end"].tolist() == ended
    for row, before, expected in list(zip(rows, lines, values, strict=True))[::-1]:
        score = score if before.to_move is player else -score
        score = score if np.isnan(expected) else 0.7 * score + 0.3 * expected
        player = before.to_move
        assert (row["mover"], row["opponent"]) == (before.mover, before.opponent)
        assert row["score"] == pytest.approx(score, abs=1e-4)


def test_scores_are_levelled_by_how_games_ended() -> None:
    """What all searches misjudge alike is taken out, number of empty squares by number."""
    rng = np.random.default_rng(5)
    rows = np.zeros(3000, dtype=ROW)
    discs = np.repeat([4, 5, 40], 1000)
    rows["mover"] = (np.uint64(1) << discs.astype(np.uint64)) - np.uint64(1)
    rows["exact"] = discs == 40
    rows["end"] = rng.integers(-20, 21, 3000)
    rows["score"] = rows["end"] / 2 + np.where(discs == 4, 3, -2)
    level, score = levelled(rows, 64), rows["score"]
    assert np.array_equal(level[rows["exact"]], score[rows["exact"]])
    for number in (4, 5):
        part = discs == number
        wrong = float((rows["end"] - score)[part].mean())
        assert level[part] - score[part] == pytest.approx(wrong * 1000 / 1100, abs=1e-4)
    rows["score"] = 64
    assert levelled(rows, 64).max() <= 64 and levelled(rows[:0], 64).shape == (0,)


def test_unfinished_games_are_left_out() -> None:
    start = Position.start()
    games = labelled_games([(start, [19]), (start, [0])])
    rows, left_out = labelled(games, Position.start().ruleset, DataConfig())
    assert not len(rows) and left_out == {"unfinished": 1, "with an illegal move": 1}


# ---------------------------------------------------------------------- the commands


@pytest.mark.integration
def test_the_command(tmp_path: Path) -> None:
    words = ["games=70", "executor=serial", "data.exact=4", "agent=alphabeta", "agent.depth=1"]
    out, folder = made(tmp_path, "selfplay", *words)
    assert "70 games in" in out and "train" in out and "written to" in out
    for command, named in (
        (["show", str(folder)], "complete"),
        (["resume", str(folder)], "70 games in"),
        (["list", str(tmp_path)], "positions,"),
        (["watch", str(folder)], "complete"),
    ):
        assert named in line_of(*command)
    for command in (
        ["extend", str(folder), "games=100"],
        ["report", str(folder)],
    ):
        assert "self-play" in line_of(*command, code=2)


def test_positions_need_files_with_whole_games(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("f5d6c3\n")
    words = [str(tmp_path / "a.txt"), f"results={tmp_path}", "executor=serial"]
    assert "1 unfinished" in line_of("positions", *words, code=1)


def test_the_settings_are_those_of_the_yaml() -> None:
    plan = read([])
    assert plan.study == SelfPlay()
    assert with_defaults({}).as_data == plan.as_data
    with pytest.raises(ConfigError, match=r"'game'.*'games'"):
        with_defaults({"game": 3})


def test_nothing_but_forfeits_is_no_data(tmp_path: Path) -> None:
    agents = {"x": {"_target_": "misbehaving.Raises"}}
    settings = {"agents": agents, "games": 2, "isolation": "none", "trial": False}
    with pytest.raises(RunStopped, match="2 games"):
        make({**settings, "executor": "serial"}, tmp_path / "x")
