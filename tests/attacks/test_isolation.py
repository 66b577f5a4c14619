"""Attacks of agents that the user did not write: what each tries, and what becomes of it in an open
process, in a closed one, and in a closed one that may start others.

An open agent may do what its user may: there an attack works, so it is one. A closed one is refused
all; one that may start others keeps the promises on files, network and strangers, and of its time
and memory nothing is promised.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attacks import supervised
from attacks.supervised import START, supervisor
from attacks.test_hostile_agents import Run
from bots import EXAMPLES, player
from chosen import mostly_nightly
from processes import await_
from records import content
from runs import told

from othello_lab import Decision, GreedyAgent, Limits, RandomAgent
from othello_lab.agents.agent import Files
from othello_lab.agents.config import ConfigError
from othello_lab.core.game import DIED, FINISHED, HUNG, RAISED
from othello_lab.core.position import Position
from othello_lab.core.system import call_filter, landlock
from othello_lab.core.system.promises import promises
from othello_lab.core.system.shared_memory import shared
from othello_lab.experiments.config import LimitsConfig, RunConfig, make_agent
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import (
    CLOSED,
    NONE,
    PROCESS,
    GameConditions,
    Isolation,
)

pytestmark = [
    pytest.mark.skipif(landlock.version() < 3, reason="this kernel has no rules for files"),
    pytest.mark.skipif(not call_filter.available(), reason="no filters of system calls here"),
]
OPEN, ALONE, WITH_CHILDREN = "open", "closed", "closed, with children"
MODES: dict[str, dict[str, Any]] = {
    OPEN: {"kind": PROCESS},
    ALONE: {"kind": CLOSED},
    WITH_CHILDREN: {"kind": CLOSED, "children": ["it"]},
}
LIBC = ctypes.CDLL(None, use_errno=True)
ROOT = Path(__file__).parents[2]


class Tries(RandomAgent):
    """Does something before each move."""

    def __init__(self, what: Callable[[], object], files: Files | None = None) -> None:
        self._what, self._files = what, files or Files()

    def files(self) -> Files:
        return self._files

    def decide(self, position: Position, limits: Limits) -> Decision:
        self._what()
        return Decision(position.moves[0])


def conditions(agent: Any, mode: str = ALONE, **about: Any) -> GameConditions:
    isolation = Isolation(**{**MODES[mode], **about.pop("isolation", {})})
    return supervised.conditions(agent, about.pop("limits", None), isolation=isolation, **about)


def judged(chosen: GameConditions, work: Callable[[AgentProxy], object] | None = None) -> str:
    """The answer of a supervisor that works with the agent's proxy, or the agent's failure."""
    work = work or (lambda proxy: proxy.decide(START, Limits()).move)
    with closing(supervisor(chosen, lambda proxy, _: work(proxy))) as process:
        answer = process.receive_within(120)
        assert answer is not None
        process.has_ended(20)
        return answer.decode()


def done_of(tricks: Mapping[str, Callable[[], object]], mode: str, **about: Any) -> set[str]:
    """Those of the tricks that an agent can do; another process sees what became of each."""
    outcomes = shared(ctypes.c_int8 * len(tricks))  # 0: not tried, 1: refused, 2: done

    def try_all() -> None:
        for number, trick in enumerate(tricks.values()):
            try:
                done = trick()
            except (OSError, subprocess.SubprocessError):
                done = -1
            outcomes[number] = 1 if type(done) is int and done < 0 else 2

    chosen = conditions(Tries(try_all, about.pop("files", None)), mode, **about)
    assert judged(chosen) == str(START.moves[0])
    found = dict(zip(tricks, outcomes, strict=True))
    assert all(found.values()), f"it ended meanwhile: {found}"
    return {name for name, outcome in found.items() if outcome == 2}


def can(what: Callable[[], object], **about: Any) -> bool:
    """Whether a closed agent can do it."""
    return bool(done_of({"it": what}, ALONE, **about))


# ------------------------------------------------------------------ reach

# What is tried: on a folder of somebody else with the file B.in, and on a process of the same user.
FILES: dict[str, Callable[[Path], object]] = {
    "reads": lambda theirs: (theirs / "B.in").read_text(),
    "lists": lambda theirs: os.listdir(theirs),
    "lists what is around": lambda theirs: os.listdir(theirs.parent),
    "writes": lambda theirs: (theirs / "B.in").write_text("(W A 1)"),
    "cuts": lambda theirs: os.truncate(theirs / "B.in", 0),
    "makes": lambda theirs: (theirs / "B.out").write_text("(W A 1)"),
    "removes": lambda theirs: (theirs / "B.in").unlink(),
    "renames": lambda theirs: (theirs / "B.in").rename(theirs / "B.out"),
    "links": lambda theirs: os.link(theirs / "B.in", f"/tmp/{os.getpid()}-link"),
    "changes the mode of": lambda theirs: os.chmod(theirs, 0o700),
    "changes the time of": lambda theirs: os.utime(theirs / "B.in"),
    "makes an attribute of": lambda theirs: os.setxattr(theirs / "B.in", "user.x", b""),
    "starts one that reads": lambda theirs: subprocess.run(
        ["cat", theirs / "B.in"], check=True, capture_output=True
    ),
    "follows a link to": lambda theirs: (_link(theirs) / "B.in").read_text(),
    # Of what it may read: files of the system.
    "changes an open file's mode": lambda _: os.fchmod(_system(), 0o644),
    "changes an open file's owner": lambda _: os.fchown(_system(), -1, -1),
    "changes an open file's time": lambda _: os.utime(_system()),
    "locks an open file": lambda _: fcntl.flock(_system(), fcntl.LOCK_EX | fcntl.LOCK_NB),
    "watches a file": lambda _: LIBC.inotify_add_watch(LIBC.inotify_init(), b"/usr", 1),
}
OTHERS: dict[str, Callable[[int], object]] = {
    "signals": lambda other: os.kill(other, signal.SIGCONT),
    "signals a thread of": lambda other: LIBC.tgkill(other, other, signal.SIGCONT),
    "signals by a descriptor": lambda other: signal.pidfd_send_signal(os.pidfd_open(other), 0),
    "traces": lambda other: LIBC.ptrace(16, other, 0, 0),
    "reads the memory of": lambda other: os.open(f"/proc/{other}/mem", os.O_RDONLY),
    "reads the environment of": lambda other: Path(f"/proc/{other}/environ").read_bytes(),
    "sees the folder of": lambda other: os.readlink(f"/proc/{other}/cwd"),
    "dooms": lambda other: Path(f"/proc/{other}/oom_score_adj").write_text("900"),
    "slows": lambda other: os.setpriority(os.PRIO_PROCESS, other, 19),
    "slows the group of": lambda other: os.setpriority(os.PRIO_PGRP, os.getpgid(other), 19),
    "moves": lambda other: os.sched_setaffinity(other, {0}),
    "schedules": lambda other: os.sched_setscheduler(other, os.SCHED_IDLE, os.sched_param(0)),
    "limits": lambda other: resource.prlimit(other, resource.RLIMIT_CORE, (0, 0)),
    "measures": lambda other: LIBC.syscall(PERF_EVENT, _task_clock(), other, -1, -1, 0),
    "opens a socket": lambda _: socket.socket(),
    "opens a socket of this machine": lambda _: socket.socket(socket.AF_UNIX),
    "sets a timer that wakes": lambda _: LIBC.timer_create(
        1, (ctypes.c_int * 16)(0, 0, signal.SIGCONT), ctypes.byref(ctypes.c_void_p())
    ),
    "is woken by a pipe": lambda _: LIBC.fcntl(0, 10, 18),
    "has a pipe of a MiB": lambda _: LIBC.fcntl(os.pipe()[0], 1031, 1 << 20),
    "makes a file in memory": lambda _: os.memfd_create("x"),
    "makes a file in /dev/shm": lambda _: os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR),
    "shares memory of System V": lambda _: LIBC.shmget(0, 4096, 0o1600),
    "makes a semaphore of System V": lambda _: LIBC.semget(0, 1, 0o1600),
    "makes a queue of System V": lambda _: LIBC.msgget(0, 0o1600),
    "keeps a key": lambda _: LIBC.syscall(KEYS, b"user", b"x", b"y", 1, -3),
    "makes a namespace": lambda _: LIBC.unshare(1 << 28),
    "starts a program": lambda _: subprocess.run(["true"], check=True),
    "forks": lambda _: os.fork() or os._exit(0),
}
NEEDS_CHILDREN = {"starts a program", "forks"}
"""What an agent can do that may start others, and no other closed one."""
KEYS = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine, -1)
PERF_EVENT = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine, -1)


def _link(theirs: Path) -> Path:
    link = Path(os.environ["TMPDIR"]) / f"link-{os.getpid()}"
    link.symlink_to(theirs)
    return link


def _system() -> int:
    """A file that everybody may read, by an open descriptor."""
    return os.open(__file__, os.O_RDONLY)


def _task_clock() -> ctypes.Array[ctypes.c_uint32]:
    """The description of a counter of processor time (linux/perf_event.h)."""
    return (ctypes.c_uint32 * 28)(1, 112, 1)


@contextmanager
def victim() -> Iterator[int]:
    """The number of a process of the same user."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, process_group=0)
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate()


