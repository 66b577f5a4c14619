"""Every parser is fed with what is almost right, and with anything at all: it reads it, or refuses
it in one line.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import yaml
from bots import InProcess
from fuzzing import LONGEST, almost, fuzz, fuzzed, refused, stored
from hypothesis import strategies as st
from runs import read_openings

from othello_lab import RULESETS, Color, Decision, Limits, Position
from othello_lab.agents.commands.solve import read_problem
from othello_lab.agents.composing import load, parse, with_paths
from othello_lab.agents.config import build_agent
from othello_lab.agents.external import program_agent
from othello_lab.agents.external.gtp import GtpAgent
from othello_lab.agents.external.line import LineAgent
from othello_lab.agents.external.mailbox import MailboxFile
from othello_lab.agents.external.nboard import NBoardAgent
from othello_lab.agents.external.submission import submissions
from othello_lab.agents.external.wpi import name_of
from othello_lab.agents.learned.network import NetworkEvaluation
from othello_lab.agents.learned.patterns import PatternEvaluation
from othello_lab.agents.learned.trees import TreeEvaluation
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.agents.loading import split_target
from othello_lab.agents.search.window.probcut import FITTED, ProbCut
from othello_lab.agents.sides import side_of
from othello_lab.core.game import END_REASONS, GARBAGE, HUNG, PlayerFailure, valid_answer
from othello_lab.core.notation import parse_ggf, parse_obf, parse_square, split_transcript
from othello_lab.core.rules import ruleset
from othello_lab.core.wpi import may_go_on, move_text, read_move
from othello_lab.core.wthor import WthorGame, format_wthor, numbered_games
from othello_lab.experiments.config import RunConfig, read
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.playing import agent_proxy
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.agent_server import LONGEST_TEXT
from othello_lab.experiments.record.turns import COUNTS
from othello_lab.experiments.studies.claims import Claims
from othello_lab.experiments.sweep.sweep import Sweep
from othello_lab.play.engine import read_engine
from othello_lab.play.game_files import game_of, saved_games
from othello_lab.play.gtp import GtpServer
from othello_lab.play.nboard import NBoardServer
from othello_lab.play.web import messages
from othello_lab.play.web.game_data import game_data
from othello_lab.play.web.visits import find_visit
from othello_lab.training.checkpoints import read_state, write_state
from othello_lab.training.games import read_games
from othello_lab.training.learned_files import StepResult

Choose = Callable[[Sequence[Any]], Any]
"""Draws one of several."""
NAMES = sorted(RULESETS)

# ---------------------------------------------------------------------- texts

TRANSCRIPT = "f5d6c3d3c4f4f6f3e6e7d7g6d8c5"
OBF = "---------------------------OX------XO--------------------------- X; D3:+0; C4:-2;"
BOARD = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
GGF = f"(;GM[Othello]PC[GGS/os]TY[8]BO[{BOARD}]B[d3//0.01]W[C5/1.5/2]B[e6]W[f5//0.1];)"
DRAWN = "  a b c d\n1 . . . .\n2 . O X .\n3 . X O .\n4 . . . .\nX to move"
SAVED = f"""\
Othello game
ruleset: standard
start: {"-" * 27}OX------XO{"-" * 27} X
black: human
white: greedy

  1. Black d3  by human
      d3: value 1.5
      thought for 0.1 s
  2. White c5  by greedy
Black resigns: White wins by 64
"""
GAMES = (TRANSCRIPT, OBF, GGF, "1. f5 d6 2. c3 d3 3. c4", DRAWN, SAVED, "pass")
WPI = ("(W D 3)", "( b  p 12 )\r\n", "(W E 6)\n", "(B P 1)")


def wpi_move(text: str, choose: Choose) -> None:
    position = Position.start(name := choose(NAMES))
    if choose([True, False]):  # the side to move has to pass
        side = ruleset(name).side
        board = f"XO{'-' * (2 * side - 2)}XO".ljust(side * side, "-")
        position = Position.from_obf(f"{board} X", name).play("c1")
    move = read_move(text, position)
    position.play(move)
    assert not may_go_on(text)  # nobody waits for more of a whole move
    assert read_move(move_text(move, position.to_move, position.ruleset), position) == move


def answers_of(kind: Callable[..., Any], text: str) -> None:
    """An engine that talks nonsense loses its game by its own fault."""
    engine = SimpleNamespace(greeting=f"{text}\n", hear=lambda line: "", ended=False)
    program = InProcess(lambda: engine)
    program.receive_now = lambda: None  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(program_agent, "Program", lambda *_: program)
        agent = kind("engine", *([3] if kind is NBoardAgent else []))
    try:
        agent.begin_game(Color.BLACK, Position.start(), 1)
        valid_answer(agent.decide(Position.start(), Limits()))  # as the judge calls it
    except PlayerFailure as failure:
        fault = failure
    else:
        return
    assert fault.reason in (HUNG, GARBAGE)
    assert len(fault.detail) < LONGEST


def answer_of_process(text: str, _: Choose) -> None:
    """Whatever an agent's process sends, the agent loses its game at worst."""
    process = Mock(ended=True)
    process.take.side_effect = [text.encode("utf-8", "surrogatepass"), None]
    proxy = Mock(_asked=2, _logged=0, _process=process)
    proxy._log = partial(AgentProxy._log, proxy)
    proxy._ask = lambda *_: AgentProxy._read(proxy)
    fault = None
    with suppress(agent_proxy._ProcessEnded):
        try:
            valid_answer(AgentProxy.decide(proxy, Position.start(), Limits()))
            assert json.loads(text)[0] == 2, "nobody has asked for it"
        except PlayerFailure as failure:
            fault = failure
    assert not fault or (fault.reason in END_REASONS and len(fault.detail) < 2 * LONGEST_TEXT)


