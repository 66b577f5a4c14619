"""Positions to learn from: one for eight images, split by game, and files that are damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from taught import Line, random_games, scored

from othello_lab.core.bitboard import mirror
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.training import data
from othello_lab.training.data import TEST, TRAIN, VALIDATION, Positions
from othello_lab.training.measuring import FEW, errors_by_stage


def collected(games: list[Line], mirrored: bool = False, **options: float) -> Positions:
    rows = [
        (*position.masks, score, number)
        for number, line in enumerate(games)
        for position, score in scored(line)
    ]
    masks = [np.array([row[index] for row in rows], dtype=np.uint64) for index in (0, 1)]
    if mirrored:
        masks = [mirror(of_side) for of_side in masks]
    scores, numbers = (np.array([row[index] for row in rows]) for index in (2, 3))
    side = games[0][0].ruleset.side
    exact = np.zeros(len(rows), dtype=bool)
    return Positions.of_games(*masks, scores, exact, numbers, side=side, **options)


@pytest.fixture(scope="module")
def games() -> list[Line]:
    return random_games(60)


@pytest.fixture(scope="module")
def positions(games: list[Line]) -> Positions:
    return collected(games)


@pytest.fixture
def file(positions: Positions, tmp_path: Path) -> Path:
    path = tmp_path / "positions.parquet"
    positions.write(path, {"seed": 1})
    return path


def test_positions_are_those_of_the_games_once(games: list[Line], positions: Positions) -> None:
    scores: dict[tuple[int, int], list[int]] = {}
    for line in games:
        for position, score in scored(line):
            scores.setdefault(position.canonical().masks, []).append(score)
    forms = list(zip(positions.mover.tolist(), positions.opponent.tolist(), strict=True))
    assert sorted(scores) == forms
    start = forms.index(next(iter(scores)))
    assert positions.empties[start] == 60 and positions.split[start] == TRAIN
    once = [row for row, form in enumerate(forms) if len(scores[form]) == 1]
    assert positions.score[once].tolist() == [scores[forms[row]][0] for row in once]
    # A position of several games has the mean of those on its side.
    sides = {0: TRAIN} | dict(zip(positions.game.tolist(), positions.split.tolist(), strict=True))
    of_train = [number for number in range(len(games)) if sides.get(number) == TRAIN]
    assert positions.games[start] == len(of_train)
    mean = np.mean([scores[forms[start]][number] for number in of_train])
    assert positions.score[start] == pytest.approx(mean)


def test_a_small_board_has_its_own_images() -> None:
    result = collected(random_games(5, "mini6"))
    some = Position(int(result.mover[9]), int(result.opponent[9]), ruleset=ruleset("mini6"))
    assert some.canonical() == some and result.empties.max() == 32


def test_games_are_split_whatever_is_read_with_them(
    games: list[Line], positions: Positions
) -> None:
    """And alike for mirror images."""
    late = collected(games[:30]).stage(0, 20)  # which no two games share
    forms = zip(positions.mover, positions.opponent, strict=True)
    places = {form: row for row, form in enumerate(forms)}
    rows = [places[form] for form in zip(late.mover, late.opponent, strict=True)]
    assert positions.split[rows].tolist() == late.split.tolist()
    assert collected(games, mirrored=True).data_hash == positions.data_hash


def test_no_position_is_on_two_sides(games: list[Line], positions: Positions) -> None:
    result = collected(games, validation=0.3, test=0.3)
    counts = np.bincount(result.split, minlength=3)
    assert counts.sum() == len(result) and counts.min() > 300
    assert len(set(zip(result.mover, result.opponent, strict=True))) == len(result)
    both = Positions.together([collected(games[:30]), positions])
    assert both.data_hash != result.data_hash
    assert both.mover.tolist() == positions.mover.tolist()
    assert both.split.tolist() == positions.split.tolist()


def test_shares_of_the_games_are_those_asked_for() -> None:
    masks = np.arange(2000, dtype=np.uint64), np.zeros(2000, dtype=np.uint64)
    split = data.splits(*masks, np.arange(2000), 0.3, 0.1)
    counts = {side: int((split == side).sum()) for side in (TRAIN, VALIDATION, TEST)}
    assert counts == pytest.approx({TRAIN: 1200, VALIDATION: 600, TEST: 200}, abs=80)
    assert not data.splits(*masks, np.arange(2000), 0.0, 0.0).any()


def test_an_exact_score_outweighs_others() -> None:
    masks = (np.full(3, mask, dtype=np.uint64) for mask in (1, 2))
    exact = np.array([False, True, False])
    result = Positions.of_games(
        *masks, np.array([10, -2, 30]), exact, np.arange(3), test=0, validation=0
    )
    assert (result.score, result.exact, result.games) == (-2, True, 1)


def test_parts_of_them(positions: Positions) -> None:
    assert set(positions.stage(10, 12).empties.tolist()) == {10, 11, 12}
    assert set(positions.part(VALIDATION).split.tolist()) == {VALIDATION}
    drawn = positions.sample(100, np.random.default_rng(1))
    assert len({*zip(drawn.mover.tolist(), drawn.opponent.tolist(), strict=True)}) == 100
    assert len(positions.sample(10**6, np.random.default_rng(1))) == len(positions)


def test_a_file_holds_them_all(positions: Positions, file: Path) -> None:
    again = Positions.read(str(file))
    assert again.data_hash == data.provenance(file)["data_hash"] == positions.data_hash
    assert "seed: 1" in data.beside(file).read_text()
    assert np.array_equal(Positions.read([file, file]).score, positions.score)


@pytest.mark.parametrize(
    ("begin", "end", "where"), [(0, 3, "byte 0"), (7, 5000, "byte 0"), (0, -20, r"byte \d+.*cut")]
)
def test_a_damaged_file_is_named(file: Path, begin: int, end: int, where: str) -> None:
    file.write_bytes(file.read_bytes()[begin:end])
    with pytest.raises(ConfigError, match=rf"positions.parquet: {where}"):
        Positions.read(file)
    with pytest.raises(ConfigError, match="no positions"):
        Positions.read(file, partly=True)


def test_what_is_not_damaged_is_used_if_asked(file: Path, positions: Positions) -> None:
    import pyarrow.parquet as pq

    groups = {"row_group_size": 1000, "write_page_checksum": True}
    pq.write_table(pq.read_table(file), file, **groups)
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    where = "byte 4: column mover of 1,000 positions"
    with pytest.raises(ConfigError, match=where):
        Positions.read(file)
    messages: list[str] = []
    rest = Positions.read(file, partly=True, tell=messages.append)
    assert np.array_equal(rest.mover, positions.mover[1000:])
    assert len(messages) == 1 and where in messages[0]


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("opponent", (1 << 64) - 1, "row 7: two masks"),
        ("score", np.nan, "row 7: a score"),
        ("score", -64.5, "row 7: a score"),
        ("games", 0, "row 7: one game"),
        ("split", 3, "row 7: a split"),
        ("mover", None, "column mover of type uint64"),
    ],
)
def test_rows_that_cannot_be(
    positions: Positions, tmp_path: Path, column: str, value: float | None, reason: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "wrong.parquet"
    positions[:20].write(path, {})
    table = pq.read_table(path)
    values = table[column].to_numpy().copy()
    if value is None:
        values = values.astype(np.int32)
    else:
        values[7] = value
    index = table.schema.get_field_index(column)
    pq.write_table(table.set_column(index, column, pa.array(values)), path)
    with pytest.raises(ConfigError, match=reason):
        Positions.read(path)


@pytest.mark.parametrize("files", [[], "nowhere.parquet"])
def test_no_file_is_no_data(files: list[str] | str) -> None:
    with pytest.raises(ConfigError, match=r"no positions|nowhere\.parquet"):
        Positions.read(files)


def test_a_stage_with_fifty_positions_is_measured() -> None:
    rng = np.random.default_rng(1)
    for count, measured in ((FEW, 1), (FEW - 1, 0)):
        discs = np.full(count, (1 << 20) - 1, dtype=np.uint64)  # 44 squares are empty
        score, ones = rng.normal(size=count).astype(np.float32), np.ones(count, dtype=np.int32)
        zeros = [np.zeros(count, dtype=kind) for kind in (np.uint64, bool, np.int64, np.uint8)]
        positions = Positions(discs, zeros[0], score, ones, *zeros[1:])
        assert len(errors_by_stage(np.zeros(count), positions, 0)) == measured
