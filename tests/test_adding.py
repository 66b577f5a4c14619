"""A heuristic, search, counter, ruleset, protocol, study and figure are two files each to add."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.nightly

HEURISTIC = '''"""Edge discs: discs on the edge, the mover's minus the opponent's."""

from __future__ import annotations

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask

EDGES = np.uint64(0xFF818181818181FF)


class EdgeDiscs(Evaluation):
    """Discs on the edge, from -28 to 28. Why: they can be flipped only along that edge.
    Antisymmetric."""

    as_features = (Feature("edge_discs", 28),)
    sides = frozenset({8})

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        return np.int32(popcount(mover & EDGES) - popcount(opponent & EDGES))

    def plain(self, position: Position) -> int:
        mine, theirs = position.mover & int(EDGES), position.opponent & int(EDGES)
        return mine.bit_count() - theirs.bit_count()
'''

SEARCH = '''"""Scout: principal variation search without a table."""

from __future__ import annotations

from othello_lab.agents.search.window.search import WindowSearch
from othello_lab.core.system.settings import explained


@explained
class Scout(WindowSearch):
    """Principal variation search without a table: null windows after the first move."""

    null_windows = True
'''

PROTOCOL = '''"""Programs that read the legal moves as a line and answer with one of them."""

from __future__ import annotations

import sys

from othello_lab.agents.agent import Decision, Limits
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import GARBAGE
from othello_lab.core.notation import parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Color


class MovesAgent(ProgramAgent):
    """A program that reads the legal moves as a line and answers with one of them."""

    def _begin(self, color: Color, start: Position, seed: int) -> None:
        pass

    def decide(self, position: Position, limits: Limits) -> Decision:
        self._program.send(" ".join(position.legal_moves()), self.patience)
        answer = self._program.receive(None)
        with self._blaming(GARBAGE, answer):
            return Decision(parse_square(answer.strip(), position.ruleset.side))


if __name__ == "__main__":
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(line.split()[0], flush=True)
'''

STUDY = '''"""Freedom: legal moves in random games."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.experiments.config import Plan
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.studies.study import Conclusion, PositionStudy

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Freedom(PositionStudy):
    """Legal moves in random games. rounds: number of games."""

    rounds: int = 4
    asks_agents: ClassVar[bool] = False

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        return range(self.rounds)

    def work(self, place: WorkerContext, piece: Any) -> Tables:
        position, chance = Position.start(place.conditions.rules), random.Random(piece)
        rows = []
        while not position.is_over:
            rows.append({"moves": len(position.moves)})
            position = position.play(chance.choice(position.moves or (PASS,)))
        return {"freedom": rows}

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        return Conclusion([f"{tables['freedom']['moves'].mean():.1f} legal moves on average."])
'''

FIGURE = '''"""Lengths of games."""

from __future__ import annotations

from collections.abc import Iterator

from othello_lab.core.notation import split_transcript
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.drawing import ReportFigure, blank
from othello_lab.experiments.report.figures.palette import BLUE


