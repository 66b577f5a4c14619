"""Closed agents reach no file and nobody else; what any agent starts can be stopped and ended."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attacks import supervised
from attacks.supervised import START, supervisor
from chosen import mostly_nightly
from processes import await_

from othello_lab import Decision, Limits, RandomAgent
from othello_lab.agents.agent import Files
from othello_lab.agents.config import ConfigError
from othello_lab.core.game import DIED
from othello_lab.core.position import Position
from othello_lab.core.system import call_filter, landlock
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import LINUX
from othello_lab.core.system.shared_memory import shared
from othello_lab.experiments.config import LimitsConfig, RunConfig, make_agent
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import CLOSED, PROCESS, GameConditions, Isolation

pytestmark = [
    pytest.mark.skipif(not LINUX, reason="needs Linux"),
    pytest.mark.skipif(landlock.version() < 3, reason="this kernel has no rules for files"),
    pytest.mark.skipif(not call_filter.available(), reason="no filter for this processor"),
]
AT_ONCE = pytest.mark.skipif(False, reason="")

LIBC = ctypes.CDLL(None, use_errno=True)


class Tries(RandomAgent):
    """Does something before each move."""

    def __init__(self, what: Callable[[], object], files: Files | None = None) -> None:
        self._what, self._files = what, files or Files()

    def files(self) -> Files:
        return self._files

    def decide(self, position: Position, limits: Limits) -> Decision:
        self._what()
        return Decision(position.moves[0])


def conditions(agent: Any, limits: Limits | None = None, **about: Any) -> GameConditions:
    isolation = Isolation(about.pop("kind", CLOSED), **about.pop("isolation", {}))
    return supervised.conditions(agent, limits, isolation=isolation, **about)


def told(chosen: GameConditions, work: Callable[[AgentProxy], object]) -> str:
    """The answer of a supervisor that works with the agent's proxy, or the agent's failure."""
    with closing(supervisor(chosen, lambda proxy, _: work(proxy))) as process:
        answer = process.receive_within(120)
        assert answer is not None
        process.has_ended(20)
        return answer.decode()


class Tricks:
    """Tries several things, one after the other; other processes see what became of each."""

    def __init__(self, tricks: Mapping[str, Callable[[], object]]) -> None:
        self._tricks = dict(tricks)
        self._done = shared(ctypes.c_int8 * len(tricks))  # 0: not tried, 1: refused, 2: done

    def __call__(self) -> None:
        for number, trick in enumerate(self._tricks.values()):
            try:
                done = trick()
            except (OSError, subprocess.CalledProcessError):
                done = -1
            self._done[number] = 1 if type(done) is int and done < 0 else 2

    @property
    def refused(self) -> set[str]:
        found = dict(zip(self._tricks, self._done, strict=True))
        assert all(found.values()), f"it ended meanwhile: {found}"
        return {name for name, outcome in found.items() if outcome == 1}


def _try(link: Channel, tricks: Tricks) -> None:
    tricks()
    link.send(b"done")


def possible(tricks: Mapping[str, Callable[[], object]]) -> set[str]:
    """Those of the tricks that an ordinary process can do, so that a refusal means something."""
    tried = Tricks(tricks)
    with closing(ForkedProcess(_try, tried)) as process:
        assert process.receive_within(60) == b"done"
    return set(tricks) - tried.refused


def refused(tricks: Mapping[str, Callable[[], object]], **about: Any) -> set[str]:
    """Those of the tricks that a closed agent cannot do."""
    tried = Tricks(tricks)
    chosen = conditions(Tries(tried, about.pop("files", None)), **about)
    assert told(chosen, lambda proxy: proxy.decide(START, Limits()).move) == str(START.moves[0])
    return tried.refused


def outcome(what: Callable[[], object], **about: Any) -> str:
    """``refused`` or ``done``: what became of it in a closed agent."""
    return "refused" if refused({"it": what}, **about) else "done"


@contextmanager
def victim() -> Iterator[int]:
    """The number of a process of the same user."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate()


# ------------------------------------------------------------------ files


