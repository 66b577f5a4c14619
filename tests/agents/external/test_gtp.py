"""GTP engines as agents: one of the tests' own in all its kinds, and gtp-rhino where it is."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from chosen import mostly_nightly, rows_mostly_nightly
from records import query
from rich.console import Console

from othello_lab import PASS, Color, Position, play_game
from othello_lab.__main__ import main
from othello_lab.agents import contract
from othello_lab.agents.agent import Limits
from othello_lab.agents.external import GtpAgent
from othello_lab.agents.external_agent import is_outside
from othello_lab.agents.simple import RandomAgent
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, ILLEGAL, PlayerFailure
from othello_lab.core.notation import square_name
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "tests" / "gtp_engine.py"
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
needs_rhino = pytest.mark.skipif(RHINO is None, reason="needs gtp-rhino (Debian's grhino)")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of othello-lab play


def engine(*traits: str) -> str:
    return f"{sys.executable} {ENGINE} {' '.join(traits)}"


def play(folder: Path, command: str, *words: str) -> tuple[set[tuple[str, str]], str]:
    """How the games of an engine against a random agent ended: who won, and why; and the log."""
    line_up = ["agents=duel", "agent@first=gtp", f"first.command='{command}'", "first.patience=30"]
    common = [
        *line_up,
        "agent@second=random",
        "figures=false",
        "games=2",
        "searches.positions=1",
        "trial=false",
    ]
    plan = read([*common, f"results={folder}", "executor.workers=1", *words])
    done = run(plan, "test", Console(quiet=True)).folder
    names = dict(query(done, "select agent, name from agents"))
    ends = set()
    for black, white, result, end in query(
        done, "select black, white, result, end_reason from games"
    ):
        winner = {"black": names[black], "white": names[white]}.get(result, "nobody")
        ends.add((winner, end))
    return ends, (done / "log.txt").read_text()


def replies(agent: GtpAgent, start: Position, moves: tuple[int, ...]) -> int:
    """Its move after these from a start."""
    position = start
    agent.begin_game(Color.BLACK, start, 1)
    for move in moves:
        position = position.play(move)
        agent.observe(move, position)
    return agent.decide(position, Limits()).move


def with_pass() -> tuple[Position, tuple[int, ...]]:
    """A start, and moves with a pass among them; then the side to move has moves."""
    rng = np.random.default_rng(1)
    while True:
        position, moves = Position.start(), []
        while not position.is_over:
            moves.append(int(rng.choice(position.moves or (PASS,))))
            position = position.play(moves[-1])
            if PASS in moves and position.moves:
                return Position.start(), tuple(moves)


# ------------------------------------------------------------------ the ways of engines


KINDS = [
    (),
    ("says-PA",),
    ("skips-passes",),
    ("no-time_settings", "no-time_left"),
    ("no-set_game",),
    ("no-setboard", "no-undo", "no-showboard", "no-final_score", "no-known_command"),
    ("no-numbers",),
]


ALWAYS = ((), ("no-setboard", "no-undo", "no-showboard", "no-final_score", "no-known_command"))


@pytest.mark.integration
@pytest.mark.parametrize(
    "traits", mostly_nightly(KINDS, ALWAYS), ids=lambda traits: " ".join(traits) or "usual"
)
def test_whole_games_with_engines_of_all_kinds(traits: tuple[str, ...], tmp_path: Path) -> None:
    ends, log = play(tmp_path, engine(*traits), "games=6", "limits.seconds=10")
    assert {end for _, end in ends} == {FINISHED}, log


@pytest.mark.integration
def test_it_keeps_to_the_contract() -> None:
    agent = GtpAgent(engine(), patience=30)
    assert is_outside(agent) and not agent.reproducible
    verdict = contract.check(agent, patience=60)
    assert verdict.holds, f"\n{verdict}"


@pytest.mark.parametrize("traits", [(), ("says-PA",), ("skips-passes",)])
def test_passes_reach_the_engine(traits: tuple[str, ...]) -> None:
    start, moves = with_pass()
    agent = GtpAgent(engine(*traits), patience=30)
    try:
        for _ in range(2):  # also when it is known how
            expected = start
            for move in moves:
                expected = expected.play(move)
            assert replies(agent, start, moves) == expected.moves[0]
    finally:
        agent.close()


def test_where_white_begins_the_colours_change_places(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = GtpAgent(engine(f"log={log}", "no-setboard"), patience=30)
    start = Position.start("wpi")
    position = start.play("d3")
    try:
        assert replies(agent, start, (19,)) == position.moves[0]
    finally:
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
    ("limits", "told"),
    [
        (Limits(seconds=2.9), ["time_settings 0 2 1", "time_left black 2 1"]),
        (Limits(seconds=0.2), ["time_settings 0 1 1", "time_left black 1 1"]),
        (Limits(clock=61.5), ["time_settings 61 0 0", "time_left black 61 0"]),
        (Limits(), []),
    ],
)
def test_it_is_told_of_time(limits: Limits, told: list[str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    for time in (True, False):
        log.unlink(missing_ok=True)
        agent = GtpAgent(engine(f"log={log}"), ["level 3"], time, 30)
        agent.begin_game(Color.BLACK, Position.start(), 1)
        agent.decide(Position.start(), limits)
        agent.close()
        said = log.read_text()
        assert [command in said for command in told] == [time] * len(told)
        assert ("time_" in said) == bool(told and time) and "level 3" in said


def test_a_move_of_a_process_before_is_put_right() -> None:
    """A process that takes the place of a killed one is led through the game, and may choose
    otherwise; the move that stands is the first one's."""
    agent = GtpAgent(engine(), patience=30)
    start = Position.start()
    try:
        agent.begin_game(Color.BLACK, start, 1)
        assert agent.decide(start, Limits()).move == 19
        position = start.play("f5")
        agent.observe(37, position)
        reply = position.moves[0]
        agent.observe(reply, position.play(reply))
        after = position.play(reply)
        assert agent.decide(after, Limits()).move == after.moves[0]
    finally:
        agent.close()


