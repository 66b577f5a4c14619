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
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attacks.supervised import ALONE, MODES, OPEN, START, WITH_CHILDREN, Tries, conditions, judged
from attacks.test_hostile_agents import played
from chosen import mostly_nightly
from records import content
from runs import line_of

from othello_lab import GreedyAgent, RandomAgent
from othello_lab.agents.agent import Files
from othello_lab.core.game import DIED, FINISHED, RAISED
from othello_lab.core.system import call_filter, landlock
from othello_lab.core.system.promises import promises
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.system.shared_memory import shared
from othello_lab.experiments.config import LimitsConfig, RunConfig, make_agent
from othello_lab.experiments.playing.conditions import CLOSED, NONE, PROCESS

pytestmark = [
    pytest.mark.skipif(landlock.version() < 3, reason="this kernel has no rules for files"),
    pytest.mark.skipif(not call_filter.available(), reason="no filters of system calls here"),
]
LIBC = ctypes.CDLL(None, use_errno=True)
ROOT = Path(__file__).parents[2]


def done_of(tricks: Mapping[str, Callable[[], object]], mode: str, **settings: Any) -> set[str]:
    """Those of the tricks that an agent can do; another process sees what became of each."""
    outcomes = shared(ctypes.c_int8 * len(tricks))  # 0: not tried, 1: refused, 2: done

    def try_all() -> None:
        for number, trick in enumerate(tricks.values()):
            try:
                done = trick()
            except (OSError, subprocess.SubprocessError):
                done = -1
            outcomes[number] = 1 if type(done) is int and done < 0 else 2

    chosen = conditions(Tries(try_all, settings.pop("files", None)), mode, **settings)
    assert judged(chosen) == str(START.moves[0])
    results = dict(zip(tricks, outcomes, strict=True))
    assert all(results.values()), f"it ended meanwhile: {results}"
    return {name for name, outcome in results.items() if outcome == 2}


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
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, process_group=0) as other:
            tricks |= {name: partial(of_other, other.pid) for name, of_other in OTHERS.items()}
            if mode != OPEN:  # where that succeeds, it stops the test
                for name, of_other in OTHERS.items():
                    tricks[f"{name} its supervisor"] = lambda f=of_other: f(os.getppid())
            done[mode] = done_of(tricks, mode, files=Files((__file__,)))
            other.kill()
    # Some depend on the rights of the user, and on the file system.
    assert done[OPEN] >= {"reads", "renames", "locks an open file", "signals", "slows", "forks"}
    assert len(done[OPEN]) > 0.8 * len(FILES | OTHERS)
    assert done[ALONE] == set()
    assert {name.removesuffix(" its supervisor") for name in done[WITH_CHILDREN]} == NEEDS_CHILDREN
    for mode in (ALONE, WITH_CHILDREN):
        for name in FILES:
            (file,) = (tmp_path / mode / name).iterdir()
            assert (file.name, file.read_text()) == ("B.in", "f5")


