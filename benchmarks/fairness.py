"""Check that time is judged fairly on a busy machine while processes are stopped.

With ``--engines`` other programs play; nothing stops these. Honest agents must lose nothing, and
every late move of a late agent must be found. The late agent marks its late moves in its counts, by
the time that it could use.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from othello_lab import MCTS, PVS, Decision, Limits, RandomAgent, SearchStats, SquareWeights
from othello_lab.agents.external import GtpAgent, LineAgent, NBoardAgent
from othello_lab.core.game import FINISHED, LATE_BY_WALL, TOO_LATE, play_game
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.forked import ChildSignals
from othello_lab.core.system.processes import available_cores, descendants
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import GameConditions

BOT = f"{sys.executable} {Path(__file__).resolve()} --bot"
GRACE = 0.02
SLICE = 0.001


def use(seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
    """Think until ``seconds`` have passed by a clock."""
    end = clock() + seconds
    while clock() < end:
        pass


def sleep(seconds: float) -> None:
    """Sleep for ``seconds``, without the time in which this process was stopped."""
    while seconds > 0:
        begun = time.perf_counter()
        time.sleep(SLICE)
        seconds -= min(time.perf_counter() - begun, 1.2 * SLICE)


def overrun(limit: float, rng: random.Random) -> bool:
    """Think or sleep 50 to 80 ms too long now and then; return True if this was such a time.

    Time stopped or waiting for a processor does not count as thinking.
    """
    if rng.random() < 0.75:
        return False
    beyond = limit + GRACE + rng.uniform(0.05, 0.08)
    if rng.random() < 0.5:
        use(beyond, time.thread_time)
    else:
        sleep(beyond)
    return True


class Honest(RandomAgent):
    """An agent from outside that reads its clock and answers a little before its time is up."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        use(0.8 * (limits.seconds or 0.0))
        return super().decide(position, limits)


class Late(RandomAgent):
    """An agent that overruns now and then, and counts 1 playout then."""

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self.chance = random.Random(seed)

    def decide(self, position: Position, limits: Limits) -> Decision:
        answer = super().decide(position, limits)
        late = overrun(limits.seconds or 0.0, self.chance)
        return Decision(answer.move, stats=SearchStats(playouts=int(late)))


def play_line_protocol(kind: str) -> None:
    """Play games of the line protocol by chance until the input ends, in a way of :data:`KINDS`."""
    rng = random.Random()
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "game":
            rng.seed(rest[2])
            print("ready", flush=True)
        elif word == "move":
            limit = float(rest[2].removeprefix("move:"))
            late = KINDS[kind](limit, rng)
            print(f"{rng.choice(rest[3:])}{' playouts=1' * late}", flush=True)
        elif word == "quit":
            return


KINDS: dict[str, Callable[[float, random.Random], bool]] = {
    "honest": lambda limit, rng: bool(use(0.8 * limit)),
    "late": overrun,
}
"""The ways of the bot to use its time. Each returns True if it was late on purpose."""


def engines() -> dict[str, Any]:
    """Return other programs: two that answer at once, an honest one and a late one."""
    rhino = shutil.which("gtp-rhino", path=f"{os.environ['PATH']}:/usr/games")
    gtp = f"{rhino} -l 1" if rhino else f"{sys.executable} -m play gtp agent=greedy"
    return {
        "gtp": GtpAgent(gtp, patience=60),
        "nboard": NBoardAgent(f"{sys.executable} -m play nboard agent=greedy", 1, patience=60),
        "honest": LineAgent(f"{BOT} honest", patience=60),
        "late": LineAgent(f"{BOT} late", patience=60),
    }


def agents() -> dict[str, Any]:
    """Return two agents of the lab, an honest one and a late one from outside."""
    search = PVS(60, SquareWeights(), ordering="tt+mobility+static", table_mb=16, iterative=True)
    return {"pvs": search, "mcts": MCTS(), "honest": Honest(), "late": Late()}


