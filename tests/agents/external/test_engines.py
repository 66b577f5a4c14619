"""Engines of GTP and of the NBoard protocol as agents: those of the tests, the lab's, gtp-rhino."""

from __future__ import annotations

import itertools
import re
import shutil
import sys
from dataclasses import replace
from functools import cache, reduce
from pathlib import Path

import pytest
from boards import played_out
from bots import InProcess, engine, in_run
from engines import EDAX

from othello_lab import PASS, AlphaBeta, Color, Position, RandomAgent, SquareWeights, play_game
from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.external import GtpAgent, NBoardAgent
from othello_lab.agents.external.gtp_connection import GtpConnection, GtpDialect, GtpRefusal
from othello_lab.core.game import FINISHED, GARBAGE, PlayerFailure
from othello_lab.core.notation import square_name

ROOT = Path(__file__).parents[3]
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
needs_rhino = pytest.mark.skipif(RHINO is None, reason="needs gtp-rhino (Debian's grhino)")
START = Position.start()


def reply(agent: GtpAgent, start: Position, moves: tuple[int, ...]) -> int:
    """Its move after these from a start."""
    agent.begin_game(Color.BLACK, start, 1)
    for number, move in enumerate(moves, start=1):
        agent.observe(move, after(start, moves[:number]))
    return agent.decide(after(start, moves), Limits()).move


def after(start: Position, moves: tuple[int, ...]) -> Position:
    return reduce(Position.play, moves, start)


@cache
def with_pass() -> tuple[int, ...]:
    """Moves from the start with a pass among them; then the side to move has moves."""
    games = ([move for _, move in played_out("standard", seed)] for seed in itertools.count())
    moves = next(moves for moves in games if PASS in moves[:-1])
    return tuple(moves[: moves.index(PASS) + 1])