# ------------------------------------------------------------------ dialects


DIALECTS = {
    "blank-before-numbers says-PA": "commands without numbers; colours black and white; squares as "
    "d3; a pass as PA; boards set by setboard; time by time_settings and time_left",
    "knows-no-numbers short-colors": "commands without numbers; colours b and w; squares as d3; "
    "a pass as pass; boards set by setboard; time by time_settings and time_left",
    "dies-at-numbers capital-squares": "commands without numbers; colours black and white; squares "
    "as D3; a pass as PA; boards set by setboard; time by time_settings and time_left",
    "upper capital-colors capital-squares": "numbered commands; commands in upper case; colours B "
    "and W; squares as D3; a pass as PA; boards set by setboard; time by time_settings and "
    "time_left",
    "no-list_commands no-boardsize no-set_game no-setboard no-time_left": "numbered commands; "
    "commands found by trying; colours black and white; squares as d3; a pass as pass; "
    "boards by the moves from the start, as no command sets one; time by time_settings",
    "letters no-clock skips-passes no-boardsize": "numbered commands; colours black and white; "
    "squares as d3; passes made by itself; boards set by setboard; time by time_left",
    "upper no-list_commands knows-no-numbers": "commands without numbers; commands in upper case; "
    "commands found by trying; colours black and white; squares as d3; a pass as pass; boards set "
    "by setboard; time by time_settings and time_left",
}


@pytest.mark.parametrize("traits", DIALECTS)
def test_an_engine_of_any_dialect_plays_with_both_colours_and_keeps_its_forms(traits: str) -> None:
    agent = GtpAgent(engine(traits), patience=30)
    limits = Limits(seconds=60)
    try:
        for color in Color:
            players = {color: agent, color.other: RandomAgent()}
            record = play_game(players, limits=limits, seeds=dict.fromkeys(Color, 4))
            assert record.end_reason == FINISHED, record.detail
        start, moves = with_pass()
        replies(agent, start, moves)
        start = Position.start().play("d3").play("c5")
        if "no-setboard" in traits:
            with pytest.raises(PlayerFailure, match="obeys no command that sets a board"):
                agent.begin_game(Color.BLACK, start, 1)
        else:
            agent.begin_game(Color.BLACK, start, 1)
            assert agent.decide(start, limits).move == start.moves[0]
    finally:
        agent.close()
    assert str(agent.dialect) == DIALECTS[traits]


def test_a_form_once_found_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = GtpAgent(engine(f"log={log}", "short-colors", "capital-squares"), patience=30)
    start, moves = with_pass()
    try:
        for _ in range(2):
            replies(agent, start, moves)
    finally:
        agent.close()
    plays = re.findall(r"play \w+ \w+", log.read_text())
    square = square_name(moves[0])
    tried = [
        f"play {color} {form}" for color in ("black", "b") for form in (square, square.upper())
    ]
    assert plays[:4] == tried
    assert plays.count(tried[0]) == 1
    assert not [
        play for play in plays[4:] if not re.fullmatch("play [bw] ([A-H][1-8]|pass|PA)", play)
    ]


