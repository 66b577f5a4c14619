"""A class's tournament from a folder to the pages: nobody who fails holds it up."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import runs
from bots import EXAMPLES
from rich.console import Console
from submitted import hand_in

from othello_lab import Position, resume
from othello_lab.__main__ import main
from othello_lab.agents.external.submission import submissions
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, LATE, RAISED, UNFIT
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import RunResult
from othello_lab.experiments.playing import agent_proxy, tasks
from othello_lab.experiments.report.programs import file_names

QUIET = Console(quiet=True)
PYTHON = ["agent", "strategy"]
PAGE = Path(__file__).parents[2] / "docs" / "class.md"


def played(folder: Path, *words: str) -> RunResult:
    """The tournament of the submissions in a folder."""
    given = ["experiment=class", f"folder={folder / 'submissions'}", "executor.workers=2"]
    return runs.played(folder, *given, *words)


def ends(result: RunResult, name: str) -> set[str]:
    """How the games ended that a program has lost."""
    games = result.games
    lost = ((games["black"] == name) & (games["black_points"] == 0)) | (
        (games["white"] == name) & (games["black_points"] == 1)
    )
    return set(games[lost]["end_reason"])


def page(result: RunResult, name: str) -> str:
    html = (result.folder / "programs" / f"{name}.html").read_text(encoding="utf-8")
    assert "<!doctype html>" in html
    return (result.folder / "programs" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_programs_of_all_kinds_play_each_other(tmp_path: Path, scratch: Path) -> None:
    kinds = ["file", "line", *PYTHON, "agent", "silent", "dying", "unreadable", "missing", "data"]
    names = hand_in(tmp_path / "submissions", kinds)
    result = played(tmp_path, "limits.prepare=3")
    assert result.complete
    assert list(result.games.sort_values("game")["game"]) == list(range(len(result.games)))
    table = result.standings.set_index("agent")
    lost = result.games[result.games["end_reason"] != FINISHED]
    for name in names[:5]:
        assert ends(result, name) <= {FINISHED}, (name, lost[["game", "detail"]].to_string())
        most = 5 + 2 * table["wins"][name] + table["draws"][name]
        assert 5 <= table["points"][name] <= most  # its first game and a replay pay less
    for name in names[5:]:
        assert table["points"][name] == 0  # none of them has completed a game
    assert ends(result, "silent5") == {HUNG}
    assert ends(result, "dying6") == {DIED}
    assert ends(result, "unreadable7") == ends(result, "data9") == {UNFIT}
    assert ends(result, "missing8") == {UNFIT}
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    assert "There are no ratings" in report
    assert "play the same moves" not in report
    assert f"{len(result.games)} games from 1 opening, " in report
    assert "goodbye" in page(result, "dying6")
    assert "line 1: invalid syntax" in page(result, "unreadable7")
    assert "ModuleNotFoundError" in page(result, "missing8")
    assert "chmod +x" in page(result, "data9")
    assert main(["verify", str(result.folder)]) == 0
    assert [*scratch.iterdir()] == []


@pytest.mark.integration
def test_a_page_tells_of_games_losses_logs_and_the_board_of_a_failure(tmp_path: Path) -> None:
    trouble = "import logging; logging.warning('noted'); print('my last words'); "
    trouble += "len(position.moves) == 3 or 1 / 0"
    hand_in(tmp_path / "submissions", [*PYTHON, "missing"], trouble={"agent": trouble})
    result = played(tmp_path)
    text, other = page(result, "agent0"), page(result, "strategy1")
    points = result.standings.set_index("agent")["points"]
    for name in points.index:  # of each game opponent, result, points and why: to be added up
        games = re.findall(r"^\| \d+ \| (?:Bl|Wh).*", page(result, name), re.MULTILINE)
        cells = [re.split(r" *\| *", game)[1:-1] for game in games]
        assert sum(float(row[-2]) for row in cells) == points[name], (name, games)
        assert f" = {points[name]:g}." in page(result, name)
        starts = [row[-2] == "0" for row in cells if row[2] == "missing2"]
        assert all(starts) and (starts or name == "missing2")
    failed = result.games[result.games["end_reason"] == RAISED].sort_values("game")
    assert f"| {RAISED} | {len(failed)} |" in text
    assert "ZeroDivisionError: division by zero (agent0.py, line 6)" in text
    assert "agent0: my last words" in text and "agent0: noted" in text
    assert "Traceback" in text
    assert "../report" not in text  # its author has neither the report nor the run
    assert "play replay" not in text
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    assert "[agent0](programs/agent0.md)" in report
    html = (result.folder / "report.html").read_text(encoding="utf-8")
    assert '<a href="programs/agent0.html">agent0</a>' in html
    assert "ZeroDivisionError" not in other
    won = rf"\| \d \| (Black|White) \| agent0 \| won \| - \| {RAISED} \| \|"
    assert re.search(won, other)

    lost = failed.iloc[0]
    number, color = lost["game"], "Black" if lost["black"] == "agent0" else "White"
    words = [*zip(*[iter(lost["transcript"])] * 2, strict=True)]
    position, plies = Position.start("wpi").follow("".join(word) for word in words)
    after = f"after ply {len(plies)}" if plies else "before the first move"
    heading = f"Game {number}, as {color} against strategy1, {after}: {RAISED}: ZeroDivisionError: "
    assert heading in text.replace("strategy2", "strategy1")
    assert str(position) in text
    assert "```\nmy last words\n" in text
    html = (result.folder / "programs" / "agent0.html").read_text(encoding="utf-8")
    assert f'<figure id="figure-game-{number}" tabindex="0">\n<svg' in html
    assert html.count("<circle") == position.discs + len(position.moves)


@pytest.mark.nightly
def test_to_compile_costs_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler takes longer than a program may take to begin."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs cc")
    hand_in(tmp_path / "submissions", ["agent"])
    shutil.copy(EXAMPLES / "class" / "anna.c", tmp_path / "submissions")
    slow = tmp_path / "bin" / "cc"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nsleep 2\nexec {compiler} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    words = ["limits.prepare=1", "isolation=process", "schedule.preliminary=1"]
    result = played(tmp_path, *words)
    assert ends(result, "anna") <= {FINISHED}


@pytest.mark.nightly
def test_a_program_is_told_the_reason_for_which_it_lost(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not of its watch: it is late, or has printed too much (here a megabyte, as to read more takes
    a busy machine long); and its exception is told."""
    monkeypatch.setattr(agent_proxy, "MOST_PRINTED", 1 << 20)
    folder = tmp_path / "submissions"
    hand_in(folder, ["line", "strategy"])
    for name, trouble in (
        ("late", "open('written', 'w').close(); __import__('time').sleep(100)"),
        ("loud", "while True: sys.stderr.write('x' * 99_999 + '\\n')"),
        ("wrong", "{}['x']"),
    ):
        line = "import sys\nif sys.stdin.readline():\n    print('ready', flush=True)\n"
        line += f"    sys.stdin.readline()\n    {trouble}\n"
        (folder / f"{name}.py").write_text(line)
        (folder / f"{name}.yaml").write_text(
            "protocol: line\ncommand: python3 NAME.py\n".replace("NAME", name)
        )
    result = played(tmp_path, "limits.seconds=3", "schedule.preliminary=1")
    assert ends(result, "late") == {LATE}
    # On a busy machine it may be late before it has printed so much.
    assert GARBAGE in ends(result, "loud") <= {GARBAGE, LATE}
    assert ends(result, "wrong") == {DIED}
    assert "1 MiB" in page(result, "loud")
    assert "KeyError: 'x' (wrong.py, line 5)" in page(result, "wrong")
    assert [*scratch.iterdir()] == []


