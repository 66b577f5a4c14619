"""Measure the games a second of a whole run, record written.

python benchmarks/games.py [--games 60000] [--repeat 3] [--million]

Each row is a run of its own by the command line, from distinct random openings. It shows the best
of ``--repeat``, as other programs can only slow a run down. ``compiled_games=false`` is the same
run with every move through the judge in Python. The last rows are other simulators, which record
nothing. ``pip install -e '.[benchmarks,openspiel]'`` installs two of them. pgx needs an environment
apart from that of the tests, as it has a package ``tests``. ``--million`` plays 1,000,000 games and
makes their report, in a minute. ``cluster.py`` measures the driver alone.
"""

from __future__ import annotations

import argparse
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from othello_lab import Agent, Decision, Limits
from othello_lab.core.position import Position
from othello_lab.experiments.record.provenance import machine, versions
from othello_lab.experiments.record.store import Record

SIMPLE = "agents=duel agent@first=random agent@second=greedy"
ONE_PLY = "agents=duel agent@first=weighted agent@second=maximizer evaluation=mobility"
SEARCH = "agents=ab_mirror depth={depth}"
OWN = f"agents=duel agent@first={Path(__file__).resolve()}:Own agent@second=greedy isolation="


class Own(Agent):
    """A user's agent in Python: it moves by chance."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(self.rng.choice(position.moves))


# Name of the row, words of the run, and the share of ``--games``.
ROWS = (
    ("random against greedy", SIMPLE, 1),
    ("the same, `record=games`", f"{SIMPLE} record=games", 1),
    ("the same, `compiled_games=false`", f"{SIMPLE} compiled_games=false", 0.2),
    ("1-ply maximizers", ONE_PLY, 1),
    ("alpha-beta, depth 2", SEARCH.format(depth=2), 1),
    ("alpha-beta, depth 4", SEARCH.format(depth=4), 0.4),
    ("the same, one worker", f"{SEARCH.format(depth=4)} executor.workers=1", 0.2),
    ("an own random agent in Python against greedy, `isolation=none`", f"{OWN}none", 0.1),
    ("the same, `isolation=process`", f"{OWN}process", 0.05),
)


def play_run(words: str, games: int) -> tuple[float, float]:
    """Return the seconds from a run's first game to its last, and the agents' deciding seconds.

    The latter are summed over all workers.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = [*words.split(), f"games={games}", f"results={folder}", "figures=false"]
        command = [sys.executable, "-m", "experiments", "run", *options, "searches.positions=1"]
        if "record=games" in words:
            command.pop()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (file,) = Path(folder).rglob("record.sqlite")
        with Record.open(file) as record:
            ((wall, decided),) = record.rows(
                "select wall_seconds, sum(black_nanoseconds + white_nanoseconds) / 1e9 "
                "from job, games"
            )
    return wall, decided


# ---------------------------------------------------------------------- others


def rust_reversi_games(games: int) -> float:
    """Return the seconds of a loop of random moves over rust-reversi's board, in Python."""
    from rust_reversi import Board

    begun = time.perf_counter()
    for _ in range(games):
        board = Board()
        while not board.is_game_over():
            if board.is_pass():
                board.do_pass()
            else:
                board.do_move(board.get_random_move())
    return time.perf_counter() - begun


PGX_BATCH = 256
"""Games at a time. More at a time took longer a game on two cores."""


def pgx_games(games: int) -> float:
    """Return the seconds of pgx, many games of random moves at a time, after it is compiled."""
    import jax
    import pgx

    env = pgx.make("othello")

    def play(key: Any) -> Any:
        first, later = jax.random.split(key)
        states = jax.vmap(env.init)(jax.random.split(first, PGX_BATCH))

        def step(carried: Any) -> Any:
            states, key = carried
            key, now = jax.random.split(key)
            chances = jax.numpy.log(states.legal_action_mask.astype(jax.numpy.float32))
            return jax.vmap(env.step)(states, jax.random.categorical(now, chances)), key

        over = lambda carried: ~carried[0].terminated.all()  # noqa: E731
        return jax.lax.while_loop(over, step, (states, later))[0].rewards

    compiled = jax.jit(play).lower(jax.random.key(0)).compile()
    begun = time.perf_counter()
    for number in range(math.ceil(games / PGX_BATCH)):
        compiled(jax.random.key(number)).block_until_ready()
    return (time.perf_counter() - begun) * games / (math.ceil(games / PGX_BATCH) * PGX_BATCH)


def openspiel_games(games: int) -> float:
    """Return the seconds of a loop of random moves over OpenSpiel's Othello, in Python."""
    import pyspiel

    game, begun = pyspiel.load_game("othello"), time.perf_counter()
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
    return time.perf_counter() - begun


# The share of --games that each plays.
OTHERS = {
    "rust-reversi, random - random, one process": (rust_reversi_games, 0.5),
    f"pgx, random - random, {PGX_BATCH} at a time": (pgx_games, 0.5),
    "OpenSpiel, random - random, one process": (openspiel_games, 0.01),
}


# ---------------------------------------------------------------------- the table


def measure(games: int, repeat: int) -> Iterator[tuple[str, str]]:
    """Yield the name and result of each row. games: number of games in the largest runs."""
    for name, words, share in ROWS:
        number = max(2, int(games * share) // 2 * 2)
        wall, decided = min(play_run(words, number) for _ in range(repeat))
        busy = 100 * decided / wall / (1 if "workers=1" in words else 2)
        yield name, f"{number / wall:,.0f} games/s (agents decide {busy:.0f} % of the time)"
    for name, (others, share) in OTHERS.items():
        number = max(2, int(games * share))
        try:
            seconds = min(others(number) for _ in range(repeat))
        except ImportError:
            yield name, "not installed"
        else:
            yield name, f"{number / seconds:,.0f} games/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=60_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--million", action="store_true")
    options = parser.parse_args()
    print(machine(), versions({}))
    for name, result in measure(options.games, options.repeat):
        print(f"{name:48} {result}", flush=True)
    if options.million:
        million()


def million() -> None:
    """Print the time of a run of a million games, the report's time, and the driver's memory."""
    begun = time.perf_counter()
    wall, _ = play_run(f"{SIMPLE} record=games openings.plies=12", 1_000_000)
    rest = time.perf_counter() - begun - wall
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"1,000,000 games: {wall:.0f} s, before and after them {rest:.0f} s, {peak:.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
