"""One contract, held by every agent in ``conf/agent``, and every YAML in ``conf/`` usable."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bots import bot, engine, player

from othello_lab import (
    PASS,
    Agent,
    Color,
    Decision,
    Limits,
    Position,
    RandomAgent,
    SearchStats,
)
from othello_lab.agents import contract
from othello_lab.agents.command_line import main
from othello_lab.agents.composing import choices, conf_folder, load
from othello_lab.agents.config import build_agent, fill_open
from othello_lab.agents.contract import FAILED, NOT_ASKED, ContractVerdict, check

EVALUATION = {"_target_": "othello_lab.DiscCount"}  # plays on every board
FITTED = {"_target_": "othello_lab.SquareWeights"}  # for what works with fitted parameters only
STRATEGIES = Path(__file__).with_name("external") / "paip.py"

settings_of = cache(partial(load, "agent"))  # composing them takes longer than most of these tests


OTHERS: dict[str, dict[str, Callable[[Path], str]]] = {
    "line": {"command": bot},
    "gtp": {"command": lambda _: engine("gtp")},
    "nboard": {"command": lambda _: engine("nboard")},
    "wpi": {"command": player},
    "function": {"target": lambda _: f"{STRATEGIES}:random_strategy"},
    "openspiel": {"target": lambda _: "othello_lab.agents.external.openspiel:mcts(20)"},
}
"""What agents that stand for something else need: of each setting, what makes it in a folder. The
module of another protocol is itself, run as a program, a player of that protocol."""


def make(name: str, folder: Path) -> Agent:
    if name == "openspiel":
        pytest.importorskip("pyspiel", reason="needs OpenSpiel, the extra openspiel")
    evaluation = FITTED if name == "probcut" else EVALUATION
    others = {key: give(folder) for key, give in OTHERS.get(name, {}).items()}
    if settings_of(name).get("command") == "???" and not others:
        module = settings_of(name)["_target_"].rpartition(".")[0]
        others["command"] = f"{sys.executable} -m {module}"
    filled, _ = fill_open({name: settings_of(name)}, depth=2, evaluation=evaluation, **others)
    if "playouts" in filled[name]:
        filled[name]["playouts"] = 100
    if isinstance(filled[name].get("depth"), int):  # which not all leave open
        filled[name]["depth"] = 2
    return build_agent(filled[name], name)


def names(verdict: ContractVerdict, outcome: str) -> set[str]:
    return {finding.name for finding in verdict.findings if finding.outcome == outcome}


NIGHTLY = {
    *("aspiration", "champion", "endgame", "enhanced_cutoff", "greedy", "iterative", "limited"),
    *("maximizer", "mcts_greedy", "mcts_network", "minimax", "mtdf", "openspiel", "probcut"),
    *("singular", "weighted", "wpi"),
}
"""Agents of families of which others are tried in each run of the integration tests."""
AGENTS = [
    pytest.param(name, marks=pytest.mark.nightly if name in NIGHTLY else pytest.mark.integration)
    for name in sorted(choices("agent"))
]


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_keeps_to_the_contract(name: str, tmp_path: Path) -> None:
    verdict = check(make(name, tmp_path), patience=60)
    # OpenSpiel's game has one start.
    cannot = {"openspiel": {"cut short"}}.get(name, set())
    assert names(verdict, FAILED) <= cannot, f"\n{verdict}"
    # What does not concern an agent: random moves are not searched for, playouts have no depth.
    without = {"random": {"depth", "nodes"}, "mcts": {"depth"}, "mcts_greedy": {"depth"}}
    without |= {"mcts_network": {"depth"}, "function": {"depth", "nodes"}}
    if "command" in settings_of(name):  # another program
        without[name] = {"depth", "nodes", "seed", "memory", "twice"}
    without |= {"openspiel": {"depth", "nodes"}}
    assert names(verdict, NOT_ASKED) == without.get(name, set())


# ------------------------------------------------------------------ each check finds its agent


class Good(RandomAgent):
    """Looks one ply ahead, and counts; what those below break."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        move = super().decide(position, limits).move
        return Decision(move, 0, (move,), 1, SearchStats(nodes=2))


class Answers(Good):
    """Gives another decision than the right one, or does something else besides."""

    def __init__(self, change: Callable[[Decision, Position, Limits], Decision]) -> None:
        self.change = change

    def decide(self, position: Position, limits: Limits) -> Decision:
        return self.change(super().decide(position, limits), position, limits)


def occupied_square(right: Decision, position: Position, limits: Limits) -> Decision:
    discs = position.mover | position.opponent
    return Decision(discs.bit_length() - 1) if position.empties < 9 else right


def longer_line(right: Decision, position: Position, limits: Limits) -> Decision:
    return replace(right, pv=(right.move, *position.play(right.move).moves[:1]))


