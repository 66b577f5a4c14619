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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from fuzzing import LONGEST, PIECES, edited, fuzz, fuzzed
from hypothesis import strategies as st
from refusals import ended

from othello_lab.__main__ import all_commands
from othello_lab.agents.command_line import make_parser
from othello_lab.agents.composing import choices, compose, conf_folder, dotted_keys
from othello_lab.core.command_line import COMMANDS as RULES
from othello_lab.play.command_line import COMMANDS as AT_THE_BOARD

VALUES = ["1", "2", "100", "0.5", "-1", "true", "null", "greedy", "iago", "standard", "mini6"]
VALUES += ["[1,2]", "{a:1}", "1,2", "${a}", "'x'", "f5d6c3", "./mine.py:f", "./mine.yaml", "."]
VALUES += ["./mine.py", "out", "no/such", "a=b", "", "\N{SNOWMAN}", "1e999", "9" * 30, "nan", "inf"]
VALUES += [",", "=", "@"]
PLACES = ["", "+", "++", "~", "first.", "second.", "agents.x.", "study.", "train.", "--"]
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
def commands() -> st.SearchStrategy[list[str]]:
    """Commands with a few words, right and wrong: those that its help names, and the settings and
    choices that it composes."""
    groups = [path.name for path in conf_folder().iterdir() if path.is_dir()]
    chosen = [f"{group}={name}" for group in groups for name in choices(group)]
    chosen += [f"agent@{seat}={n}" for seat in ("first", "second") for n in choices("agent")]
    chosen += [*choices("study"), *choices("train"), *choices("agent"), *choices("evaluation")]
    values = st.sampled_from(VALUES)
    behind = st.lists(st.sampled_from([*MINE, *VALUES, *PIECES]), max_size=1)

    def with_words(name: str) -> st.SearchStrategy[list[str]]:
        _, help_text, _ = ended([*name.split(), "--help"])
        options = re.findall(r"(?<![\w-])--[a-z][\w-]*|[\w.@]+=\w*", help_text)
        if name in COMPOSED:
            options += [f"{key}=" for key in dotted_keys(compose(COMPOSED[name]))] + chosen
        word = st.sampled_from(sorted({*options, "--help"}))
        word |= st.builds(str.__add__, st.sampled_from([*PLACES, *options]), values)
        word |= word.flatmap(edited)
        several = st.lists(word | st.tuples(word, values), max_size=4).map(flat)
        return st.builds(lambda words, more: [*name.split(), *words, *more], several, behind)

    names = [f"{one} {name}".strip() for one in all_commands() for name in ROOMS.get(one, [""])]
    known = {name: with_words(name) for name in names}
    return st.sampled_from(names).flatmap(known.__getitem__)


def flat(words: list[str | tuple[str, ...]]) -> list[str]:
    return [part for word in words for part in ((word,) if isinstance(word, str) else word)]


@contextlib.contextmanager
def halted() -> Iterator[None]:
    """No process, no folder and no port is made; nothing waits for input; Ctrl-C comes after a
    while."""
    places = ["os.fork", "os.mkdir", "subprocess.Popen", "builtins.input"]
    before = signal.signal(signal.SIGALRM, begun)
    with pytest.MonkeyPatch.context() as patched, contextlib.suppress(Begun):
        for function in [*places, "othello_lab.play.web.server.serve"]:
            patched.setattr(function, begun)
        patched.setattr("sys.stdin", io.StringIO(""))
        signal.setitimer(signal.ITIMER_REAL, _SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


@fuzzed(30, 300)
def test_words(
    inputs: int,
    commands: st.SearchStrategy[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in MINE.items():
        Path(name).write_text(text)

    def test(data: st.DataObject) -> None:
        # No system passes others on.
        words = [re.sub("[\0\ud800-\udbff]", "", word) for word in data.draw(commands)]
        there = set(os.listdir())
        with halted():
            code, _, said = ended(words)
            assert code in (0, 1, 2, 3, None), said
            assert "Traceback" not in said
            if code == 2:
                assert said.count("\n") == 1, said
                assert len(said) < 2 * LONGEST
                assert set(os.listdir()) == there

    fuzz(inputs, test)
