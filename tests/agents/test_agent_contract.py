"""One contract, held by every agent in ``conf/agent``, and every YAML in ``conf/`` usable."""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bots import bot, player
from chosen import mostly_nightly

from othello_lab import (
    PASS,
    Agent,
    Color,
    Decision,
    Evaluation,
    Limits,
    Position,
    RandomAgent,
    SearchStats,
)
from othello_lab.agents import contract
from othello_lab.agents.command_line import main
from othello_lab.agents.config import build, build_agent, choices, conf_folder, fill_open, load
from othello_lab.agents.contract import FAILED, NOT_ASKED, ContractVerdict, check

EVALUATION = {"_target_": "othello_lab.DiscCount"}  # plays on every board


FITTED = {"_target_": "othello_lab.SquareWeights"}  # for what works with fitted parameters only


STRATEGIES = Path(__file__).with_name("external") / "paip.py"
ENGINES = Path(__file__).parents[1]

settings_of = cache(partial(load, "agent"))  # composing them takes longer than most of these tests


OTHERS: dict[str, dict[str, Callable[[Path], str]]] = {
    "line": {"command": bot},
    "gtp": {"command": lambda _: f"{sys.executable} {ENGINES / 'gtp_engine.py'}"},
    "nboard": {"command": lambda _: f"{sys.executable} {ENGINES / 'nboard_engine.py'}"},
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


def keeps_to_the_contract(name: str, folder: Path) -> None:
    verdict = check(make(name, folder), patience=60)
    # OpenSpiel's game has one start.
    cannot = {"openspiel": {"cut short"}}.get(name, set())
    assert names(verdict, FAILED) <= cannot, f"\n{verdict}"
    # What does not concern an agent: random moves are not searched for, playouts have no depth.
    chance = {"seed", "memory", "twice"}
    without = {"random": {"depth", "nodes"}, "mcts": {"depth"}, "mcts_greedy": {"depth"}}
    without |= {"mcts_network": {"depth"}}
    without |= {"function": {"depth", "nodes"}}
    if "command" in settings_of(name):  # another program
        without[name] = {"depth", "nodes"} | chance
    without |= {"openspiel": {"depth", "nodes"}}
    asked = {each.name for each in contract.CHECKS}
    assert names(verdict, NOT_ASKED) == without.get(name, set()) & asked


@pytest.mark.parametrize(
    "name", mostly_nightly(sorted(choices("agent")), sorted(choices("agent"))[::8])
)
def test_every_agent_keeps_to_what_tells_agents_apart(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents differ in how they search; how they are closed, say, is common to whole families."""
    ask_only(monkeypatch, "line", "nodes", "memory")
    keeps_to_the_contract(name, tmp_path)


WHOLE = ("maximizer",)
"""One of those that look a ply ahead; those that search are slow."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in WHOLE else [pytest.mark.integration])
        for name in sorted(choices("agent"))
    ],
)
def test_every_agent_keeps_to_the_whole_contract(name: str, tmp_path: Path) -> None:
    keeps_to_the_contract(name, tmp_path)


# ------------------------------------------------------------------ each check finds its agent