def thinkers() -> Any:
    """Stands for agents' processes: the first legal move at once."""
    made = SimpleNamespace(rules=ruleset("standard"), of=lambda player: None)
    made.change_rules_for = lambda player, rules: setattr(made, "rules", rules)
    made.ask = lambda player, game, *_, **__: (Decision(game.position.moves[0]), 0.1)
    return made


@functools.cache
def engine() -> Any:
    return read_engine(["agent=greedy"], [])


def hear_gtp(text: str) -> None:
    server = GtpServer(*engine(), thinkers())
    for answer in filter(None, map(server.answer, text.split("\n"))):
        assert answer.startswith(("=", "?")) and answer.endswith("\n\n")
        assert "\n\n" not in answer[:-2]


def hear_nboard(text: str) -> None:
    said: list[str] = []
    output: Any = SimpleNamespace(write=said.append, flush=lambda: None)
    server = NBoardServer(*engine(), thinkers(), output)
    for line in text.split("\n"):
        server.answer(line)
    assert not any("\n" in line[:-1] for line in said)


def hear_page(text: str, _: Choose) -> None:
    """A page's message, with the options of a question; the right ones are not refused."""
    try:
        message, _ = messages.read(text)
        if isinstance(message, messages.AskMessage):
            messages.check_question(message)
    except messages.MessageError:
        assert text not in PAGE
        raise


GTP = ("play black d3\ngenmove w\nundo\nboardsize 6\nclear_board\ntime_settings 60 5 1",)
GTP += ("time_left b 30 1\nshowboard\nknown_command x\nkomi 6.5\nset_game Othello",)
GTP += ("gogui-rules_legal_moves\ngogui-rules_board\n1 name # comment\nlist_commands",)
NBOARD = (f"nboard 2\nset game {GGF}\nset depth 3\nmove D3\nmove PA\ngo\nhint 1",)
NBOARD += ("ping 1\nlearn\nD3/1.5/0.1\nset contempt 0\nanalyze",)
GTP_REPLIES = ("=1 play genmove list_commands set_game\n\n=2\n\n=3\n\n=4 d3\n\n", "=1\n\n?3 no\n")
NBOARD_REPLIES = ("pong 1\npong 2\npong 3\n=== D3/1.25/0.50\nnodestats 12 0.1\nstatus x",)
STATS = json.dumps([7] * len(COUNTS))
MESSAGES = (f'[2, "decision", 19, -1.5, [19, 26], 3, {STATS}]', '[null, "log", 30, "mine", "d3?"]')
MESSAGES += (f'[3, "decision", 19, -1.5, [19, 26], 3, {STATS}]', '[2, "fault", "died", ""]', "[2]")
MESSAGES += (f'[2, "raised", "{"t" * 50_000}"]', '[2, "garbage", "d3"]', '{"2": 4}')
MESSAGES += ("[" * 50_000, "1" * 50_000)
PAGE = (
    f'{{"type": "hello", "visit": "{"A" * 22}"}}',
    '{"type": "move", "move": "f5", "ply": 0, "ref": 1}',
    '{"type": "new", "rules": "standard", "black": {"name": "human", "settings": {}}, "white": '
    '{"name": "own", "settings": {"depth": 3}, "path": "a.py:B"}, "text": "f5d6", "playing": true}',
    '{"type": "new", "rules": "wpi", "recorded": {"run": "a/b", "game": 3}, "series": 5, '
    '"clock": {"per": "move", "seconds": 10}}',
    '{"type": "players", "black": null, "white": {"name": "greedy", "settings": {}}}',
    '{"type": "pace", "playing": true, "delay": 0.5}',
    '{"type": "back", "moves": 2, "ply": 4}',
    '{"type": "ask", "id": 3, "name": "mine", "options": {"visits": [], "ply": 3}}',
    '{"type": "ask", "id": 3, "name": "tree", "options": {"player": {"name": "x"}}}',
    '{"type": "ask", "id": 3, "name": "review", "options": {"first": 1, "last": 9}}',
)
LINES = ("ready\nd3", "ready\n# a comment\nd3 value=12 depth=5 nodes=1234", "ready\nc5 value=-0.5")
AGENT = """\
_target_: othello_lab.AlphaBeta
depth: 3
ordering: static
evaluation:
  _target_: othello_lab.Composite
  weights: {mobility: 3, corners: 10}
"""
AGENTS = [AGENT, "_target_: othello_lab.GreedyAgent\n", "_target_: othello_lab.RandomAgent\nx: 1\n"]

