"""Positions to learn from: one for eight images, split by game, and files that are damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from othello_lab.core.bitboard import mirror
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.system.settings import ConfigError
from othello_lab.training import data
from othello_lab.training.data import TEST, TRAIN, VALIDATION, Positions
from othello_lab.training.measuring import FEW, errors_by_stage


def played(games: int, seed: int = 1, rules: str = "standard") -> list[list[Position]]:
    """All positions of random games, the last one included."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(games):
        line = [Position.start(rules)]
        while not line[-1].is_over:
            moves = line[-1].moves
            line.append(line[-1].play(int(rng.choice(moves)) if moves else PASS))
        found.append(line)
    return found


def collected(games: list[list[Position]], **options: float) -> Positions:
    rows = [
        (each.mover, each.opponent, line[-1], each, number)
        for number, line in enumerate(games)
        for each in line[:-1]
    ]
    score = [
        last.disc_difference * (1 if last.to_move is each.to_move else -1)
        for *_, last, each, _ in rows
    ]
    return Positions.of_games(
        *(np.array([row[place] for row in rows], dtype=np.uint64) for place in (0, 1)),
        np.array(score),
        np.zeros(len(rows), dtype=bool),
        np.array([row[4] for row in rows]),
        side=games[0][0].ruleset.side,
        **options,
    )


@pytest.fixture(scope="module")
def games() -> list[list[Position]]:
    return played(60)


@pytest.fixture(scope="module")
def positions(games: list[list[Position]]) -> Positions:
    return collected(games)


@pytest.fixture
def file(positions: Positions, tmp_path: Path) -> Path:
    path = tmp_path / "positions.parquet"
    positions.write(path, {"seed": 1})
    return path


def test_positions_are_those_of_the_games_once(
    games: list[list[Position]], positions: Positions
) -> None:
    scores: dict[tuple[int, int], list[int]] = {}
    for line in games:
        for each in line[:-1]:
            form, last = each.canonical(), line[-1]
            sign = 1 if last.to_move is each.to_move else -1
            scores.setdefault((form.mover, form.opponent), []).append(sign * last.disc_difference)
    found = list(zip(positions.mover.tolist(), positions.opponent.tolist(), strict=True))
    assert sorted(scores) == found
    start = found.index(next(iter(scores)))
    assert positions.empties[start] == 60 and positions.split[start] == TRAIN
    once = [row for row, form in enumerate(found) if len(scores[form]) == 1]
    assert positions.score[once].tolist() == [scores[found[row]][0] for row in once]
    # A position of several games has the mean of those on its side.
    sides = {0: TRAIN} | dict(zip(positions.game.tolist(), positions.split.tolist(), strict=True))
    of_train = [number for number in range(len(games)) if sides.get(number) == TRAIN]
    assert positions.games[start] == len(of_train)
    mean = np.mean([scores[found[start]][number] for number in of_train])
    assert positions.score[start] == pytest.approx(mean)


def test_a_small_board_has_its_own_images() -> None:
    found = collected(played(5, rules="mini6"))
    some = Position(
        int(found.mover[9]), int(found.opponent[9]), ruleset=Position.start("mini6").ruleset
    )
    assert some.canonical() == some and found.empties.max() == 32


def test_games_are_split_whatever_is_read_with_them(games: list[list[Position]]) -> None:
    """And alike for mirror images."""
    whole, half = collected(games), collected(games[:30])
    late = half.stage(0, 20)  # which no two games share
    places = {form: row for row, form in enumerate(zip(whole.mover, whole.opponent, strict=True))}
    rows = [places[form] for form in zip(late.mover, late.opponent, strict=True)]
    assert whole.split[rows].tolist() == late.split.tolist()
    turned = [[Position(mirror(p.mover), mirror(p.opponent), p.to_move) for p in g] for g in games]
    assert collected(turned).data_hash == whole.data_hash


def test_no_position_is_on_two_sides(games: list[list[Position]]) -> None:
    found = collected(games, validation=0.3, test=0.3)
    counts = np.bincount(found.split, minlength=3)
    assert counts.sum() == len(found) and counts.min() > 300
    assert len(set(zip(found.mover, found.opponent, strict=True))) == len(found)
    both = Positions.together([collected(games[:30]), collected(games)])
    assert both.data_hash != found.data_hash
    again = collected(games)
    assert [both.mover.tolist(), both.split.tolist()] == [
        again.mover.tolist(),
        again.split.tolist(),
    ]


