"""Agents that attack the lab: the honest lose nothing by it, and nothing is left behind.

Every hostile agent meets the same honest one. What must come out is known from a run in which each
of them is a plain random agent: games without harm are the same move for move, and a lost one is
lost by the hostile agent, after moves that are the same.
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from attacks.hostile import ANYHOW, CLOSED, CROWDED, KINDS, PATIENT, SMALL, TIMED
from chosen import mostly_nightly
from processes import Command, adopted, await_, lives
from records import content, runs_in
from rich.console import Console

from othello_lab.core.game import DIED, END_REASONS, FINISHED, HUNG, LATE
from othello_lab.core.system.processes import LINUX
from othello_lab.experiments.config import plan_of, read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.playing import agent_proxy

pytestmark = pytest.mark.skipif(not LINUX, reason="needs Linux")

TESTS = Path(__file__).parents[1]
PARTS = 5
"""A report on all of them at once takes minutes."""
HARMLESS = "harmless"
"""The kinds of PATIENT that must not lose: they have long to answer, on a busy machine too."""
SETTINGS = {
    PATIENT: ["limits.hang=2.5", "limits.prepare=2.5"],
    HARMLESS: ["limits.hang=60", "limits.prepare=60"],
    TIMED: ["limits.seconds=0.1"],
    SMALL: ["limits.hang=1", "limits.memory_mb=1000"],
    CROWDED: ["limits.hang=4", "limits.processes=10"],
    CLOSED: ["isolation=closed", f"isolation.reads=[{TESTS}]"],
}


@dataclass
class Run:
    """A run of agents in a process of its own. Its folder is the only one below ``where``."""

    where: Path
    agents: Mapping[str, Any]
    words: Sequence[str]
    before: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        process = Command(*self.words, before=self.before, main=self._play)
        self.printed, _ = process.communicate(timeout=500)
        assert process.returncode == 0, self.printed
        (self.folder,) = runs_in(self.where)

    def _play(self, words: Sequence[str]) -> int:
        agent_proxy.START_SECONDS, agent_proxy.STOPPED_SECONDS = 2.0, 1.0
        common = ["agents=duel", "agent@first=greedy", "agent@second=random", "ruleset=mini6"]
        common += ["openings.plies=20", "games=2", "schedule=gauntlet", "figures=false"]
        common += [f"results={self.where}", "searches.positions=1", "trial=false", *words]
        settings = read(common).settings
        settings.agents = dict(self.agents)
        return 0 if run(plan_of(settings), "test", Console(quiet=True)).complete else 5


GREEDY, RANDOM = {"_target_": "othello_lab.GreedyAgent"}, {"_target_": "othello_lab.RandomAgent"}


def play(folder: Path, names: list[str], *words: str) -> tuple[Run, Run]:
    """Runs of the same games: with hostile agents of these kinds, and with random ones."""
    notes = folder / "notes"
    if "isolation=closed" in words:
        words = (*words, f"isolation.writes=[{notes}]")
    hostile = {}
    for name in names:
        (notes / name).mkdir(parents=True)
        about = {"kind": name, "notes": str(notes / name)}
        hostile[name] = {"_target_": "attacks.hostile.Hostile", **about}
    both = {"honest": GREEDY, "bystander": RANDOM}
    attacked = Run(folder / "attacked", both | hostile, words)
    plain = Run(folder / "plain", both | dict.fromkeys(names, RANDOM), words)
    return attacked, plain


GAME = ("game", "pair", "black", "white", "result", "points", "difference", "b", "w", "end")


def wrong(attacked: Run, plain: Run, names: list[str]) -> Iterator[str]:
    """What is not as it must be, agent by agent."""
    are, should = content(attacked.folder), content(plain.folder)
    numbers = {row[1]: row[0] for row in are["agents"]}
    assert are["openings"] == should["openings"]
    assert are["skipped"] == []
    for expected in should["games"]:
        game = dict(zip(GAME, expected, strict=False))
        found = next(row for row in are["games"] if row[0] == game["game"])
        moves, usual = (
            [row for row in rows["moves"] if row[0] == game["game"]] for rows in (are, should)
        )
        name = next(n for n, number in numbers.items() if number == max(expected[2:4]))
        ends = KINDS[name].end if name in names else FINISHED
        ended = dict(zip(GAME, found, strict=False))
        where = f"{name}, {'black' if game['black'] == numbers[name] else 'white'}"
        if ends in (FINISHED, ANYHOW) and (found, moves) == (expected, usual):
            continue
        if ends == FINISHED:
            yield f"{where}: {ended} is not {game}"
            continue
        if ended["end"] not in _allowed(ends):
            yield f"{where}: ended by {ended['end']!r}, not {ends!r}"
        if ended[ended["result"]] != numbers["honest"]:
            yield f"{where}: {ended['result']} has won"
        pairs = zip(moves, usual, strict=False)
        first = next((row for row, other in pairs if row != other), None)
        if first is not None and first[2] == numbers["honest"]:
            yield f"{where}: the honest one has played {first}"


def _allowed(ends: str) -> Sequence[str]:
    """On a busy machine who breaks the rules slowly may be killed before it has done so, as may be
    who is stopped while its child thinks."""
    if ends == ANYHOW:
        return END_REASONS[1:]
    return (ends, HUNG, LATE, DIED) if ends == LATE else (ends, HUNG, LATE)


def check(folder: Path, names: list[str], *words: str) -> None:
    with adopted() as orphans:
        check_among(orphans, folder, names, *words)


def check_among(
    orphans: Callable[[], list[int]], folder: Path, names: list[str], *words: str
) -> None:
    attacked, plain = play(folder, names, *words)
    assert "\n".join(wrong(attacked, plain, names)) == ""
    assert attacked.printed == plain.printed == ""
    noted = [int(path.name) for path in (folder / "notes").glob("*/[0-9]*")]
    await_(lambda: not orphans() and not any(map(lives, noted)))
    sizes = {path.name: path.stat().st_size for path in attacked.folder.iterdir()}
    assert sizes.pop("output.txt", 0) + sizes["log.txt"] < 60e6
    assert sizes.keys() == {path.name for path in plain.folder.iterdir()}
    honest = folder / "notes/computes_in_many_processes"
    assert not honest.exists() or (honest / "computed").exists()


def needs(name: str) -> str:
    """The sort of run that a kind needs."""
    kind = KINDS[name]
    return HARMLESS if kind.run == PATIENT and kind.end == FINISHED else kind.run


FEW = {
    HARMLESS: [
        *("replaces_the_judge", "finds_the_record", "leaves_a_daemon"),
        *("is_killed_once", "logs_what_cannot_be_told", "computes_in_many_processes"),
    ],
    PATIENT: [
        *("writes_to_all_descriptors", "kills_itself", "raises_SystemExit_in_decide", "passes"),
        *("exits_in_begin_game", "hangs_in_decide", "answers_nan", "forges_no_json"),
    ],
    TIMED: [
        *("prepares_for_long", "sleeps", "thinks_while_it_is_told"),
    ],
    SMALL: ["wants_all_memory"],
    CROWDED: ["forks_on_and_on"],
    CLOSED: ["signals_others", "takes_others_descriptors"],
}
"""Of each sort some, which stand for the others; all are tried nightly."""


@pytest.mark.integration
@pytest.mark.parametrize("sort", mostly_nightly(FEW, [PATIENT, TIMED, CLOSED]))
def test_chosen_kinds(tmp_path: Path, sort: str) -> None:
    assert all(needs(name) == sort for name in FEW[sort])
    check(tmp_path, FEW[sort], *SETTINGS[sort], "executor.workers=2")


@pytest.mark.nightly
@pytest.mark.parametrize("sort", [PATIENT, HARMLESS, CLOSED])
@pytest.mark.parametrize("part", range(PARTS))
def test_all_kinds(tmp_path: Path, part: int, sort: str) -> None:
    names = [name for name in KINDS if needs(name) == sort]
    check(tmp_path, names[part::PARTS], *SETTINGS[sort], "executor.workers=2")


@pytest.mark.integration
def test_nobody_is_blamed_if_the_system_has_no_process_to_give(tmp_path: Path) -> None:
    """Two forks of three fail."""
    forked, asked = agent_proxy.ConfinedProcess, itertools.count(1)

    def flaky(*arguments: Any, **more: Any) -> agent_proxy.ConfinedProcess:
        if next(asked) % 3:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return forked(*arguments, **more)

    agents = {"honest": GREEDY, "other": RANDOM}
    words = ["executor.workers=1", "isolation=process"]
    played = Run(tmp_path, agents, words, lambda: setattr(agent_proxy, "ConfinedProcess", flaky))
    assert [row[9] for row in content(played.folder)["games"]] == [FINISHED] * 2
    assert "no process can be started" in (played.folder / "log.txt").read_text()
