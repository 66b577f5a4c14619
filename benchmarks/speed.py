"""Make the first tables of docs/speed.md, all measured in one run, with the installed peers.

python benchmarks/speed.py [--write] [--all]

A row is printed as soon as it is measured: the kernels and searches of one core, and with ``--all``
the whole runs of ``games.py``. ``--write`` measures all and writes the page: some eight minutes on
an idle machine. ``pip install -e '.[benchmarks,openspiel]'`` installs the peers.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import endgame
import games

from othello_lab import MCTS, AlphaBeta, MTDf, SquareWeights
from othello_lab.agents.commands.listing import nanoseconds_a_call
from othello_lab.agents.composing import NEEDS_A_TARGET, choices
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import Iago, as_evaluation, heuristic
from othello_lab.agents.evaluation.function import check_positions
from othello_lab.agents.evaluation.helpers import count, moves
from othello_lab.agents.evaluation.square_weights import CORNER_TO_CENTRE, full_board
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.agents.search.window.probcut_fit import sample_positions
from othello_lab.core.perft import perft
from othello_lab.core.position import Position
from othello_lab.experiments.record.provenance import machine, versions

PAGE = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
BEGIN, END = "<!-- python benchmarks/speed.py --write -->", "<!-- end -->"
PEERS = ("rust-reversi", "open_spiel", "pgx", "jax")
REPEATS = 5
DEPTH = 12
PLAYOUTS = 100_000

Row = tuple[str, str, str]
"""Name, result, and the benchmark with more detail."""


def best_of(work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of a few runs, the least disturbed by other processes."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


@heuristic
def freedom(mover, opponent):  # type: ignore[no-untyped-def]
    """A user's function with the body of othello_lab.Mobility."""
    return count(moves(mover, opponent)) - count(moves(opponent, mover))


def evaluations() -> Iterator[tuple[str, str]]:
    """Measure each heuristic's nanoseconds a call: the mean over 10,000 fixed positions."""
    named = {
        f"evaluation {name}, a call": load_evaluation(name)
        for name in choices("evaluation")
        if name != NEEDS_A_TARGET
    }
    named["  a user's function with mobility's body, a call"] = as_evaluation(freedom)
    for name, evaluation in named.items():
        evaluation.prepare()
        cost = nanoseconds_a_call(evaluation, check_positions(10_000))
        yield name, f"{cost:.1f} ns"


def kernels() -> Iterator[tuple[str, str]]:
    """Measure perft, alpha-beta and heuristics."""
    start = Position.start()
    perft(start, 8)
    leaves = perft(start, 11) / best_of(lambda: perft(start, 11))
    yield "perft(11), one core", f"{leaves / 1e6:,.0f} M leaves/s"
    seconds, speed = timed(AlphaBeta(DEPTH, SquareWeights()))
    what = f"alpha-beta with square weights, depth {DEPTH} from the start, moves a1 to h8"
    yield what, f"{seconds:.3f} s, {speed}"
    try:
        from rust_reversi import AlphaBetaSearch, Board, MatrixEvaluator
    except ImportError:
        pass
    else:
        matrix = MatrixEvaluator(full_board(CORNER_TO_CENTRE).tolist())
        search = AlphaBetaSearch(matrix, DEPTH, 1 << 30)
        seconds = best_of(lambda: search.get_move(Board()))
        yield "the same question to rust-reversi (the move alone)", f"{seconds:.3f} s"
    yield from evaluations()
    yield "alpha-beta depth 10, iago", timed(AlphaBeta(10, Iago()))[1]


def timed(search: AlphaBeta) -> tuple[float, str]:
    """Return the seconds of a search from the start, and its speed in words."""
    search.prepare()
    nodes = search.search(Position.start()).stats.nodes
    seconds = best_of(lambda: search.search(Position.start()))
    return seconds, f"{nodes / seconds / 1e6:,.1f} M nodes/s"


