"""How long a click waits for its answer while agents think: two games of two deep searches each go
on at the same server while a person plays another."""

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
    """One page, without the page."""

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
        """A new game of two such players."""
        self.say(type="new", rules="standard", black=player, white=player)
        self.hear()

    def click(self, rng: random.Random) -> float:
        """Make a move; seconds until it is on the board."""
        while not self.state["position"]["legal"]:  # a forced pass is on its way, or the end
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


def measured(clicks: int, games: int) -> list[float]:
    """Seconds of so many clicks while so many games of two agents go on."""
    rng = random.Random(1)
    address = f"ws://127.0.0.1:{PORT}/line"
    with ExitStack() as stack:

        def visitor() -> Visitor:
            how: dict[str, Any] = {"origin": f"http://127.0.0.1:{PORT}", "proxy": None}
            how["ping_interval"] = None  # who only watches here never reads
            return Visitor(stack.enter_context(connect(address, max_size=None, **how)))

        person = visitor()
        person.begin(PERSON)
        for _ in range(games):
            visitor().begin(THINKER)
        time.sleep(3)  # their kernels are loaded, and they think
        found = []
        for _ in range(clicks):
            found.append(person.click(rng))
            time.sleep(rng.uniform(0.01, 0.1))
        return found


def main() -> None:
    """Print the distribution, with nobody thinking and with all cores busy."""
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
                    found = 1000 * np.array(measured(options.clicks, games))
                    shown = np.percentile(found, [50, 95, 100])
                    print(f"{games:<22}" + "".join(f"{each:8.1f}" for each in shown))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