@pytest.mark.integration
def test_a_tournament_of_submissions_is_resumed_with_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "submissions", [*PYTHON, "agent"])
    result = played(tmp_path)
    gone = (f"delete from {table} where game > 2" for table in ("games", "turns"))
    runs.changed(result.folder, *gone)
    with pytest.raises(ConfigError, match="trust"):
        resume(result.folder, console=QUIET)
    again = resume(result.folder, console=QUIET, trust=True)
    assert again.complete
    assert again.standings["agent"].tolist() == result.standings["agent"].tolist()
    (tmp_path / "submissions" / "agent0.py").write_text("# another one\n")
    with pytest.raises(ConfigError, match=r"agent0\.py"):
        resume(result.folder, console=QUIET, trust=True)


@pytest.mark.nightly
def test_only_some_keep_their_processes_between_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = "import os; print('process', os.getpid())"
    hand_in(tmp_path / "submissions", ["agent"] * 4, trouble={"agent": trouble})
    words = ["agents=folder", f"folder={tmp_path / 'submissions'}", "games=2"]
    processes = []
    for most in (16, 2):
        monkeypatch.setattr(tasks, "MOST_SEATED", most)
        result = runs.played(tmp_path, *words, "executor.workers=1")
        assert set(result.games["end_reason"]) == {FINISHED}
        said = (result.folder / "output.txt").read_text()
        processes.append(len(set(re.findall(r"process \d+", said))))
    assert processes[0] == 4 < processes[1]


