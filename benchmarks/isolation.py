"""Measure the cost of a process of its own for an agent from outside the lab.

The cost is the round trip of a move and the longer time of a run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

import numpy as np

from othello_lab import Agent, Decision, Limits, RandomAgent, run_match
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.experiments.playing.agent_proxy import AgentProxy, ChildSignals
from othello_lab.experiments.playing.conditions import GameConditions


class AtOnce(Agent):
    """An agent that makes the first legal move."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(next(iter(position.moves)))


def round_trips(questions: int, limits: Limits) -> np.ndarray:
    """Return the microseconds from question to answer, for an agent that answers at once."""
    conditions = GameConditions(["at once"], [AtOnce()], ruleset("standard"), limits, 1.0, 60.0, 30)
    proxy = AgentProxy(conditions, 0, ChildSignals(), lambda: None)
    start = Position.start()
    nanoseconds = []
    for number in range(questions):
        if number % 60 == 0:
            proxy.begin_game(Color.BLACK, start, 1)
        proxy.start()
        sent = time.perf_counter_ns()
        proxy.decide(start, limits)
        proxy.stop()
        nanoseconds.append(time.perf_counter_ns() - sent)
    proxy.kill()
    return np.array(nanoseconds) / 1000


def run_seconds(games: int, isolation: str) -> float:
    """Return the seconds of ``games`` games of two agents from outside, on one worker."""

    class First(RandomAgent):
        """An agent from outside, as its class is not the lab's."""

    agents = {"one": First(), "two": First()}
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        run_match(
            agents,
            games=games,
            workers=1,
            isolation=isolation,
            results=folder,
            quiet=True,
            figures=False,
        )
        return time.perf_counter() - begun


def main() -> None:
    """Print quantiles of the round trip, without and with a time limit, and the times of runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--games", type=int, default=400)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for what, limits in (("no time limit", Limits()), ("a time limit", Limits(seconds=1.0))):
        microseconds = round_trips(options.questions, limits)
        least, low, median, high = np.quantile(microseconds, (0, 0.1, 0.5, 0.99)).round(1)
        print(
            f"{options.questions:,} questions, {what}: round trip in microseconds, least {least}, "
            f"10 % {low}, median {median}, 99 % {high}"
        )
    times = {kind: run_seconds(options.games, kind) for kind in ("none", "process")}
    for kind, seconds in times.items():
        print(f"{options.games} games of random moves, isolation={kind}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