Reader = Callable[[Any, Choose], object]
TEXTS: dict[str, tuple[Sequence[str], list[Reader]]] = {
    "a game": (
        (*GAMES, "f5 d6, c3;d3", "d3--", "-" * 64 + "X", "-----OX--XO----- X", f"2 {GGF}{GGF}"),
        [
            lambda t, choose: parse_square(t, choose([4, 6, 8])),
            lambda t, _: split_transcript(t),
            lambda t, choose: Position.from_transcript(t, choose(NAMES)),
            lambda t, choose: parse_obf(t, ruleset(choose(NAMES)).squares),
            lambda t, choose: Position.from_obf(t, choose(NAMES)),
            lambda t, choose: read_problem(t, ruleset(choose(NAMES))),
            lambda t, choose: Opening.read(t, choose(NAMES)),
            lambda t, _: parse_ggf(t),
            lambda t, choose: game_of(t, ruleset(choose(NAMES))),
        ],
    ),
    "a saved game": ((SAVED, f"{SAVED}\n{SAVED}"), [lambda t, _: saved_games(t, "a file")]),
    "a program's name": (
        ("./anna", "java -cp build Bert", "python3 'my bots/carl.py' depth=3"),
        [lambda t, _: name_of(t)],
    ),
    "a target": (
        ("./mine.py:f", "mine.f", "./o.py:alphabeta_searcher(3, score)", "./o.py:f(g(1), -2.5)"),
        [lambda t, _: split_target(t)],
    ),
    "a move of the file protocol": (WPI, [wpi_move]),
    "a GTP engine": (GTP_REPLIES, [lambda t, _: answers_of(GtpAgent, t)]),
    "an NBoard engine": (NBOARD_REPLIES, [lambda t, _: answers_of(NBoardAgent, t)]),
    "a program of lines": (LINES, [lambda t, _: answers_of(LineAgent, t)]),
    "an agent's process": (MESSAGES, [answer_of_process]),
    "a page of the board": (PAGE, [hear_page]),
    "commands to a GTP engine": (GTP, [lambda t, _: hear_gtp(t)]),
    "commands to an NBoard engine": (NBOARD, [lambda t, _: hear_nboard(t)]),
}
"""By name: right ones, and what reads one."""


@pytest.mark.parametrize("kind", TEXTS)
@fuzzed()
def test_texts(kind: str, inputs: int) -> None:
    right, readers = TEXTS[kind]
    for text in right:
        read_by(readers, text, lambda some: some[0])
    fuzz(inputs, lambda data: read_by(readers, data.draw(almost(*right)), chosen(data)))


def chosen(data: st.DataObject) -> Choose:
    return lambda some: data.draw(st.sampled_from(some))


def read_by(readers: Sequence[Reader], given: Any, choose: Choose) -> None:
    # The command line shortens messages, where names in a file may be repeated.
    longest = 40_000 if isinstance(given, Path) and given.suffix in (".yaml", ".npz") else LONGEST
    for reader in readers:
        refused(lambda: reader(given, choose), longest)  # noqa: B023


# ---------------------------------------------------------------------- files


def mailbox(path: Path, _: Choose) -> None:
    text = MailboxFile(path).read()
    assert text is not None
    if not may_go_on(text):
        read_move(text, Position.start("wpi"))


def learn_from(path: Path, choose: Choose) -> None:
    """Read a file's games as a training does; what it tells has one line each."""
    lines: list[str] = []
    rules = "standard" if path.suffix == ".wtb" else choose(NAMES)
    read_games([path], ruleset(rules), choose([True, False]), lines.append)
    assert not any("\n" in line for line in lines)