@pytest.mark.integration
def test_nobody_elses_files_and_processes_are_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even by the superuser."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done: dict[str, set[str]] = {}
    for mode in MODES:
        tricks: dict[str, Callable[[], object]] = {}
        for name, trick in FILES.items():
            folder = tmp_path / mode / name
            folder.mkdir(parents=True)
            (folder / "B.in").write_text("f5")
            tricks[name] = partial(trick, folder)
        with victim() as other:
            tricks |= {name: partial(of_other, other) for name, of_other in OTHERS.items()}
            done[mode] = done_of(tricks, mode, files=Files((__file__,)))
    # Some depend on the rights of the user, and on the file system.
    assert done[OPEN] >= {"reads", "renames", "locks an open file", "signals", "slows", "forks"}
    assert len(done[OPEN]) > 0.8 * len(FILES | OTHERS)
    assert done[ALONE] == set()
    assert done[WITH_CHILDREN] == NEEDS_CHILDREN
    for mode in (ALONE, WITH_CHILDREN):
        for name in FILES:
            (file,) = (tmp_path / mode / name).iterdir()
            assert (file.name, file.read_text()) == ("B.in", "f5")


def test_files_network_and_threads(tmp_path: Path) -> None:
    """What a closed agent may, and what can be opened for it."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "text").write_text("mine")

    def read() -> str:
        return (tmp_path / "in" / "text").read_text()

    def write() -> int:
        return (tmp_path / "in" / "new").write_text("x")

    def thread() -> None:
        begun = threading.Thread(target=START.play, args=["d3"])
        begun.start()
        begun.join()

    assert can(read, isolation={"reads": [str(tmp_path)]})
    assert not can(write, isolation={"reads": [str(tmp_path)]})
    assert can(write, isolation={"writes": [str(tmp_path / "in")]})
    assert can(read, files=Files((str(tmp_path / "in"),)))
    assert can(socket.socket, isolation={"network": True})
    assert can(thread)


@pytest.mark.integration
def test_what_is_private_stays_closed(tmp_path: Path) -> None:
    """The record, though the folder around it is open."""
    record = tmp_path / "results" / "run" / "games.sqlite"
    record.parent.mkdir(parents=True)
    record.write_text("")
    (tmp_path / "agent.py").write_text("mine")
    opened = {"isolation": {"reads": [str(tmp_path)]}, "private": [str(tmp_path / "results")]}
    assert can(lambda: (tmp_path / "agent.py").read_text(), **opened)
    assert not can(record.read_text, **opened)
    assert not can(lambda: record.write_text("mine"), **opened)


@pytest.mark.parametrize("name", ["*", "[red]x", "a?"])
def test_names_are_no_patterns(name: str, tmp_path: Path) -> None:
    for folder in (name, "rival", "rx", "ab"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "text").write_text("x")
    opened = {"isolation": {"reads": [str(tmp_path / name)]}}
    assert can((tmp_path / name / "text").read_text, **opened)
    for rival in ("rival", "rx", "ab"):
        assert not can((tmp_path / rival / "text").read_text, **opened)


def test_its_own_folder_is_its_own_and_removed() -> None:
    noted = shared(ctypes.c_char * 1000)

    def use() -> None:
        place = Path(os.environ["TMPDIR"])
        (place / "deep").mkdir()
        (place / "deep" / "file").write_text("x")
        (place / "deep" / "file").rename(place / "moved")
        noted.value = str(place).encode()

    assert can(use)
    assert Path(noted.value.decode()).name.startswith("othello-lab-scratch-")
    assert not Path(noted.value.decode()).exists()


# ------------------------------------------------------------------ memory, disk, time


def _fill(write: Callable[[bytes], object], mib: int = 400) -> object:
    for _ in range(mib):
        write(bytes(1 << 20))
    return write  # so that what was written stays


def _page_tables() -> object:
    """Read every page of a large map: nothing is stored, but the tables grow."""
    size = 40 << 30
    maps = LIBC.mmap
    maps.restype = ctypes.c_void_p
    place = maps(None, ctypes.c_size_t(size), 1, 0x4022, -1, ctypes.c_size_t(0))
    for page in range(0, size, 1 << 21):  # a table for each
        ctypes.string_at(place + page, 1)
    return place


def _undumpable() -> object:
    """As it was when its files in /proc belong to the superuser."""
    LIBC.prctl(4, 0, 0, 0, 0)
    return _fill(mmap.mmap(-1, 400 << 20).write)


def _scratch(name: str) -> Path:
    return Path(os.environ["TMPDIR"]) / name


def _files() -> None:
    for number in range(3000):
        _scratch(str(number)).touch()


def _bytes() -> None:
    for number in range(10):
        with _scratch(str(number)).open("wb") as file:
            _fill(file.write, 60)


def _deep() -> None:
    os.chdir(os.environ["TMPDIR"])
    for _ in range(5000):
        os.mkdir("d")
        os.chdir("d")


def _hidden() -> None:
    """A folder that nobody may list, and where everything is."""
    _scratch("hidden").mkdir(mode=0o300)
    for number in range(3000):
        (_scratch("hidden") / str(number)).touch()


# What is tried, then the agent waits; how a closed agent's game ends, and what is said.
TAKES: dict[str, tuple[Callable[[], object], str]] = {
    "memory of its own": (lambda: bytearray(400 << 20), f"{RAISED}.*MemoryError"),
    "a shared map": (lambda: _fill(mmap.mmap(-1, 400 << 20).write), f"{DIED}.*MiB of memory"),
    "an undumpable process": (_undumpable, f"{DIED}.*MiB of memory"),
    "page tables": (_page_tables, f"{DIED}.*MiB of memory"),
    "many files": (_files, f"{DIED}.*files in its scratch folder"),
    "many bytes": (_bytes, f"{DIED}.*MiB in its scratch folder"),
    "folders in each other": (_deep, f"{DIED}.*scratch folder"),
    "a file without end": (
        lambda: _scratch("x").open("wb").truncate(1 << 40),
        f"{RAISED}|{DIED}.*exit code -{signal.SIGXFSZ}",
    ),
    **({} if os.geteuid() == 0 else {"a hidden folder": (_hidden, f"{DIED}.*cannot be read")}),
}


@pytest.mark.integration
@pytest.mark.parametrize("what", mostly_nightly(TAKES, ["a shared map", "many files"]))
def test_memory_and_disk_are_bounded(what: str) -> None:
    trick, end = TAKES[what]
    bound = 60 if what == "page tables" else 200
    agent = Tries(lambda: (trick(), signal.pause()))
    said = judged(conditions(agent, memory_mb=bound))
    assert re.match(f"(?s){end}", said), said
    if "emory" in end and bound == 200:  # without a bound it plays on
        assert judged(conditions(Tries(trick))) == str(START.moves[0])


def test_what_is_only_reserved_is_no_memory() -> None:
    """As a Java machine does: its address space is far larger than what it uses."""

    def reserve() -> object:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
        return mmap.mmap(-1, 4 << 30, flags=flags, prot=0)

    assert can(reserve, memory_mb=300)


class Thinks(RandomAgent):
    """Lets threads think on between its moves."""

    def __init__(self) -> None:
        self.thoughts = shared(ctypes.c_longlong)

    def decide(self, position: Position, limits: Limits) -> Decision:
        threading.Thread(target=self._think, daemon=True).start()
        # What could wake a process that is stopped.
        for wake in ("sets a timer that wakes", "is woken by a pipe"):
            with suppress(OSError):
                OTHERS[wake](0)
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        await_(lambda: self.thoughts.value > 1000)
        return super().decide(position, limits)

    def _think(self) -> None:
        while True:
            self.thoughts.value += 1


@pytest.mark.integration
@pytest.mark.parametrize("ponder", [False, True])
@pytest.mark.parametrize("mode", [OPEN, ALONE])
def test_nobody_thinks_in_the_opponents_time(mode: str, ponder: bool) -> None:
    """Unless it is allowed; then what was used is told."""
    agent = Thinks()

    def ask(proxy: AgentProxy) -> float:
        proxy.start()
        proxy.decide(START, Limits(seconds=50))
        before = agent.thoughts.value
        proxy.stop()
        if ponder:
            await_(lambda: agent.thoughts.value > before + 1_000_000)
        else:  # on a busy machine the last thread may stop later
            await_(lambda: _stands_still(agent.thoughts))
        return proxy.outside / 1e9

    seconds = float(judged(conditions(agent, mode, limits=Limits(seconds=50), ponder=ponder), ask))
    assert seconds > 0.05 if ponder else seconds < 2.0
    assert _stands_still(agent.thoughts)  # it was ended


def _stands_still(thoughts: Any) -> bool:
    before = thoughts.value
    time.sleep(0.3)
    return bool(thoughts.value == before)


def _spin() -> None:
    """Let threads of the lowest priority wait for a processor, while this one thinks."""

    def burn() -> None:
        os.setpriority(os.PRIO_PROCESS, 0, 19)
        while True:
            pass

    for _ in range(8):
        threading.Thread(target=burn, daemon=True).start()
    until = time.process_time() + 0.4
    while time.process_time() < until:
        pass


@pytest.mark.integration
def test_threads_that_wait_win_no_time() -> None:
    def ask(proxy: AgentProxy) -> float:
        proxy.start()
        proxy.decide(START, Limits(seconds=50))
        spent = proxy.stop()
        return (spent.wall - spent.waited) / 1e9

    assert float(judged(conditions(Tries(_spin), limits=Limits(seconds=50)), ask)) >= 0.39


# ------------------------------------------------------------------ ends


@pytest.mark.integration
@pytest.mark.parametrize("mode", [OPEN, ALONE])
def test_who_hears_nothing_ends(mode: str) -> None:
    """And whoever hangs while it is made ends after its time."""

    def deaf() -> None:
        for number in signal.valid_signals():
            with suppress(OSError):
                signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)

    agent, alive = Tries(deaf), shared(ctypes.c_int)
    agent.begin_game = lambda *_: setattr(alive, "value", os.getpid())  # type: ignore[method-assign]
    said = judged(replace(conditions(agent, mode), hang_seconds=0.3))
    assert said.startswith(HUNG)
    await_(lambda: not Path(f"/proc/{alive.value}").exists())


def test_a_constructor_that_hangs_ends_after_its_time(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(
        "import signal\nfrom othello_lab import RandomAgent\n"
        "class Hangs(RandomAgent):\n    def __init__(self):\n        signal.pause()\n"
    )
    settings = RunConfig("x", limits=LimitsConfig(prepare=0.2))
    with pytest.raises(ConfigError, match=r"0\.2 s"):
        make_agent({"_target_": f"{tmp_path}/hangs.py:Hangs"}, "it", settings)


# ------------------------------------------------------------------ programs


LAB = f"{sys.executable} -m othello_lab play wpi Lab agent=greedy"
TRICKS = {
    "puts a move into the other's input": "open(other + '/Lab.in', 'w').write('(W A 1)')",
    "puts a folder in the way": "os.mkdir(other + '/Lab.out')",
    "removes the other's folder": "os.rename(other, other + '-gone')",
    "closes the other's folder": "os.chmod(other, 0)",
    "stops all others": "[os.kill(p, 19) for p in pids]",
    "kills its supervisor": "os.kill(os.getppid(), 9)",
    "stops its supervisor": "os.kill(os.getppid(), 19)",
}
TROUBLE = """
import glob
pids = [int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]
others = [folder for folder in glob.glob({around!r} + '/*') if folder != os.getcwd()]
for other in others or [{around!r} + '/unknown']:
    try:
        {trick}
    except OSError:
        pass
