"""Make the table of docs/speed.md, all measured in one run, with the installed peers.

python benchmarks/table.py [--print]

It takes some eight minutes and needs an idle machine. ``pip install -e '.[benchmarks,openspiel]'``
installs the peers.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

import endgame
import games
import mcts
import search
import speed

from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.experiments.record.provenance import machine, versions

PAGE = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
BEGIN, END = "<!-- python benchmarks/table.py -->", "<!-- end -->"
PEERS = ("rust-reversi", "open_spiel", "pgx", "jax")
PLAYOUTS = 100_000

Row = tuple[str, str, str]
"""Name, result, and the benchmark with more detail."""


def kernels() -> Iterator[Row]:
    """Measure perft, alpha-beta and heuristics."""
    for name, result in speed.kernel_rows():
        yield name, result, "speed.py"


def searches() -> Iterator[Row]:
    """Measure the search family, the solver and Monte-Carlo tree search."""
    last = list(search.compare(12, 50, ["MTD(f), table"]))[-1]
    what = f"nodes of depth 12 on 50 midgame positions: {last.search}, against alpha-beta, static"
    yield what, f"1/{last.fewer:.1f}", "search.py"
    solver = EndgameSolver()
    solver.prepare()
    for name in ("fforum-1-19.obf", "fforum-20-39.obf"):
        solutions = [
            endgame.fastest(solver, problem.position, 2)
            for problem in endgame.read(endgame.FFO / name)
        ]
        nodes = sum(solution.stats.nodes for solution in solutions)
        seconds = sum(solution.seconds for solution in solutions)
        cost = f"{nodes / 1e6:,.1f} M nodes, {seconds:.2f} s, {nodes / seconds / 1e6:.0f} M nodes/s"
        yield f"{name.removesuffix('.obf')} solved exactly, one core", cost, "endgame.py"
    rounds = mcts.measure(PLAYOUTS)
    for name, who in (("random", "Monte-Carlo tree search"), (mcts.RUST, "rust-reversi's")):
        if name in rounds:
            what = f"{who}, random playouts from the start, one core"
            yield what, f"{PLAYOUTS / min(rounds[name]):,.0f}/s", "mcts.py"


def runs() -> Iterator[Row]:
    """Measure whole runs."""
    for name, result in games.measure(60_000, 2):
        yield name, result, "games.py"


def page() -> str:
    """Return the part of the page between the marks."""
    about = {**machine(), **versions({})}
    about = {key: value for key, value in about.items() if not key.startswith("promises")}
    for peer in PEERS:
        try:
            about[peer] = importlib.metadata.version(peer)
        except importlib.metadata.PackageNotFoundError:
            about[peer] = "not installed"
    words = ", ".join(f"{key} {value}" for key, value in about.items())
    lines = [f"Measured on {datetime.date.today()}, all in one run: {words}."]
    for title, rows in (
        ("one core", [*kernels(), *searches()]),
        ("whole runs by all cores, record written, from distinct random openings", list(runs())),
    ):
        lines += ["", f"| {title} | here | `python benchmarks/` |", "|---|---|---|"]
        lines += [f"| {what} | {result} | `{script}` |" for what, result, script in rows]
    return "\n".join(lines)


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", help="print it; leave the page unchanged")
    options = parser.parse_args()
    text = page()
    print(text)
    if not options.print:
        before = PAGE.read_text(encoding="utf-8")
        marked = f"{BEGIN}\n{text}\n{END}"
        after = re.sub(f"{BEGIN}.*{END}", lambda _: marked, before, flags=re.DOTALL)
        PAGE.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