def wthor() -> bytes:
    moves = bytes(Position.from_obf(OBF).moves[:1])
    return format_wthor(2 * [WthorGame(moves, 32)], date(2026, 1, 31), 2026)


def visit() -> str:
    """A game that a page has stored."""
    players = {color: {"name": "human", "agent": None} for color in ("black", "white")}
    clock = {"per": "move", "seconds": 10, "left": {"black": 5.0, "white": 5.0}}
    data = {"series": None, "clock": clock, "halted": False, "trouble": "", "delay": 0.6}
    game = game_data(game_of(TRANSCRIPT[:8], ruleset("standard")))
    data |= {"format": 1, "game": game, "players": players, "seed": 1, "playing": True}
    return json.dumps(data)


def settings_in(path: Path) -> dict[Any, Any] | None:
    try:
        settings = yaml.safe_load(path.read_bytes().replace(b"\0", b""))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return settings if isinstance(settings, dict) else None


def agent_of(path: Path, _: Choose) -> None:
    if settings := settings_in(path):
        build_agent(settings, "mine")


def sweep_of(path: Path, _: Choose) -> None:
    if settings := settings_in(path):
        Sweep.from_settings(settings, "sweep").requests(asdict(RunConfig()))


def build_agents(path: Path, _: Choose) -> None:
    """As the command line does."""
    for word in with_paths([f"agent@first={path}"]):
        parse(word)


def option(path: Path, _: Choose) -> None:
    group, folder = path.parent.name, path.parents[1]
    if group == "experiment":
        read(["experiment=mine"], [folder])
    else:
        load(group, path.stem, [folder])


def note_beside_a_submission(path: Path, _: Choose) -> None:
    """It refuses its own program at most."""
    path.with_suffix("").write_text("#!/bin/sh\n")
    ((name, note),) = submissions(str(path.parent)).items()
    assert name == "anna"
    assert "\n" not in note.get("problem", "")
    for text in note.values():
        text.encode()


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
EVALUATION = "_target_: othello_lab.Composite\nweights: {mobility: 3}\n"
SCHEDULE = "_target_: othello_lab.experiments.pairing.Gauntlet\nchampion: a\n"
CLAIMS = "- alphabeta > greedy\n- random < greedy\n"
RESULT = "label: a\ntables: []\nfigures: []\nkind: patterns\nversion: 1\n"
SWEEP = "combinations:\n- [depth=1]\n- []\nchanges:\n- {}\n- {depth: 2}\nfolders: [a]\n"
PROBCUT = (FITTED / "square_weights.yaml").read_text(encoding="utf-8")
PROBCUT = "- depth:".join(PROBCUT.split("- depth:")[:3])  # two checks are enough
NOTES = ["protocol: line\ncommand: java Anna\n", "target: a.py:one\n", "protocol: file\n"]
OPENINGS = f"# openings\n{TRANSCRIPT}\n\n{OBF}\n{GGF}{GGF}\n"
TO_LEARN_FROM = [f"{TRANSCRIPT}\n% note\n{TRANSCRIPT}", f"{GGF}\n{GGF}", OBF]
MAILS = [*(text.encode() for text in WPI), bytes(4500)]

SMALL_ARRAYS = {"first": np.arange(6, dtype=np.int16).reshape(2, 3), "second": np.float32([1.5])}


def checkpoint(path: Path) -> bytes:
    write_state(path, {**SMALL_ARRAYS, "bytes": b"abc", "step": 3})
    return path.read_bytes()


def weights(path: Path) -> bytes:
    LearnedWeights("kind", 2, 100, SMALL_ARRAYS, {"seed": 7}).write(path)
    return path.read_bytes()


def read_weights(path: Path, choose: Choose) -> None:
    """Their hash fits now and then."""
    description = path.with_suffix(".yaml")
    if choose([True, False]):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        description.write_text(re.sub("[0-9a-f]{64}", digest, description.read_text()))
    LearnedWeights.read(path, "kind", 2, ["first"])


def weights_by_yaml(path: Path) -> str:
    weights(path.with_suffix(".npz"))
    return path.read_text()