"""


def hostile(folder: Path, trick: str) -> str:
    """The command of a program that plays a trick before each of its moves, and is honest then."""
    text = TROUBLE.format(around=str(folder / "scratch"), trick=TRICKS[trick])
    (folder / "trick.py").write_text(text)
    run = f"exec(open({str(folder / 'trick.py')!r}).read()); honest(text)"
    return player(folder, run, after=0, name="hostile")


@pytest.mark.integration
@pytest.mark.parametrize("trick", mostly_nightly(TRICKS, ["kills its supervisor"]))
def test_a_player_loses_nothing_by_a_program(trick: str, tmp_path: Path, scratch: Path) -> None:
    words = ["seed=1", "limit=60", "--record", str(tmp_path / "games.txt")]
    shown = told("play", "referee", LAB, hostile(tmp_path, trick), *words)
    for loser in re.findall(r"\((\w+)\) loses: ", shown):
        assert loser == "hostile", shown
    assert "broken down" not in shown
    assert list(scratch.iterdir()) == []


@pytest.mark.nightly
@pytest.mark.parametrize("trick", ["puts a folder in the way", "removes the other's folder"])
def test_it_would_lose_if_files_were_open(trick: str, tmp_path: Path, scratch: Path) -> None:
    words = ["seed=1", "limit=2", "isolation=process", "--record", str(tmp_path / "games.txt")]
    assert "(Lab) loses: " in told("play", "referee", LAB, hostile(tmp_path, trick), *words)


CLASS = ["experiment=class", "games=2", "limits.seconds=20", "figures=none", "executor.workers=1"]


def class_of(tmp_path: Path, files: Mapping[str, str], *words: str) -> tuple[str, str]:
    """What is said of the tournament of these programs, and what they print."""
    handed_in, results = tmp_path / "handed_in", tmp_path / "results"
    handed_in.mkdir()
    for name, text in files.items():
        (handed_in / name).write_text(text, encoding="utf-8")
        (handed_in / name).chmod(0o755 if text.startswith("#!") else 0o644)
    said = told("run", *CLASS, f"folder={handed_in}", f"results={results}", *words)
    (report,) = results.rglob("report.md")
    output = "".join(path.read_text("utf-8") for path in results.rglob("output.txt"))
    return " ".join((said + report.read_text("utf-8")).split()), output


ANNA = "# a thought\ndef strategy(player, board):\n    return 34\n"
SPY = """
import os, sys
for place in {places!r}:
    try:
        print(os.listdir(place) if os.path.isdir(place) else open(place).read(), file=sys.stderr)
    except OSError as error:
        print(type(error).__name__, file=sys.stderr)
