"""Programs for tests, which play at random, or break off in some way: bots of the line protocol,
and players of the file protocol."""

from __future__ import annotations

import sys
from pathlib import Path

BOT = """
import os, random, sys, time

ANSWERS = 0

def misbehave():
    {trouble}

for line in sys.stdin:
    word, *rest = line.split()
    if word == "game":
        random.seed(int(rest[2]))
        {begin}
        print("ready", flush=True)
    elif word == "move":
        ANSWERS += 1
        if ANSWERS > {after}:
            misbehave()
        else:
            print(random.choice(rest[3:]), flush=True)
    elif word == "quit":
        {end}
"""


def bot(
    folder: Path,
    trouble: str = "pass",
    after: int = 10**6,
    begin: str = "pass",
    end: str = "break",
    name: str = "bot.py",
) -> str:
    """The command of a bot, written into a folder. trouble, begin, end: what it does, in one line
    of Python, instead of its answer after so many, in a new game, and when it is to end."""
    path = folder / name
    path.write_text(BOT.format(trouble=trouble, after=after, begin=begin, end=end))
    return f"{sys.executable} {path}"


EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

PLAYER = """
import os, subprocess, sys, time

SEED = {seed}
__name__ = "player"
exec(open({example!r}).read())
random.seed(SEED)
sleep = time.sleep
time.sleep = lambda seconds: sleep(0.005 if seconds == 0.1 else seconds)
ANSWERS = 0
honest = send

def send(text):
    global ANSWERS
    ANSWERS += 1
    if ANSWERS > {after}:
        {trouble}
    else:
        honest(text)

{begin}
main()
{end}
"""


def example_player(path: Path) -> Path:
    """The example of the file protocol in Python, as a file of this name."""
    path.write_text((EXAMPLES / "bert.py").read_text("utf-8"))
    return path


def player(
    folder: Path,
    trouble: str = "pass",
    after: int = 10**6,
    begin: str = "pass",
    end: str = "pass",
    name: str = "player",
    seed: int | None = None,
) -> str:
    """The command of a player of the file protocol, written into a folder. trouble, begin, end:
    what it does, in one line of Python, instead of sending ``text``, after so many moves; before
    its game; and after it."""
    example = str(example_player(folder / f"{name}_example.py"))
    path = folder / f"{name}.py"
    path.write_text(
        PLAYER.format(
            example=example, trouble=trouble, after=after, begin=begin, end=end, seed=seed
        )
    )
    return f"{sys.executable} {path}"