class Good(RandomAgent):
    """Looks one ply ahead, and counts; what those below break."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        move = super().decide(position, limits).move
        return Decision(move, 0, (move,), 1, SearchStats(nodes=2))


class PlaysOnTenByTen(Good):
    def boards(self) -> frozenset[int]:
        return frozenset({8, 10})


class AcceptsNoLimits(Good):
    def check_limits(self, limits: Limits) -> None:
        if limits != Limits(clock=60):
            raise ValueError("clock: this agent needs one")


class CannotPrepare(Good):
    def prepare(self, announce: Any = None) -> None:
        raise ValueError("weights.bin is missing")


class PreparesWorseEachTime(Good):
    prepared = 0

    def prepare(self, announce: Any = None) -> None:
        self.prepared += 1

    def decide(self, position: Position, limits: Limits) -> Decision:
        return replace(super().decide(position, limits), value=self.prepared)


class PlaysOccupiedSquares(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        discs = position.mover | position.opponent
        return Decision(discs.bit_length() - 1 if position.empties < 9 else position.moves[0])


class AnswersInWords(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision("here")  # type: ignore[arg-type]


class DrawsAnImpossibleLine(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        decision = super().decide(position, limits)
        return replace(decision, pv=(decision.move, decision.move), depth=2)


class DrawsAnotherLine(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        decision = super().decide(position, limits)
        return replace(decision, pv=(position.moves[-1],), move=position.moves[0])


class LooksFurtherThanItSays(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        decision = super().decide(position, limits)
        replies = position.play(decision.move).moves
        return replace(decision, pv=(decision.move, *replies[:1]))


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

    ignores = ""

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self.board = Position.start(start.ruleset) if self.ignores == "start" else start

    def observe(self, move: int, position: Position) -> None:
        if move != PASS or self.ignores != "passes":
            self.board = self.board.play(move)
        assert self.board.discs == position.discs or self.ignores == "start"

    def decide(self, position: Position, limits: Limits) -> Decision:
        if self.board != position:
            raise RuntimeError("that is not my board")
        return super().decide(position, limits)


class IgnoresTheStart(KeepsABoard):
    ignores = "start"


class IgnoresPasses(KeepsABoard):
    ignores = "passes"


class DrawsItsOwnLots(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        return replace(super().decide(position, limits), move=random.choice(position.moves), pv=())


class GoesOnWithItsLots(Good):
    """Its random numbers go on from game to game."""

    def __init__(self) -> None:
        self.lots = np.random.default_rng(1)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.rng = self.lots


class LooksTooFar(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        return replace(super().decide(position, limits), depth=2)


class CountsTooMuch(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        return replace(super().decide(position, limits), stats=SearchStats(nodes=10_000))


class TakesItsTime(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        if limits.seconds:
            time.sleep(3 * limits.seconds)
        return super().decide(position, limits)


class Meddles(Good):
    """Changes the position that it is shown once it has looked at it."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        decision = super().decide(position, limits)
        if position.empties < 20:
            object.__setattr__(position, "_moves", -1)
            object.__setattr__(position, "mover", position.mover ^ position.opponent)
        return decision


