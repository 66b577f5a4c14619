"""A session at the terminal, with scripted input: what is typed, and what is shown."""

from __future__ import annotations

import io
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from othello_lab.__main__ import room_main
from othello_lab.core.rules import Color
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.play.config import read
from othello_lab.play.terminal.loop import play_at_terminal
from othello_lab.play.terminal.screen import Screen

pytestmark = pytest.mark.integration

Play = Callable[..., str]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """``play("d3\\nquit", "white=greedy")``: what a session prints."""
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")

    def run(script: str, *words: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(script))
        assert room_main("play", ["terminal", "board=ascii", *words]) == 0
        return capsys.readouterr().out

    return run


BOARD = "a b c d"
MISBEHAVES = "white=random +white.after=0 white._target_=misbehaving."
SESSIONS = [
    ("white=human", "f5;d6;c3;d3;c4;quit", [("opening: Tiger", 1)]),
    # An agent states its move before it makes it.
    ("white.depth=3", "d3", [
        (r"White \(alphabeta depth=3.* plays c5.* value \+0, depth 3, line c5 f6 f3.*a b c d", 1),
        (r"49 game states examined, 34 evaluations, 6 cutoffs, \d+\.\d{3} s", 1)]),
    # Settings change for a move, or from then on.
    ("", "depth 2 once;evaluation disc_count once;d3;undo;ordering static;d3", [
        (r"White \([^)]* depth=2 evaluation=DiscCount.*White \([^)]* depth=4 ordering=static "
         r"evaluation=SquareWeights", 1)]),
    ("", "agent minimax depth=2 evaluation=disc_count;d3;agent human;black agent greedy", [
        (r"White is now minimax depth=2 evaluation=DiscCount\.", 1),
        (r"Black is now greedy\.", 1)]),
    ("white=pvs white.depth=2", "debug on;d3", [("no tree: table_mb", 1)]),
    ("white=random", "debug on;d3", [("random shows no search tree", 1)]),
    ("white=greedy", "debug on;d3", [(r"In all 4 game states examined, 3 evaluations\.", 1)]),
    # Enter draws the board, and passes are made.
    ("", ";;quit", [(BOARD, 3)]),
    ("white=human ruleset=mini4", "position OOX-XXXXXXXXXXX- O;d4;quit",
     [("must pass", 1), (BOARD, 4)]),  # the start, the position, after the move, after the pass
    # Agents fit the board, and state what they counted.
    ("ruleset=mini6", "d5;quit", [(r"evaluation=DiscCount\) plays", 1)]),
    ("white=random", "d3;quit", [(r"White \(random\) plays [ce]\d \d+\.\d{3} s ", 1)]),
    # Who resigns has lost the whole board.
    ("white.depth=1", "d3;resign;resign;d6",
     [("Black resigns: White wins", 1), ("resign: the game is over", 1)]),
    ("white=random series.points=100", "d3;resign",
     [("human 0, random 1 games; points 0 : 64", 1)]),
    (f"{MISBEHAVES}Resigns", "d3;undo;quit",
     [("White resigns: Black wins by 64", 1), ("Taken back: 1 move", 1), ("broken", 0)]),
    # In wpi White begins, and rows are counted from below.
    ("white=human ruleset=wpi", "position;(W D 3)",
     [(" h 8 .* 7 .* 6 .* 5 .* 4 .* 3 .* 2 .* 1 ", 1), ("White to move", 1)]),
    # An agent that breaks down is replaced.
    (f"{MISBEHAVES}Illegal", "d3;go;agent greedy;position", [
        (r"White \(random\) has broken down: an illegal move", 2), ("'agent NAME'", 1),
        (r"White \(greedy\) plays c3", 1), ("played: d3 c3", 1)]),
    # Two agents play by themselves, or move by move.
    ("black=greedy white=random ruleset=mini4", "", [("The game is over", 1)]),
    ("black=greedy white=random ruleset=mini4 pause=true", ";;quit", [("plays", 2)]),
]  # fmt: skip
"""Settings, the lines that are typed, and what is shown how often; of once, at least once."""


@pytest.mark.parametrize(("words", "script", "shown"), SESSIONS)
def test_what_is_typed_has_its_answer(
    words: str, script: str, shown: list[tuple[str, int]], play: Play
) -> None:
    out = " ".join(play(script.replace(";", "\n") + "\n", *words.split()).split())
    for pattern, times in shown:
        number = len(re.findall(pattern, out))
        assert number == times or (number > 1 == times), (pattern, out)


def test_a_game_of_two_people_to_its_end(play: Play, tmp_path: Path) -> None:
    record = tmp_path / "game.txt"
    start = "-OX-" + "-" * 12 + " X"
    out = play(
        f"position {start}\n1 1\nundo\na1\n",
        "white=human",
        "ruleset=mini4",
        "--record",
        str(record),
    )
    assert "Taken back: 1 move" in out
    assert "Black wins by 16" in out
    assert f"The game is in {record}" in out.replace("\n", " ").replace("  ", " ")
    assert "Black wins by 16" in record.read_text()


def test_legal_moves_discs_and_turn_are_shown(play: Play) -> None:
    out = play("d3\nmarks off\nquit\n", "white=human")
    boards = out.split("a  b  c")[1:]
    assert boards[0].count("*") == 4
    assert "X  Black  2  human" in boards[0]
    assert "Black to move" in boards[0]
    assert "[X]" in boards[1]
    assert "last: Black d3" in boards[1]
    assert "*" not in boards[2]
    assert max(map(len, out.splitlines())) <= 80
    assert "Goodbye" in out