def in_its_own_time(right: Decision, position: Position, limits: Limits) -> Decision:
    time.sleep(3 * (limits.seconds or 0))
    return right


def meddling(right: Decision, position: Position, limits: Limits) -> Decision:
    object.__setattr__(position, "opponent", position.opponent & ~position.mover)
    object.__setattr__(position, "mover", position.mover & (position.mover - 1))
    return right


def relaxing(right: Decision, position: Position, limits: Limits) -> Decision:
    object.__setattr__(limits, "nodes", None)
    object.__setattr__(limits, "depth", 60)
    return right


def hanging(right: Decision, position: Position, limits: Limits) -> Decision:
    while limits.depth:
        signal.pause()
    return right


def altered(**attributes: Any) -> Good:
    """One that has some attributes of its own."""
    agent = Good()
    vars(agent).update(attributes)
    return agent


def raising(words: str) -> Callable[..., None]:
    def refuse(*_: Any) -> None:
        raise ValueError(words)

    return refuse


class PreparesWorseEachTime(Good):
    prepared = 0

    def prepare(self, announce: Any = None) -> None:
        self.prepared += 1

    def decide(self, position: Position, limits: Limits) -> Decision:
        return replace(super().decide(position, limits), value=self.prepared)


class GivesUp(Good):
    """A stateful one: it plays no more than ten moves of a game."""

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self.asked = 0

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.asked += 1
        if self.asked > 10:
            raise RuntimeError("I resign")
        return super().decide(position, limits)


class KeepsABoard(Good):
    """Follows the game on a board of its own, as engines do; ``ignores`` is what it overlooks."""

    def __init__(self, ignores: str = "") -> None:
        self.ignores = ignores

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self.board = Position.start(start.ruleset) if self.ignores == "start" else start

    def observe(self, move: int, position: Position) -> None:
        if move == PASS and self.ignores == "a death":
            os._exit(11)
        if move != PASS or self.ignores != "passes":
            self.board = self.board.play(move)
        assert self.board.discs == position.discs or self.ignores == "start"

    def decide(self, position: Position, limits: Limits) -> Decision:
        if self.board != position:
            raise RuntimeError("that is not my board")
        return super().decide(position, limits)


class ClosesWhatIsNotThere(Good):
    def close(self) -> None:
        del self.rng  # there is none if it has not played


def own_lots(right: Decision, position: Position, limits: Limits) -> Decision:
    return replace(right, move=random.choice(position.moves), pv=())


BROKEN: dict[str, tuple[Agent, set[str], str]] = {
    "boards": (altered(boards=lambda: frozenset({8, 10})), {"itself"}, "10"),
    "version": (altered(version="2"), {"itself"}, "version"),
    "kind": (altered(selective=None), {"itself"}, "selective"),
    "no limits": (altered(check_limits=raising("clock: it needs one")), {"itself"}, "clock"),
    "no weights": (altered(prepare=raising("no weights")), {"prepare"}, "ValueError: no weights"),
    "prepared twice": (PreparesWorseEachTime(), {"twice"}, "value 1, depth 1"),
    "occupied square": (Answers(occupied_square), {"moves"}, "square occupied"),
    "words": (Answers(lambda *_: Decision("here")), {"moves"}, "'here'"),  # type: ignore[arg-type]
    "impossible line": (
        Answers(lambda right, *_: replace(right, pv=(right.move, right.move), depth=2)),
        {"line", "depth"},
        "cannot be played",
    ),
    "another line": (
        Answers(lambda right, at, _: replace(right, pv=(at.moves[-1],), move=at.moves[0])),
        {"line"},
        "another move",
    ),
    "longer line": (Answers(longer_line), {"line"}, "longer"),
    "gives up": (GivesUp(), {"games", "seed", "memory"}, "RuntimeError: I resign"),
    "start": (KeepsABoard("start"), {"cut short"}, "IllegalMove"),
    "own lots": (Answers(own_lots), {"seed", "memory", "twice"}, "another time"),
    "lots go on": (
        altered(begin_game=lambda *_: None, rng=np.random.default_rng(1)),
        {"memory"},
        "another time",
    ),
    "too deep": (Answers(lambda right, *_: replace(right, depth=2)), {"depth"}, "depth 2"),
    "too many nodes": (
        Answers(lambda right, *_: replace(right, stats=SearchStats(nodes=10_000))),
        {"nodes"},
        "nodes 10000",
    ),
    "late": (Answers(in_its_own_time), {"seconds"}, "answered after "),
    "meddling": (Answers(meddling), {"hands off"}, "became"),
    "relaxing": (Answers(relaxing), {"hands off"}, "depth=60"),
    "closed unplayed": (ClosesWhatIsNotThere(), {"close"}, "AttributeError"),
}


