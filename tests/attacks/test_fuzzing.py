"""Every parser is fed with what is almost right, and with anything at all: it reads it, or refuses
it in one line.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from fuzzing import Draw, fuzzed, refused, stored

from othello_lab import RULESETS, Color, Decision, Limits, Position
from othello_lab.agents.commands.solve import read_problem
from othello_lab.agents.external import program_agent
from othello_lab.agents.external.gtp import GtpAgent
from othello_lab.agents.external.line import LineAgent
from othello_lab.agents.external.mailbox import MailboxFile
from othello_lab.agents.external.nboard import NBoardAgent
from othello_lab.agents.external.wpi import name_of
from othello_lab.agents.loading import split_target
from othello_lab.core.game import DIED, GARBAGE, PlayerFailure, valid_answer
from othello_lab.core.notation import parse_ggf, parse_obf, parse_square, split_transcript
from othello_lab.core.rules import ruleset
from othello_lab.core.wpi import may_go_on, move_text, read_move
from othello_lab.core.wthor import WthorGame, format_wthor, parse_wthor
from othello_lab.experiments.jobs.replan import replanned
from othello_lab.experiments.pairing.openings import Opening, read_openings
from othello_lab.play.engine import read_engine
from othello_lab.play.game_files import game_of, saved_games
from othello_lab.play.gtp import GtpServer
from othello_lab.play.nboard import NBoardServer
from othello_lab.play.web.game_data import game_data
from othello_lab.play.web.visits import find_visit, new_number
from othello_lab.training.games import read_games

TRANSCRIPT = "f5d6c3d3c4f4f6f3e6e7d7g6d8c5"
OBF = "---------------------------OX------XO--------------------------- X; D3:+0; C4:-2;"
BOARD = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
GGF = f"(;GM[Othello]PC[GGS/os]TY[8]BO[{BOARD}]B[d3//0.01]W[C5/1.5/2]B[e6]W[f5//0.1];)"
NUMBERED = "1. f5 d6 2. c3 d3 3. c4"
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
NAMES = sorted(RULESETS)

# ---------------------------------------------------------------------- notation

WPI = ("(W D 3)", "( b  p 12 )\r\n", "(W E 6)\n", "(B P 1)")

Parser = Callable[[str, Draw], Sequence[Callable[[], object]]]
TEXTS: dict[str, tuple[Sequence[str], Parser]] = {
    "square": (("d3", "--", "pass"), lambda t, d: [lambda: parse_square(t, d.choice([4, 6, 8]))]),
    "transcript": (
        (TRANSCRIPT, "f5 d6, c3;d3", "d3--"),
        lambda t, d: [
            lambda: split_transcript(t),
            lambda: Position.from_transcript(t, d.choice(NAMES)),
            lambda: Opening.read(t, d.choice(NAMES)),
        ],
    ),
    "OBF": (
        (OBF, "-" * 64 + "X", "-----OX--XO----- X"),
        lambda t, d: [
            lambda: parse_obf(t, ruleset(d.choice(NAMES)).squares),
            lambda: Position.from_obf(t, d.choice(NAMES)),
            lambda: read_problem(t, ruleset(d.choice(NAMES))),
            lambda: Opening.read(t, d.choice(NAMES)),
        ],
    ),
    "GGF": ((GGF, f"2 {GGF}{GGF}"), lambda t, d: [lambda: parse_ggf(t)]),
    "a game of any notation": (
        (TRANSCRIPT, OBF, GGF, NUMBERED, DRAWN, SAVED),
        lambda t, d: [lambda: game_of(t, ruleset(d.choice(NAMES)))],
    ),
    "a saved game": (
        (SAVED, SAVED + "\n" + SAVED),
        lambda t, d: [lambda: saved_games(t, "a file")],
    ),
    "a program's name": (
        ("./anna", "java -cp build Bert", "python3 'my bots/carl.py' depth=3"),
        lambda t, d: [lambda: name_of(t)],
    ),
    "a target": (
        ("./mine.py:f", "mine.f", "./o.py:alphabeta_searcher(3, score)", "./o.py:f(g(1), -2.5)"),
        lambda t, d: [lambda: split_target(t)],
    ),
}
"""By name: right ones, and what reads one."""


@pytest.mark.parametrize("kind", TEXTS)
@fuzzed(4000)
def test_texts(draw: Draw, kind: str) -> None:
    right, parser = TEXTS[kind]
    for parse in parser(draw.text(*right), draw):
        refused(parse)


@fuzzed(4000)
def test_files_of_openings(draw: Draw, tmp_path: Path) -> None:
    text = draw.text(f"# openings\n{TRANSCRIPT}\n\n{OBF}\n{GGF}{GGF}\n")
    path = stored(tmp_path / "openings.txt", text)
    plies = draw.choice([None, draw.randrange(70)])
    refused(lambda: read_openings(path, ruleset(draw.choice(NAMES)), plies))


def learn_from(path: Path, draw: Draw, rules: str) -> None:
    """Read a file's games as a training does; what it tells has one line each."""
    told: list[str] = []
    refused(lambda: read_games([path], ruleset(rules), draw.random() < 0.5, told.append))
    assert not any("\n" in line for line in told)


