"""What it costs that an agent from outside the lab plays in a process of its own: the round trip of
a move, and how much longer a run takes.
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
    """Makes the first legal move."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(next(iter(position.moves)))


def round_trips(questions: int, limits: Limits) -> np.ndarray:
    """Microseconds from question to answer, of an agent that answers at once; less its own."""
    conditions = GameConditions(["at once"], [AtOnce()], ruleset("standard"), limits, 1.0, 60.0, 30)
    stand_in = AgentProxy(conditions, 0, ChildSignals(), lambda: None)
    start = Position.start()
    taken = []
    for number in range(questions):
        if number % 60 == 0:
            stand_in.begin_game(Color.BLACK, start, 1)
        stand_in.start()
        asked = time.perf_counter_ns()
        stand_in.decide(start, limits)
        stand_in.stop()
        taken.append(time.perf_counter_ns() - asked)
    stand_in.kill()
    return np.array(taken) / 1000


def run_seconds(games: int, isolation: str) -> float:
    """How long two agents from outside play so many games, on one worker."""

    class First(RandomAgent):
        """An agent from outside, as its class is none of the lab's."""

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
    """Print quantiles of the round trip, without and with a time limit, and what runs take."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--games", type=int, default=400)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for what, limits in (("no time limit", Limits()), ("a time limit", Limits(seconds=1.0))):
        taken = round_trips(options.questions, limits)
        least, low, median, high = np.quantile(taken, (0, 0.1, 0.5, 0.99)).round(1)
        print(
            f"{options.questions:,} questions, {what}: round trip in microseconds, least {least}, "
            f"10 % {low}, median {median}, 99 % {high}"
        )
    taken_by = {kind: run_seconds(options.games, kind) for kind in ("none", "process")}
    for kind, seconds in taken_by.items():
        print(f"{options.games} games of random moves, isolation={kind}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