def fewer_nodes(depth: int, number: int) -> tuple[str, str]:
    """Compare the nodes of the best search with those of sorted alpha-beta, on midgame positions.

    Both must agree on every value.
    """
    evaluation = SquareWeights()
    games = sample_positions(AlphaBeta(2, evaluation), 8 * number, seed=1)
    positions = [position for position in games if 20 <= position.empties <= 48][:number]
    nodes, values = [], []
    for search in (
        AlphaBeta(depth, evaluation, ordering="static"),
        MTDf(
            depth,
            evaluation,
            ordering="tt+mobility+static",
            table_mb=256,
            etc=True,
            iterative=True,
            step=2,
        ),
    ):
        search.prepare()
        decisions = [search.search(position) for position in positions]
        nodes.append(sum(decision.stats.nodes for decision in decisions))
        values.append([decision.value for decision in decisions])
    assert values[0] == values[1], "MTD(f) finds other values"
    name = "MTD(f), table, against alpha-beta, static"
    what = f"nodes of depth {depth} on {number} midgame positions: {name}"
    return what, f"1/{nodes[0] / nodes[1]:.1f}"


def endgames() -> Iterator[tuple[str, str]]:
    """Measure the exact solver on the FFO positions."""
    solver = EndgameSolver()
    solver.prepare()
    for name in ("fforum-1-19.obf", "fforum-20-39.obf"):
        positions = endgame.read(endgame.FFO / name)
        solutions = [endgame.fastest(solver, position)[0] for position in positions]
        nodes = sum(solution.stats.nodes for solution in solutions)
        seconds = sum(solution.seconds for solution in solutions)
        cost = f"{nodes / 1e6:,.1f} M nodes, {seconds:.2f} s, {nodes / seconds / 1e6:.0f} M nodes/s"
        yield f"{name.removesuffix('.obf')} solved exactly, one core", cost


def playouts() -> Iterator[tuple[str, str]]:
    """Measure the random playouts a second of Monte-Carlo tree search from the start."""
    agent = MCTS(playouts=PLAYOUTS)
    agent.prepare()
    searches = {"Monte-Carlo tree search": lambda: agent.search(Position.start())}
    try:
        from rust_reversi import Board, MctsSearch
    except ImportError:
        pass
    else:  # its recommended exploration constant, and visits before a node is expanded
        searches["rust-reversi's"] = lambda: MctsSearch(PLAYOUTS, 1.0, 10).get_move(Board())
    for name, search in searches.items():
        search()
        what = f"{name}, random playouts from the start, one core"
        yield what, f"{PLAYOUTS / best_of(search):,.0f}/s"


def one_core() -> Iterator[Row]:
    """Measure all that one core does."""
    for what, result in kernels():
        yield what, result, "speed.py"
    yield *fewer_nodes(12, 50), "speed.py"
    for what, result in endgames():
        yield what, result, "endgame.py"
    for what, result in playouts():
        yield what, result, "speed.py"


def runs() -> Iterator[Row]:
    """Measure whole runs."""
    for name, result in games.measure(60_000, 2):
        yield name, result, "games.py"


def page(everything: bool) -> Iterator[str]:
    """Yield the lines of the part of the page between the marks."""
    facts = {**machine(), **versions({})}
    facts = {key: value for key, value in facts.items() if not key.startswith("promises")}
    for peer in PEERS:
        try:
            facts[peer] = importlib.metadata.version(peer)
        except importlib.metadata.PackageNotFoundError:
            facts[peer] = "not installed"
    words = ", ".join(f"{key} {value}" for key, value in facts.items())
    yield f"Measured on {datetime.date.today()}, all in one run: {words}."
    tables = {"one core": one_core}
    if everything:
        tables["whole runs by all cores, record written, from distinct random openings"] = runs
    for title, rows in tables.items():
        yield from ("", f"| {title} | here | `python benchmarks/` |", "|---|---|---|")
        for what, result, script in rows():
            yield f"| {what} | {result} | `{script}` |"


def main() -> None:
    """Measure, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="whole runs, too")
    parser.add_argument("--write", action="store_true", help="measure all and write the page")
    options = parser.parse_args()
    lines = []
    for line in page(options.all or options.write):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        text = "\n".join((BEGIN, *lines, END))
        before = PAGE.read_text(encoding="utf-8")
        after = re.sub(f"{BEGIN}.*{END}", lambda _: text, before, flags=re.DOTALL)
        PAGE.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
