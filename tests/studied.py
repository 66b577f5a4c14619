"""Studies that only tests make."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from othello_lab.core.position import Position
from othello_lab.core.system.settings import Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.studies.study import (
    Conclusion,
    MatchStudy,
    PlayedRun,
    PositionStudy,
    ResultTable,
    RunRequest,
    changed,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Growing(MatchStudy):
    """A run of two games, which is then extended, and another one from other openings."""

    most: Annotated[int, Whole(2, even=True)] = 4

    def runs(self, plan: Plan, played: Sequence[PlayedRun]) -> Sequence[RunRequest]:
        first = changed(plan.settings, games=2)
        if not played:
            return [RunRequest(first, "two games")]
        more, other = changed(first, games=self.most), changed(first, seed=2)
        return [RunRequest(more, "more games"), RunRequest(other, "seed 2")]

    def conclude(self, plan: Plan, played: Sequence[PlayedRun]) -> Conclusion:
        counts = []
        for match in played:
            with match.record() as record:
                counts.append(record.count_games())
        table = ResultTable("Runs", ["run", "games"], [["all", str(sum(counts))]])
        return Conclusion([f"Games: {counts}."], [table], exit_code=1)


@dataclass(frozen=True, kw_only=True)
class Asking(PositionStudy):
    """What every agent decides at the start.

    at: the piece that has trouble, as long as there is a file life* in the folder ``where``: it
    fails, or takes such a file and kills the worker, or asks the driver to stop.
    """

    count: Annotated[int, Whole(1)] = 6
    trouble: str = ""
    at: Annotated[int, Whole()] = 0
    where: str = ""

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        return list(range(self.count))

    def work(self, context: WorkerContext, piece: Any) -> Tables:
        lives = sorted(Path(self.where).glob("life*")) if self.trouble and piece == self.at else []
        if lives and self.trouble == "fails":
            raise ValueError(f"no {piece}")
        if lives:
            lives[0].unlink()
            if self.trouble == "kills":
                os.kill(os.getpid(), signal.SIGKILL)
            signal.raise_signal(signal.SIGINT)
        start = Position.start(context.conditions.rules)
        return {
            "moves": [
                {"agent": name, "seed": piece, "move": context.decide(number, start, piece).move}
                for number, name in enumerate(context.conditions.names)
            ]
        }

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        frame = tables["moves"]
        rows = [[f"row{number}"] for number in range(20)]
        long = [ResultTable("Many", ["row"], rows)]
        return Conclusion([f"{len(frame)} <b>moves</b>."], long, frames={"moves": frame})
