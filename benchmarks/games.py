"""Measure the games a second of a whole run, record written.

python benchmarks/games.py [--games 20000] [--repeat 3] [--million]

Each row is a run of its own by the command line, from distinct random openings. It shows the best
of ``--repeat``, as other programs can only slow a run down. ``compiled_games=false`` is the same
run with every move through the judge in Python. The last rows are the driver alone, with workers
that answer from memory, and other simulators, if installed (``pip install reversi open_spiel``).
These play random against random in this process and record nothing. ``--million`` plays 1,000,000
games and makes their report, in some minutes.
"""

from __future__ import annotations

import argparse
import importlib
import pickle
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor as Pool
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab import Agent, Decision, Limits
from othello_lab.core.position import Position
from othello_lab.experiments.config import plan_of, read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.pairing.schedule import Pair, PairDraw
from othello_lab.experiments.playing import Executor
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.executors import Say
from othello_lab.experiments.playing.match import PairResult, Play, WorkerSlots, play_over
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
        (file,) = Path(folder).rglob("games.sqlite")
        with Record.open(file) as record:
            ((wall, decided),) = record.rows(
                "select wall_seconds, sum(black_nanoseconds + white_nanoseconds) / 1e9 "
                "from run, games"
            )
    return wall, decided


# ---------------------------------------------------------------------- the driver alone


class _Memory(Pool):
    """A pool that returns results played before."""

    def __init__(self, results: dict[int, bytes]) -> None:
        self._results = results

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        pairs: list[Pair] = pickle.loads(pickle.dumps(args[0]))  # as if they went to a worker
        done: Future[Any] = Future()
        done.set_result([self._results[pair[0].pair] for pair in pairs])
        return done


class FromMemory(Executor):
    """An executor with workers that take no time.

    seconds: the driver's processor time for all the games.
    """

    def __init__(self, pairs: list[Pair]) -> None:
        self._pairs = pairs
        self.seconds = 0.0

    text = "memory"

    @contextmanager
    def ready(self, conditions: GameConditions, say: Say) -> Iterator[Play]:
        watch = GameMonitor(GameMonitor.Memory())
        results = {
            pair[0].pair: pickle.dumps(next(play_all(conditions, pair, watch)))
            for pair in self._pairs
        }

        def play(draw: PairDraw) -> Iterator[list[PairResult]]:
            began = time.process_time()
            yield from play_over(WorkerSlots(_Memory(results), 16), draw)
            self.seconds = time.process_time() - began

        yield play


def driver(words: str, games: int) -> float:
    """Return the driver's processor time for a game, in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        options = [*words.split(), f"games={games}", f"results={folder}", "figures=false"]
        plan = plan_of(read(options).settings)
        plan.conditions().prepare()
        draw = PairDraw(plan.schedule, plan.names, plan.choose_openings(), plan.settings.seed)
        executor = FromMemory(draw.take(games))
        run(replace(plan, executor=executor), "benchmark", Console(quiet=True))
        return 1e6 * executor.seconds / games


# ---------------------------------------------------------------------- others


def reversi_games(games: int) -> float:
    """Return the seconds of y-tetsu's simulator (https://github.com/y-tetsu/reversi)."""
    strategies = importlib.import_module("reversi.strategies")
    simulator = importlib.import_module("reversi").Simulator

    begun = time.perf_counter()
    settings = {"matches": games // 2, "board_size": 8, "board_type": "bitboard", "processes": 2}
    settings |= {"parallel": "player", "random_opening": 8, "player_names": ["Random", "Greedy"]}
    simulator({"Random": strategies.Random(), "Greedy": strategies.Greedy()}, settings).start()
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


OTHERS = {
    "reversi, random - greedy, two processes": reversi_games,
    "OpenSpiel, random - random, one process": openspiel_games,
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
        cost = min(driver(words, games // 4) for _ in range(repeat))
        yield f"the driver alone, `record={record}`", f"{cost:.0f} µs a game"
    for name, others in OTHERS.items():
        try:
            seconds = min(others(games // 100) for _ in range(repeat))
        except ImportError:
            yield name, "not installed"
        else:
            yield name, f"{games // 100 / seconds:,.0f} games/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=20_000)
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
