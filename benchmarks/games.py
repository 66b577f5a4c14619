"""Measure the games a second of a whole run, record written.

python benchmarks/games.py [--games 60000] [--repeat 3] [--million]

Each row is a run of its own by the command line, from distinct random openings. It shows the best
of ``--repeat``, as other programs can only slow a run down. ``compiled_games=false`` is the same
run with every move through the judge in Python. The last rows are the driver alone, with workers
that answer from memory, and other simulators, which record nothing. ``pip install -e
'.[benchmarks,openspiel]'`` installs two of them. pgx needs an environment apart from that of the
tests, as it has a package ``tests``. The fourth is y-tetsu's; PyPI has another package of its name.
``--million`` plays 1,000,000 games and makes their report, in a minute.
"""

from __future__ import annotations

import argparse
import importlib
import math
import pickle
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from othello_lab import Agent, Decision, Limits
from othello_lab.core.position import Position
from othello_lab.experiments.config import plan_of, read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.pairing.schedule import PairQueue, PickledPairs
from othello_lab.experiments.playing import Executor, tasks
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.executors import Say
from othello_lab.experiments.playing.fork_server import fork_server
from othello_lab.experiments.playing.pool import WorkerPool
from othello_lab.experiments.record.game_block import SCHEDULED, GameBlock
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
    (
        "an own random agent in Python against greedy, `isolation=none`",
        f"{OWN}none",
        0.1,
    ),
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


# ---------------------------------------------------------------------- the driver alone

WORKERS = 16  # that answer from memory
_REMEMBERED = 100  # games, or more
_remembered: list[GameBlock] = []  # in a worker's process


def _play_or_remember(place: tasks.WorkerContext, pairs: PickledPairs) -> bytes:
    """Return games that this worker has played before, under the numbers of these pairs."""
    games = [game for pair in pairs for game in pair]
    if not _remembered:
        parts = [*play_all(place.conditions, games, GameMonitor(GameMonitor.Memory()))]
        first = parts[0]
        if isinstance(first, GameBlock) and len(first) >= _REMEMBERED:
            _remembered.append(first)
        return pickle.dumps(parts)
    (block,) = _remembered
    parts = []
    for begin in range(0, len(games), len(block)):
        part = games[begin : begin + len(block)]
        numbers = block.numbers[:, : len(part)].copy()
        numbers[: len(SCHEDULED)] = np.array([attrgetter(*_FIELDS)(game) for game in part]).T
        parts.append(GameBlock(numbers, block.content, {}, block.moves))
    return pickle.dumps(parts)


_FIELDS = ("number", *SCHEDULED[1:])  # of a scheduled game


class AnsweringFromMemory(Executor):
    """Workers that cost nearly nothing. seconds: the driver's processor time for all the games."""

    text = f"{WORKERS}, from memory"

    def __init__(self) -> None:
        self.seconds = 0.0

    def workers_for(self, conditions: GameConditions, say: Say) -> tasks.Workers:
        return WorkerPool(fork_server(WORKERS, partial(tasks.start_worker, conditions)))

    @contextmanager
    def ready(self, conditions: GameConditions, say: Say, trial: bool = False) -> Iterator[Any]:
        with self.workers_for(conditions, say) as workers:

            def play(draw: PairQueue) -> Iterator[list[tasks.PairResults]]:
                begun = time.process_time()
                yield from tasks.TaskRunner(workers, lambda: False, _play_or_remember)(draw)
                self.seconds = time.process_time() - begun

            yield play


def driver(words: str, games: int) -> float:
    """Return the driver's processor time for a game, in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        options = [*words.split(), f"games={games}", f"results={folder}", "figures=false"]
        plan = plan_of(read(options).settings)
        executor = AnsweringFromMemory()
        run(replace(plan, executor=executor), "benchmark", Console(quiet=True))
        return 1e6 * executor.seconds / games


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
"""Games at a time. 1,024 and more at a time took longer a game on the two cores where it was
tried."""


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


def reversi_games(games: int) -> float:
    """Return the seconds of y-tetsu's simulator (https://github.com/y-tetsu/reversi)."""
    module = importlib.import_module("reversi")
    if not hasattr(module, "Simulator"):
        raise ImportError("`reversi` here is another package of that name")
    strategies = importlib.import_module("reversi.strategies")

    players = {"Random": strategies.Random(), "Greedy": strategies.Greedy()}
    simulator = module.Simulator(
        players, matches=games // 2, processes=2, parallel="player", progress=False
    )
    begun = time.perf_counter()
    simulator.start()
    return time.perf_counter() - begun


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
    "y-tetsu's reversi, random - greedy, two processes": (reversi_games, 0.01),
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
    for record in ("all", "games"):
        words = f"{SIMPLE} record={record}"
        cost = min(driver(words, 2 * games) for _ in range(repeat))
        what = f"the driver alone, `record={record}`, {WORKERS} workers that answer from memory"
        yield what, f"{cost:.1f} µs a game"
    for name, (others, share) in OTHERS.items():
        number = max(2, int(games * share))
        try:
            seconds = min(others(number) for _ in range(repeat))
        except ModuleNotFoundError:
            yield name, "not installed"
        except ImportError as error:
            yield name, f"not installed; {error}"
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