def lengths_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of the lengths of games."""
    games = facts.record.rows("select transcript from games")
    lengths = [len(split_transcript(transcript)) for (transcript,) in games]
    with blank(context=facts.context) as figure:
        figure.add_subplot().hist(lengths, color=BLUE)
    yield ReportFigure("lengths", "Lengths of games", "Moves of a game.", figure)
'''


@dataclass(frozen=True)
class Change:
    """A change of one file: ``text`` is put in after ``after``, or is all of a new file."""

    path: str
    text: str
    after: str = ""


ADDITIONS = {
    "heuristic": [
        Change("agents/evaluation/edge_discs.py", HEURISTIC),
        Change(
            "conf/evaluation/edge_discs.yaml",
            "# Discs on the edge, own minus the opponent's\n"
            "_target_: othello_lab.agents.evaluation.edge_discs.EdgeDiscs\n",
        ),
    ],
    "search": [
        Change("agents/search/window/scout.py", SEARCH),
        Change(
            "conf/agent/scout.yaml",
            "# Principal variation search without a table\n"
            "defaults:\n  - alphabeta\n  - _self_\n\n"
            "_target_: othello_lab.agents.search.window.scout.Scout\n",
        ),
    ],
    "counter": [
        Change(
            "core/game.py",
            "    late_cutoffs: int = field(default=0, compare=False)\n",
            after="    cutoffs: int = 0\n",
        ),
        Change(
            "agents/search/window/negamax.py",
            'LATE_CUTOFFS = layout.counter("late_cutoffs")\n\n\n',
            after="\n\n\n",
        ),
        Change(
            "agents/search/window/negamax.py",
            "                        if not first:\n"
            "                            count(context, LATE_CUTOFFS)\n",
            after="                        count(context, layout.CUTOFFS)\n",
        ),
    ],
    "ruleset": [
        Change(
            "core/rules.py",
            '        Ruleset("white6", 6, Color.WHITE, False, "as wpi, on 6x6 squares"),\n',
            after='on 6x6 squares"),\n',
        ),
        Change("conf/ruleset/white6.yaml", "# White begins on 6x6\nname: white6\n"),
    ],
    "protocol": [
        Change("agents/external/moves.py", PROTOCOL),
        Change(
            "conf/agent/moves.yaml",
            "# A program that reads the legal moves as a line and answers with one of them\n"
            "_target_: othello_lab.agents.external.moves.MovesAgent\n"
            "command: ???\n"
            "# Seconds for each answer that is no move.\npatience: 8\n"
            "# Sizes of board that it plays on.\nboards: [8]\n",
        ),
    ],
    "study": [
        Change("experiments/studies/freedom.py", STUDY),
        Change(
            "conf/study/freedom.yaml",
            "# @package _global_\n# Legal moves in random games\n"
            "defaults:\n  - override /agents: ab_mirror\n\n"
            "study:\n  _target_: othello_lab.experiments.studies.freedom.Freedom\n"
            "  # Number of games\n  rounds: 4\n",
        ),
    ],
    "figure": [
        Change("experiments/report/figures/lengths.py", FIGURE),
        Change(
            "experiments/report/figures/__init__.py",
            "from othello_lab.experiments.report.figures.lengths import lengths_figures\n",
            after="figures.elo import elo_figures\n",
        ),
        Change(
            "experiments/report/figures/__init__.py",
            "    lengths_figures,\n",
            after="= (\n    elo_figures,\n",
        ),
    ],
}

TESTS = [
    "tests/agents/evaluation",
    "tests/agents/search/test_search_family.py",
    "tests/agents/search/test_searches.py",
    "tests/agents/checks/test_agent_contract.py",
    "tests/agents/test_config.py",
    "tests/core",
    "--ignore=tests/core/system",
    "tests/experiments/test_command_line.py::test_the_signature_of_the_searches",
    "tests/experiments/test_experiments_config.py",
]
"""The tests that ask something of every heuristic, search, counter, ruleset and protocol."""
NEW = "edge_discs or scout or cutoffs or white6 or moves or signature or every"
"""The words in the names of those that ask it of the additions."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with all additions."""
    folder = tmp_path_factory.mktemp("copy") / "lab"
    made = shutil.ignore_patterns(".*", "__pycache__", "build", "site", "results")
    shutil.copytree(ROOT, folder, symlinks=True, ignore=made)
    code = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "experiments/results", folder / "experiments/results", ignore=code)
    for changes in ADDITIONS.values():
        assert len({change.path for change in changes}) == 2
        for change in changes:
            path = folder / change.path
            assert path.exists() == bool(change.after)
            before, after, rest = "", "", ""
            if change.after:
                before, after, rest = path.read_text(encoding="utf-8").partition(change.after)
                assert after, f"{change.path} has no {change.after!r}"
            path.write_text(before + after + change.text + rest, encoding="utf-8")
    return folder


def run(folder: Path, *words: str) -> str:
    """Run a module of Python in the copy and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


def test_the_tests_of_their_rooms_pass(copy: Path) -> None:
    said = run(copy, "pytest", "-v", "-n", "2", "-m", "not nightly", "-k", NEW, *TESTS)
    for name in ("edge_discs", "scout", "white6", "moves"):
        assert re.search(rf"PASSED .*\[.*\b{name}\b", said), name


def test_they_are_used_by_a_run(copy: Path) -> None:
    run(copy, "experiments", "run", "agents=heuristics", "games=2", "name=all", "figures=false")
    (report,) = copy.glob("results/all/*/report.md")
    assert "| edge_discs |" in report.read_text(encoding="utf-8")
    words = ["agents=duel", "agent@first=alphabeta", "agent@second=scout", "games=2", "depth=3"]
    run(copy, "experiments", "run", *words, "evaluation=composite", "name=two")
    (report,) = copy.glob("results/two/*/report.md")
    text = report.read_text(encoding="utf-8")
    assert "late cutoffs" in text and "Lengths of games" in text
    assert "legal moves on average" in run(copy, "experiments", "study", "freedom")
    words = ["agents=duel", "agent@first=moves", "agent@second=random", "games=2", "name=six"]
    command = f"first.command='{sys.executable} -m othello_lab.agents.external.moves'"
    run(copy, "experiments", "run", *words, command, "first.boards=[6]", "ruleset=white6")
    (report,) = copy.glob("results/six/*/report.md")
    assert "All 2 games were played to the end" in report.read_text(encoding="utf-8")
