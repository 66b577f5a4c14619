"""Files of settings and of weights: each is read, or refused in one line."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import fuzzing
import numpy as np
import pytest
import yaml
from fuzzing import Draw, fuzzed, stored

from othello_lab import Position
from othello_lab.agents.config import build_agent, load
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.external.submission import submissions
from othello_lab.agents.hydra_parts import parse, with_paths
from othello_lab.agents.learned.network import NetworkEvaluation
from othello_lab.agents.learned.patterns import PatternEvaluation
from othello_lab.agents.learned.trees import TreeEvaluation
from othello_lab.agents.learned.weights import LearnedWeights, shipped
from othello_lab.agents.search.window.probcut import FITTED, ProbCut
from othello_lab.agents.sides import side_of
from othello_lab.experiments.config import read
from othello_lab.experiments.studies.claims import Claims
from othello_lab.experiments.sweep.folder import Sweep
from othello_lab.training.checkpoints import read_state, write_state
from othello_lab.training.folder import about_of
from othello_lab.training.learned_files import StepResult

# ---------------------------------------------------------------------- YAML

AGENT = """\
_target_: othello_lab.AlphaBeta
depth: 3
ordering: static
evaluation:
  _target_: othello_lab.Composite
  weights: {mobility: 3, corners: 10}
"""
SMALL = ("_target_: othello_lab.GreedyAgent\n", "_target_: othello_lab.RandomAgent\nx: 1\n")


def refused(parse: Callable[[], object]) -> None:
    """Names may be repeated in a message; the command line shortens it."""
    fuzzing.refused(parse, 40_000)


@fuzzed(5000, few=50)
def test_settings_of_agents(draw: Draw) -> None:
    try:
        settings: Any = yaml.safe_load(draw.edited(AGENT, *SMALL).replace("\0", ""))
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    if isinstance(settings, dict):
        refused(lambda: build_agent(settings, "mine"))


GROUPS = {
    "agent": AGENT,
    "evaluation": "_target_: othello_lab.Composite\nweights: {mobility: 3}\n",
    "schedule": "_target_: othello_lab.experiments.pairing.Gauntlet\nchampion: a\n",
}
EXPERIMENT = """\
# @package _global_
defaults:
  - _self_
  - override /agents: duel
  - override /agent@first: greedy
  - override /agent@second: random

name: mine
games: 4
openings:
  plies: 4
"""


FACTS = "name: a\nstarted: 2026-01-01T00:00:00\nconfig: {}\nversions: {}\ncomplete: true\n"
CLAIMS = "- alphabeta > greedy\n- random < greedy\n"
RESULT = "label: a\ntables: []\nfigures: []\nkind: patterns\nversion: 1\n"
SWEEP = "command: run -m depth=1,2\narguments: [depth=1,2]\ncombinations:\n- [depth=1]\n- []\n"
PROBCUT = (FITTED / "square_weights.yaml").read_text(encoding="utf-8")
PROBCUT = "- depth:".join(PROBCUT.split("- depth:")[:3])  # two checks are enough


def build_agents(path: Path) -> None:
    """As the command line does."""
    for word in with_paths([f"agent@first={path}"]):
        parse(word)


def option(path: Path) -> object:
    return load(path.parent.name, path.stem, [path.parents[1]])


FILES: dict[str, tuple[Sequence[str], int, Callable[[Path], object]]] = {
    "mine.yaml": ((AGENT, *SMALL), 30, build_agents),
    "side/mine.yaml": ((AGENT, *SMALL), 30, lambda path: side_of(str(path))),
    **{f"{group}/mine.yaml": ([text], 3, option) for group, text in GROUPS.items()},
    "experiment/mine.yaml": ([EXPERIMENT], 3, lambda p: read(["experiment=mine"], [p.parents[1]])),
    "selfplay.yaml": ([FACTS], 100, lambda path: about_of(path.parent)),
    "claims.yaml": ([CLAIMS], 100, lambda path: Claims(claims=str(path))),  # type: ignore[arg-type]
    "weights/a.learned.yaml": ([RESULT], 100, lambda path: StepResult.read(path.parents[1], "a")),
    "sweep.yaml": ([SWEEP], 100, lambda path: Sweep.read(path.parent)),
    "probcut.yaml": ([PROBCUT], 50, lambda path: ProbCut.load(path).array(1.5)),
}
"""By name: right contents, how many inputs are tried, and what reads the file."""


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", FILES)
def test_files(name: str, times: int, tmp_path: Path) -> None:
    right, few, read_it = FILES[name]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    for number in range(few * times):
        draw = Draw(number)
        path = stored(tmp_path / name, draw.text(*right))
        try:
            refused(partial(read_it, path))
        except BaseException as error:
            error.add_note(f"input {number}: {draw.drawn!r:.3000}")
            raise


NOTES = ("protocol: line\ncommand: java Anna\n", "target: a.py:one\n", "protocol: file\n")


@fuzzed(2000)
def test_notes_beside_a_submission(draw: Draw, tmp_path: Path) -> None:
    """They refuse their own program at most."""
    (tmp_path / "anna").write_text("#!/bin/sh\n")
    stored(tmp_path / "anna.yaml", draw.text(*NOTES))
    ((name, about),) = submissions(str(tmp_path)).items()
    assert name == "anna"
    assert "\n" not in about.get("problem", "")
    for text in about.values():
        text.encode()


# ---------------------------------------------------------------------- weights

SMALL_ARRAYS = {"first": np.arange(6, dtype=np.int16).reshape(2, 3), "second": np.float32([1.5])}


@pytest.fixture(scope="module")
def small_weights(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    """The content of a file of weights and of its YAML."""
    path = tmp_path_factory.mktemp("weights") / "mine.npz"
    LearnedWeights("kind", 2, 100, SMALL_ARRAYS, {"seed": 7}).write(path)
    return path.read_bytes(), path.with_suffix(".yaml").read_text(encoding="utf-8")


@fuzzed(2000)
def test_files_of_weights(draw: Draw, small_weights: tuple[bytes, str], tmp_path: Path) -> None:
    """Damaged anywhere, with a hash that fits or not."""
    path = tmp_path / "mine.npz"
    about = path.with_suffix(".yaml")
    whole, text = small_weights
    content = draw.damaged(whole) if draw.random() < 0.8 else whole
    path.write_bytes(content)
    if draw.random() < 0.5:
        text = draw.text(text)
    digest = hashlib.sha256(whole).hexdigest()
    stored(about, text.replace(digest, hashlib.sha256(content).hexdigest()))
    refused(lambda: LearnedWeights.read(path, "kind", 2, ["first"]))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The content of a file with a training's state."""
    path = tmp_path_factory.mktemp("training") / "state"
    write_state(path, {**SMALL_ARRAYS, "bytes": b"abc", "step": 3})
    return path.read_bytes()