@fuzzed(4000)
def test_games_to_learn_from(draw: Draw, tmp_path: Path) -> None:
    texts = (f"{TRANSCRIPT}\n% note\n{TRANSCRIPT}", f"{GGF}\n{GGF}", OBF)
    learn_from(stored(tmp_path / "games.txt", draw.text(*texts)), draw, draw.choice(NAMES))


@fuzzed()
def test_moves_of_the_file_protocol(draw: Draw) -> None:
    text, name = draw.text(*WPI), draw.choice(NAMES)
    position = Position.start(name)
    if draw.random() < 0.5:  # the side to move has to pass
        side = ruleset(name).side
        board = f"XO{'-' * (2 * side - 2)}XO".ljust(side * side, "-")
        position = Position.from_obf(f"{board} X", name).play("c1")
    move = None

    def read_it() -> None:
        nonlocal move
        move = read_move(text, position)

    refused(read_it)
    if move is None:
        return
    position.play(move)
    assert not may_go_on(text)  # nobody waits for more of a whole move
    word = move_text(move, position.to_move, position.ruleset)
    assert read_move(word, position) == move


@fuzzed()
def test_files_of_the_file_protocol(draw: Draw, tmp_path: Path) -> None:
    mailbox = MailboxFile(tmp_path / "anna.out")
    long = draw.random() < 0.01
    content = draw.randbytes(4000 + draw.randrange(1000) if long else draw.randrange(40))
    mailbox.path.write_bytes(draw.choice([content, draw.damaged(draw.choice(WPI).encode())]))
    text = mailbox.read()
    assert text is not None
    if not may_go_on(text):
        refused(lambda: read_move(text, Position.start("wpi")))


@fuzzed(4000)
def test_files_of_wthor_games(draw: Draw, tmp_path: Path) -> None:
    moves = bytes(Position.from_obf(OBF).moves[:1])
    good = format_wthor(2 * [WthorGame(moves, 32)], date(2026, 1, 31), 2026)
    content = draw.damaged(good) if draw.random() < 0.8 else draw.randbytes(draw.randrange(200))
    path = tmp_path / "games.wtb"
    path.write_bytes(content)
    refused(lambda: parse_wthor(content))
    refused(lambda: read_openings(path, ruleset("standard"), 2))
    learn_from(path, draw, "standard")


# ---------------------------------------------------------------------- engines

REPLIES = {
    GtpAgent: (
        "=1",
        "=1 play genmove list_commands set_game",
        "",
        "=2",
        "= d3",
        "?3 no",
        "=4 pass",
    ),
    NBoardAgent: ("pong 1", "pong 2", "pong 3", "=== D3/1.25/0.50", "nodestats 12 0.1", "status x"),
    LineAgent: ("ready", "# a comment", "d3 value=12 depth=5 nodes=1234", "d3", "c5 value=-0.5"),
}


