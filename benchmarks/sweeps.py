"""Measure a sweep's cost for a combination beside its games; it must not grow with their number.

python benchmarks/sweeps.py [10 100 500]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TINY = "agents=duel agent@first=random agent@second=greedy games=2 figures=false executor=serial"


def seconds(combinations: int, folder: Path) -> tuple[float, float, float]:
    """Measure a sweep: processor time in all, and wall time a combination, in seconds.

    The latter is measured at the sweep's beginning and at its end.
    """
    words = [*TINY.split(), f"seed=range(0,{combinations})", f"results={folder}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "experiments", "run", "-m", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = sorted(path.stat().st_mtime for path in folder.glob("*/*/*/report.html"))
    few = max(1, min(20, len(ended) // 2))
    first, last = ended[few] - ended[0], ended[-1] - ended[-1 - few]
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return total, first / few, last / few


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [10, 100, 500]
    with tempfile.TemporaryDirectory() as folder:
        start, _, _ = seconds(2, Path(folder) / "start")
        print("combinations  processor ms each   wall ms each: first  last")
        for size in sizes:
            total, first, last = seconds(size, Path(folder) / str(size))
            mean = (total - start) / (size - 2)
            print(f"{size:12}  {1e3 * mean:17.0f}   {1e3 * first:19.0f}  {1e3 * last:4.0f}")


if __name__ == "__main__":
    main()