class Relaxes(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        object.__setattr__(limits, "nodes", None)
        object.__setattr__(limits, "depth", 60)
        return super().decide(position, limits)


class ClosesWhatIsNotThere(Good):
    def close(self) -> None:
        del self.rng  # there is none if it has not played


class Hangs(Good):
    def decide(self, position: Position, limits: Limits) -> Decision:
        while limits.depth:
            time.sleep(1)
        return super().decide(position, limits)


class Dies(Good):
    def observe(self, move: int, position: Position) -> None:
        if move == PASS:
            os._exit(11)


BROKEN: list[tuple[Callable[[], Agent], set[str], str]] = [
    (PlaysOnTenByTen, {"itself"}, "boards() is frozenset({8, 10})"),
    (AcceptsNoLimits, {"itself"}, "clock: this agent needs one"),
    (CannotPrepare, {"prepare"}, "ValueError: weights.bin is missing"),
    (PreparesWorseEachTime, {"twice"}, "value 1, depth 1"),
    (PlaysOccupiedSquares, {"moves"}, "square occupied"),
    (AnswersInWords, {"moves"}, "move 'here' is not a square"),
    (DrawsAnImpossibleLine, {"line", "depth"}, "its line cannot be played"),
    (DrawsAnotherLine, {"line"}, "its line begins with another move"),
    (LooksFurtherThanItSays, {"line"}, "its line is longer than it looked ahead"),
    (GivesUp, {"games", "seed", "memory"}, "RuntimeError: I resign"),
    (IgnoresTheStart, {"cut short"}, "IllegalMove"),
    (DrawsItsOwnLots, {"seed", "memory", "twice"}, "and another time"),
    (GoesOnWithItsLots, {"memory"}, "and another time"),
    (LooksTooFar, {"depth"}, "depth 2"),
    (CountsTooMuch, {"nodes"}, "nodes 10000"),
    (TakesItsTime, {"seconds"}, "answered after "),
    (Meddles, {"games", "seed", "memory", "hands off"}, "illegal move"),
    (Relaxes, {"hands off"}, "the limits Limits(depth=None"),
    (ClosesWhatIsNotThere, {"close"}, "AttributeError"),
    (Hangs, {"depth"}, "no answer for 0.5 s after decide"),
]


def ask_only(monkeypatch: pytest.MonkeyPatch, *asked: str) -> None:
    """Of the checks only these, and those that all others need."""
    names = {"itself", "prepare", "moves", *asked}
    checks = tuple(each for each in contract.CHECKS if each.name in names)
    monkeypatch.setattr(contract, "CHECKS", checks)


PATIENT = (TakesItsTime,)
"""Those that are waited for."""


@pytest.mark.parametrize(
    ("kind", "failed", "why"),
    [
        pytest.param(
            *each, id=each[0].__name__, marks=[pytest.mark.integration] * (each[0] in PATIENT)
        )
        for each in BROKEN
    ],
)
def test_each_check_finds_who_breaks_it(
    kind: Callable[[], Agent], failed: set[str], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_only(monkeypatch, *failed)
    verdict = check(kind(), patience=0.5 if kind is Hangs else 20.0)
    assert names(verdict, FAILED) == failed, f"\n{verdict}"
    assert not verdict.holds
    findings = {finding.name: finding for finding in verdict.findings}
    first = findings[min(failed, key=list(findings).index)]
    assert why in first.detail
    if not failed & {"itself", "prepare", "close"}:  # the position, as a board
        assert "\n  a b c d" in first.detail


def test_every_check_has_an_agent_that_fails_it() -> None:
    found = set().union(*(failed for _, failed, _ in BROKEN))
    assert found == {each.name for each in contract.CHECKS}


@pytest.mark.integration
def test_agents_that_break_nothing_hold() -> None:
    for agent in (Good(), KeepsABoard()):
        verdict = check(agent)
        assert not names(verdict, FAILED) | names(verdict, NOT_ASKED), f"\n{verdict}"


@pytest.mark.parametrize("kind", [IgnoresPasses, Dies])
def test_passes_are_told_in_some_game(kind: type[Agent]) -> None:
    verdict = check(kind())
    assert "moves" in names(verdict, FAILED)
    if kind is Dies:
        assert "(exit code 11) after observe of the move --" in str(verdict)


def test_nothing_more_is_asked_of_who_hangs() -> None:
    began = time.monotonic()
    verdict = check(Hangs(), patience=0.3)
    later = [f.name for f in verdict.findings if f.detail == "it hangs: see depth"]
    assert later == ["nodes", "seconds", "hands off", "seed", "memory", "twice", "close"]
    assert time.monotonic() - began < 60


@pytest.mark.integration
def test_what_says_that_it_varies_is_not_asked_to_repeat_itself() -> None:
    class Varies(DrawsItsOwnLots):
        reproducible = False

    verdict = check(Varies())
    assert verdict.holds
    assert names(verdict, NOT_ASKED) == {"seed", "memory", "twice"}


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
    class Remembers(Good):
        calls = 0

        def begin_game(self, color: Color, start: Position, seed: int) -> None:
            super().begin_game(color, start, seed)
            self.calls += 1

    ask_only(monkeypatch, "games", "seed")
    agent = Remembers()
    assert check(agent).holds
    assert agent.calls == 0


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
    [
        "greedy",
        "maximizer evaluation=mobility",
        "misbehaving.Mine",
        "othello_lab.Minimax depth=1",
    ],
)
def test_check_says_that_an_agent_holds(
    words: str, mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if words != "greedy":  # one sees all lines
        ask_only(monkeypatch, "line", "nodes")
    assert main(["check", *words.split()]) == 0
    *lines, verdict = capsys.readouterr().out.splitlines()
    assert len(lines) == len(contract.CHECKS)
    for line, each in zip(lines, contract.CHECKS, strict=True):
        assert line.startswith(each.name) and len(line) <= 80
        assert (f"  ok         {each.asked}" in line) != ("  not asked  " in line)
    assert verdict == f"{words.split()[0]} keeps to the contract"


def test_check_says_what_is_wrong(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_only(monkeypatch, "line")
    assert main(["check", f"{mine}:Picky", "favourite=0"]) == 0
    assert main(["check", f"{mine}:Picky", "favourite=27"]) == 1
    printed = capsys.readouterr().out
    assert (
        "moves      failed     Legal, well-formed moves in random positions\n    answered"
        in printed
    )
    assert "d4: square occupied, at\n      a b c d e f g h\n" in printed
    assert printed.endswith(":Picky breaks the contract: moves\n")


def test_check_finds_the_agents_of_ones_own_yamls(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (mine.parent / "agent").mkdir()
    yaml = "# Picky\n_target_: my_picky_agents.Picky\nfavourite: 1\ndepth: ???\n"
    (mine.parent / "agent" / "picky.yaml").write_text(yaml)
    monkeypatch.syspath_prepend(str(mine.parent))
    ask_only(monkeypatch)
    assert main(["check", "picky", "--config-dir", str(mine.parent)]) == 0
    assert main(["check", "picky", "favourite=27", "--config-dir", str(mine.parent)]) == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("alphabeat", "unknown agent 'alphabeat'; choose from .* Did you mean 'alphabeta'"),
        ("alphabeta dpth=3", "AlphaBeta has no setting 'dpth'; .* Did you mean 'depth'"),
        ("alphabeta depth", "cannot read 'depth': settings are written key=value"),
        ("alphabeta depth=0", "depth.*0: a whole number from 1 to 64"),
        ("alphabeta evaluation=iagoo", "unknown evaluation 'iagoo'"),
        ("nowhere.Class", "cannot import .*nowhere.*searched: "),
        ("no/such/file.py:Class", "there is no file no/such/file.py"),
        ("MINE:Piky favourite=1", "unknown name 'Piky'.*Did you mean 'Picky'"),
        ("MINE:Picky", "agent .*Picky needs favourite"),
        ("misbehaving.NotAnAgent", r"misbehaving.NotAnAgent is no Agent; subclass"),
        ("greedy --patience 0", "--patience: 0: seconds of more than 0"),
        ("greedy --config-dir nowhere", "--config-dir nowhere: no such folder"),
        ("", "required: TARGET"),
    ],
)
def test_bad_input_of_check_is_one_line(
    words: str, complaint: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", *words.replace("MINE", str(mine)).split()]
    try:
        code: object = main(arguments)
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and not printed.out
    assert printed.err.startswith("othello-lab agents check: ")
    assert re.search(complaint, printed.err), printed.err


# ------------------------------------------------------------------ configuration


@pytest.mark.parametrize("name", sorted(set(choices("evaluation")) - {"function", "patterns6"}))
def test_every_evaluation_builds_and_gives_a_value(name: str) -> None:
    evaluation = build(load("evaluation", name), "evaluation")
    assert isinstance(evaluation, Evaluation)
    position = Position.from_transcript("f5d6c3d3c4")
    assert evaluation(position) == evaluation.plain(position)


def test_every_yaml_says_in_its_first_line_what_it_is() -> None:
    for path in conf_folder().rglob("*.yaml"):
        name = path.relative_to(conf_folder())
        assert path.read_text(encoding="utf-8").startswith("# "), name
        if len(name.parts) == 2:
            assert choices(name.parts[0])[path.stem], name


def test_moves_do_not_depend_on_the_colours_names(tmp_path: Path) -> None:
    """The same masks with colours exchanged get the same decision."""
    position = Position.from_transcript("f5d6c3d3c4")
    swapped = replace(position, to_move=position.to_move.other)
    agent = make("alphabeta", tmp_path)
    assert agent.decide(position, Limits()) == agent.decide(swapped, Limits())