for line in sys.stdin:
    if line.startswith("game"):
        print("ready", flush=True)
    elif line.startswith("move"):
        print(line.split()[-1], flush=True)
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    "command",
    mostly_nightly(["python3 spy.py", "python3 spy.py {secret}", "./spy.py"], ["./spy.py"]),
)
def test_a_program_reads_nothing_of_the_folder_where_the_command_is_typed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, handed_in = tmp_path / "grades" / "secret", tmp_path / "handed_in"
    secret.parent.mkdir()
    secret.write_text("a key")
    monkeypatch.chdir(tmp_path)
    places = [str(place) for place in (tmp_path, secret, handed_in, handed_in / "anna.py")]
    files = {
        "spy.py": "#!/usr/bin/env python3" + SPY.format(places=places),
        "spy.yaml": f"protocol: line\ncommand: {command.format(secret=secret)}\n",
        "anna.py": ANNA,
    }
    _, printed = class_of(tmp_path, files)
    assert "PermissionError" in printed
    for word in ("key", "anna", "a thought"):
        assert word not in printed


CUT = """
while read -r word colour board time moves; do
    case $word in
    game) echo ready ;;
    move) echo "$(echo "$moves" | cut -d' ' -f1)" ;;
    quit) exit ;;
    esac
done
"""