def ask_only(monkeypatch: pytest.MonkeyPatch, *asked: str) -> None:
    """Of the checks only these, and those that all others need."""
    names = {"itself", "prepare", "moves", *asked}
    checks = tuple(each for each in contract.CHECKS if each.name in names)
    monkeypatch.setattr(contract, "CHECKS", checks)


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.integration
def test_each_check_finds_who_breaks_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, failed, why = BROKEN[name]
    ask_only(monkeypatch, *failed)
    verdict = check(agent, patience=20.0)
    assert names(verdict, FAILED) == failed, f"\n{verdict}"
    assert not verdict.holds
    first = next(finding for finding in verdict.findings if finding.outcome == FAILED)
    assert why in first.detail
    if not failed & {"itself", "prepare", "close"}:  # the position, as a board
        assert "\n  a b c d" in first.detail


def test_every_check_has_an_agent_that_fails_it() -> None:
    found = set().union(*(failed for _, failed, _ in BROKEN.values()))
    assert found == {each.name for each in contract.CHECKS}


@pytest.mark.parametrize("ignores", ["passes", "a death"])
def test_passes_are_told_in_some_game(ignores: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_only(monkeypatch)
    verdict = check(KeepsABoard(ignores))
    assert names(verdict, FAILED) == {"moves"}
    assert ignores == "passes" or "(exit code 11) after observe of the move --" in str(verdict)


@pytest.mark.integration
def test_nothing_more_is_asked_of_who_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    ask_only(monkeypatch, "depth", "nodes", "close")
    verdict = check(Answers(hanging), patience=2)
    assert names(verdict, FAILED) == {"depth"} and "after decide" in str(verdict)
    assert names(verdict, NOT_ASKED) == {"nodes", "close"}


@pytest.mark.integration
def test_what_needs_limits_gets_some() -> None:
    class NeedsNodes(Good):
        def check_limits(self, limits: Limits) -> None:
            if not limits.nodes:
                raise ValueError("nodes: set them")

        def decide(self, position: Position, limits: Limits) -> Decision:
            assert limits.nodes
            return super().decide(position, limits)

    verdict = check(NeedsNodes())
    assert verdict.holds, f"\n{verdict}"
    assert names(verdict, NOT_ASKED) == {"seconds"}


def test_the_agent_itself_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ask_only(monkeypatch)
    agent = GivesUp()
    assert check(agent).holds
    assert not hasattr(agent, "asked")


# ------------------------------------------------------------------ on the command line

MINE = """
from othello_lab import Agent, Decision

class Picky(Agent):
    def __init__(self, favourite: int, depth: int) -> None:
        self.favourite = favourite
        self.depth = depth

    def decide(self, position, limits):
        if self.favourite == 27:
            return Decision(27)
        return Decision(position.moves[0], depth=1)
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_picky_agents", raising=False)
    path = tmp_path / "my_picky_agents.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    "words",
    ["greedy", "maximizer evaluation=mobility", "misbehaving.Mine", "othello_lab.Minimax depth=1"],
)
@pytest.mark.integration
def test_check_says_that_an_agent_holds(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if words != "greedy":
        ask_only(monkeypatch, "line")
    assert main(["check", *words.split()]) == 0
    *lines, verdict = capsys.readouterr().out.splitlines()
    assert len(lines) == len(contract.CHECKS)
    for line, each in zip(lines, contract.CHECKS, strict=True):
        assert line.startswith(each.name) and len(line) <= 80
        assert (f"  ok         {each.asked}" in line) != ("  skipped  " in line)
    assert verdict.startswith(f"{words.split()[0]} ")


@pytest.mark.integration
def test_check_says_what_is_wrong(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_only(monkeypatch)
    assert main(["check", f"{mine}:Picky", "favourite=0"]) == 0
    assert main(["check", f"{mine}:Picky", "favourite=27"]) == 1
    printed = capsys.readouterr().out
    assert "moves      failed " in printed and "d4: square occupied" in printed
    assert "\n      a b c d e f g h\n" in printed
    assert printed.endswith(": moves\n")


@pytest.mark.integration
def test_check_finds_the_agents_of_ones_own_yamls(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine.parent / "agent").mkdir()
    yaml = "# Picky\n_target_: my_picky_agents.Picky\nfavourite: 1\ndepth: ???\n"
    (mine.parent / "agent" / "picky.yaml").write_text(yaml)
    monkeypatch.syspath_prepend(str(mine.parent))
    ask_only(monkeypatch)
    for favourite in (0, 27):
        words = ["picky", f"favourite={favourite}", "--config-dir", str(mine.parent)]
        assert main(["check", *words]) == int(favourite == 27)


# ------------------------------------------------------------------ configuration


def test_every_yaml_says_in_its_first_line_what_it_is() -> None:
    for path in conf_folder().rglob("*.yaml"):
        name = path.relative_to(conf_folder())
        assert path.read_text(encoding="utf-8").startswith("# "), name
        if len(name.parts) == 2:
            assert choices(name.parts[0])[path.stem], name