def test_a_refusal_is_told_in_the_first_form_tried() -> None:
    agent = GtpAgent(engine("refuses"), patience=30)
    agent.begin_game(Color.BLACK, Position.start(), 1)
    with pytest.raises(PlayerFailure, match="refused 'play black a1': illegal move"):
        agent.observe(0, Position.start().play("d3"))


# ------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize(
    ("trait", "reason", "told"),
    rows_mostly_nightly(
        [
            ("dies", DIED, "ended (exit code 9). Its last output:\n"),
            ("hangs", HUNG, "no answer for 2 s"),
            ("resigns", GARBAGE, "resigned"),
            ("illegal", ILLEGAL, "a1: "),
            ("nonsense", GARBAGE, "answered 'the corner': 'the corner': not a square"),
            ("pass-word", ILLEGAL, "pass while moves exist"),
            ("refuses", GARBAGE, "refused 'genmove"),
            ("raw", GARBAGE, "answered 'I am lost' to 'genmove"),
            ("other-number", GARBAGE, "answered '=999 d3' to 'genmove"),
            ("chatters", GARBAGE, ""),
            ("garbage", GARBAGE, "'Welcome!'"),
            ("plays-go", GARBAGE, "plays no Othello: 'unsupported game'"),
            ("no-clear_board", GARBAGE, "refused 'clear_board': unknown command"),
        ],
        ("dies", "illegal", "nonsense", "chatters"),
    ),
)
def test_an_engine_that_does_wrong_loses(
    trait: str, reason: str, told: str, tmp_path: Path
) -> None:
    hang = "limits.hang=2" if trait == "hangs" else "limits.hang=60"
    ends, log = play(tmp_path, engine(trait), hang)
    assert ends == {("random", reason)}
    assert told in log, log


def test_a_start_that_cannot_be_set_is_told() -> None:
    agent = GtpAgent(engine("no-setboard"), patience=30)
    with pytest.raises(PlayerFailure, match="obeys no command that sets a board"):
        agent.begin_game(Color.BLACK, Position.start().play("d3"), 1)


def test_a_setting_that_is_refused_is_told() -> None:
    agent = GtpAgent(engine(), ["level high"], patience=30)
    with pytest.raises(PlayerFailure, match="refused 'level high'"):
        agent.begin_game(Color.BLACK, Position.start(), 1)


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    line_up = ["run", "agents=duel", "agent@first=gtp", "agent@second=greedy"]
    for words, complaint in (
        ([], "agent 'first' leaves 'command' open"),
        (["first.command=no-such-engine"], "the program 'no-such-engine' is not there"),
        (["first.command=cat", "first.settings=3"], "settings=3: a list is needed"),
        (["first.command=cat", "first.time=2"], "time=2: true or false is needed"),
    ):
        assert main([*line_up, *words]) == 2
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1 and complaint in printed


# ------------------------------------------------------------------ a real engine


@needs_rhino
@pytest.mark.integration
def test_gtp_rhino_keeps_to_the_contract() -> None:
    verdict = contract.check(GtpAgent(f"{RHINO} -l 1", patience=30), patience=60)
    assert verdict.holds, f"\n{verdict}"


@pytest.mark.integration
@needs_rhino
def test_gtp_rhino_plays_matches(tmp_path: Path) -> None:
    for rules in ("standard", "wpi"):
        folder = tmp_path / rules
        ends, log = play(folder, f"{RHINO} -l 1 -r 5", "games=10", f"ruleset={rules}")
        assert {end for _, end in ends} == {FINISHED}, log
        assert ("gtp", FINISHED) in ends  # it is better than chance


@needs_rhino
@pytest.mark.integration
def test_gtp_rhino_and_our_own_engine_agree_on_a_game() -> None:
    ours = f"{sys.executable} -m play gtp agent=alphabeta agent.depth=2"
    players = {
        Color.BLACK: GtpAgent(f"{RHINO} -l 1", patience=60),
        Color.WHITE: GtpAgent(ours, patience=300),
    }
    try:
        record = play_game(players, limits=Limits(seconds=60))
    finally:
        for player in players.values():
            player.close()
    assert record.end_reason == FINISHED, record.detail