@pytest.mark.integration
def test_a_program_that_needs_another_is_told_so_and_only_the_teacher_lets_it(
    tmp_path: Path,
) -> None:
    files = {"emil.sh": CUT, "emil.yaml": "protocol: line\ncommand: sh emil.sh\n", "anna.py": ANNA}
    said, _ = class_of(tmp_path, files)
    told_so = "emil.sh started another program (cut): write it in one process, or ask your teacher"
    assert f"{told_so} for isolation.children=[emil]" in said
    shutil.rmtree(tmp_path / "handed_in")
    shutil.rmtree(tmp_path / "results")
    said, _ = class_of(tmp_path, files, "isolation.children=[emil]")
    assert told_so not in said and "time and memory watched, not bounded" in said


GREEDY_CLASS = """
import othello_lab
from othello_lab.agents.evaluation import Mobility


class Max(othello_lab.Maximizer):
    def __init__(self):
        super().__init__(evaluation=Mobility())
"""


@pytest.mark.nightly
def test_honest_programs_of_six_languages_and_a_subclass_play(tmp_path: Path) -> None:
    """The class of docs/examples, as the page shows it; those whose language is installed."""
    handed_in = tmp_path / "handed_in"
    shutil.copytree(EXAMPLES / "class", handed_in)
    for folder, compiler in (("bert", "javac"), ("anna.c", "cc")):
        if shutil.which(compiler) is None:
            (shutil.rmtree if folder == "bert" else os.remove)(handed_in / folder)
    (handed_in / "max.py").write_text(GREEDY_CLASS)
    said = told("run", *CLASS, f"folder={handed_in}", f"results={tmp_path / 'results'}")
    forfeits = set(re.findall(r"^(\w+) forfeited", said, re.MULTILINE))
    assert forfeits <= {"frida"}, said  # who plays illegal moves


