"""Measure the overrun of a time limit by the moves of a timed search."""

from __future__ import annotations

import argparse
import multiprocessing
import time

import numpy as np

from othello_lab import PVS, Limits, RandomAgent, SquareWeights
from othello_lab.core.game import play_game
from othello_lab.core.rules import Color
from othello_lab.core.system.processes import available_cores

GRACE = 0.02


def overruns(moves: int, seconds: float, seed: int) -> np.ndarray:
    """Return the seconds beyond the limit for ``moves`` moves against a random player."""
    search = PVS(60, SquareWeights(), ordering="tt+mobility+static", table_mb=16, iterative=True)
    search.prepare()
    over: list[float] = []
    while len(over) < moves:
        players = {Color.BLACK: search, Color.WHITE: RandomAgent()}
        seeds = {Color.BLACK: seed, Color.WHITE: seed + 1}
        record = play_game(players, limits=Limits(seconds=seconds), grace=10, seeds=seeds)
        plies = (ply for ply in record.plies if ply.color is Color.BLACK and ply.decision)
        over += [ply.nanoseconds / 1e9 - seconds for ply in plies]
        seed += 2
    return np.array(over[:moves])


def _spin() -> None:
    while True:
        time.perf_counter()


def main() -> None:
    """Print the distribution with a free machine, and with all its cores busy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=0.05)
    options = parser.parse_args()
    for busy in (0, available_cores()):
        others = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(busy)]
        for other in others:
            other.start()
        over = 1000 * overruns(options.moves, options.seconds, seed=1)
        for other in others:
            other.kill()
        quantiles = np.quantile(over, (0.5, 0.9, 0.99, 0.999, 1)).round(2)
        late = int((over > 1000 * GRACE).sum())
        print(
            f"{options.moves:,} moves of {1000 * options.seconds:g} ms, {busy} cores busy: overrun "
            f"in ms, median {quantiles[0]}, 90 % {quantiles[1]}, 99 % {quantiles[2]}, 99.9 % "
            f"{quantiles[3]}, most {quantiles[4]}; {late} judged late (grace {1000 * GRACE:g} ms)"
        )


if __name__ == "__main__":
    main()
