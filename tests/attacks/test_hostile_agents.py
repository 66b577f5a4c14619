"""Agents that attack the lab: the honest lose nothing by it, and nothing is left behind.

Every hostile agent meets the same honest one. What must come out is known from a run in which each
of them is a plain random agent: games without harm are the same move for move, and a lost one is
lost by the hostile agent, after moves that are the same.

Others attack while they are imported, made and asked about themselves: the run says in one line
what is wrong with them, and nothing of theirs runs in the driver.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attacks.hostile import ANYHOW, CROWDED, KINDS, PATIENT, SMALL, TIMED
from chosen import mostly_nightly
from processes import Command, adopted, await_, lives
from records import content, runs_in
from rich.console import Console

import othello_lab.agents.external_agent
import othello_lab.core.game
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.core.game import DIED, END_REASONS, FINISHED, HUNG, LATE
from othello_lab.core.position import Position
from othello_lab.core.system.processes import LINUX
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import plan_of, read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.playing import agent_proxy
from othello_lab.experiments.record.provenance import versions

pytestmark = [pytest.mark.integration, pytest.mark.skipif(not LINUX, reason="needs Linux")]
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
}


def played(
    results: Path,
    agents: Mapping[str, Any],
    words: Sequence[str],
    before: Callable[[], None] = lambda: None,
) -> tuple[Path, str]:
    """Play a run of agents in a process of its own; return its folder, the only one below
    ``results``, and what it printed."""

    def play(words: Sequence[str]) -> int:
        agent_proxy.START_SECONDS, agent_proxy.STOPPED_SECONDS = 2.0, 1.0
        common = ["agents=duel", "agent@first=greedy", "agent@second=random", "ruleset=mini6"]
        common += ["openings.plies=20", "games=2", "schedule=gauntlet", "figures=false"]
        common += [f"results={results}", "searches.positions=1", "trial=false", *words]
        settings = read(common).settings
        settings.agents = dict(agents)
        return 0 if run(plan_of(settings), "test", Console(quiet=True)).complete else 5

    process = Command(*words, before=before, main=play)
    printed, _ = process.communicate(timeout=500)
    assert process.returncode == 0, printed
    (folder,) = runs_in(results)
    return folder, printed


GREEDY, RANDOM = {"_target_": "othello_lab.GreedyAgent"}, {"_target_": "othello_lab.RandomAgent"}
GAME = ("game", "pair", "black", "white", "result", "points", "difference", "b", "w", "end")


def wrong(attacked: Path, plain: Path, names: list[str]) -> Iterator[str]:
    """What is not as it must be, agent by agent."""
    are, should = content(attacked), content(plain)
    numbers = {row[1]: row[0] for row in are["agents"]}
    assert are["openings"] == should["openings"]
    assert are["skipped"] == []
    for expected in should["games"]:
        game = dict(zip(GAME, expected, strict=False))
        attacked_game = next(row for row in are["games"] if row[0] == game["game"])
        moves, usual = (
            [row for row in rows["moves"] if row[0] == game["game"]] for rows in (are, should)
        )
        name = next(n for n, number in numbers.items() if number == max(expected[2:4]))
        ends = KINDS[name].end if name in names else FINISHED
        ended = dict(zip(GAME, attacked_game, strict=False))
        where = f"{name}, {'black' if game['black'] == numbers[name] else 'white'}"
        if ends in (FINISHED, ANYHOW) and (attacked_game, moves) == (expected, usual):
            continue
        if ends == FINISHED:
            yield f"{where}: {ended} is not {game}"
            continue
        # On a busy machine who breaks the rules slowly may be killed before it has done so, as may
        # be who is stopped while its child thinks.
        slow = (ends, HUNG, LATE, DIED) if ends == LATE else (ends, HUNG, LATE)
        if ended["end"] not in (END_REASONS[1:] if ends == ANYHOW else slow):
            yield f"{where}: ended by {ended['end']!r}, not {ends!r}"
        if ended[ended["result"]] != numbers["honest"]:
            yield f"{where}: {ended['result']} has won"
        pairs = zip(moves, usual, strict=False)
        first = next((row for row, other in pairs if row != other), None)
        if first is not None and first[2] == numbers["honest"]:
            yield f"{where}: the honest one has played {first}"


def check(folder: Path, sort: str, names: list[str]) -> None:
    """Play the same games with hostile agents of these kinds, and with random ones."""
    notes, words = folder / "notes", [*SETTINGS[sort], "executor.workers=2"]
    hostile = {}
    for name in names:
        (notes / name).mkdir(parents=True)
        settings = {"kind": name, "notes": str(notes / name)}
        hostile[name] = {"_target_": "attacks.hostile.Hostile", **settings}
    common = {"honest": GREEDY, "bystander": RANDOM}
    with adopted() as orphans:
        attacked, printed = played(folder / "attacked", common | hostile, words)
        plain, usual = played(folder / "plain", common | dict.fromkeys(names, RANDOM), words)
        assert "\n".join(wrong(attacked, plain, names)) == ""
        assert printed == usual == ""
        noted = [int(path.name) for path in notes.glob("*/[0-9]*")]
        await_(lambda: not orphans() and not any(map(lives, noted)))
    sizes = {path.name: path.stat().st_size for path in attacked.iterdir()}
    assert sizes.pop("output.txt", 0) + sizes["log.txt"] < 60e6
    assert sizes.keys() == {path.name for path in plain.iterdir()}
    honest = notes / "computes_in_many_processes"
    assert not honest.exists() or (honest / "computed").exists()


def needs(name: str) -> str:
    """The sort of run that a kind needs."""
    kind = KINDS[name]
    return HARMLESS if kind.run == PATIENT and kind.end == FINISHED else kind.run


def kinds_of(sort: str) -> list[str]:
    return [name for name in KINDS if needs(name) == sort]


FEW = ["writes_to_all_descriptors", "kills_itself", "raises_SystemExit_in_decide"]
FEW += ["exits_in_begin_game", "hangs_in_decide", "hangs_in_observe", "forges_a_long_message"]
"""Kinds of PATIENT that stand for the others; all are tried nightly."""


@pytest.mark.parametrize("sort", [PATIENT, TIMED])
def test_chosen_kinds(tmp_path: Path, sort: str) -> None:
    assert {*FEW} <= {*kinds_of(PATIENT)}
    check(tmp_path, sort, FEW if sort == PATIENT else kinds_of(sort))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sort", "part"),
    [*itertools.product([PATIENT, HARMLESS], range(PARTS)), (SMALL, 0), (CROWDED, 0)],
)
def test_all_kinds(tmp_path: Path, part: int, sort: str) -> None:
    check(tmp_path, sort, kinds_of(sort)[part :: PARTS if sort in (PATIENT, HARMLESS) else 1])


def test_nobody_is_blamed_if_the_system_has_no_process_to_give(tmp_path: Path) -> None:
    """Two forks of three fail."""
    forked, calls = agent_proxy.ConfinedProcess, itertools.count(1)

    def flaky(*arguments: Any, **more: Any) -> agent_proxy.ConfinedProcess:
        if next(calls) % 3:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return forked(*arguments, **more)

    words = ["executor.workers=1", "isolation=process"]
    before = lambda: setattr(agent_proxy, "ConfinedProcess", flaky)  # noqa: E731
    folder, _ = played(tmp_path, {"honest": GREEDY, "other": RANDOM}, words, before)
    assert [row[9] for row in content(folder)["games"]] == [FINISHED] * 2
    assert "no process can be started" in (folder / "log.txt").read_text()


# ---------------------------------------------------------------------- while it is made

AGENT = """
import os, signal, socket, struct, sys, time
from othello_lab import Agent, Decision, RandomAgent
from othello_lab.core import game, position
open({made!r}, "a").write(str(os.getpid()) + chr(10))
class Mine(RandomAgent):
    pass