class ScriptedProgram:
    """A program that says what is written down, and then ends."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self.is_running = False

    def start(self) -> None:
        self.is_running = True

    def send(self, line: str, patience: float) -> None:
        assert "\n" not in line

    def receive_now(self) -> None:
        return None

    def receive(self, patience: float | None = None) -> str:
        if not self._lines:
            self.fail(DIED, "exit code 0")
        return self._lines.pop(0)

    def fail(self, reason: str, detail: str) -> NoReturn:
        raise PlayerFailure(reason, detail)


@fuzzed(4000)
def test_answers_of_engines(draw: Draw) -> None:
    """An engine that talks nonsense loses its game by its own fault."""
    kind = draw.choice(list(REPLIES))
    # Right for a while, so that all of a game is reached.
    good = {
        GtpAgent: ["=1 list_commands", "", "=2", "", "=3", "", "=4 d3", ""],
        NBoardAgent: ["pong 1", "pong 2", "pong 3", "=== D3"],
        LineAgent: ["ready", "d3"],
    }[kind][: draw.randrange(9)]
    lines = [draw.text(*REPLIES[kind]).replace("\n", "") for _ in range(draw.randrange(8))]
    program = ScriptedProgram(good + lines)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(program_agent, "Program", lambda *_: program)
        agent: Any = kind("engine", *([3] if kind is NBoardAgent else []))
    start = Position.start()
    fault = None
    try:
        agent.begin_game(Color.BLACK, start, 1)
        refused(lambda: valid_answer(agent.decide(start, Limits())))  # as the judge calls it
    except PlayerFailure as failure:
        fault = failure
    if fault is not None:
        assert fault.reason in (DIED, GARBAGE)
        assert len(fault.detail) < 1500
        assert program.is_running


class Thinkers:
    """Stands for agents' processes: the first legal move at once."""

    rules = ruleset("standard")

    def change_rules_for(self, player: Any, rules: Any) -> None:
        self.rules = rules

    def of(self, player: Any) -> None:
        pass

    def ask(self, player: Any, game: Any, *about: Any, **more: Any) -> tuple[Decision, float]:
        return Decision(game.position.moves[0]), 0.1


@pytest.fixture(scope="module")
def engine() -> Any:
    return read_engine(["agent=greedy"], [])


GTP = ("play black d3", "genmove w", "undo", "boardsize 6", "clear_board", "time_settings 60 5 1")
GTP += ("time_left b 30 1", "showboard", "known_command x", "komi 6.5", "set_game Othello")
GTP += ("gogui-rules_legal_moves", "gogui-rules_board", "1 name # comment", "list_commands")


@fuzzed(4000)
def test_commands_to_a_gtp_engine(draw: Draw, engine: Any) -> None:
    server = GtpServer(*engine, Thinkers())  # type: ignore[arg-type]
    for _ in range(draw.randrange(1, 6)):
        line = draw.text(*GTP)
        answer = server.answer(line)
        if answer is not None:
            assert answer.startswith(("=", "?")) and answer.endswith("\n\n")
            assert "\n\n" not in answer[:-2]


NBOARD = ("nboard 2", f"set game {GGF}", "set depth 3", "move D3", "move PA", "go", "hint 1")
NBOARD += ("ping 1", "learn", "D3/1.5/0.1", "set contempt 0", "analyze")


@fuzzed(4000)
def test_commands_to_an_nboard_engine(draw: Draw, engine: Any) -> None:
    said: list[str] = []
    output: Any = SimpleNamespace(write=said.append, flush=lambda: None)
    server = NBoardServer(*engine, Thinkers(), output)  # type: ignore[arg-type]
    for _ in range(draw.randrange(1, 6)):
        server.answer(draw.text(*NBOARD))
    assert not any("\n" in line[:-1] for line in said)


# ---------------------------------------------------------------------- what a page has stored


@fuzzed(4000)
def test_games_that_the_page_has_stored(draw: Draw, tmp_path: Path) -> None:
    """A file that was damaged, or changed by hand, is a game that is not there."""
    number = new_number()
    good = {
        "format": 1,
        "game": game_data(game_of(TRANSCRIPT[:8], ruleset("standard"))),
        "players": {color: {"name": "human", "agent": None} for color in ("black", "white")},
        "seed": 1,
        "playing": True,
        "delay": 0.6,
        "series": None,
        "clock": {"per": "move", "seconds": 10, "left": {"black": 5.0, "white": 5.0}},
        "halted": False,
        "trouble": "",
    }
    stored(tmp_path / f"{number}.json", draw.text(json.dumps(good)))
    find_visit(tmp_path, number)


# ---------------------------------------------------------------------- records

CONFIGS = ("seed: 1\n", "", "\0\0\0", "{ ] :", "- a\n", "executor: 3\n", "a: &a [*a]\n")


@pytest.mark.integration
@fuzzed(200, few=10)
def test_files_of_settings(draw: Draw, recorded_duel: Path, tmp_path: Path) -> None:
    """The one beside the record is held against it when a run is resumed."""
    folder = tmp_path / "configured"
    if not folder.exists():
        shutil.copytree(recorded_duel, folder)
    stored(folder / "config.yaml", draw.edited(*CONFIGS))
    moved = dict.fromkeys(("workers", "executor", "address"))
    refused(lambda: replanned(folder, None, None, moved, False, (), lambda lines: None))