def test_an_exact_score_outweighs_others() -> None:
    a, b = (np.array([mask] * 3, dtype=np.uint64) for mask in (1, 2))
    found = Positions.of_games(
        a,
        b,
        np.array([10, -2, 30]),
        np.array([False, True, False]),
        np.arange(3),
        test=0,
        validation=0,
    )
    assert (found.score.tolist(), found.exact.tolist(), found.games.tolist()) == ([-2], [True], [1])


def test_parts_of_them(positions: Positions) -> None:
    some = positions.stage(10, 12)
    assert set(some.empties.tolist()) == {10, 11, 12}
    assert set(positions.part(VALIDATION).split.tolist()) == {VALIDATION}
    drawn = positions.sample(100, np.random.default_rng(1))
    assert len({*zip(drawn.mover.tolist(), drawn.opponent.tolist(), strict=True)}) == 100
    assert len(positions.sample(10**6, np.random.default_rng(1))) == len(positions)


def test_a_file_holds_them_all(positions: Positions, file: Path) -> None:
    again = Positions.read(str(file))
    assert again.data_hash == positions.data_hash
    assert data.provenance(file)["data_hash"] == positions.data_hash
    assert "seed: 1" in data.beside(file).read_text()
    assert np.array_equal(Positions.read([file, file]).score, positions.score)


@pytest.mark.parametrize(
    ("begin", "end", "message"),
    [
        (0, 3, r"byte 0: PAR1"),
        (7, 5000, r"byte 0: PAR1"),
        (0, -20, r"byte \d+: PAR1, which a Parquet file ends with, is expected; the file is cut"),
    ],
)
def test_a_damaged_file_is_named(file: Path, begin: int, end: int, message: str) -> None:
    file.write_bytes(file.read_bytes()[begin:end])
    with pytest.raises(ConfigError, match=rf"positions.parquet: {message}"):
        Positions.read(file)
    with pytest.raises(ConfigError, match="no positions to learn from"):
        Positions.read(file, partly=True)


def test_what_is_not_damaged_is_used_if_asked(
    file: Path, positions: Positions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "_ROWS", 1000)
    positions.write(file, {})
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"byte 4: column mover of 1,000 positions \(row group 0"):
        Positions.read(file)
    told: list[str] = []
    rest = Positions.read(file, partly=True, tell=told.append)
    assert np.array_equal(rest.mover, positions.mover[1000:])
    assert len(told) == 1 and "byte 4: column mover" in told[0]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("opponent", (1 << 64) - 1, "row 7: two masks"),
        ("score", np.nan, "row 7: a score from -64 to 64"),
        ("games", 0, "row 7: one game or more"),
        ("split", 3, "row 7: a split from 0 to 2"),
    ],
)
def test_rows_that_cannot_be(
    positions: Positions, tmp_path: Path, column: str, value: float, message: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "wrong.parquet"
    positions[:20].write(path, {})
    table = pq.read_table(path)
    values = table[column].to_numpy().copy()
    values[7] = value
    place = table.schema.get_field_index(column)
    pq.write_table(table.set_column(place, column, pa.array(values)), path)
    with pytest.raises(ConfigError, match=message):
        Positions.read(path)


def test_another_table_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"mover": [1, 2]}), path)
    with pytest.raises(ConfigError, match="column mover of type uint64 is expected"):
        Positions.read(path)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install '\.\[learn\]'"):
        Positions.read("nothing.parquet")


def test_no_file_is_no_data() -> None:
    with pytest.raises(ConfigError, match="no positions to learn from"):
        Positions.read([])
    with pytest.raises(ConfigError, match=r"nowhere\.parquet: cannot be read"):
        Positions.read("nowhere.parquet")


def test_a_stage_with_fifty_positions_is_measured() -> None:
    rng = np.random.default_rng(1)
    for count, measured in ((FEW, 1), (FEW - 1, 0)):
        discs = np.full(count, (1 << 20) - 1, dtype=np.uint64)  # 44 squares are empty
        positions = Positions(
            discs,
            np.zeros(count, dtype=np.uint64),
            rng.normal(size=count).astype(np.float32),
            np.ones(count, dtype=np.int32),
            np.zeros(count, dtype=bool),
            np.arange(count, dtype=np.int64),
            np.zeros(count, dtype=np.uint8),
        )
        assert len(errors_by_stage(np.zeros(count), positions, 0)) == measured


def test_a_share_is_of_the_hashes_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_mixed", lambda numbers: numbers)
    quarters = np.arange(4, dtype=np.uint64) << np.uint64(62)
    games = quarters, np.zeros(4, dtype=np.uint64), np.arange(4)
    assert data.splits(*games, 0.25, 0.25).tolist() == [TEST, VALIDATION, TRAIN, TRAIN]
    assert data.splits(*games, 0.0, 0.0).tolist() == [TRAIN] * 4
