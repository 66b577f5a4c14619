"""Refereed games by the file protocol: whatever a program does, the game ends, with a reason, and
nothing is left of it."""

from __future__ import annotations

import functools
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bots import player
from chosen import mostly_nightly
from processes import Command, await_

from othello_lab import Color
from othello_lab.__main__ import room_main
from othello_lab.core.game import DIED, GARBAGE, ILLEGAL, LATE
from othello_lab.core.system.processes import LINUX
from othello_lab.core.wpi import move_text
from othello_lab.play.game_files import saved_games
from othello_lab.play.umpire import RULES

main = functools.partial(room_main, "play")

pytestmark = [
    pytest.mark.skipif(not LINUX, reason="finds processes by /proc"),
    pytest.mark.usefixtures("scratch"),
]

Refereed = Callable[..., str]
PATIENT = "limit=60"


def living(folder: Path) -> list[str]:
    """The processes whose command names this folder."""
    folders = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().decode(errors="replace")
            state = (path / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(folder) in command and state != "Z" and int(path.name) != os.getpid():
            folders.append(command)
    return folders


@pytest.fixture
def refereed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """``refereed("anna", "bert", "games=3")``: what is shown of games of two commands."""

    def run(first: str, second: str, *words: str) -> str:
        record = ["--record", str(tmp_path / "games.txt")]
        assert main(["referee", first, second, "seed=1", *words, *record]) == 0
        return capsys.readouterr().out

    return run


def lost(shown: str) -> tuple[str, str]:
    """Who has lost the only game, and why."""
    (reason,) = re.findall(r"^(?:Black|White) \((.*)\) loses: (.*)$", shown, re.MULTILINE)
    return reason


OUT = "f'{NAME}.out'"
LIBC = "__import__('ctypes').CDLL(None)"  # whose calls raise nothing where they are refused
DAEMON = (
    f"[os.fork() or ({LIBC}.setsid(), os.fork() or time.sleep(300), os._exit(0)) for _ in range(3)]"
)
SLEEP = "time.sleep(300)"
REMOVE = "__import__('shutil').rmtree(os.getcwd(), ignore_errors=True)"
FLOOD = "[os.write({}, b'{}' * 65536) for _ in iter(int, 1)]"
MAY_FORK = "isolation.children=[hostile]"
HOSTILE = {
    "never removes its file": (f"os.remove = lambda path: {SLEEP}; honest(text)", "limit=1", LATE),
    "half a line": (f"open({OUT}, 'w').write('(W D'); {SLEEP}", "limit=1", f"{LATE}.*'\\(W D'"),
    "late": (f"time.sleep(1.2); honest(text); {SLEEP}", "limit=1", LATE),
    "megabytes": ("honest('x' * 5_000_000)", PATIENT, f"{ILLEGAL}.*'xxx"),
    "two moves": ("honest(text + '\\n' + text)", PATIENT, ILLEGAL),
    "an occupied square": ("honest(text[:3] + 'D 4)')", PATIENT, ILLEGAL),
    "a link": (f"os.symlink('/etc/hostname', {OUT}); {SLEEP}", PATIENT, f"{ILLEGAL}.*link"),
    "a folder": (f"os.mkdir({OUT}); {SLEEP}", PATIENT, f"{ILLEGAL}.*folder"),
    "a pipe": (f"os.mkfifo({OUT}); {SLEEP}", PATIENT, f"{ILLEGAL}.*pipe"),
    "a folder where it is written to": (
        f"os.mkdir(f'{{NAME}}.in'); honest(text); {SLEEP}",
        "limit=1",
        f"{LATE}.*hostile.in",
    ),
    "removes where it is": (f"{REMOVE}; {SLEEP}", "limit=1", LATE),
    "dies": ("os._exit(3)", PATIENT, f"{DIED}.*exit code 3"),
    "forks": (f"{DAEMON}; {SLEEP}", PATIENT, f"{DIED}: hostile started another program"),
    "forks, as it may": (f"{DAEMON}; {SLEEP}", f"limit=1 {MAY_FORK}", LATE),
    "leaves a child that floods": (
        f"os.fork() or {FLOOD.format(1, 'x')}; os._exit(0)",
        f"{PATIENT} {MAY_FORK}",
        f"{DIED}.*exit code 0",
    ),
    "forks too often": (
        f"[os.fork() or {SLEEP} for _ in range(20)]; {SLEEP}",
        f"processes=10 {MAY_FORK}",
        f"{DIED}: it had",
    ),
    "floods its output": (FLOOD.format(1, "x"), PATIENT, f"{GARBAGE}.*16 MiB"),
    "kills who stands for it": (f"{LIBC}.kill(os.getppid(), 9); honest('x')", PATIENT, ILLEGAL),
}


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(HOSTILE, ("half a line", "two moves", "dies")))
def test_a_hostile_program_loses_for_that_reason_and_leaves_nothing(
    name: str, tmp_path: Path, scratch: Path, refereed: Refereed
) -> None:
    trouble, words, reason = HOSTILE[name]
    hostile = player(tmp_path, trouble, after=2, name="hostile")
    honest = player(tmp_path, name="honest")
    shown = refereed(hostile, honest, *words.split())
    who, why = lost(shown)
    assert who == "hostile" and re.match(reason, why), shown
    assert "(honest) wins." in shown
    assert not living(tmp_path) and not list(scratch.iterdir())


