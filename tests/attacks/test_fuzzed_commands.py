"""The command line, word by word: every command obeys, or refuses in one line with exit code 2, and
then has written nothing.

A command that begins to work is stopped there: this is about what it is asked for.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from fuzzing import LONGEST, PIECES, Draw, fuzzed

from othello_lab.__main__ import all_commands, main
from othello_lab.agents.command_line import make_parser
from othello_lab.agents.config import choices, conf_folder, known_keys
from othello_lab.core.command_line import COMMANDS as RULES
from othello_lab.play.command_line import COMMANDS as AT_THE_BOARD

VALUES = ("1", "2", "100", "0.5", "-1", "true", "null", "greedy", "iago", "standard", "mini6")
VALUES += ("[1,2]", "{a:1}", "1,2", "${a}", "'x'", "f5d6c3", "./mine.py:f", "./mine.yaml", ".")
VALUES += ("./mine.py", "out", "no/such", "a=b", "", "\N{SNOWMAN}", "1e999", "9" * 30, "nan", "inf")
VALUES += (",", "=", "@")
PLACES = (*4 * ("",), "+", "++", "~", "first.", "second.", "agents.x.", "study.", "train.", "--")
MINE = {
    "mine.py": "def f(player, board):\n    return 0\n",
    "mine.yaml": "_target_: othello_lab.AlphaBeta\ndepth: 3\n",
    "damaged.yaml": "_target_: [\n",
    "games.txt": "f5d6c3\nf5f6e6\n",
    "a.wtb": "nothing",
}
ROOMS = {"agents": make_parser()[1], "core": RULES, "play": AT_THE_BOARD}
COMPOSED = {
    **dict.fromkeys(("run", "match", "plan", "study", "train", "selfplay", "positions"), "run"),
    **{f"play {name}": "play" for name in AT_THE_BOARD},
}
"""The configuration whose settings a command takes."""
_SECONDS = 20  # for an answer; the machine may be busy


class Begun(BaseException):
    """The command does what it was asked to do."""


def begun(*arguments: Any, **named: Any) -> NoReturn:
    raise Begun


@pytest.fixture(scope="module")
def words() -> dict[str, list[str]]:
    """The words of each command: those that its help names, and the settings and choices that it
    composes."""
    names = [
        f"{command} {name}".strip()
        for command in all_commands()
        for name in ROOMS.get(command, [""])
    ]
    keys = {config: [f"{key}=" for key in known_keys(config)] for config in ("run", "play")}
    groups = [path.name for path in conf_folder().iterdir() if path.is_dir()]
    chosen = [f"{group}={name}" for group in groups for name in choices(group)]
    chosen += [f"agent@{place}={n}" for place in ("first", "second") for n in choices("agent")]
    chosen += [*choices("study"), *choices("train"), *choices("agent"), *choices("evaluation")]
    return {
        name: [*named_in_help(name), *(keys[COMPOSED[name]] + chosen if name in COMPOSED else ())]
        for name in names
    }


def named_in_help(command: str) -> list[str]:
    """The options and the beginnings of settings in a command's help."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main([*command.split(), "--help"])
    found = re.findall(r"(?<![\w-])--[a-z][\w-]*|[\w.@]+=\w*", printed.getvalue())
    return sorted({*found, "--help"})


@pytest.fixture
def halted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process, no folder and no port is made; nothing waits for input; Ctrl-C comes after a
    while."""
    monkeypatch.chdir(tmp_path)
    for name, text in MINE.items():
        Path(name).write_text(text)
    monkeypatch.setattr(os, "fork", begun)
    monkeypatch.setattr(os, "mkdir", begun)
    monkeypatch.setattr(subprocess, "Popen", begun)
    monkeypatch.setattr("othello_lab.play.web.server.serve", begun)
    monkeypatch.setattr("builtins.input", begun)
    before = signal.signal(signal.SIGALRM, begun)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def drawn(draw: Draw, words: dict[str, list[str]]) -> list[str]:
    """A command with a few words, right and wrong."""
    command = draw.choice(list(words))
    found = command.split()
    for _ in range(draw.randrange(5)):
        word = draw.choice(words[command] or [""]) if draw.random() < 0.8 else draw.choice(PLACES)
        if word.endswith("=") or draw.random() < 0.3:
            word += draw.choice(VALUES)
        if draw.random() < 0.3:
            word = draw.edited(word)
        found.append(word)
        if word.startswith("--") and draw.random() < 0.6:
            found.append(draw.choice(VALUES))
    if draw.random() < 0.5:
        found.append(draw.choice([*MINE, *VALUES, *PIECES]))
    # No system passes others on.
    found = [re.sub("[\0\ud800-\udbff]", "", word) for word in found]
    draw.drawn = found  # type: ignore[assignment]
    return found


@fuzzed(250, few=30)
def test_words(draw: Draw, words: dict[str, list[str]], halted: None) -> None:
    asked = drawn(draw, words)
    there = set(os.listdir())
    out, told = io.StringIO(), io.StringIO()
    sys.stdin = io.StringIO("")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        signal.setitimer(signal.ITIMER_REAL, _SECONDS)
        try:
            code: Any = main(asked)
        except SystemExit as end:
            code = end.code
        except Begun:
            return
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.stdin = sys.__stdin__
    said = told.getvalue()
    assert code in (0, 1, 2, 3, None), said
    assert "Traceback" not in said
    if code == 2:
        assert said.count("\n") == 1, said
        assert len(said) < 2 * LONGEST
        assert set(os.listdir()) == there
