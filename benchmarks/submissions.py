"""Time a class's tournament: 50 programs of all kinds; some hang, die, or cannot be started.

The aim is ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rich.console import Console

from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from submitted import hand_in

KINDS = {
    "file": 15,
    "line": 11,
    "agent": 8,
    "strategy": 8,
    "unreadable": 2,
    "missing": 1,
    "data": 1,
    "silent": 2,
    "dying": 2,
}
"""Number of submissions by kind (see ``tests/submitted.py``)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", help="folder that keeps the run (default: removed)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        submissions = Path(folder, "submissions")
        kinds = [kind for kind, number in KINDS.items() for _ in range(number)]
        names = hand_in(submissions, kinds)
        results = options.keep or f"{folder}/results"
        words = ["experiment=class", f"folder={submissions}", f"results={results}"]
        plan = read([*words, f"executor.workers={options.workers}"])
        before, begun = os.getloadavg()[0], time.perf_counter()
        result = run(plan, "benchmarks/submissions.py", Console())
        seconds = time.perf_counter() - begun
        games = result.games
        ends = Counter(games["end_reason"])
        pages = len(list((result.folder / "programs").glob("*.html")))
    assert result.complete and pages == len(names)
    print(f"{len(names)} programs, {len(games)} games on {options.workers} workers, {pages} pages")
    print(", ".join(f"{reason} {number}" for reason, number in ends.most_common()))
    print(f"{seconds:.0f} s; load before {before:.1f}, now {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
