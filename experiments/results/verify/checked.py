"""What checks of a job find, and how."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.config import RunConfig, typed
from othello_lab.experiments.record.flaws import COUNTED, MOVES, RESULTS, TRANSCRIPTS
from othello_lab.experiments.record.reading import damages
from othello_lab.experiments.record.store import CHANGED, Record
from othello_lab.experiments.results.verify.derived import DerivedFiles

_OF_RUN = RunConfig.__dataclass_fields__
FILE, SETTINGS, REPLAYED, SCHEDULE, FILES = ["record", "settings", "replayed", "schedule", "files"]
RUNS, PIECES = "runs", "pieces"
CHECKS = {
    FILE: "SQLite's own check, tables, types",
    SETTINGS: "of the job, its agents and openings: they agree",
    RUNS: "each of them by itself, as verify FOLDER/NUMBER does",
    PIECES: "done again: the same rows",
    TRANSCRIPTS: "legal by the rules, from their openings",
    RESULTS: "result, points, discs, end, from the last board",
    MOVES: "plies, agents and squares as in the transcripts",
    COUNTED: "there, possible, none for a pass; totals add up",
    REPLAYED: "by agents whose moves follow from the seed: the same moves and counts",
    SCHEDULE: "pairs, agents, openings and seeds are as drawn",
    FILES: "tables, reports and settings are what the record gives",
}
"""The checks, and what each of them holds a run to."""


class Checked:
    """What was checked of a job.

    extents: of the checks that were done. wrong: what they found, by check. unchecked: what could
    not be checked. replayed: so many of its ``games`` were played again; power: that in words.
    checks: those of its kind of job.
    """

    checks: Sequence[str]

    def __init__(self, record: Record) -> None:
        self.extents: dict[str, str] = {}
        self.wrong: dict[str, list[str]] = defaultdict(list)
        self.unchecked: list[str] = []
        self.replayed, self.games, self.power = 0, 0, "no game replayed"
        self._record, self._head = record, record.head()
        self.extents[FILE] = f"{record.path.stat().st_size / 1e6:,.1f} MB"
        self.wrong[FILE] += damages(record)
        if self.wrong[FILE]:
            self.unchecked.append("all the rest")
            return
        self.wrong[FILE] += [CHANGED] * record.was_changed(read=True)
        config = {key: value for key, value in self._head["config"].items() if key in _OF_RUN}
        self._settings = typed(config)

    def _compare_settings(self, name: str) -> None:
        settings = self._settings
        due = {"name": name, "seed": settings.seed, "ruleset": settings.ruleset.name}
        for key, wanted in due.items():
            if (recorded := self._head[key]) != wanted:
                said = f"{self._head['kind']}: {key}: {recorded!r} is recorded, {wanted!r} is due"
                self.wrong[SETTINGS].append(said)

    def _compare_files(self, files: DerivedFiles) -> None:
        self.extents[FILES] = counted(files.count, "file") if files.count else ""
        self.wrong[FILES], self.unchecked = files.wrong, self.unchecked + files.unchecked