@fuzzed(4000)
def test_checkpoints(draw: Draw, checkpoint: bytes, tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(draw.damaged(checkpoint))
    refused(lambda: read_state(path))


LEARNED = {"patterns6": PatternEvaluation, "network": NetworkEvaluation, "trees": TreeEvaluation}


@pytest.fixture(scope="module")
def weights() -> dict[str, LearnedWeights]:
    assert set(LEARNED) <= set(shipped())
    modules = {name: sys.modules[kind.__module__] for name, kind in LEARNED.items()}
    return {name: LearnedWeights.read(name, m.KIND, m.VERSION) for name, m in modules.items()}


def changed(draw: Draw, array: np.ndarray) -> np.ndarray:
    """An array of another shape or kind, or with other numbers."""
    match draw.randrange(6):
        case 0:
            return array.astype(draw.choice([np.float32, np.int64, np.uint8, np.bool_, "U3", "c8"]))
        case 1:
            return array[: draw.randrange(len(array))] if array.ndim else array
        case 2:
            return array.ravel()
        case 3:
            return np.array(draw.choice([3, 2.5, "text", True]))
        case _:
            new = array.copy()
            extreme = draw.choice([-1, 1 << 62, -(1 << 62), 255, 65, 1 << 15])
            with np.errstate(all="ignore"):
                new.flat[draw.randrange(new.size)] = np.array(extreme).astype(new.dtype)
            return new


@fuzzed(1000, few=20)
def test_arrays_of_weights(draw: Draw, weights: dict[str, LearnedWeights]) -> None:
    """They are refused, or the evaluation has a value: no number leads out of a table."""
    name = draw.choice(list(LEARNED))
    whole = weights[name]
    arrays = dict(whole.arrays)
    for _ in range(draw.randrange(1, 3)):
        key = draw.choice(list(arrays))
        arrays[key] = changed(draw, arrays[key])
        draw.drawn.append(f"{key}: {arrays[key].dtype} {arrays[key].shape}")
    about = dict(whole.about) | draw.choice([{}, {"side": draw.choice([8, 6, 7, None, "x"])}])
    weights_now = LearnedWeights(whole.kind, whole.version, whole.unit, arrays, about)

    def value() -> None:
        evaluation: Evaluation = LEARNED[name](weights_now)
        start = Position.start("mini6" if 6 in evaluation.sides else "standard")
        assert abs(evaluation(start)) < 1 << 31

    refused(value)