def test_what_can_be_opened_for_a_closed_agent(tmp_path: Path) -> None:
    """Files by names that are no patterns, but not what is private; the network. Threads, and a
    scratch folder that is removed, it has anyway."""
    names = ["*", "[red]x", "a?", "open", "mine", "own", "rival", "rx", "ab", "open/results"]
    tricks: dict[str, Callable[[], object]] = {}
    for folder in (tmp_path / name for name in names):
        folder.mkdir()
        (folder / "text").write_text("x")
        tricks[f"reads {folder.relative_to(tmp_path)}"] = (folder / "text").read_text
        tricks[f"writes {folder.relative_to(tmp_path)}"] = partial((folder / "new").write_text, "x")
    noted = shared(ctypes.c_char * 1000)

    def thread() -> None:
        begun = threading.Thread(target=START.play, args=["d3"])
        begun.start()
        begun.join()

    def use_scratch() -> None:
        (_scratch("deep") / "er").mkdir(parents=True)
        (_scratch("deep") / "file").touch()
        (_scratch("deep") / "file").rename(_scratch("moved"))
        noted.value = str(_scratch("")).encode()

    def reserve() -> object:
        """As a Java machine does: its address space is far larger than the memory it uses."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
        return mmap.mmap(-1, 4 << 30, flags=flags, prot=0)

    allowed = {"socket": socket.socket, "thread": thread, "scratch": use_scratch, "space": reserve}
    reads = [str(tmp_path / name) for name in names[:4]]
    opened = {"reads": reads, "writes": [str(tmp_path / "mine")], "network": True}
    private, files = [str(tmp_path / "open/results")], Files((str(tmp_path / "own"),))
    settings = {"isolation": opened, "private": private, "files": files, "memory_mb": 300}
    done = done_of(tricks | allowed, ALONE, **settings)
    assert done == {*allowed, "writes mine", *(f"reads {name}" for name in names[:6])}
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
    address = maps(None, ctypes.c_size_t(size), 1, 0x4022, -1, ctypes.c_size_t(0))
    for page in range(0, size, 1 << 21):  # a table for each
        ctypes.string_at(address + page, 1)
    return address


def _scratch(name: str) -> Path:
    return Path(os.environ["TMPDIR"]) / name


def _files(folder: str) -> None:
    for number in range(3000):
        (_scratch(folder) / str(number)).touch()


def _bytes() -> None:
    for number in range(10):
        with _scratch(str(number)).open("wb") as file:
            _fill(file.write, 60)


def _deep() -> None:
    os.chdir(os.environ["TMPDIR"])
    for _ in range(5000):
        os.mkdir("d")
        os.chdir("d")


def _shared_map() -> object:
    return _fill(mmap.mmap(-1, 400 << 20).write)


MEMORY, DISK = f"{DIED}.*MiB of memory", f"{DIED}.*scratch folder"
# What is tried, then the agent waits; how a closed agent's game ends, and what is said.
TAKES: dict[str, tuple[Callable[[], object], str]] = {
    "memory of its own": (lambda: bytearray(400 << 20), f"{RAISED}.*MemoryError"),
    "a shared map": (_shared_map, MEMORY),
    # Its files in /proc belong to the superuser.
    "an undumpable process": (lambda: (LIBC.prctl(4, 0, 0, 0, 0), _shared_map()), MEMORY),
    "page tables": (_page_tables, MEMORY),
    "many files": (lambda: _files(""), f"{DIED}.*files in its scratch folder"),
    "many bytes": (_bytes, f"{DIED}.*MiB in its scratch folder"),
    "folders in each other": (_deep, DISK),
    "a file without end": (
        lambda: _scratch("x").open("wb").truncate(1 << 40),
        f"{RAISED}|{DIED}.*exit code -{signal.SIGXFSZ}",
    ),
    # Where everything is in a folder that nobody may list.
    "a hidden folder": (
        lambda: (_scratch("x").mkdir(mode=0o300), _files("x")),
        f"{DIED}.*cannot be read" if os.geteuid() else DISK,
    ),
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


def test_a_constructor_that_hangs_ends_after_its_time(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(
        "import signal\nfrom othello_lab import RandomAgent\n"
        "class Hangs(RandomAgent):\n    def __init__(self):\n        signal.pause()\n"
    )
    settings = RunConfig("x", limits=LimitsConfig(prepare=0.2))
    with pytest.raises(ConfigError, match=r"0\.2 s"):
        make_agent({"_target_": f"{tmp_path}/hangs.py:Hangs"}, "it", settings)


# ------------------------------------------------------------------ programs


CLASS = ["experiment=class", "games=2", "limits.seconds=20", "figures=none", "executor.workers=1"]


def class_of(tmp_path: Path, files: Mapping[str, str], *words: str) -> tuple[str, str]:
    """What is said of the tournament of these programs, and what they print."""
    handed_in, results = tmp_path / "handed_in", tmp_path / "results"
    handed_in.mkdir(parents=True)
    for name, text in files.items():
        (handed_in / name).write_text(text, encoding="utf-8")
        (handed_in / name).chmod(0o755 if text.startswith("#!") else 0o644)
    said = line_of("run", *CLASS, f"folder={handed_in}", f"results={results}", *words)
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
    places = [str(path) for path in (tmp_path, secret, handed_in, handed_in / "anna.py")]
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
    said, _ = class_of(tmp_path / "alone", files)
    told_so = "emil.sh started another program (cut): write it in one process, or ask your teacher"
    assert f"{told_so} for isolation.children=[emil]" in said
    said, _ = class_of(tmp_path / "let", files, "isolation.children=[emil]")
    assert told_so not in said and "time and memory watched, not bounded" in said


SEARCHES: dict[str, dict[str, int]] = {
    **{name: {"depth": 2} for name in ("AlphaBeta", "MTDf", "Minimax")},
    **{"PVS": {"depth": 3, "endgame": 8}, "MCTS": {"playouts": 50}},
    **{name: {} for name in ("Maximizer", "GreedyAgent", "RandomAgent")},
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
    words = ["ruleset=standard", "games=10"]
    opened, closed = (
        content(played(tmp_path / kind, agents, [*words, f"isolation={kind}"])[0])["games"]
        for kind in (PROCESS, CLOSED)
    )
    assert opened == closed
    assert {game[9] for game in opened} == {FINISHED}


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
    agent, ours = RandomAgent, GreedyAgent
    agent = type("Own", (agent,), {})
    assert any("network (needs seccomp" in lack for lack in conditions(agent()).lacks())
    assert conditions(agent(), OPEN).lacks() == conditions(ours()).lacks() == []
    assert conditions(agent(), isolation={"kind": NONE}).lacks() == []
    assert "NO " in line_of("agents", "isolation", code=1)


def test_the_command_tells_all_promises_in_few_lines() -> None:
    texts = [promise.text for promise in promises()]
    text = line_of("agents", "isolation", code=not all(promise.holds for promise in promises()))
    assert len(text.splitlines()) <= 12
    assert all(promise in text for promise in texts)
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert all(promise.removeprefix("it ").removeprefix("its ") in page for promise in texts)


@pytest.mark.integration
def test_a_run_says_it_at_its_start_and_in_its_report(old_kernel: None, tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=random", "first._target_=misbehaving.Closes"]
    words += [f"+first.folder={tmp_path / 'notes'}", "agent@second=random", "games=2"]
    words += ["ruleset=mini4", "figures=none", "executor.workers=1", f"results={tmp_path}"]
    (tmp_path / "notes").mkdir()
    said = line_of("run", *words, "isolation=closed")
    promise = "it has no network"
    assert said.index(promise) < said.index("2/2 games")
    (report,) = tmp_path.rglob("report.md")
    assert promise in " ".join(report.read_text(encoding="utf-8").split())