def tell(data):
    for n in range(3, 300):
        try: os.write(n, data)
        except OSError: pass
"""
FINE = ""

# What it does: its module's code behind the above, and what the lab must say.
MAKINGS = {
    "ends its process": ("os._exit(0)", "exit code 0"),
    "raises SystemExit": ("sys.exit(3)", "SystemExit|cannot be imported"),
    "hangs": ("signal.pause()", "not made within"),
    "closes all descriptors, and hangs": ("os.closerange(0, 4096); signal.pause()", "ended"),
    "becomes another program": ("os.execv('/bin/sleep', ['sleep', '600'])", "ended"),
    "leaves a daemon": (
        "if not os.fork(): os.setsid(); os.fork() or signal.pause(); os._exit(0)",
        FINE,
    ),
    "leaves a daemon, and dies": (
        "if not os.fork(): os.setsid(); signal.pause()\nos._exit(1)",
        "ended",
    ),
    "replaces the judge": ("game.play_game = position.Position.play = Decision.flaw = None", FINE),
    "changes folder and umask": ("os.chdir('/'); os.umask(0o777)", FINE),
    "prints": ("os.write(1, b'x' * 10**6); print('y' * 10**6, file=sys.stderr)", FINE),
    "writes to all descriptors": (r"tell(b'\5\0\0\0[1,2]')", "malformed"),
    "sends nested lists": ("tell(struct.pack('<I', 50000) + b'[' * 50000)", "cannot be read"),
    "says that it lacks everything": (r"tell(b'\2\0\0\0{}')", "version"),
    "has a version of 2^70": ("Mine.version = 1 << 70", "a whole number is needed"),
    "has a version that cannot be told": ("Mine.version = Mine", "not JSON serializable"),
    "plays on boards of strange sizes": ("Mine.boards = lambda self: ['x']", "'x'"),
    "plays on endless boards": ("Mine.boards = lambda self: iter(int, 1)", "within|MemoryError"),
    "raises when it is asked about itself": ("Mine.boards = lambda self: sys.exit('gone')", "gone"),
    "raises a text of 30 MB": ("raise ValueError('x' * 30_000_000)", "ValueError: xxxx|: x{1000}"),
    "is no agent": ("class Mine: pass", "Mine"),
}
# One or two of each sort.
ALWAYS = ["closes all descriptors, and hangs", "leaves a daemon, and dies", "replaces the judge"]
ALWAYS += ["sends nested lists"]


@pytest.mark.parametrize("does", mostly_nightly(MAKINGS, ALWAYS))
def test_an_agent_that_attacks_while_it_is_made(
    does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    source, said = MAKINGS[does]
    (tmp_path / "student").mkdir()
    made = tmp_path / "made"
    (tmp_path / "student" / "__init__.py").touch()
    (tmp_path / "student" / "mine.py").write_text(AGENT.format(made=str(made)) + source)
    monkeypatch.syspath_prepend(tmp_path)
    seconds = 0.5 if "within" in said else 10
    monkeypatch.setattr(othello_lab.agents.external_agent, "START_SECONDS", seconds)
    here = os.getcwd(), othello_lab.core.game.play_game, Position.play
    settings = {"_target_": "student.mine.Mine"}
    refusal = pytest.raises(ConfigError, match=said) if said else contextlib.nullcontext()
    with adopted() as left:
        with refusal as refused:
            versions({"mine": settings})
            assert ExternalAgent(settings, "mine").version == 1
        await_(lambda: not left())
    if refused:
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 3000
    # Its code ran in other processes.
    assert str(os.getpid()) not in made.read_text().split()
    assert "student" not in sys.modules
    assert here == (os.getcwd(), othello_lab.core.game.play_game, Position.play)
    assert capfd.readouterr() == ("", "")