def test_what_cannot_be_done_is_refused_and_the_board_stays(play: Play) -> None:
    lines = {
        "d4": "d4: square occupied",
        "a1": "a1: traps nothing",
        "--": "(d3, c4, f5, e6)",
        "(W D 3)": "black is to move",
        "gibberish": "'gibberish'",
        "undoo": "'undo'?",
        "undo": "nothing to take back",
        "\x1b[31m": r"'\x1b[31m'",
        "position XO": "2 squares instead of 64",
        "load /nowhere": "/nowhere: cannot be read",
        "save /nowhere/x": "cannot be written",
        "depth 65": "depth 65: a whole number from 1 to 64",
        "ordering fast": "'fast'",
        "agent alphabata": "'alphabeta'?",
        "agent greedy depth=3": "'depth'",
        "pruning maybe": "on, off",
        "debug loud": "debug loud:",
        "hint 0": "hint 0:",
        "black depth 3": "black is human",
        "series games=0": "points=N",
        "go": "person's turn",
        "9" * 500: "neither a move nor",
    }
    out = play("\n".join([*lines, "position"]))
    for said in lines.values():
        assert said in re.sub(r"\n", " ", out), said
    assert "---------------------------OX------XO--------------------------- X" in out
    assert "Traceback" not in out


def test_pruning_shows_both_counts(play: Play) -> None:
    out = play("pruning off\nd3\npruning on once\nc6\nd2\n", "white.depth=3")
    rows = re.findall(r"^  (minimax|alphabeta) +(\d+) +(\d+) +(\d+) .*$", out, re.MULTILINE)
    assert [row[0] for row in rows] == ["minimax", "alphabeta", "alphabeta", "minimax"]
    assert rows[1][1] == "49"
    assert rows[0][3] == "0"
    assert "alphabeta examined" in out


def test_debug_shows_the_tree_on_the_screen_or_in_a_file(play: Play, tmp_path: Path) -> None:
    file = tmp_path / "tree.txt"
    out = play(f"debug on once\nd3\nc6\nundo\ndebug to {file} depth 2\nc6\n", "white.depth=3")
    assert out.count("The tree below White's move.") == 1
    assert "In all 49 game states examined, 34 evaluations, 6 cutoffs." in out
    assert f"the tree is in {file}" in out.replace("\n", " ").replace("  ", " ")
    assert "game states below are not shown" in file.read_text()


def test_hints_positions_and_files(play: Play, tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    out = play(f"hint\nhint 9\nd3\nsave {path}\nnew\nload {path}\nposition\n", "hint.depth=2")
    hints = re.findall(r"^  (\w\d) +value ([+-]\d+) +line (.*)$", out, re.MULTILINE)
    assert len(hints) == 1 + 4
    values = [int(value) for _, value, _ in hints[1:]]
    assert values == sorted(values, reverse=True)
    assert hints[0][1] == hints[1][1]
    assert "played: d3 c5" in out


def test_a_series_changes_colours_and_keeps_the_score(play: Play, tmp_path: Path) -> None:
    words = "black=greedy", "white=random", "ruleset=mini4"
    file = tmp_path / "games.txt"
    out = play("", *words, "series.games=2", "--record", str(file))
    scores = re.findall(r"Series: greedy (\d), random (\d) games", out)
    assert max(map(int, scores[-1])) == 2
    assert len(scores) >= 2
    assert "Black is random, White is greedy" in out
    shown, recorded = " ".join(out.split()), re.findall(r"(?m)^series: (.*)", file.read_text())
    assert len(recorded) >= 2
    assert all(f"Series: {score}" in shown for score in recorded)
    assert recorded[-1].endswith("wins the series.")
    out = play("", *words, "series.points=20")
    assert re.search(r"points (2\d|3\d) : |: (2\d|3\d)\.", out)


def test_a_long_search_is_foreseen_and_can_be_stopped(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes while the search is under way of which was said how long it takes."""
    say, decide, foreseen = Screen.say, AgentProxy.decide, []

    def note(screen: Screen, text: str = "", style: str = "") -> None:
        say(screen, text, style)
        foreseen.extend(["now"] * ("would take" in text))

    def interrupted(*question: Any) -> Any:
        if foreseen == ["now"]:
            foreseen.append("done")
            signal.setitimer(signal.ITIMER_REAL, 0.05)
        return decide(*question)

    monkeypatch.setattr(Screen, "say", note)
    monkeypatch.setattr(AgentProxy, "decide", interrupted)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        out = play("d3\nposition\ndepth 2\n\nposition\n", "white.depth=30")
    finally:
        signal.signal(signal.SIGALRM, before)
    out = " ".join(out.split())
    assert re.search(r"alphabeta: depth 30 would take (about|more than)", out)
    assert out.count("would take") == out.count("was stopped") == 1
    assert "played: d3 white> depth 2" in out
    assert "played: d3 c3 " in out


@pytest.mark.parametrize("unicode", [True, False])
def test_without_colour_there_is_none(
    unicode: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    board = "unicode" if unicode else "ascii"
    play_at_terminal(read(["white=human", f"board={board}"]), None)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.isascii() is not unicode


def test_each_colour_has_random_numbers_of_its_own(play: Play, requests: list[Any]) -> None:
    """Black's come from an even number and White's from the next, as in a run."""
    play("", "black=random", "white=random", "ruleset=mini4", "seed=3")
    seeds = {(request.color, request.seed) for request in requests}
    assert seeds == {(Color.BLACK, 6), (Color.WHITE, 7)}


def test_hints_against_the_champion_come_from_it() -> None:
    assert read(["white=champion"]).hint.name == "champion"
    assert read(["white=champion", "hint=mcts"]).hint.name == "mcts"
    assert read(["white=champion", "hint.depth=2"]).hint.name == "alphabeta"
    assert read(["white=pvs"]).hint.name == "alphabeta"