def supervise(moves: int, seconds: float, seed: int, agents: dict[str, Any], pipe: Any) -> None:
    """Play ``moves`` timed moves in the process of a supervisor, and send their counts by kind."""
    limits = Limits(seconds=seconds)
    names, rules = list(agents), ruleset("standard")
    conditions = GameConditions(names, list(agents.values()), rules, limits, GRACE, 60.0, 30)
    children = ChildSignals()
    proxies = [
        AgentProxy(conditions, number, children, lambda: None) for number in range(len(names))
    ]
    counts: Counter[str] = Counter()
    pairs = itertools.cycle([(0, 1), (2, 3), (1, 2), (3, 0)])
    while counts["moves"] < moves:
        players = dict(zip(Color, next(pairs), strict=True))
        seed += 2
        record = play_game(
            {color: proxies[number] for color, number in players.items()},
            limits=limits,
            grace=GRACE,
            seeds={Color.BLACK: seed, Color.WHITE: seed + 1},
        )
        for ply in (*record.plies, *([record.too_late] if record.too_late else [])):
            if ply.decision is not None:
                truly = ply.decision.stats.playouts == 1 and players[ply.color] == 3
                counts["moves"] += 1
                counts["truly late"] += truly
                counts["truly late and found"] += truly and ply.late == TOO_LATE
                counts["late by the wall clock, and stood"] += ply.late == LATE_BY_WALL
                if ply.late == TOO_LATE and not truly:
                    counts["lost falsely"] += 1
                    move = f"{names[players[ply.color]]}'s move {len(record.plies)}"
                    used = f"{ply.cpu_nanoseconds / 1000:.0f} us of processor time"
                    counts[f"{move}: {record.detail}, {used}"] += 1
        if record.end_reason != FINISHED and not record.too_late:
            counts["lost falsely"] += 1
            counts[f"{record.end_reason}: {record.detail[-200:]}"] += 1
    for proxy in proxies:
        proxy.kill()
    pipe.send(json.dumps(counts))


# ---------------------------------------------------------------------- disturbances


UNDISTURBED = "nothing is stopped"
DISTURBANCES: dict[str, Callable[[int], list[int]]] = {
    UNDISTURBED: lambda supervisor: [],
    "players are stopped": lambda supervisor: sorted(
        descendants([supervisor]), key=lambda process: random.random()
    )[:1],
    "supervisors are stopped": lambda supervisor: [supervisor],
    "all are stopped": lambda supervisor: [supervisor, *descendants([supervisor])],
}
"""By name: the processes that are stopped together, of those of a supervisor."""


def _send(processes: list[int], which: int) -> None:
    random.shuffle(processes)
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, which)


def _disturb_until(
    choose: Callable[[int], list[int]], supervisors: list[Any], done: threading.Event
) -> None:
    while not done.wait(random.uniform(0.02, 0.4)):
        for supervisor in supervisors:
            if supervisor.is_alive():
                processes = choose(supervisor.pid)
                _send(processes, signal.SIGSTOP)
                time.sleep(random.choice((0.003, 0.01, 0.03, 0.1, 0.3)) * random.random())
                _send(processes, signal.SIGCONT)


@contextmanager
def disturb(what: str, supervisors: list[Any]) -> Iterator[None]:
    """Stop processes at random moments, for up to 0.3 s, while the block runs."""
    done = threading.Event()
    if what == UNDISTURBED:
        yield
        return
    thread = threading.Thread(target=_disturb_until, args=(DISTURBANCES[what], supervisors, done))
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _spin() -> None:
    while True:
        time.perf_counter()


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep a core busy with each of ``processes`` processes while the block runs."""
    others = [
        multiprocessing.get_context("fork").Process(target=_spin, daemon=True)
        for _ in range(processes)
    ]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.kill()


def judge(
    agents: dict[str, Any], moves: int, seconds: float, what: str, workers: int
) -> Counter[str]:
    """Return the counts of ``moves`` moves by kind."""
    pipes = [multiprocessing.Pipe() for _ in range(workers)]
    supervisors = [
        multiprocessing.get_context("fork").Process(
            target=supervise, args=(moves // workers, seconds, 10**6 * number, agents, sender)
        )
        for number, (_, sender) in enumerate(pipes)
    ]
    for supervisor in supervisors:
        supervisor.start()
    counts: Counter[str] = Counter()
    with disturb(what, supervisors):
        for receiver, _ in pipes:
            counts += Counter(json.loads(receiver.recv()))
    for supervisor in supervisors:
        supervisor.join()
    return counts


def main() -> None:
    """Print the counts for each disturbance, with all cores busy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=20_000, help="in all")
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--only", choices=DISTURBANCES)
    parser.add_argument("--engines", action="store_true", help="other programs play, undisturbed")
    parser.add_argument("--bot", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bot:
        play_line_protocol(options.bot)
        return
    prepare_rules()
    players = engines() if options.engines else agents()
    for player in players.values():
        player.prepare()
    cores = available_cores()
    kinds = [options.only] if options.only else [UNDISTURBED] if options.engines else DISTURBANCES
    with busy(cores):
        for kind in kinds:
            counts = judge(players, options.moves // len(kinds), options.seconds, kind, workers=2)
            load = f"load {os.getloadavg()[0]:.1f} on {cores} cores"
            listed = ", ".join(f"{count:,} {what}" for what, count in counts.items())
            print(f"{kind} ({load}): {listed}; {counts['lost falsely']} lost falsely", flush=True)


if __name__ == "__main__":
    main()
