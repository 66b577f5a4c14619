"""A bot of the line protocol with two ways to use its time.

``honest`` uses four fifths of each move's time by its own clock.
``late`` now and then thinks, or sleeps, 50 to 80 ms beyond limit and grace, and reports it
(``playouts=1``). Time stopped or waiting for a processor does not count as thinking.
"""

from __future__ import annotations

import random
import sys
import time

GRACE = 0.02
_SLICE = 0.001


def use(seconds: float) -> None:
    """Think until ``seconds`` have passed."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def overrun(limit: float, chance: random.Random) -> bool:
    """Take too long now and then; return True if this was such a time."""
    if chance.random() < 0.75:
        return False
    beyond = limit + GRACE + chance.uniform(0.05, 0.08)
    _think(beyond) if chance.random() < 0.5 else _sleep(beyond)
    return True


def _think(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def _sleep(seconds: float) -> None:
    while seconds > 0:
        begun = time.perf_counter()
        time.sleep(_SLICE)
        seconds -= min(time.perf_counter() - begun, 1.2 * _SLICE)


def main() -> None:
    """Play games until the input ends."""
    how, chance = sys.argv[1], random.Random()
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "game":
            chance.seed(rest[2])
            print("ready", flush=True)
        elif word == "move":
            limit = float(rest[2].removeprefix("move:"))
            note = ""
            if how == "honest":
                use(0.8 * limit)
            elif how == "late" and overrun(limit, chance):
                note = " playouts=1"
            print(f"{chance.choice(rest[3:])}{note}", flush=True)
        elif word == "quit":
            return


if __name__ == "__main__":
    main()
