"""A call to the system fails, or its process is killed, at any place of a job: the command ends in
order or goes on, and ``resume`` leads to the results of an undisturbed job.

There are thousands of places. The tests take some of each kind, evenly spread; with the variable
FAULT_PLACES they take that many of each kind, or ``all``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attacks.fault_injection import FAULTS, Outcome, Request, memory
from chosen import mostly_nightly
from shared import SMALL_STUDY

from othello_lab.core.system.processes import LINUX

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not LINUX, reason="preloads a library into processes, and looks at /proc"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc, a compiler of C"),
]

TESTS = Path(__file__).parent.parent
DUEL = ["agents=duel", "agent@second=greedy", "seed=3", "executor.workers=2", "figures=none"]
FIRST = ["agent@first=alphabeta", "first.depth=2"]
OUTSIDE = ["agent@first=random", "first._target_=bystanders.Remembers", "trial=false"]
NO_FIGURES = "figures=none"
GAMES = ["train.rounds.first.games=200", "train.rounds.second.games=200"]
JOBS = {
    "run": ["run", *DUEL, "agent@first=random", "games=8"],
    "run of an agent from outside": ["run", *DUEL, *OUTSIDE, "games=6"],
    "class": ["run", "agents=classics", "schedule=class", "openings.plies=4", "figures=none"],
    "study of positions": [
        "study",
        "pruning",
        "agents=ab_vs_minimax",
        *SMALL_STUDY,
        "figures=none",
    ],
    "study of a run": ["study", "errors", *DUEL, *FIRST, "study.empties=8", "games=4"],
    "study of matches": ["study", "scaling", "agents=ab_mirror", "study.levels=[1,2]", "games=4"],
    "sweep": ["run", "-m", *DUEL, "agent@first=alphabeta", "first.depth=1,2", "games=4"],
    "self-play": ["selfplay", "games=300", "agent=alphabeta", "depth=1", "executor.workers=2"],
    "positions": ["positions"],  # of a recorded run
    "training": ["train", "tuned", *GAMES, "games=4", "depth=1", "figures=none"],
}
"""The words of each command."""

Ask = Callable[[Request], Outcome]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that lets calls fail."""
    made = tmp_path_factory.mktemp("library") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    words = ["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", made, source, "-ldl"]
    subprocess.run([*words, "-pthread"], check=True)
    return made


@pytest.fixture
def ask(library: Path, tmp_path: Path) -> Iterator[Ask]:
    """A function that has a process with the library do a request."""
    shared = tmp_path / "faults"
    shared.write_bytes(bytes(memory.size))
    paths = [str(TESTS), *sys.path]
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "FAULTS": str(shared),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    script = Path(__file__).with_name("fault_injection.py")
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        open(tmp_path / "printed", "w+") as printed,
        subprocess.Popen(
            [sys.executable, script, tmp_path / "jobs"], stderr=printed, env=environment, **pipes
        ) as process,
    ):
        assert process.stdin and process.stdout

        def ask(request: Request) -> Outcome:
            print(json.dumps(vars(request)), file=process.stdin, flush=True)
            if not (answer := process.stdout.readline()):
                printed.seek(0)
                pytest.fail(f"the process that does it has ended: {printed.read()[-5000:]}")
            return Outcome(**json.loads(answer))

        yield ask
        process.stdin.close()


def places(calls: int, number: int) -> list[int]:
    """So many of the calls, evenly spread."""
    if (wanted := os.environ.get("FAULT_PLACES")) is not None:
        number = calls if wanted == "all" else int(wanted)
    number = min(number, calls)
    return [round((place + 0.5) * calls / number + 0.5) for place in range(number)]


def check(ask: Ask, words: list[str], faults: Iterable[str], number: int, resumed: int = 0) -> None:
    """Try so many places of each of these kinds of fault."""
    wrong = []
    for fault in faults:
        counted = ask(Request(words, fault, 0))
        assert not counted.wrong, counted
        chosen = places(counted.counted, number)
        outcomes = {at: ask(Request(words, fault, at)) for at in chosen}
        wrong += [f"{fault}, call {at}: {each}" for at, each in outcomes.items() if each.wrong]
        ends = sorted(str(each.codes[0]) for each in outcomes.values())
        print(f"{fault}: {len(outcomes)} places of {counted.counted} calls, exit codes {ends}")
        if fault == "full disk":  # nobody survives it, so the fault was felt
            assert ends != ["0"] * len(ends)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("job", mostly_nightly(JOBS, ["run", "study of positions"]))
def test_a_killed_job_is_resumed(job: str, ask: Ask, recorded_duel: Path) -> None:
    """Killed at two places of its calls to the system."""
    words = [*JOBS[job], *([str(recorded_duel)] if job == "positions" else [])]
    check(ask, words, ["kill"], 2)


@pytest.mark.parametrize(
    "fault", mostly_nightly([fault for fault in FAULTS if fault != "kill"], ["full disk"])
)
def test_a_run_with_a_fault_is_resumed(fault: str, ask: Ask) -> None:
    check(ask, JOBS["run of an agent from outside"], [fault], 1)


@pytest.mark.nightly
@pytest.mark.parametrize("job", ["run", "study of a run", "sweep", "self-play"])
def test_a_job_with_any_fault_is_resumed(job: str, ask: Ask) -> None:
    check(ask, JOBS[job], FAULTS, 2)
