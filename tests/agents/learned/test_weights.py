"""Files of weights: written, read, and refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import yaml
from refusals import refused

from othello_lab.agents.composing import choices
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.learned import (
    NetworkEvaluation,
    PatternEvaluation,
    TreeEvaluation,
    network,
    patterns,
    trees,
)
from othello_lab.agents.learned.weights import (
    ABOUT,
    SHIPPED,
    VALUES,
    LearnedWeights,
    shipped,
    values_of,
)
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS

ARRAYS = {"first": np.arange(6, dtype=np.int16).reshape(2, 3), "second": np.float32([1.5])}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    weights = LearnedWeights("kind", 2, 100, ARRAYS, {"seed": 7, "data": {"hash": "abc"}})
    return weights.write(tmp_path / "mine")


def test_what_is_written_is_read(file: Path) -> None:
    found = LearnedWeights.read(file, "kind", 2, ["first"])
    assert (found.kind, found.version, found.unit) == ("kind", 2, 100)
    assert found.about == {"seed": 7, "data": {"hash": "abc"}}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].dtype == array.dtype


def test_the_same_weights_give_the_same_file(file: Path, tmp_path: Path) -> None:
    again = LearnedWeights("kind", 2, 100, ARRAYS).write(tmp_path / "again.npz")
    assert again.read_bytes() == file.read_bytes()


def test_other_weights_are_refused(file: Path, tmp_path: Path) -> None:
    for kind, version, arrays, words in (
        ("other", 2, [], "kind other"),
        ("kind", 3, [], "version 2; 3"),
        ("kind", 2, ["third"], "'third'; first, second"),
    ):
        with refused(*words.split()):
            LearnedWeights.read(file, kind, version, arrays)
    for evaluation, other in (
        (NetworkEvaluation, trees),
        (TreeEvaluation, patterns),
        (PatternEvaluation, network),
    ):
        others = LearnedWeights(other.KIND, 1, 100, ARRAYS).write(tmp_path / "others.npz")
        with refused(other.KIND):
            evaluation(others)
    with refused("none.yaml"):
        LearnedWeights.read(tmp_path / "none.npz", "kind", 2)
    with refused("'nobody'"):
        LearnedWeights.read("nobody", "kind", 2)


def test_damaged_weights_are_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-10])
    with refused("sha256", "mine.yaml"):
        LearnedWeights.read(file, "kind", 2)
    file.with_suffix(".yaml").write_text("[")
    with refused("mine.yaml", "YAML"):
        LearnedWeights.read(file, "kind", 2)


def test_what_ships_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.glob("*")) <= 5_000_000
    for name in shipped():
        assert (SHIPPED / f"{name}.yaml").is_file()


@pytest.mark.integration
def test_damage_with_a_fitting_hash_is_one_line(file: Path) -> None:
    """Whatever is damaged: the archive, its packing, the arrays, the description."""
    whole = file.read_bytes()
    about = yaml.safe_load(file.with_suffix(".yaml").read_text(encoding="utf-8"))
    rng = np.random.default_rng(7)
    refused = []
    for number in range(600):
        content = bytearray(whole)
        for place in rng.integers(len(whole), size=1 + number % 3):
            content[place] = rng.integers(256)
        if number % 5 == 0:
            content = content[: rng.integers(1, len(whole))]
        file.write_bytes(bytes(content))
        about["sha256"] = hashlib.sha256(content).hexdigest()
        file.with_suffix(".yaml").write_text(yaml.safe_dump(about), encoding="utf-8")
        try:
            LearnedWeights.read(file, "kind", 2, ["first"])
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 200
    assert all("\n" not in said and str(file) in said for said in refused)
    about["unit"] = [1]
    file.write_bytes(whole)
    about["sha256"] = hashlib.sha256(whole).hexdigest()
    file.with_suffix(".yaml").write_text(yaml.safe_dump(about), encoding="utf-8")
    with pytest.raises(ValueError, match=r"unit \[1\]"):
        LearnedWeights.read(file, "kind", 2)


LEARNED = sorted(path.stem for path in SHIPPED.glob(f"*{ABOUT}"))


@pytest.mark.parametrize("name", LEARNED)
def test_shipped_evaluations_say_what_they_said(name: str) -> None:
    about = yaml.safe_load((SHIPPED / f"{name}{ABOUT}").read_text(encoding="utf-8"))
    evaluation = load_evaluation(name)
    assert about[VALUES] == values_of(evaluation)
    rules = next(rules for rules in RULESETS.values() if rules.side in evaluation.sides)
    for line, value in about[VALUES].items():
        assert evaluation.plain(Position.from_obf(line, rules)) == value
    # And tell how they were made.
    assert name in choices("evaluation")
    assert about["command"].startswith("othello-lab train ")
    assert isinstance(about["seed"], int) and about["versions"]
