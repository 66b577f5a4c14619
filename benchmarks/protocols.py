"""Measure the overhead of the protocols of other programs.

It is the time of a question without any thought, and the time charged for a move to a program that
answers at once.
"""

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
    """Return a program for each protocol, with a function that asks it an empty question."""
    line = LineAgent(f"{BOT} quick", patience=60)
    gtp = GtpAgent(f"{_PLAY} gtp agent=random", patience=60)
    nboard = NBoardAgent(f"{_PLAY} nboard agent=random", 1, patience=60)
    start = Position.start()
    return {
        "line (game, ready)": (line, lambda: line._begin(Color.BLACK, start, 1)),
        "GTP (protocol_version)": (gtp, lambda: gtp._must("protocol_version")),
        "NBoard (ping, pong)": (nboard, nboard._synchronize),
    }


def time_questions(agent: ProgramAgent, ask: Callable[[], object], times: int) -> np.ndarray:
    """Return the microseconds of each of ``times`` questions with their answers."""
    agent.begin_game(Color.BLACK, Position.start(), 1)
    nanoseconds = []
    for _ in range(times):
        begun = time.perf_counter_ns()
        ask()
        nanoseconds.append(time.perf_counter_ns() - begun)
    return np.array(nanoseconds) / 1e3


def time_charged(agent: ProgramAgent, moves: int) -> np.ndarray:
    """Return the microseconds that the judge charges for each move of a program.

    The program plays in a process as in a run.
    """
    rules, limits = ruleset("standard"), Limits(seconds=1.0)
    conditions = GameConditions(["program"], [agent], rules, limits, 0.02, 60.0, 30)
    proxy = AgentProxy(conditions, 0, ChildSignals(), lambda: None)
    times: list[float] = []
    while len(times) < moves:
        seeds = {Color.BLACK: len(times), Color.WHITE: len(times)}
        players = {Color.BLACK: proxy, Color.WHITE: RandomAgent()}
        for ply in play_game(players, limits=limits, seeds=seeds).plies:
            if ply.color is Color.BLACK and ply.decision is not None:
                times.append((ply.nanoseconds - ply.waited_nanoseconds) / 1000)
    proxy.kill()
    return np.array(times)


def main() -> None:
    """Print the percentiles for each program, without other load and with all cores busy."""
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
                    times = time_questions(agent, ask, options.times)
                    print_times(f"{name}, to and fro", times, spinning)
                times = time_charged(agent, options.moves)
                print_times(f"{name}, a move as charged", times, spinning)


def print_times(title: str, times: np.ndarray, spinning: int) -> None:
    """Print the percentiles of times."""
    numbers = "  ".join(f"{number:9,.0f}" for number in np.percentile(times, PERCENTILES))
    load = f"load {os.getloadavg()[0]:.1f}, {spinning} spinning"
    print(f"{title:48} {numbers}  ({load})", flush=True)


if __name__ == "__main__":
    main()
