"""Quarry, a program with a board for GTP engines (Debian's package ``quarry``), plays a whole game
between two of ours, under Xvfb: it is told by a few keys to begin."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import await_

from othello_lab import Position
from othello_lab.core.system.processes import end_descendants

ROOT = Path(__file__).parents[2]
GAMES = f"{os.environ.get('PATH', '')}:/usr/games"
NEEDED = {name: shutil.which(name, path=GAMES) for name in ("quarry", "Xvfb", "xdotool")}
MISSING = [name for name, path in NEEDED.items() if path is None]

NEW_GAME = "New Game"  # the title of a dialog
PATIENCE = 5.0  # seconds from one time that a key is pressed to the next
# What is said to the engine, and what it says, is kept.
ENGINE = """#!/bin/sh
tee {folder}/heard.$$ | {python} -m play gtp agent={agent} | tee {folder}/said.$$
"""
SETTINGS = """
[GTP Engine "lab"]
Screen name format = "%n %v"
Name               = "Othello strategy lab: {agent}"
Command line       = "{command}"
Supported games    = "Reversi"

[New Game Parameters]
Game                 = "Reversi"
White is computer    = true
Engine playing white = "lab"
Black is computer    = true
Engine playing black = "lab"
"""


@contextmanager
def running(*words: str, environment: dict[str, str], passed: int = -1) -> Iterator[None]:
    """A program, which is ended with all that it has started."""
    program = subprocess.Popen(
        words,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[passed] if passed >= 0 else [],
    )
    try:
        yield
    finally:
        end_descendants([program.pid])
        program.kill()
        program.wait()


@contextmanager
def display() -> Iterator[str]:
    """A screen that nobody sees; its name."""
    ours, theirs = os.pipe()
    # A screen begins anew when its last program leaves, and drops whoever comes. xdotool leaves
    # each time that it was asked: without -noreset, Quarry may be dropped.
    words = [str(NEEDED["Xvfb"]), "-noreset", "-displayfd", str(theirs)]
    with os.fdopen(ours) as told, running(*words, environment={}, passed=theirs):
        os.close(theirs)
        number = told.readline().strip()
        assert number, "Xvfb does not start"
        yield f":{number}"


def xdotool(screen: str, *words: str) -> str:
    """What it prints."""
    done = subprocess.run(
        [str(NEEDED["xdotool"]), *words],
        env=os.environ | {"DISPLAY": screen},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout


def titles(screen: str) -> set[str]:
    """Of the windows that are there to see."""
    numbers = xdotool(screen, "search", "--onlyvisible", "--name", ".").split()
    return {xdotool(screen, "getwindowname", number).strip() for number in numbers}


def press_until(screen: str, keys: str, there: Callable[[], object]) -> None:
    """Press keys where the windows are until something is there: a dialog that has just opened, or
    turns a page, may miss one."""
    pressed = 0.0

    def there_now() -> object:
        nonlocal pressed
        if time.monotonic() - pressed > PATIENCE:
            xdotool(screen, "mousemove", "20", "20", "key", *keys.split())
            pressed = time.monotonic()
        return there()

    await_(there_now)


def game(heard: Path) -> Position:
    """Where the game of an engine stands, by what it was told and what it has answered."""
    said = heard.with_name(heard.name.replace("heard", "said"))
    if not said.exists():  # it has not answered yet
        return Position.start()
    answers = [part.lstrip("= ") for part in said.read_text().split("\n\n")[:-1]]
    moves = []
    for command, answer in zip(heard.read_text().splitlines(), answers, strict=False):
        word, *rest = command.split()
        moves += [rest[1]] if word == "play" else [answer] if word == "genmove" else []
    position, _ = Position.start().follow(moves)
    return position


@pytest.mark.integration
@pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}")
def test_quarry_plays_a_whole_game(tmp_path: Path) -> None:
    agent, command = "greedy", tmp_path / "engine"
    command.write_text(ENGINE.format(folder=tmp_path, python=sys.executable, agent=agent))
    command.chmod(0o755)
    (tmp_path / ".quarry").write_text(SETTINGS.format(agent=agent, command=command))
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with display() as screen:
        environment["DISPLAY"] = screen
        with running(str(NEEDED["quarry"]), environment=environment):
            await_(lambda: titles(screen))
            press_until(screen, "alt+n", lambda: NEW_GAME in titles(screen))
            # Forward from these players to the rules, and play; a busy program may lose a key.
            press_until(screen, "alt+f alt+p", lambda: len(list(tmp_path.glob("heard.*"))) == 2)
            first, second = tmp_path.glob("heard.*")
            await_(lambda: game(first).is_over and game(second).is_over)
    assert game(first) == game(second)