FILES: dict[str, tuple[list[Any] | Callable[[Path], Any], int, list[Reader]]] = {
    "openings.txt": (
        [OPENINGS],
        1,
        [lambda p, choose: read_openings(p, ruleset(choose(NAMES)), choose([None, 2, 9, 69]))],
    ),
    "games.txt": (TO_LEARN_FROM, 1, [learn_from]),
    "anna.out": (MAILS, 1, [mailbox]),
    "games.wtb": (
        [wthor()],
        2,
        [
            lambda path, _: numbered_games(path.read_bytes()),
            lambda path, _: read_openings(path, ruleset("standard"), 2),
            learn_from,
        ],
    ),
    "abcdefghijklmnopqrstuv.json": ([visit()], 1, [lambda p, _: find_visit(p.parent, p.stem)]),
    "state": (checkpoint, 1, [lambda path, _: read_state(path)]),
    "mine.npz": (weights, 1, [read_weights]),
    "weights.yaml": (
        weights_by_yaml,
        1,
        [lambda p, _: LearnedWeights.read(p.with_suffix(".npz"), "kind", 2)],
    ),
    "anna.yaml": (NOTES, 1, [note_beside_a_submission]),
    "it.yaml": (AGENTS, 1, [agent_of]),
    "mine.yaml": (AGENTS, 4, [build_agents]),
    "side/mine.yaml": (AGENTS, 4, [lambda path, _: side_of(str(path))]),
    "agent/mine.yaml": ([AGENT], 16, [option]),
    "evaluation/mine.yaml": ([EVALUATION], 16, [option]),
    "schedule/mine.yaml": ([SCHEDULE], 16, [option]),
    "experiment/mine.yaml": ([EXPERIMENT], 16, [option]),
    "claims.yaml": ([CLAIMS], 1, [lambda path, _: Claims(claims=str(path))]),  # type: ignore[arg-type]
    "weights/a.learned.yaml": ([RESULT], 1, [lambda p, _: StepResult.read(p.parents[1], "a")]),
    "sweep.yaml": ([SWEEP], 1, [sweep_of]),
    "probcut.yaml": ([PROBCUT], 2, [lambda path, _: ProbCut.load(path).array(1.5)]),
}
"""By name: right contents, or what makes them; 1, or by how much fewer inputs are tried; and what
reads the file."""


@pytest.mark.parametrize("name", FILES)
@fuzzed()
def test_files(name: str, inputs: int, tmp_path: Path) -> None:
    right, slow, readers = FILES[name]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    contents = almost(*(right if isinstance(right, list) else [right(path)]))
    fuzz(
        inputs // slow,
        lambda data: read_by(readers, stored(path, data.draw(contents)), chosen(data)),
    )


# ---------------------------------------------------------------------- weights

LEARNED = {"patterns6": PatternEvaluation, "network": NetworkEvaluation, "trees": TreeEvaluation}


def extreme(array: np.ndarray, choose: Choose) -> np.ndarray:
    new = array.copy()
    number = choose([-1, 1 << 62, -(1 << 62), 255, 65, 1 << 15])
    with np.errstate(all="ignore"):
        new.flat[choose(range(new.size))] = np.array(number).astype(new.dtype)
    return new


KINDS = [np.float32, np.int64, np.uint8, np.bool_, "U3", "c8"]
ALTERED: list[Callable[[np.ndarray, Choose], np.ndarray]] = [
    lambda array, choose: array.astype(choose(KINDS)),
    lambda array, choose: array[: choose(range(len(array)))] if array.ndim else array,
    lambda array, _: array.ravel(),
    lambda _, choose: np.array(choose([3, 2.5, "text", True])),
    *3 * [extreme],
]
"""Arrays of another shape or kind, or with other numbers."""


@pytest.mark.parametrize("name", LEARNED)
@fuzzed(8, 400)
def test_arrays_of_weights(name: str, inputs: int) -> None:
    """They are refused, or the evaluation has a value: no number leads out of a table."""
    module = sys.modules[LEARNED[name].__module__]
    whole = LearnedWeights.read(name, module.KIND, module.VERSION)

    def test(data: st.DataObject) -> None:
        arrays = dict(whole.arrays)
        for key in data.draw(
            st.lists(st.sampled_from(sorted(arrays)), min_size=1, max_size=2, unique=True)
        ):
            alter = data.draw(st.sampled_from(ALTERED))
            arrays[key] = alter(arrays[key], chosen(data))
        board = data.draw(st.sampled_from([{}, *({"side": side} for side in (8, 6, 7, None, "x"))]))
        weights = LearnedWeights(
            whole.kind, whole.version, whole.unit, arrays, dict(whole.about) | board
        )

        def value() -> None:
            evaluation = LEARNED[name](weights)
            start = Position.start("mini6" if 6 in evaluation.sides else "standard")
            assert abs(evaluation(start)) < 1 << 31

        refused(value, 40_000)

    fuzz(inputs, test)