SEARCHES = {
    "AlphaBeta": {"depth": 2},
    "MTDf": {"depth": 2},
    "Minimax": {"depth": 2},
    "PVS": {"depth": 3, "endgame": 8},
    "MCTS": {"playouts": 50},
    "Maximizer": {},
    "GreedyAgent": {},
    "RandomAgent": {},
}


@pytest.mark.nightly
def test_a_subclass_of_each_search_plays_closed_as_open(tmp_path: Path) -> None:
    """The same moves in ten games from the same seed."""
    lines = [f"class My{name}(othello_lab.{name}):\n    pass" for name in SEARCHES]
    (tmp_path / "mine.py").write_text("\n\n".join(["import othello_lab", *lines]))
    agents: dict[str, Any] = {"honest": {"_target_": "othello_lab.GreedyAgent"}}
    for name, settings in SEARCHES.items():
        evaluation = {"_target_": "othello_lab.agents.evaluation.Mobility"}
        needs = {"evaluation": evaluation} if "depth" in settings or name == "Maximizer" else {}
        agents[name] = {"_target_": f"{tmp_path}/mine.py:My{name}", **settings, **needs}
    played = [
        content(
            Run(
                tmp_path / kind, agents, ["ruleset=standard", "games=10", f"isolation={kind}"]
            ).folder
        )
        for kind in (PROCESS, CLOSED)
    ]
    assert played[0]["games"] == played[1]["games"]
    assert {game[9] for game in played[0]["games"]} == {FINISHED}