@pytest.mark.integration
def test_a_name_in_another_encoding_has_its_place_and_page(tmp_path: Path) -> None:
    """So has one of the lab's agents its place, but no page."""
    names = hand_in(tmp_path / "submissions", ["agent"])
    source = tmp_path / "submissions" / f"{names[0]}.py"
    shutil.copy(source, source.with_name(os.fsdecode(b"caf\xe9.py")))
    result = played(tmp_path, "+agent@agents.greedy=greedy")
    assert result.complete
    assert set(result.standings["agent"]) == {*names, "greedy", r"caf\udce9"}
    assert ends(result, r"caf\udce9") == {UNFIT}
    assert all(ends(result, name) <= {FINISHED} for name in names)
    assert "not UTF-8" in page(result, "caf_udce9")
    pages = {path.stem for path in (result.folder / "programs").glob("*.md")}
    assert pages == {*names, "caf_udce9"}
    assert main(["verify", str(result.folder)]) == 0


def test_pages_are_called_like_their_programs_as_far_as_files_can_be() -> None:
    names = ["anna", "Anna", "a b", "a/b", "..", "žofie"]
    assert list(file_names(names).values()) == ["anna", "Anna-2", "a_b", "a_b-2", "_", "žofie"]


def test_the_examples_are_of_all_kinds() -> None:
    programs = submissions(str(EXAMPLES / "class"))
    kinds = {
        name: (settings["protocol"], settings.get("source")) for name, settings in programs.items()
    }
    assert kinds == {
        "anna": ("file", "anna.c"),
        "bert": ("line", "Bert.java"),
        "carla": ("python", None),
        "dora": ("python", None),
        "emil": ("line", None),
        "frida": ("python", None),
    }


def test_what_the_page_says_is_so(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    hand_in(tmp_path, ["file", "line"])
    (command,) = set(re.findall(r"othello-lab run (experiment=.*)", text))
    plan = read(command.replace("submissions", str(tmp_path)).split())
    (longer,) = re.findall(r"short for `(agents=.*?)`", text)
    same = read([*longer.split(), f"folder={tmp_path}", "name=class"])
    assert plan.settings == same.settings
    for setting, value in re.findall(r"`(?:limits|schedule)\.(\w+)=(\d+)`", text):
        limits, schedule = plan.settings.limits, plan.settings.schedule
        assert float(schedule.get(setting, getattr(limits, setting, None))) == float(value)


@pytest.mark.integration
def test_a_folder_named_from_the_working_folder_plays_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "handed", ["strategy"] * 2)  # each has a module beside it
    monkeypatch.chdir(tmp_path)
    result = runs.played(tmp_path, "experiment=class", "folder=handed", "executor=processes")
    assert UNFIT not in set(result.games["end_reason"])