FILE_TRICKS: dict[str, Callable[[Path], object]] = {
    "reads": lambda theirs: (theirs / "B.in").read_text(),
    "lists": lambda theirs: os.listdir(theirs),
    "lists what is around": lambda theirs: os.listdir(theirs.parent),
    "writes": lambda theirs: (theirs / "B.in").write_text("(W A 1)"),
    "cuts": lambda theirs: os.truncate(theirs / "B.in", 0),
    "makes": lambda theirs: (theirs / "B.out").write_text("(W A 1)"),
    "removes": lambda theirs: (theirs / "B.in").unlink(),
    "renames": lambda theirs: (theirs / "B.in").rename(theirs / "B.out"),
    "links": lambda theirs: os.link(theirs / "B.in", "B.in"),
    "changes the mode of": lambda theirs: os.chmod(theirs, 0),
    "changes the time of": lambda theirs: os.utime(theirs / "B.in"),
    "makes an attribute of": lambda theirs: os.setxattr(theirs / "B.in", "user.x", b""),
    "starts one that reads": lambda theirs: subprocess.run(
        ["cat", theirs / "B.in"], check=True, capture_output=True
    ),
    "follows a link to": lambda theirs: (_link(theirs), (Path("link") / "B.in").read_text()),
}


def _link(theirs: Path) -> None:
    os.chdir(os.environ["TMPDIR"])
    Path("link").symlink_to(theirs)


def test_nobody_elses_files_are_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by the superuser."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def tricks_on(whose: str) -> dict[str, Callable[[], object]]:
        """Each on a folder of its own."""
        folders = {name: tmp_path / whose / name for name in FILE_TRICKS}
        for folder in folders.values():
            folder.mkdir(parents=True)
            (folder / "B.in").write_text("f5")
        return {name: partial(FILE_TRICKS[name], folder) for name, folder in folders.items()}

    can = possible(tricks_on("others"))
    assert can >= {"reads", "writes", "renames", "starts one that reads"}
    assert refused(tricks_on("theirs")) >= can
    for name in FILE_TRICKS:
        (file,) = (tmp_path / "theirs" / name).iterdir()
        assert (file.name, file.read_text()) == ("B.in", "f5")


@pytest.mark.integration
def test_files_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "text").write_text("mine")

    def read() -> str:
        return (tmp_path / "in" / "text").read_text()

    def write() -> int:
        return (tmp_path / "in" / "new").write_text("x")

    assert outcome(read, isolation={"reads": [str(tmp_path)]}) == "done"
    assert outcome(write, isolation={"reads": [str(tmp_path)]}) == "refused"
    assert outcome(write, isolation={"writes": [str(tmp_path / "in")]}) == "done"
    assert outcome(read, files=Files((str(tmp_path / "in"),))) == "done"


@pytest.mark.integration
def test_what_is_private_stays_closed(tmp_path: Path) -> None:
    """The record, though the folder around it is open."""
    record = tmp_path / "results" / "run" / "games.sqlite"
    record.parent.mkdir(parents=True)
    record.write_text("")
    (tmp_path / "agent.py").write_text("mine")
    opened = {"isolation": {"reads": [str(tmp_path)]}, "private": [str(tmp_path / "results")]}
    assert outcome(lambda: (tmp_path / "agent.py").read_text(), **opened) == "done"
    assert outcome(record.read_text, **opened) == "refused"
    assert outcome(lambda: record.write_text("mine"), **opened) == "refused"


def test_its_own_folder_is_its_own_and_removed() -> None:
    noted = shared(ctypes.c_char * 1000)

    def use() -> None:
        place = Path(os.environ["TMPDIR"])
        (place / "deep").mkdir()
        (place / "deep" / "file").write_text("x")
        (place / "deep" / "file").rename(place / "moved")
        noted.value = str(place).encode()

    assert outcome(use) == "done"
    assert Path(noted.value.decode()).name.startswith("othello-lab-scratch-")
    assert not Path(noted.value.decode()).exists()


# ------------------------------------------------------------------ others


