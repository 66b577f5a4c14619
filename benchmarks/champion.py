"""Measure settings of the champion without games: discs lost by its moves, or time to a depth.

Each position comes from a game of the champion after some random moves. Searches of two depths, one
odd and one even, judge each of its moves. A setting then chooses a move in a short time; it loses
the difference to the best one. Settings are compared on the same positions, with far less chance
than in games.

    python benchmarks/champion.py judge judged.jsonl --positions 3000
    python benchmarks/champion.py lost judged.jsonl --ms 5 - probcut_confidence=1 step=1
    python benchmarks/champion.py depth judged.jsonl --plies 12 - ordering=tt+mobility+history

A variant is a list of settings with commas between them, ``-`` the champion as it is. It comes
first, as all others are compared with it. The endgame is off.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

from othello_lab import PVS, Limits, Position
from othello_lab.agents.commands.listing import nanoseconds_a_call
from othello_lab.agents.composing import load
from othello_lab.agents.config import build_agent
from othello_lab.agents.evaluation.function import check_positions
from othello_lab.core.rules import Color

JUDGE = {"probcut_confidence": 1.5, "probcut_glance": 0.3, "futility": 1.8, "table_mb": 64}
NO_ENDGAME = {"endgame": 0, "endgame_by_time": None}
FIRST, JUDGED = (7, 8), (13, 14)
"""Depths of a first look at all moves, and of the judgement of those that may be good."""
HOPELESS, LEAST = 500, 300
"""Hundredths of a disc: so much behind at first sight a move is not judged; it loses at least so
much as the second."""
MOST = 10
"""Discs that a move loses at most, so that a single blunder does not decide."""


def champion(**settings: object) -> PVS:
    """Return the champion without its endgame, with these settings."""
    found = build_agent({**load("agent", "champion"), **NO_ENDGAME, **settings}, "champion")
    assert isinstance(found, PVS)
    found.prepare()
    return found


def judged(judge: PVS, position: Position) -> dict[int, float]:
    """Return the value of each move in hundredths of a disc."""

    def value(move: int, depths: Sequence[int]) -> float:
        after = position.play(move)
        return -float(np.mean([judge.search(after, depth).value for depth in depths]))

    first = {move: value(move, FIRST) for move in position.moves}
    hopeful = [move for move in first if first[move] >= max(first.values()) - HOPELESS]
    values = {move: value(move, JUDGED) for move in hopeful}
    best = max(values.values())
    return {move: values.get(move, min(first[move], best - LEAST)) for move in first}


def judge(path: Path, count: int, seed: int) -> None:
    """Write judged positions with 20 to 49 empty squares, a line each."""
    rng, player, referee, done = random.Random(seed), champion(), champion(**JUDGE), 0
    with path.open("w", encoding="utf-8") as file:
        while done < count:
            position = Position.start()
            for _ in range(rng.randint(6, 12)):
                position = position.play(rng.choice(position.moves))
                if not position.moves:
                    break
            if not position.moves or abs(player.search(position, 8).value or 0) > 1000:
                continue
            asked = set(rng.sample(range(20, 50), 6))
            while position.moves and position.empties >= 20 and done < count:
                if position.empties in asked and len(position.moves) > 1:
                    values = judged(referee, position)
                    if abs(max(values.values())) < 2500:
                        row = position.mover, position.opponent, list(values.items())
                        file.write(json.dumps(row) + "\n")
                        done += 1
                position = position.play(player.search(position, rng.choice((4, 6, 8))).move)


def read(path: Path) -> list[tuple[Position, dict[int, float]]]:
    """Return the positions in a file, and the values of their moves."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(Position(own, other, Color.BLACK), dict(moves)) for own, other, moves in rows]


def variant(text: str) -> PVS:
    """Return the champion with the settings in a text."""
    pairs = [] if text == "-" else [part.partition("=") for part in text.split(",")]
    return champion(**{key: yaml.safe_load(value) for key, _, value in pairs})


def main() -> None:
    """Judge positions, or print a line for each variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("judge", "lost", "depth"))
    parser.add_argument("file", type=Path)
    parser.add_argument("variants", nargs="*", default=["-"])
    parser.add_argument("--positions", type=int, default=3000)
    parser.add_argument("--ms", type=float, default=5, help="processor time of a move")
    parser.add_argument("--plies", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args()
    if options.what == "judge":
        judge(options.file, options.positions, options.seed)
        return
    known = read(options.file)[: options.positions]
    agents = [variant(text) for text in options.variants]
    limits = Limits(cpu_seconds=options.ms / 1000) if options.what == "lost" else Limits()
    depth = None if options.what == "lost" else options.plies
    lost, took, nodes, calls = np.zeros((4, len(agents), len(known)))
    for agent in agents:
        agent.search(known[0][0], 6)
    for place, (position, values) in enumerate(known):
        for number, agent in enumerate(agents):  # in turn, so that a busy machine is fair
            began = time.process_time()
            decision = agent.search(position, depth, limits)
            took[number, place] = time.process_time() - began
            nodes[number, place] = decision.stats.nodes
            calls[number, place] = decision.stats.evaluations
            lost[number, place] = min(
                MOST, (max(values.values()) - values[decision.move or 0]) / 100
            )
    for number, text in enumerate(options.variants):
        more = lost[number] - lost[0]
        call = nanoseconds_a_call(agents[number].evaluation, check_positions(10_000))
        print(
            f"{text}: {lost[number].mean():.3f} discs lost a move, "
            f"{more.mean():+.3f} ± {more.std() / len(known) ** 0.5:.3f} (standard error) more than "
            f"the first; {nodes[number].mean():,.0f} nodes, {1000 * took[number].mean():.2f} ms, "
            f"{took[number].sum() / took[0].sum():.2f} of its time; "
            f"{calls[number].sum() / nodes[number].sum():.2f} evaluations a node, "
            f"{call:.0f} ns each, {call * calls[number].sum() / took[number].sum() / 1e7:.0f} % of "
            "the processor time"
        )


if __name__ == "__main__":
    main()
