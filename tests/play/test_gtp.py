"""``othello-lab play gtp``: scripted sessions, as controllers hold them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from typing import Any

import pytest
from boards import played_out

from othello_lab import PASS, Color, Position
from othello_lab.core.game import Limits
from othello_lab.core.notation import square_name
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.engine import read_engine, serve
from othello_lab.play.gtp import GtpClock, GtpServer

BLACK = Color.BLACK


def served(words: str) -> Iterator[GtpServer]:
    setup, player = read_engine(words.split(), [])
    with AgentProcesses(setup.rules, setup.limits, 60, print) as thinkers:
        yield GtpServer(setup, player, thinkers)


@pytest.fixture
def server() -> Iterator[GtpServer]:
    yield from served("agent=greedy")


def say(server: GtpServer, *commands: str) -> list[str]:
    """What is answered to each, without the empty line at the end."""
    answers = [server.answer(command) for command in commands]
    assert all(answer is not None and answer.endswith("\n\n") for answer in answers)
    return [str(answer)[:-2] for answer in answers]


def test_a_session_as_a_controller_holds_it(server: GtpServer) -> None:
    session = [
        ("protocol_version", "= 2"),
        ("version", f"= {metadata.version('othello-strategy-lab')}"),
        ("1 name", "=1 Othello strategy lab: greedy"),
        ("known_command genmove", "= true"),
        ("known_command setup", "= false"),
        ("list_games", "= Othello"),
        ("set_game Othello", "="),
        ("set_game reversi", "="),
        ("set_game Go", "? unsupported game"),
        ("boardsize 8", "="),
        ("boardsize 9", "? unacceptable size"),
        ("clear_board", "="),
        ("komi 0", "="),
        ("play black D3", "="),
        ("play black c3", "? illegal move"),
        ("12 genmove w", "=12 C3"),
        ("undo", "="),
        ("undo", "="),
        ("undo", "? cannot undo"),
        ("final_score", "? cannot score"),
        ("\t3  play   b\td3  # the usual one", "=3"),
        ("play w d9", "? syntax error"),
        ("play green c3", "? syntax error"),
        ("play w", "? syntax error"),
        ("play w d3", "? illegal move"),
        ("play w a1", "? illegal move"),
        ("play w pass", "? illegal move"),
        ("time_left w soon 0", "? syntax error"),
        ("dance", "? unknown command"),
        ("7", "?7"),
        ("quit", "="),
    ]
    for (command, expected), said in zip(
        session, say(server, *(word for word, _ in session)), strict=True
    ):
        assert said.startswith(expected) if expected[0] == "?" else said == expected, command
    assert server.quitting


def test_what_is_empty_or_a_comment_is_not_answered_and_all_that_is_listed_is_known(
    server: GtpServer,
) -> None:
    assert [server.answer(line) for line in ("", " \n", "# hello", "\r\n")] == [None] * 4
    assert server.answer("na\x07me\r\n") == "= Othello strategy lab: greedy\n\n"
    names = say(server, "list_commands")[0][2:].split()
    assert {"play", "genmove", "gogui-rules_legal_moves", "time_left", "quit"} <= set(names)
    assert say(server, *(f"known_command {name}" for name in names)) == ["= true"] * len(names)


def test_reg_genmove_makes_no_move(server: GtpServer) -> None:
    before, move, after, again, made, now = say(
        server, "showboard", "reg_genmove b", "showboard", "genmove b", "undo", "showboard"
    )
    assert before == after == now and move == again and made == "="
    assert "Black (X) to move" in before


@pytest.mark.parametrize("case", ["play {} pass", "genmove {}", ""])
def test_passes_may_be_told_asked_for_or_left_out(server: GtpServer, case: str) -> None:
    games = (played_out("standard", seed) for seed in itertools.count())
    game, commands = next(g for g in games if PASS in [move for _, move in g[:-2]]), []
    for before, move in game:
        position, color = before.play(move), before.to_move
        command = case if move == PASS else f"play {{}} {square_name(move)}"
        commands += [command.format(color.value)] * bool(command)
    assert {*say(server, *commands)} == {"=", *["= pass"] * case.startswith("genmove")}
    lead = position.disc_difference
    winner = position.to_move if lead > 0 else position.to_move.other
    expected = f"= {winner.value[0].upper()}+{abs(lead)}" if lead else "= 0"
    assert say(server, "final_score", "genmove b") == [expected, "= pass"]
    legal, result = say(server, "gogui-rules_legal_moves", "gogui-rules_final_result")
    assert legal == "=" and "is over" in result
    # Each command is taken back by one undo, with the pass that was left out before it.
    assert set(say(server, *["undo"] * len(commands))) == {"="}
    assert say(server, "undo") == ["? cannot undo"]


def test_boards_are_set_and_shown(server: GtpServer) -> None:
    position = Position.from_transcript("f5d6c3")
    board = position.to_obf()[:-2]
    assert say(server, f"setboard {board} white", "gogui-rules_side_to_move") == ["=", "= white"]
    shown, plain = say(server, "showboard", "gogui-rules_board")
    assert str(position) in shown
    assert plain[2:].replace(" ", "").replace("\n", "") == board.replace("-", ".")
    assert say(server, "undo", f"setboard {board[1:]} white", "setboard x")[0] == "? cannot undo"
    assert say(server, f"setboard {board[1:]} white")[0].startswith("? syntax error: position")


def test_other_sizes_of_board(server: GtpServer) -> None:
    assert say(server, "boardsize 6", "gogui-rules_board_size", "genmove b") == ["=", "= 6", "= C2"]
    assert say(server, "play w h8")[0].startswith("? syntax error")
    for other in served("agent=maximizer"):
        refused, size = say(other, "boardsize 6", "gogui-rules_board_size")
        assert refused.startswith("? unacceptable size") and size == "= 8"


@pytest.mark.integration
def test_an_agent_that_breaks_down_is_told_and_the_engine_lives() -> None:
    for server in served("agent=random agent._target_=misbehaving.Illegal +agent.after=1"):
        assert say(server, "genmove b", "reg_genmove w")[1].startswith("= ")
        said = say(server, "clear_board", "play b d3", "play w c3", "genmove b", "genmove b")
        assert any("an illegal move" in answer for answer in said[3:])
        assert say(server, "name")[0].startswith("= ")
    for server in served("agent=random agent._target_=misbehaving.Resigns +agent.after=1"):
        moves = say(server, "play b d3", *["reg_genmove w"] * 3)[1:]
        assert moves[1] == "= resign" and moves[0] == moves[2] != "= resign"


@pytest.mark.parametrize(
    ("clock", "given", "limits"),
    [
        (GtpClock(60, 0, 0, {}), Limits(), Limits(clock=59.9)),
        (GtpClock(0, 10, 5, {}), Limits(), Limits(seconds=1.9)),
        (GtpClock(60, 0, 0, {BLACK: (0.1, 0)}), Limits(depth=3), Limits(depth=3, clock=0.05)),
        (GtpClock(60, 10, 5, {BLACK: (4.0, 2)}), Limits(), Limits(seconds=1.9)),
        (GtpClock(60, 0, 0, {Color.WHITE: (1.0, 0)}), Limits(), Limits(clock=59.9)),
        (GtpClock(0, 10, 1, {}), Limits(seconds=1), Limits(seconds=1)),
        (GtpClock(60, 0, 0, {BLACK: (1.0, 0)}), Limits(seconds=1), Limits(seconds=0.5)),
    ],
)
def test_the_controllers_time_becomes_limits(
    clock: GtpClock, given: Limits, limits: Limits
) -> None:
    result = clock.limits(BLACK, given)
    times = [(bound.clock, bound.seconds) for bound in (result, limits)]
    assert times[0] == pytest.approx(times[1])
    assert replace(result, clock=None, seconds=None) == replace(limits, clock=None, seconds=None)


def test_time_is_kept_and_can_be_unlimited(server: GtpServer, requests: list[Any]) -> None:
    session = [
        *("time_settings 10 0 0", "genmove b", "genmove w", "time_left b 5 0", "genmove b"),
        *("clear_board", "genmove b", "time_settings 0 1 0", "genmove w", "time_left w 3 0"),
    ]
    assert all(answer.startswith("=") for answer in say(server, *session))
    clocks = [request.limits and request.limits.clock for request in requests]
    assert clocks[:2] == clocks[3:4] * 2 == [pytest.approx(9.9)] * 2  # each has its own
    assert clocks[2] == pytest.approx(4.9)
    assert requests[4].limits == Limits()


def test_it_serves_until_it_is_told_to_quit_or_nobody_asks(server: GtpServer) -> None:
    output = io.StringIO()
    serve(server, ["1 name\n", "\n", "2 quit\n", "3 name\n"], output)
    assert output.getvalue() == "=1 Othello strategy lab: greedy\n\n=2\n\n"
    serve(server, [], output)
