"""Time a class's tournament: 50 programs of all kinds; some hang, die, or cannot be started.

The aim is ten minutes on two cores.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
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
    """Hand in, play, and print the time."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = [kind for kind, number in KINDS.items() for _ in range(number)]
        names = hand_in(Path(folder, "submissions"), kinds)
        words = [f"folder={folder}/submissions", f"results={folder}/results", *sys.argv[1:]]
        begun = time.perf_counter()
        result = run(read(["experiment=class", *words]), "benchmarks/submissions.py", Console())
        seconds = time.perf_counter() - begun
        pages = len(list((result.folder / "programs").glob("*.html")))
    assert result.complete and pages == len(names)
    print(f"{len(names)} programs, {len(result.games)} games, {pages} pages in {seconds:.0f} s")
    print(result.games["end_reason"].value_counts().to_string())
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
