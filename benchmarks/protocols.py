"""What the protocols of other programs cost themselves: from a question that needs no thought to
its answer, and how much of a move's time is charged to a program that answers at once."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing

import numpy as np
from fairness import BOT, busy

from othello_lab import RandomAgent
from othello_lab.agents.external import GtpAgent, LineAgent, NBoardAgent
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import Limits, play_game
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.processes import available_cores
from othello_lab.experiments.playing.agent_proxy import AgentProxy, ChildSignals
from othello_lab.experiments.playing.conditions import GameConditions

_PLAY = f"{sys.executable} -m play"
PERCENTILES = (50, 99, 99.9, 100)


def programs() -> dict[str, tuple[ProgramAgent, Callable[[], object]]]:
    """One of each protocol, and how it is asked for nothing."""
    line = LineAgent(f"{BOT} quick", patience=60)
    gtp = GtpAgent(f"{_PLAY} gtp agent=random", patience=60)
    nboard = NBoardAgent(f"{_PLAY} nboard agent=random", 1, patience=60)
    start = Position.start()
    return {
        "line (game, ready)": (line, lambda: line._begin(Color.BLACK, start, 1)),
        "GTP (protocol_version)": (gtp, lambda: gtp._must("protocol_version")),
        "NBoard (ping, pong)": (nboard, nboard._synchronize),
    }


def asked(agent: ProgramAgent, ask: Callable[[], object], times: int) -> np.ndarray:
    """Microseconds of so many questions and answers."""
    agent.begin_game(Color.BLACK, Position.start(), 1)
    found = []
    for _ in range(times):
        begun = time.perf_counter_ns()
        ask()
        found.append(time.perf_counter_ns() - begun)
    return np.array(found) / 1e3


def charged(agent: ProgramAgent, moves: int) -> np.ndarray:
    """Microseconds of each move that the judge charges to a program, in a process as in a run."""
    rules, limits = ruleset("standard"), Limits(seconds=1.0)
    conditions = GameConditions(["program"], [agent], rules, limits, 0.02, 60.0, 30)
    seat = AgentProxy(conditions, 0, ChildSignals(), lambda: None)
    found: list[int] = []
    while len(found) < moves:
        seeds = {Color.BLACK: len(found), Color.WHITE: len(found)}
        players = {Color.BLACK: seat, Color.WHITE: RandomAgent()}
        for ply in play_game(players, limits=limits, seeds=seeds).plies:
            if ply.color is Color.BLACK and ply.decision is not None:
                found.append((ply.nanoseconds - ply.waited_nanoseconds) / 1000)
    seat.kill()
    return np.array(found)


def main() -> None:
    """Print the percentiles of each, on the machine as it is and with all cores busy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20_000, help="questions to each")
    parser.add_argument("--moves", type=int, default=5_000, help="of each")
    options = parser.parse_args()
    prepare_rules()
    cores = available_cores()
    print("microseconds: " + ", ".join(f"p{p:g}" for p in PERCENTILES[:-1]) + ", most")
    for spinning in (0, cores):
        with busy(spinning):
            for name, (agent, ask) in programs().items():
                with closing(agent):
                    told(f"{name}, to and fro", asked(agent, ask, options.times), spinning)
                told(f"{name}, a move as charged", charged(agent, options.moves), spinning)


def told(what: str, times: np.ndarray, spinning: int) -> None:
    """Print the percentiles of times."""
    numbers = "  ".join(f"{number:9,.0f}" for number in np.percentile(times, PERCENTILES))
    load = f"load {os.getloadavg()[0]:.1f}, {spinning} spinning"
    print(f"{what:48} {numbers}  ({load})", flush=True)


if __name__ == "__main__":
    main()