OTHER_TRICKS: dict[str, Callable[[int], object]] = {
    "signals": lambda other: os.kill(other, signal.SIGCONT),
    "traces": lambda other: LIBC.ptrace(16, other, 0, 0),
    "reads the memory of": lambda other: os.open(f"/proc/{other}/mem", os.O_RDONLY),
    "reads the environment of": lambda other: Path(f"/proc/{other}/environ").read_bytes(),
    "sees the folder of": lambda other: os.readlink(f"/proc/{other}/cwd"),
    "opens a socket": lambda _: socket.socket(),
    "opens a socket of this machine": lambda _: socket.socket(socket.AF_UNIX),
    "leaves its session": lambda _: os.setsid(),
    "sets a timer that wakes": lambda _: LIBC.timer_create(
        1, (ctypes.c_int * 16)(0, 0, signal.SIGCONT), ctypes.byref(ctypes.c_void_p())
    ),
    "is woken by a pipe": lambda _: LIBC.fcntl(0, 10, 18),
    "makes a file in memory": lambda _: os.memfd_create("x"),
    "shares memory of System V": lambda _: LIBC.shmget(0, 4096, 0o1600),
    "makes a semaphore of System V": lambda _: LIBC.semget(0, 1, 0o1600),
    "makes a queue of System V": lambda _: LIBC.msgget(0, 0o1600),
    "measures others": lambda other: LIBC.syscall(PERF_EVENT, _task_clock(), other, -1, -1, 0),
    "makes a namespace": lambda _: LIBC.unshare(1 << 28),
}
PERF_EVENT = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine, -1)


def _task_clock() -> ctypes.Array[ctypes.c_uint32]:
    """The description of a counter of processor time (linux/perf_event.h)."""
    return (ctypes.c_uint32 * 28)(1, 112, 1)


def test_nobody_else_is_reached() -> None:
    with victim() as other:
        tricks = {name: partial(trick, other) for name, trick in OTHER_TRICKS.items()}
        can = possible(tricks)
        assert can >= {"signals", "opens a socket", "makes a file in memory"}
        assert refused(tricks) >= can


@pytest.mark.integration
def test_network_and_children_are_settings() -> None:
    def start() -> object:
        return subprocess.run(["true"], check=True)

    def thread() -> None:
        begun = threading.Thread(target=START.play, args=["d3"])
        begun.start()
        begun.join()

    assert outcome(socket.socket, isolation={"network": True}) == "done"
    assert outcome(start, isolation={"children": ["it"]}) == "done"
    assert outcome(start, isolation={}) == "refused"
    assert outcome(os.fork, isolation={}) == "refused"
    assert outcome(thread, isolation={}) == "done"


# ------------------------------------------------------------------ ends


def _hop(alive: Any) -> None:
    """Fork and end, over and over, so that no number of a process lasts."""
    if os.fork():
        return
    with suppress(OSError):
        os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        alive.value += 1
        if os.fork():
            os._exit(0)


class Hops(RandomAgent):
    def __init__(self) -> None:
        self.alive = shared(ctypes.c_longlong)

    def decide(self, position: Position, limits: Limits) -> Decision:
        _hop(self.alive)
        await_(lambda: self.alive.value > 50)
        return super().decide(position, limits)


@pytest.mark.nightly
@AT_ONCE
@pytest.mark.parametrize("kind", mostly_nightly([PROCESS, CLOSED], [PROCESS]))
@pytest.mark.parametrize("how", ["forfeit", "killed supervisor"])
def test_who_forks_and_ends_for_ever_is_ended(kind: str, how: str) -> None:
    agent = Hops()
    chosen = conditions(agent, kind=kind)

    def let_it_live(proxy: AgentProxy, _: Channel) -> str:
        proxy.decide(START, Limits())
        if how == "killed supervisor":
            os.kill(os.getpid(), signal.SIGKILL)
        return "moved"

    with closing(supervisor(chosen, let_it_live)) as process:
        process.has_ended(60)
    await_(lambda: _stands_still(agent.alive))


def _stands_still(alive: Any) -> bool:
    before = alive.value
    time.sleep(0.3)
    return bool(before and alive.value == before)


