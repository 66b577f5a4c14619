"""Programs for tests, which play at random, or break off in some way: bots of the line protocol,
and players of the file protocol; engines without a process; and games of agents that stand for
programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from records import query
from rich.console import Console

from othello_lab import Agent, Color, Limits, Position, RandomAgent, play_game
from othello_lab.agents.external.program import Program
from othello_lab.core.game import DIED, HUNG, GameRecord, PlayerFailure
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

BOT = """
import os, random, signal, sys, time

ANSWERS = 0

def misbehave():
    {trouble}

for line in sys.stdin:
    {hear}
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
    hear: str = "pass",
) -> str:
    """The command of a bot, written into a folder. trouble, begin, end, hear: what it does, in one
    line of Python, instead of its answer after so many, in a new game, when it is to end, and with
    each line that it reads."""
    path = folder / "bot.py"
    path.write_text(BOT.format(trouble=trouble, after=after, begin=begin, end=end, hear=hear))
    return f"{sys.executable} {path}"


EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

PLAYER = """
import os, signal, subprocess, sys, time

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
    example = folder / f"{name}_example.py"
    example.write_text((EXAMPLES / "bert.py").read_text("utf-8"))
    path = folder / f"{name}.py"
    path.write_text(
        PLAYER.format(
            example=str(example), trouble=trouble, after=after, begin=begin, end=end, seed=seed
        )
    )
    return f"{sys.executable} {path}"


class InProcess(Program):
    """An engine of the tests that answers in this process, at once."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__("engine")
        self._make, self._engine = make, None

    is_running = property(lambda self: self._engine is not None)

    def start(self) -> None:
        self._engine = self._make()
        self._said[:] = self._engine.greeting.encode()

    def kill(self) -> None:
        self._engine = None

    def send(self, line: str, patience: float = 0) -> None:
        if self._engine is None or self._engine.ended:
            raise PlayerFailure(DIED, "it has ended")
        self._said += self._engine.hear(line).encode()

    def receive(self, patience: float | None = None) -> str:
        line = self._take()
        return self.fail(HUNG, "says nothing") if line is None else line

    def receive_now(self) -> str | None:
        return self._take()

    def read_output(self, seconds: float) -> None:
        pass

    def ended_within(self, seconds: float) -> bool:
        return bool(self._engine and self._engine.ended)

    def _listen(self, seconds: float, writable: int | None = None) -> bool:
        return False


def engine(protocol: str, *traits: str) -> str:
    """The command of the engine of tests that speaks this protocol and has these traits."""
    return (
        f"{sys.executable} {Path(__file__).with_name('engines.py')} {protocol} {' '.join(traits)}"
    )


# ------------------------------------------------------------------ their games


def in_game(
    agent: Agent, rules: str = "standard", limits: Limits | None = None, seed: int = 1
) -> GameRecord:
    """Play a game of an agent, as the side that begins, against a random one; close the agent."""
    start = Position.start(rules)
    players = {start.to_move: agent, start.to_move.other: RandomAgent()}
    try:
        return play_game(players, start, limits=limits, seeds=dict.fromkeys(Color, seed))
    finally:
        agent.close()


class Ends(NamedTuple):
    """How the games of a run ended: the pairs of winner and reason that there are. log: the text
    of its log. folder: its own."""

    pairs: set[tuple[str, str]]
    log: str
    folder: Path


def in_run(folder: Path, agent: str, program: str, *words: str) -> Ends:
    """Play a run of an agent, named by its YAML and its command or target, and a random one."""
    setting = "target" if agent in ("function", "openspiel") else "command"
    common = [f"agent@first={agent}", f"first.{setting}='{program}'", "agent@second=random"]
    quiet = ["figures=none", "games=2", "searches.positions=1", "trial=false", "executor.workers=1"]
    plan = read(["agents=duel", *common, *quiet, f"results={folder / 'results'}", *words])
    done = run(plan, "test", Console(quiet=True)).folder
    won = "case result when 'black' then black when 'white' then white end"
    sql = f"select distinct name, end_reason from games left join agents on agent = {won}"
    pairs = {(name or "nobody", end) for name, end in query(done, sql)}
    return Ends(pairs, (done / "log.txt").read_text(), done)
