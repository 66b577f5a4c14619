"""Programs for tests: bots of the line protocol that play at random, or break off in some way."""

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