class Thinks(RandomAgent):
    """Lets a child and a thread think on between its moves."""

    def __init__(self) -> None:
        self.thoughts = shared(ctypes.c_longlong)
        self.thinkers = shared(ctypes.c_int * 2)  # the numbers of their processes

    def decide(self, position: Position, limits: Limits) -> Decision:
        threading.Thread(target=self._think, daemon=True).start()
        self.thinkers[0] = os.getpid()
        if (child := os.fork()) == 0:
            self._think()
        self.thinkers[1] = child
        await_(lambda: self.thoughts.value > 1000)
        return super().decide(position, limits)

    def _think(self) -> None:
        while True:
            self.thoughts.value += 1


def _all_stopped(processes: Iterable[int]) -> bool:
    """Return True if all threads of these processes are stopped."""
    stats = [path for number in processes for path in Path(f"/proc/{number}/task").glob("*/stat")]
    return all(path.read_text().rpartition(")")[2].split()[0] == "T" for path in stats)


@pytest.mark.parametrize(
    ("kind", "at_once"),
    [
        pytest.param(PROCESS, True, marks=AT_ONCE),
        (PROCESS, False),
        pytest.param(CLOSED, True, marks=[AT_ONCE, pytest.mark.nightly]),
    ],
)
@pytest.mark.parametrize("ponder", [False, True])
@pytest.mark.integration
def test_nobody_thinks_in_the_opponents_time(
    monkeypatch: pytest.MonkeyPatch, kind: str, ponder: bool, at_once: bool
) -> None:
    """Unless it is allowed; then what was used is told. An older kernel cannot signal all of them
    at once."""
    if not at_once:
        monkeypatch.setattr(landlock, "scopes_signals", lambda: False)
    agent = Thinks()

    def ask(proxy: AgentProxy) -> float:
        proxy.start()
        proxy.decide(START, Limits(seconds=50))
        before = agent.thoughts.value
        proxy.stop()
        if ponder:
            await_(lambda: agent.thoughts.value > before + 1_000_000)
        else:  # on a busy machine the last thread may stop later
            await_(lambda: _all_stopped(agent.thinkers))
        return proxy.outside / 1e9

    chosen = conditions(agent, Limits(seconds=50), kind=kind, ponder=ponder)
    seconds = float(told(chosen, ask))
    assert seconds > 0.05 if ponder else seconds < 2.0
    assert _stands_still(agent.thoughts)  # all were ended, and none goes on


# ------------------------------------------------------------------ memory


MEMORY_TRICKS: dict[str, Callable[[], object]] = {
    "a file in memory": lambda: _fill(partial(os.write, os.memfd_create("x"))),
    "a shared map": lambda: _fill(mmap.mmap(-1, 400 << 20).write),
    "several processes": lambda: [_child() for _ in range(4)],
}


def _fill(write: Callable[[bytes], object]) -> object:
    for _ in range(400):
        write(bytes(1 << 20))
    return write  # so that what was written stays


def _child() -> None:
    if os.fork() == 0:
        kept = b"x" * (100 << 20)
        signal.pause()
        del kept


@pytest.mark.integration
@pytest.mark.parametrize("trick", MEMORY_TRICKS)
def test_memory_is_that_of_all_processes(trick: str) -> None:
    agent = Tries(lambda: (MEMORY_TRICKS[trick](), signal.pause()))
    said = told(
        conditions(agent, kind=PROCESS, memory_mb=300), lambda proxy: proxy.decide(START, Limits())
    )
    assert said.startswith(DIED) and "300" in said, said


def test_what_is_only_reserved_is_no_memory() -> None:
    """As a Java machine does: its address space is far larger than what it uses."""

    def reserve() -> object:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
        return mmap.mmap(-1, 4 << 30, flags=flags, prot=0)

    assert outcome(reserve, kind=PROCESS, memory_mb=300) == "done"


# ------------------------------------------------------------------ beginnings


def test_a_constructor_that_hangs_ends_after_its_time(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(
        "import signal\nfrom othello_lab import RandomAgent\n"
        "class Hangs(RandomAgent):\n    def __init__(self):\n        signal.pause()\n"
    )
    settings = RunConfig("x", limits=LimitsConfig(prepare=0.2))
    with pytest.raises(ConfigError, match=r"0\.2 s"):
        make_agent({"_target_": f"{tmp_path}/hangs.py:Hangs"}, "it", settings)
