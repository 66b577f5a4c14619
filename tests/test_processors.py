"""The numbers of a run, a study and a training hold whatever the processor."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from records import content, runs_in

ROOT = Path(__file__).resolve().parents[1]

PROCESSORS = {
    "older": {"OPENBLAS_CORETYPE": "Nehalem"},
    "newer": {"OPENBLAS_CORETYPE": "Haswell", "OTHELLO_LAB_PORTABLE": "1"},
}
"""Two kernels of OpenBLAS, which sum in different orders, with the lab's two kinds of kernels."""

JOBS = {
    "run": "run agents=learned games=2 depth=1",
    "study": "study errors agents=duel agent@first=alphabeta agent@second=greedy games=4 "
    "study.empties=6",
    "training": "train tuned train.rounds.first.games=60 train.rounds.second.games=60 games=4 "
    "depth=1",
}

TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[ _]\d\d[:-]\d\d[:-]\d\d|(<\s)?[\d.,]+\s(k|M|µs|ms|s|min|h)\b"
    r"|^> It took .*|^\| (self-play|learning|matches against).*",
    re.MULTILINE,
)
TIMED = re.compile("second|minute|time|late")


def made(folder: Path, job: str, processor: str) -> Path:
    """Return the folder of a job's results, computed as on this processor."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "othello_lab", *JOBS[job].split(), "figures=false"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **PROCESSORS[processor]},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (report,) = folder.glob("results/*/*/report.md")
    return report.parent


def timeless(path: Path) -> list[str]:
    """Return the lines of a text without dates and times."""
    return TIMES.sub("~", path.read_text(encoding="utf-8")).splitlines()


@pytest.mark.nightly
@pytest.mark.parametrize("job", JOBS)
def test_records_and_reports_are_the_same_on_every_processor(job: str, tmp_path: Path) -> None:
    one, other = (made(tmp_path / processor, job, processor) for processor in PROCESSORS)
    assert runs_in(one)
    for here, there in zip(runs_in(one), runs_in(other), strict=True):
        assert content(here) == content(there)
    reports = sorted(path.relative_to(one) for path in one.rglob("report.md"))
    for report in reports:
        assert timeless(one / report) == timeless(other / report)
    tables = sorted(path.relative_to(one) for path in one.rglob("*.csv"))
    assert tables == sorted(path.relative_to(other) for path in other.rglob("*.csv")) != []
    for table in tables:
        here, there = (pd.read_csv(folder / table) for folder in (one, other))
        timed = [column for column in here if TIMED.search(column)]
        pd.testing.assert_frame_equal(here.drop(columns=timed), there.drop(columns=timed))