COMPILERS = {
    "takes for ever": "#define A(x) x x x x x x x x\n#define B(x) A(A(A(x)))\n"
    "int main() { B(B(B(B(;)))) }",
    "reads others": '#include "../anna.py"\nint main() {}',
    "reads for ever": '#include "/dev/zero"\nint main() {}',
}


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("cc"), reason="needs cc")
@pytest.mark.parametrize("does", COMPILERS)
def test_compiling_is_bounded(does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("othello_lab.agents.external.submission._COMPILE_SECONDS", 3.0)
    said, _ = class_of(tmp_path, {"mad.c": COMPILERS[does], "anna.py": ANNA})
    assert "mad forfeited" in said and "a thought" not in said


# ------------------------------------------------------------------ what is told


@pytest.fixture
def old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without Landlock and filters."""
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(call_filter, "available", lambda: False)


def test_a_system_that_lacks_something_is_told(old_kernel: None) -> None:
    own, ours = RandomAgent, GreedyAgent
    own = type("Own", (own,), {})
    assert any("network (needs seccomp" in each for each in conditions(own()).lacks())
    assert conditions(own(), OPEN).lacks() == conditions(ours()).lacks() == []
    assert conditions(own(), isolation={"kind": NONE}).lacks() == []
    assert "NO " in told("agents", "isolation", code=1)


def test_the_command_tells_all_promises_in_few_lines() -> None:
    text = told("agents", "isolation", code=not all(each.holds for each in promises()))
    assert len(text.splitlines()) <= 12
    assert all(each.text in text for each in promises())
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert all(each.text.removeprefix("it ").removeprefix("its ") in page for each in promises())


@pytest.mark.integration
def test_a_run_says_it_at_its_start_and_in_its_report(old_kernel: None, tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=random", "first._target_=misbehaving.Closes"]
    words += [f"+first.folder={tmp_path / 'notes'}", "agent@second=random", "games=2"]
    words += ["ruleset=mini4", "figures=none", "executor.workers=1", f"results={tmp_path}"]
    (tmp_path / "notes").mkdir()
    said = told("run", *words, "isolation=closed")
    promise = "it has no network"
    assert said.index(promise) < said.index("2/2 games")
    (report,) = tmp_path.rglob("report.md")
    assert promise in " ".join(report.read_text(encoding="utf-8").split())
