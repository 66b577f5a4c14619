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
    assert play("f5\nd6\nc3\nd3\nc4\nquit\n", "white=human").count("opening: Tiger") == 1
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


def test_an_agent_states_its_move_before_it_makes_it(play: Play) -> None:
    out = play("d3\n", "white.depth=3")
    stated, board = out.index("White (alphabeta depth=3"), out.rindex("a  b  c")
    assert stated < board
    assert "plays c5" in out
    assert "value +0, depth 3, line c5 f6 f3" in out
    counts = r"49 game states examined, 34 evaluations, 6 cutoffs, \d+\.\d{3} s"
    assert re.search(counts, out)


def test_settings_change_for_a_move_or_from_then_on(play: Play) -> None:
    out = play("depth 2 once\nevaluation disc_count once\nd3\nundo\nordering static\nd3\n")
    said = [line for line in out.splitlines() if line.startswith("White (")]
    assert "depth=2 evaluation=DiscCount" in said[0]
    assert "depth=4 ordering=static evaluation=SquareWeights" in said[1]
    out = play("agent minimax depth=2 evaluation=disc_count\nd3\nagent human\nblack agent greedy\n")
    assert "White is now minimax depth=2 evaluation=DiscCount." in out
    assert "Black is now greedy." in out


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
    for words, told in (
        (["white=pvs", "white.depth=2"], "no tree: table_mb"),
        (["white=random"], "random shows no search tree"),
        (["white=greedy"], "In all 4 game states examined, 3 evaluations."),
    ):
        assert told in play("debug on\nd3\n", *words)


def test_hints_positions_and_files(play: Play, tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    out = play(f"hint\nhint 9\nd3\nsave {path}\nnew\nload {path}\nposition\n", "hint.depth=2")
    hints = re.findall(r"^  (\w\d) +value ([+-]\d+) +line (.*)$", out, re.MULTILINE)
    assert len(hints) == 1 + 4
    values = [int(value) for _, value, _ in hints[1:]]
    assert values == sorted(values, reverse=True)
    assert hints[0][1] == hints[1][1]
    assert "played: d3 c5" in out


def test_enter_draws_the_board_and_passes_are_made(play: Play) -> None:
    assert play("\n\nquit\n").count("a  b  c") == 3
    out = play("position OOX-XXXXXXXXXXX- O\nd4\nquit\n", "white=human", "ruleset=mini4")
    assert "must pass" in out
    assert out.count("a  b  c") == 4  # the start, the position, after the move, after the pass


def test_agents_fit_the_board_and_state_what_they_counted(play: Play) -> None:
    assert "evaluation=DiscCount) plays" in play("d5\nquit\n", "ruleset=mini6")
    out = play("d3\nquit\n", "white=random")
    assert re.search(r"White \(random\) plays [ce]\d\n  \d+\.\d{3} s\n", out)


def test_who_resigns_has_lost_the_whole_board(play: Play) -> None:
    out = play("d3\nresign\nresign\nd6\n", "white.depth=1")
    assert "Black resigns: White wins" in out
    assert "resign: the game is over" in out
    out = play("d3\nresign\n", "white=random", "series.points=100")
    assert "human 0, random 1 games; points 0 : 64" in out


def test_wpi_begins_with_white_and_its_rows_are_counted_from_below(play: Play) -> None:
    out = play("position\n(W D 3)\n", "white=human", "ruleset=wpi")
    rows = re.findall(r"^ (\d) ", out, re.MULTILINE)
    assert rows[:8] == list("87654321")
    assert "White to move" in out


@pytest.mark.integration
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


def test_an_agent_may_resign(play: Play) -> None:
    out = play(
        "d3\nundo\nquit\n", "white=random", "white._target_=misbehaving.Resigns", "+white.after=0"
    )
    assert "White resigns: Black wins by 64" in out and "broken" not in out
    assert "Taken back: 1 move" in out


@pytest.mark.integration
def test_an_agent_that_breaks_down_is_replaced(play: Play) -> None:
    words = "white=random", "white._target_=misbehaving.Illegal", "+white.after=0"
    out = play("d3\ngo\nagent greedy\nposition\n", *words)
    assert out.count("White (random) has broken down: an illegal move") == 2
    assert "'agent NAME'" in out
    assert "White (greedy) plays c3" in out
    assert "played: d3 c3" in out


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


def test_two_agents_play_by_themselves_or_move_by_move(play: Play) -> None:
    out = play("", "black=greedy", "white=random", "ruleset=mini4")
    assert "The game is over" in out
    out = play("\n\nquit\n", "black=greedy", "white=random", "ruleset=mini4", "pause=true")
    assert len(re.findall(r"plays", out)) == 2


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


def test_each_colour_has_random_numbers_of_its_own(play: Play, asked: list[Any]) -> None:
    """Black's come from an even number and White's from the next, as in a run."""
    play("", "black=random", "white=random", "ruleset=mini4", "seed=3")
    assert {(each.color, each.seed) for each in asked} == {(Color.BLACK, 6), (Color.WHITE, 7)}


def test_hints_against_the_champion_come_from_it() -> None:
    assert read(["white=champion"]).hint.name == "champion"
    assert read(["white=champion", "hint=mcts"]).hint.name == "mcts"
    assert read(["white=champion", "hint.depth=2"]).hint.name == "alphabeta"
    assert read(["white=pvs"]).hint.name == "alphabeta"