@pytest.mark.nightly
def test_a_program_that_does_not_take_its_colour_loses(
    tmp_path: Path, refereed: Refereed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With either colour. The other has so long to begin, too."""
    monkeypatch.setattr("othello_lab.play.umpire.START_SECONDS", 5.0)
    hostile = player(tmp_path, begin="time.sleep(300)", name="hostile")
    shown = refereed(hostile, player(tmp_path, name="honest"), "limit=1", "games=2")
    why = re.findall(rf"\(hostile\) loses: {LATE}.*hostile.in within 5 s", shown)
    assert len(why) == 2, shown


@pytest.mark.integration
def test_a_program_that_answers_twice_loses(tmp_path: Path, refereed: Refereed) -> None:
    twice = "honest(text); sleep(0.3); honest(text); sleep(300)"
    slow = player(tmp_path, "sleep(0.6); honest(text)", after=0, name="slow")
    shown = refereed(player(tmp_path, twice, 2, name="hostile"), slow)
    who, why = lost(shown)
    assert who == "hostile" and why.startswith(ILLEGAL), shown


STYLES = (
    "honest(text.lower())",
    f"open({OUT}, 'w').write(text)",
    f"open({OUT}, 'w', newline='').write(text + chr(13) + chr(10))",
    "honest('  ( ' + '   '.join(text[1:-1].split()) + chr(9) + ' )  ' + chr(10))",
    f"open({OUT}, 'w', encoding='utf-8-sig').write(text)",
    "honest(text.replace('P 1', 'P 9'))",
    f"[open({OUT}, 'a').write(each) for each in text + chr(10)]",
)


@pytest.mark.integration
def test_moves_may_be_written_in_many_ways(tmp_path: Path, refereed: Refereed) -> None:
    styles = ", ".join(f"lambda: ({style})" for style in STYLES)
    odd = player(tmp_path, f"[{styles}][ANSWERS % {len(STYLES)}]()", after=0, name="odd", seed=6)
    shown = refereed(odd, player(tmp_path, name="even", seed=1))
    assert "The game is over: " in shown, shown
    assert "(odd) (W P 1)" in shown  # which seeds 6 and 1 lead to


@pytest.mark.integration
def test_a_whole_game_and_its_transcript(tmp_path: Path, refereed: Refereed) -> None:
    first, second = player(tmp_path, name="anna", seed=6), player(tmp_path, name="bert", seed=1)
    shown = refereed(first, second)
    (game,) = saved_games((tmp_path / "games.txt").read_text(), "a file")
    assert game.game.is_over and game.players == {Color.WHITE: "anna", Color.BLACK: "bert"}
    moves = [move_text(turn.move, turn.color, RULES) for turn in game.game.turns]
    made = re.findall(r"^\d+\. (?:White \(anna\)|Black \(bert\)) (\(.*?\))", shown, re.MULTILINE)
    assert made == moves
    assert shown.count("  a b c d e f g h\n") == len(moves) + 1
    assert str(game.game.position) in shown and "\nThe game is over: " in shown


@pytest.mark.integration
def test_a_series_changes_colours_and_counts(tmp_path: Path, refereed: Refereed) -> None:
    winner = player(tmp_path, name="anna")
    loser = player(tmp_path, "honest('(W D 4)')", after=0, name="bert")
    shown, again = (refereed(winner, loser, "games=3", "seed=7") for _ in range(2))
    game = re.compile(r"^Game \d: White (\w+), Black (\w+)$", re.MULTILINE)
    whites = game.findall(shown)
    assert whites[0] == whites[2] == whites[1][::-1]
    assert game.findall(again) == whites
    assert shown.count("(bert) loses: illegal move: ") == 3
    assert "anna - bert; colours drawn with seed=7" in shown
    assert "3 games: anna 3, bert 0" in shown
    assert len(saved_games((tmp_path / "games.txt").read_text(), "a file")) == 3
    assert (tmp_path / "games.txt").read_text().count("(bert) loses: illegal move: ") == 3


@pytest.mark.integration
def test_both_may_play_in_a_folder_of_yours(
    tmp_path: Path, scratch: Path, refereed: Refereed
) -> None:
    folder = tmp_path / "game"
    folder.mkdir()
    (folder / "anna.out").write_text("(W D 3)\n")  # of an earlier game
    first, second = player(tmp_path, name="x"), player(tmp_path, name="y")
    names = f"names=anna,bert folder={folder} isolation.reads=[{tmp_path}]".split()
    commands = [
        f"{sys.executable} -c \"import sys; sys.argv[0] = '{name}'; exec(open('{file}').read())\""
        for name, file in (("anna", first.split()[-1]), ("bert", second.split()[-1]))
    ]
    shown = refereed(*commands, *names)
    assert "The game is over: " in shown, shown
    assert not list(scratch.iterdir()) and folder.is_dir()


@pytest.mark.integration
def test_an_illegal_move_is_handed_on_to_the_opponent(
    tmp_path: Path, refereed: Refereed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("othello_lab.play.umpire.EXIT_SECONDS", 60.0)  # both end by themselves
    note = tmp_path / "note"
    begin = (
        "os.remove = lambda path, remove=os.remove: ("
        f"open({str(note)!r}, 'a').write(open(path).read()), remove(path))"
    )
    watcher = player(tmp_path, begin=begin, name="watcher")
    bad = player(tmp_path, "honest('(W D 9) so there'); os._exit(0)", after=3, name="bad")
    shown = refereed(bad, watcher, f"isolation.writes=[{tmp_path}]")
    assert lost(shown)[0] == "bad"
    assert note.read_text().splitlines()[-1] == "(W D 9) so there"


@pytest.mark.integration
def test_what_programs_print_is_shown_if_asked_for(tmp_path: Path, refereed: Refereed) -> None:
    talks = player(tmp_path, "print('I think', flush=True); honest(text)", after=0, name="talks")
    quiet = player(tmp_path, name="quiet", end="print('\\33[31mred')")
    shown = refereed(talks, quiet, "output=true")
    assert "talks: I think" in shown and "\\x1b[31mred" in shown and "\33" not in shown


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_referee_that_is_stopped(
    number: signal.Signals, tmp_path: Path, scratch: Path
) -> None:
    hostile = player(tmp_path, f"{DAEMON}; time.sleep(300)", after=2, name="hostile")
    honest = player(tmp_path, name="honest")
    words = ["referee", hostile, honest, "--record", str(tmp_path / "games.txt")]
    words += ["isolation.children=[hostile]"]
    command = Command(*words, main=main)
    await_(lambda: len(living(tmp_path)) >= 5)  # two, and three that one has started
    os.kill(command.pid, number)
    command.wait()
    await_(lambda: not living(tmp_path))
    if number == signal.SIGINT:
        assert not list(scratch.iterdir())
        assert command.returncode == 130 and "stopped" in command.printed


@pytest.mark.integration
def test_a_program_that_changes_its_own_file(tmp_path: Path, refereed: Refereed) -> None:
    """A closed one may not; an open one plays as its file says at each start."""
    change = "open(sys.argv[0], 'w').write('1 / 0'); honest(text)"
    changes = player(tmp_path, change, after=3, name="changes")
    honest = player(tmp_path, name="honest")
    loser, reason = lost(refereed(changes, honest))
    assert loser == "changes" and reason.startswith(DIED)
    shown = refereed(changes, honest, "games=2", "isolation=process")
    first, second = re.split(r"^Game 2: .*$", shown, flags=re.MULTILINE)
    assert "The game is over: " in first, first
    assert lost(second)[0] == "changes" and "ZeroDivisionError" in second
    await_(lambda: not living(tmp_path))
