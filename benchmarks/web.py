"""Measure the time of a click while agents think at the same server.

A person plays one game while up to two games of two deep searches go on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

PORT = 8391
THINKER = {"name": "alphabeta", "settings": {"depth": 9}}
PERSON = {"name": "human", "settings": {}}


class Visitor:
    """A visitor of the server without a browser."""

    def __init__(self, line: ClientConnection) -> None:
        self._line = line
        self.state: dict[str, Any] = {}
        self.say(type="hello", visit=None)
        self.hear()

    def say(self, **message: Any) -> None:
        self._line.send(json.dumps(message))

    def hear(self) -> None:
        """Wait for the next state."""
        while (message := json.loads(self._line.recv()))["type"] != "state":
            assert message["type"] not in ("error", "refused"), message
        self.state = message

    def begin(self, player: dict[str, Any]) -> None:
        """Begin a new game of two such players."""
        self.say(type="new", rules="standard", black=player, white=player)
        self.hear()

    def click(self, rng: random.Random) -> float:
        """Make a move and return the seconds until it is on the board."""
        while not self.state["position"]["legal"]:  # a forced pass or the end will follow
            if self.state["over"]:
                self.begin(PERSON)
            else:
                self.hear()
        ply = len(self.state["moves"])
        move = rng.choice(self.state["position"]["legal"])
        begun = time.perf_counter()
        self.say(type="move", move=move, ply=ply)
        while len(self.state["moves"]) <= ply:
            self.hear()
        return time.perf_counter() - begun


def measure(clicks: int, games: int) -> list[float]:
    """Return the seconds of ``clicks`` clicks while ``games`` games of two agents go on."""
    rng = random.Random(1)
    address = f"ws://127.0.0.1:{PORT}/line"
    with ExitStack() as stack:

        def visitor() -> Visitor:
            options: dict[str, Any] = {"origin": f"http://127.0.0.1:{PORT}", "proxy": None}
            options["ping_interval"] = None  # the visitors of the agents' games never read
            return Visitor(stack.enter_context(connect(address, max_size=None, **options)))

        person = visitor()
        person.begin(PERSON)
        for _ in range(games):
            visitor().begin(THINKER)
        time.sleep(3)  # until their kernels are loaded and they think
        seconds = []
        for _ in range(clicks):
            seconds.append(person.click(rng))
            time.sleep(rng.uniform(0.01, 0.1))
        return seconds


def main() -> None:
    """Print the distribution with no agent thinking and with all cores busy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = [f"web.port={PORT}", "web.browser=false", f"web.folder={folder}"]
        command = [sys.executable, "-m", "play", "web", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            for line in server.stdout:
                if re.match("The board is at", line):
                    break
            try:
                print(f"{os.cpu_count()} cores, {options.clicks} clicks, milliseconds")
                print(f"{'games of two agents':<22}{'median':>8}{'p95':>8}{'most':>8}")
                for games in (0, 1, 2):
                    milliseconds = 1000 * np.array(measure(options.clicks, games))
                    percentiles = np.percentile(milliseconds, [50, 95, 100])
                    print(f"{games:<22}" + "".join(f"{number:8.1f}" for number in percentiles))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