def test_where_white_begins_the_colours_change_places(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = GtpAgent(engine("gtp", f"log={log}", "no-setboard"), patience=30)
    start = Position.start("wpi")
    assert reply(agent, start, (19,)) == start.play("d3").moves[0]
    agent.close()
    assert re.findall(r"^(?:\d+ )?(.*)\n", log.read_text(), re.MULTILINE) == [
        "list_commands",
        "set_game Othello",
        "set_game Reversi",
        "boardsize 8",
        "clear_board",
        "play black d3",
        "genmove white",
        "quit",
    ]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(seconds=2.9), ["time_settings 0 2 1", "time_left black 2 1"]),
        (Limits(seconds=0.2), ["time_settings 0 1 1", "time_left black 1 1"]),
        (Limits(clock=61.5), ["time_settings 61 0 0", "time_left black 61 0"]),
        (Limits(), []),
    ],
)
def test_it_is_told_of_time(limits: Limits, expected: list[str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    for time in (True, False):
        agent = GtpAgent(engine("gtp", f"log={log}"), ["level 3"], time, 30)
        agent.begin_game(Color.BLACK, START, 1)
        agent.decide(START, limits)
        agent.close()
        said = log.read_text()
        assert re.findall(r"time_.*", said) == expected * time and "level 3" in said
        log.unlink()


def test_a_move_of_a_process_before_is_put_right() -> None:
    """A process that takes the place of a killed one is led through the game, and may choose
    otherwise; the move that stands is the first one's."""
    agent = GtpAgent(engine("gtp"), patience=30)
    agent.begin_game(Color.BLACK, START, 1)
    assert agent.decide(START, Limits()).move == 19
    position = START.play("f5")
    agent.observe(37, position)
    answer = position.moves[0]
    agent.observe(answer, position.play(answer))
    assert agent.decide(position.play(answer), Limits()).move == position.play(answer).moves[0]
    agent.close()


# ------------------------------------------------------------------ dialects


USUAL = GtpDialect(
    colors=("black", "white"),
    capitals=False,
    pass_word="pass",
    setter="setboard",
    clocks=("time_settings", "time_left"),
)

DIALECTS = {
    "": USUAL,
    EDAX: replace(USUAL, setter="", spaced=True),
    "blank-before-numbers says-PA": replace(USUAL, spaced=True, pass_word="PA"),
    "knows-no-numbers short-colors": replace(USUAL, numbered=False, colors=("b", "w")),
    "dies-at-numbers capital-squares": replace(
        USUAL, numbered=False, capitals=True, pass_word="PA"
    ),
    "upper capital-colors capital-squares": replace(
        USUAL, upper=True, colors=("B", "W"), capitals=True, pass_word="PA"
    ),
    "no-list_commands no-boardsize no-set_game no-setboard no-time_left": replace(
        USUAL, setter="", clocks=("time_settings",)
    ),
    "letters no-clock skips-passes no-boardsize": replace(
        USUAL, pass_word="", clocks=("time_left",)
    ),
    "no-numbers no-undo no-final_score no-time_settings no-time_left": replace(
        USUAL, numbered=False, clocks=()
    ),
}


@pytest.mark.parametrize("traits", DIALECTS)
@pytest.mark.integration
def test_an_engine_of_any_dialect_plays_with_both_colours_and_keeps_its_forms(traits: str) -> None:
    agent = GtpAgent(engine("gtp", traits), patience=30)
    limits = Limits(seconds=60)
    for color in Color:
        players = {color: agent, color.other: RandomAgent()}
        record = play_game(players, limits=limits, seeds=dict.fromkeys(Color, 4))
        assert record.end_reason == FINISHED, record.detail
    for _ in range(2):  # also when it is known how it passes
        assert reply(agent, START, with_pass()) == after(START, with_pass()).moves[0]
    start = START.play("d3").play("c5")
    if not DIALECTS[traits].setter:
        with pytest.raises(PlayerFailure, match="sets a board"):
            agent.begin_game(Color.BLACK, start, 1)
    else:
        assert reply(agent, start, ()) == start.moves[0]
    agent.close()
    assert (agent.dialect.known is None) == ("no-list_commands" in traits)
    assert replace(agent.dialect, known=None) == DIALECTS[traits]


def test_a_dialect_in_words() -> None:
    assert str(USUAL).split("; ") == [
        *("numbered commands", "commands found by trying", "colours black and white"),
        *("squares as d3", "a pass as pass", "boards set by setboard"),
        "time by time_settings and time_left",
    ]
    other = GtpDialect(False, True, frozenset(), None, True, "", "", ())
    forms = str(other).split("; ")
    assert forms[:2] == ["commands without numbers", "commands in upper case"]
    assert forms[2:4] == ["squares as D3", "passes made by itself"]
    assert forms[4].startswith("boards by the moves") and forms[5:] == ["no time limits"]


def test_a_form_once_found_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = GtpAgent(engine("gtp", f"log={log}", "short-colors", "capital-squares"), patience=30)
    for _ in range(2):
        reply(agent, START, with_pass())
    agent.close()
    plays = re.findall(r"play \w+ \w+", log.read_text())
    square = square_name(with_pass()[0])
    tried = [
        f"play {color} {form}" for color in ("black", "b") for form in (square, square.upper())
    ]
    assert plays[:4] == tried
    assert plays.count(tried[0]) == 1
    assert all(re.fullmatch("play [bw] ([A-H][1-8]|pass|PA)", line) for line in plays[4:])


@pytest.mark.parametrize(
    ("first", "answers"),
    [
        ("=1 play", {"=2 f5": "f5", "= 9": "9", "=4": "", "=5\nf5": "f5", "?1 no": None}),
        ("= 1 play", {"= 2 f5": "f5", "=\t3\t f5": "f5", "= 4 ": "", "= 5\n f5": "f5"}),
        ("=  1  play", {" = 02 f5": "f5", "= f5": "f5", "? 1 no": None, "= 4 f5": GARBAGE}),
        ("= play", {"= 2": "2", "= 2 f5": "2 f5", "=": "", "= ": "", "? 1 no": None}),
    ],
)
def test_where_the_number_of_an_answer_stands(first: str, answers: dict[str, str | None]) -> None:
    waiting = iter(answers)

    class Engine:
        greeting, ended = "", False

        def hear(self, line: str) -> str:
            return f"{first if 'list' in line.lower() else next(waiting)}\n\n"

    program = InProcess(Engine)
    program.start()
    connection = GtpConnection(program, 1)
    connection.greet()
    for said, text in answers.items():
        try:
            answer: str | None = connection.ask("genmove b")
        except GtpRefusal:
            answer = None
        except PlayerFailure as fault:
            answer = fault.reason
        assert answer == text, said
    assert connection.dialect.numbered == (first != "= play")


# ------------------------------------------------------------------ what goes wrong


def test_a_refusal_names_the_first_form_tried() -> None:
    agent = GtpAgent(engine("gtp"), patience=30)
    agent.begin_game(Color.BLACK, START, 1)
    with pytest.raises(PlayerFailure, match="'play black a1'"):
        agent.observe(0, START.play("d3"))
    with pytest.raises(PlayerFailure, match="'level high'"):
        GtpAgent(engine("gtp"), ["level high"], patience=30).begin_game(Color.BLACK, START, 1)


# ------------------------------------------------------------------ a real engine


@needs_rhino
@pytest.mark.integration
@pytest.mark.parametrize("rules", ["standard", pytest.param("wpi", marks=pytest.mark.nightly)])
def test_gtp_rhino_plays_matches(rules: str, tmp_path: Path) -> None:
    ends = in_run(tmp_path, "gtp", f"{RHINO} -l 1 -r 5", "games=10", f"ruleset={rules}")
    assert {end for _, end in ends.pairs} == {FINISHED}, ends.log
    assert ("gtp", FINISHED) in ends.pairs  # it is better than chance


# ------------------------------------------------------------------ engines of the NBoard protocol


@pytest.mark.parametrize(
    ("trait", "value", "nodes"),
    [("", -1.5, 350), ("edax", -1.5, 350), ("bare", None, 350), ("bad-nodes", -1.5, 0)],
)
def test_what_an_engine_says_of_its_move(trait: str, value: float | None, nodes: int) -> None:
    agent = NBoardAgent(engine("nboard", trait), 3, patience=30)
    agent.begin_game(Color.BLACK, START, 1)
    decision = agent.decide(START, Limits())
    agent.close()
    assert decision == Decision(19, value, stats=SearchStats(nodes=nodes))


def test_what_an_engine_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = NBoardAgent(engine("nboard", f"log={log}"), 5, patience=30)
    start = Position.start("wpi")
    position = start.play("d3")
    agent.begin_game(Color.BLACK, start, 1)
    agent.observe(19, position)
    agent.decide(position, Limits())
    agent.decide(position, Limits(depth=2))
    agent.close()
    said = re.sub(r"ping \d+\n", "", log.read_text()).splitlines()
    board = start.to_obf()[:-2].replace("X", "*")
    game = f"set game (;GM[Othello]PC[lab]RE[?]TY[8]BO[8 {board} O];)"
    answer = ["nboard 2", "set depth 5", game, "move D3", "go", "set depth 2", "go", "quit"]
    assert said == answer


@pytest.mark.integration
def test_our_own_engine_plays_as_the_agent_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = f"{sys.executable} -m play nboard agent=alphabeta agent.depth=3"
    there = NBoardAgent(command, 3, patience=300)
    here = AlphaBeta(3, SquareWeights())
    record = play_game({Color.BLACK: there, Color.WHITE: here})
    there.close()
    assert record.end_reason == FINISHED, record.detail
    position = START
    for ply in record.plies:
        if ply.decision and ply.color is Color.BLACK:
            expected = here.decide(position, Limits())
            assert (ply.move, ply.decision.stats.nodes) == (expected.move, expected.stats.nodes)
        position = position.play(ply.move)
