"""Hostile and careless agents: each kind is a function that says in its first line what it does.

A kind strikes once a game, when it is called in a certain way, and then plays on at random, with
the random numbers of :class:`RandomAgent`. So whoever does no harm by it plays the games
that a random agent plays in its place.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import ctypes
import decimal
import gc
import io
import itertools
import json
import locale
import logging
import math
import multiprocessing
import os
import random
import resource
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from processes import parent_of

import othello_lab.core.game
import othello_lab.core.system.forked
from othello_lab import PASS, Agent, Decision, Limits, Position, RandomAgent, SearchStats
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, LATE, RAISED
from othello_lab.core.notation import square_name

CALLS = ("constructor", "begin_game", "observe", "decide", "close")
ANYHOW = "anyhow"
"""It may lose or not; the honest must not be touched by it."""

PATIENT, TIMED, SMALL, CROWDED = "patient", "timed", "small", "crowded"
"""What a kind needs of the run: no limits, a time limit, a memory limit, few processes."""


@dataclass(frozen=True)
class Kind:
    """A kind of hostile agent.

    strike: called with the agent, and in ``decide`` the position; what it returns other than None
    is the answer. call: where it strikes. end: how its games end. run: what it needs of the run.
    landlock: whether it is harmless only where the system keeps processes from signalling each
    other.
    """

    strike: Callable[..., Any]
    call: str
    end: str
    run: str = PATIENT
    landlock: bool = False

    @property
    def told(self) -> str:
        """What it does, in a line."""
        return (self.strike.__doc__ or "").partition("\n")[0]


KINDS: dict[str, Kind] = {}


def kind(end: str, call: str = "decide", **more: Any) -> Callable[[Callable], Callable]:
    """Enter a function as a kind of its name."""

    def enter(strike: Callable) -> Callable:
        KINDS[strike.__name__] = Kind(strike, call, end, **more)
        return strike

    return enter


class Hostile(RandomAgent):
    """An agent of one of the KINDS. notes: a folder, where it writes what the test looks at."""

    def __init__(self, kind: str, notes: str) -> None:
        self.kind = KINDS[kind]
        self.notes = Path(notes)
        self.struck = 0
        if in_seat():
            self._strike("constructor")

    def begin_game(self, *args: Any) -> None:
        super().begin_game(*args)
        self.moves = self.asked = 0
        self._strike("begin_game")

    def observe(self, move: int, position: Position) -> None:
        self.moves += 1
        if self.moves == 24 or position.is_over:
            self._strike("observe", position)

    def decide(self, position: Position, limits: Limits) -> Any:
        self.asked += 1
        self.honest = super().decide(position, limits)
        struck = self._strike("decide", position, limits) if self.asked >= 2 else None
        return self.honest if struck is None else struck

    def close(self) -> None:
        self._strike("close")

    def _strike(self, call: str, *arguments: Any) -> Any:
        if call != self.kind.call:
            return None
        self.struck += 1
        return self.kind.strike(self, *arguments)

    def note(self, process: int) -> None:
        """Tell the test of a process that was started."""
        (self.notes / str(process)).touch()

    def first_time(self, what: str) -> bool:
        """Whether this is asked for the first time, of all processes."""
        try:
            (self.notes / what).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def in_seat() -> bool:
    """Whether this process is one in which an agent plays: what it prints goes into a pipe. Where
    it is only made and asked about itself, it goes nowhere."""
    return stat.S_ISFIFO(os.fstat(1).st_mode)


def the_seat() -> tuple[Any, int]:
    """The lab's object that asks this agent, and the number of the question, from the stack."""
    frame = sys._getframe()
    while frame.f_code.co_name != "serve":
        assert frame.f_back
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals["number"]


def the_socket() -> Any:
    """What leads to the supervisor."""
    return the_seat()[0]._link._end


def tell(data: bytes) -> None:
    """Send bytes to the supervisor, as they are."""
    for begin in range(0, len(data), 1 << 15):
        the_socket().sendall(data[begin : begin + (1 << 15)])


def frame(content: Any) -> bytes:
    """A message as the supervisor reads it."""
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return struct.pack("<I", len(text)) + text


def hang() -> None:
    while True:
        signal.pause()


def others() -> Iterator[int]:
    """The supervisor, those above it up to the driver, which leads their session, and the processes
    of other agents. Nothing but what the run has started."""
    above = os.getppid()
    session = os.getsid(above)
    family = [above]
    while family[-1] != session and family[-1] > 1:
        family.append(parent_of(family[-1]))
    if family[-1] != session:
        return
    yield from family
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if parent_of(int(path.name)) == above and int(path.name) != os.getpid():
                yield int(path.name)


# ---------------------------------------------------------------------- the lab's own code


@kind(FINISHED)
def replaces_the_judge(agent: Hostile, *_: Any) -> None:
    """Replaces play_game, Position.play, Decision.flaw and the game's results."""
    othello_lab.core.game.play_game = lambda *_, **__: None  # type: ignore[assignment]
    othello_lab.core.game._GameLoop.play = lambda *_: None  # type: ignore[method-assign]
    othello_lab.core.game._leader = lambda *_: None
    type.__setattr__(Decision, "flaw", lambda *_: None)


@kind(FINISHED)
def patches_the_clock(agent: Hostile, *_: Any) -> None:
    """Lets all clocks of the module time stand still."""
    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
        setattr(time, name, lambda: 0.0)
        setattr(time, f"{name}_ns", lambda: 0)


@kind(FINISHED)
def mutates_what_it_is_given(agent: Hostile, position: Position, limits: Limits) -> None:
    """Gives itself the whole board, and the opponent another limit, by object.__setattr__."""
    move = Decision(position.moves[int(np.random.default_rng(0).integers(1))])
    object.__setattr__(position, "mover", position.mover | position.opponent)
    object.__setattr__(position, "opponent", 0)
    object.__setattr__(limits, "depth", 1)
    object.__setattr__(limits, "nodes", 1)
    assert move


@kind(DIED)
def stops_the_run(agent: Hostile, *_: Any) -> None:
    """Writes STOP_AT_ONCE where the shared stop signal is in memory."""
    gc.unfreeze()
    for thing in gc.get_objects():
        if type(thing).__name__ == "GameConditions":
            ctypes.memset(ctypes.addressof(thing.stop), 2, 4)


@kind(FINISHED)
def finds_the_record(agent: Hostile, *_: Any) -> None:
    """Deletes all games by every SQLite connection, and every open file, that it finds."""
    gc.unfreeze()
    for thing in gc.get_objects():
        with contextlib.suppress(Exception):
            if isinstance(thing, sqlite3.Connection):
                thing.execute("delete from games")
            if isinstance(thing, io.IOBase) and thing.fileno() > 2:
                thing.truncate(0)  # type: ignore[attr-defined]


@kind(ANYHOW)
def replaces_builtins(agent: Hostile, *_: Any) -> None:
    """Replaces builtin functions, len and isinstance among them."""
    import builtins

    for name in ("len", "isinstance", "getattr", "type", "print", "open"):
        setattr(builtins, name, lambda *_: 0)


# ---------------------------------------------------------------------- what a process has one of


@kind(FINISHED)
def changes_globals(agent: Hostile, *_: Any) -> None:
    """Changes all that a process has one of, from its folder to its warnings."""
    os.chdir("/")
    os.umask(0o777)
    os.environ.clear()
    for words in (sys.path, sys.meta_path, sys.argv):
        words.clear()
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    np.seterr(all="raise")
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "C")
    decimal.getcontext().prec = 1
    warnings.simplefilter("error")
    sys.setrecursionlimit(300)
    sys.setswitchinterval(100)
    sys.set_int_max_str_digits(640)
    gc.disable()


@kind(FINISHED)
def changes_signals(agent: Hostile, *_: Any) -> None:
    """Ignores and blocks every signal that it can."""
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


@kind(DIED)
def sets_an_alarm(agent: Hostile, *_: Any) -> None:
    """Sets a timer that ends its process, and waits."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    hang()


@kind(FINISHED)
def replaces_the_streams(agent: Hostile, *_: Any) -> None:
    """Puts an object in place of sys.stdout and sys.stderr whose every method raises."""
    sys.stdout = sys.stderr = object()  # type: ignore[assignment]


@kind(FINISHED)
def spoils_logging(agent: Hostile, *_: Any) -> None:
    """Disables logging, removes all handlers, and replaces the record factory."""
    logging.disable(logging.CRITICAL)
    logging.getLogger().handlers.clear()
    logging.setLogRecordFactory(lambda *_, **__: None)  # type: ignore[arg-type, return-value]


# ---------------------------------------------------------------------- descriptors


@kind(GARBAGE)
def writes_to_all_descriptors(agent: Hostile, *_: Any) -> None:
    """Writes to every open file descriptor."""
    for descriptor in range(3, 4096):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"SQLite format 3\0" * 64)


@kind(DIED)
def closes_all_descriptors(agent: Hostile, *_: Any) -> None:
    """Closes every file descriptor, and answers."""
    os.closerange(0, 4096)


@kind(DIED)
def hears_nothing_more(agent: Hostile, position: Position, *_: Any) -> None:
    """Closes half of the line to the supervisor, and stays."""
    the_socket().shutdown(socket.SHUT_RD)
    plain = [position.moves[0], None, [], None, [0] * 9]
    tell(frame([the_seat()[1], "decision", *plain]))
    hang()


@kind(DIED)
def says_nothing_more(agent: Hostile, *_: Any) -> None:
    """Closes the other half of the line to the supervisor, and stays."""
    the_socket().shutdown(socket.SHUT_WR)
    hang()


@kind(DIED)
def becomes_another_program(agent: Hostile, *_: Any) -> None:
    """Becomes another program, which holds no line and ends late."""
    os.execv("/bin/sleep", ["sleep", "1000"])


@kind(FINISHED)
def opens_many_files(agent: Hostile, *_: Any) -> None:
    """Opens as many files as it may."""
    with contextlib.suppress(OSError):
        agent.files = [  # type: ignore[attr-defined]
            os.open(os.devnull, os.O_RDONLY) for _ in range(min(5000, os.sysconf("SC_OPEN_MAX")))
        ]


@kind(FINISHED, landlock=True)
def takes_others_descriptors(agent: Hostile, *_: Any) -> None:
    """Opens the descriptors of the supervisor and of other agents, and writes to them."""
    for process in others():
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{process}/fd"):
                with contextlib.suppress(OSError):
                    os.write(os.open(f"/proc/{process}/fd/{name}", os.O_WRONLY), b"junk")


# ---------------------------------------------------------------------- threads and processes


@kind(FINISHED)
def leaves_threads(agent: Hostile, *_: Any) -> None:
    """Leaves a busy thread behind."""

    def busy() -> None:
        while True:
            pass

    if threading.active_count() == 1:
        threading.Thread(target=busy, daemon=True).start()


@kind(FINISHED, "observe")
def dies_between_games(agent: Hostile, position: Position) -> None:
    """Ends its process between two games, right after its last answer."""
    if position.is_over and agent.first_time("died"):
        send = othello_lab.core.system.forked.Channel.send

        def last(link: Any, message: bytes) -> None:
            send(link, message)
            os._exit(3)

        othello_lab.core.system.forked.Channel.send = last  # type: ignore[method-assign]


@kind(DIED, "begin_game")
def dies_in_a_thread(agent: Hostile, *_: Any) -> None:
    """A thread of its ends the process while the game goes on."""
    threading.Thread(target=lambda: os._exit(3)).start()
    time.sleep(10)


@kind(FINISHED)
def leaves_a_daemon(agent: Hostile, *_: Any) -> None:
    """Leaves a process behind that has a session of its own, and whose parent has ended."""
    _daemon(agent)


def _daemon(agent: Hostile) -> None:
    if (child := os.fork()) == 0:
        os.setsid()
        if (heir := os.fork()) == 0:
            time.sleep(600)
        agent.note(heir)
        os._exit(0)
    os.waitpid(child, 0)


@kind(FINISHED)
def leaves_a_daemon_to_the_supervisor(agent: Hostile, *_: Any) -> None:
    """Leaves a daemon behind, after it has refused to become its parent."""
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)
    _daemon(agent)


@kind(DIED)
def dies_and_leaves_a_daemon(agent: Hostile, *_: Any) -> None:
    """Leaves a daemon behind, and dies."""
    _daemon(agent)
    os._exit(4)


@kind(FINISHED)
def is_killed_and_leaves_a_daemon(agent: Hostile, *_: Any) -> None:
    """Leaves a daemon behind, and kills itself: once, so it is replaced."""
    if agent.first_time("killed"):
        _daemon(agent)
        os.kill(os.getpid(), signal.SIGKILL)


@kind(DIED, run=CROWDED)
def forks_on_and_on(agent: Hostile, *_: Any) -> None:
    """Forks until it is stopped (at most 400 processes, as a machine may have others to run)."""
    for _ in range(400):
        if (child := os.fork()) == 0:
            time.sleep(600)
            os._exit(0)
        agent.note(child)
        time.sleep(0.005)
    hang()


@kind(ANYHOW)
def leaves_the_dead(agent: Hostile, *_: Any) -> None:
    """Leaves children that have ended, which nobody has asked about, and dies."""
    for _ in range(20):
        if os.fork() == 0:
            os._exit(0)
    os._exit(5)


@kind(FINISHED)
def computes_in_many_processes(agent: Hostile, *_: Any) -> None:
    """Honest: uses multiprocessing, futures, asyncio and another program."""
    if not agent.first_time(f"computed-{os.getpid()}"):
        return
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(math.isqrt, [4, 9, 16]) == [2, 3, 4]
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        assert list(threads.map(math.isqrt, [4, 9])) == [2, 3]
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as processes:
        assert list(processes.map(math.isqrt, [4, 9])) == [2, 3]
    assert asyncio.run(asyncio.sleep(0, "awake")) == "awake"
    assert subprocess.run(["/bin/echo", "hello"], capture_output=True).stdout == b"hello\n"
    (agent.notes / "computed").touch()


@kind(FINISHED)
def hears_of_its_children(agent: Hostile, *_: Any) -> None:
    """Honest: opens files while its children end; no signal of the lab's may write into them."""
    pipes = [os.pipe() for _ in range(20)]
    for _ in range(3):
        subprocess.run(["/bin/true"])
    for reader, writer in pipes:
        os.set_blocking(reader, False)
        with contextlib.suppress(BlockingIOError):
            found = os.read(reader, 10)
            raise AssertionError(f"somebody wrote {found!r} into a pipe of this agent")
        os.close(reader)
        os.close(writer)


# ---------------------------------------------------------------------- killing


@kind(DIED)
def kills_itself(agent: Hostile, *_: Any) -> None:
    """Kills its own process (SIGKILL) whenever it is asked."""
    os.kill(os.getpid(), signal.SIGKILL)


@kind(FINISHED)
def is_killed_once(agent: Hostile, *_: Any) -> None:
    """Is killed (SIGKILL) once, as if from outside: it is replaced, and nothing is lost."""
    if agent.first_time("killed"):
        os.kill(os.getpid(), signal.SIGKILL)


@kind(DIED)
def kills_its_group(agent: Hostile, *_: Any) -> None:
    """Kills its process group, which is its own."""
    assert os.getpgrp() == os.getpid()
    os.killpg(0, signal.SIGKILL)


@kind(FINISHED)
def kills_itself_when_behind(agent: Hostile, position: Position, *_: Any) -> None:
    """Kills its own process once a game, when it is behind: it is asked again all the same."""
    if position.disc_difference < 0 and agent.first_time(f"{position.to_move}"):
        os.kill(os.getpid(), signal.SIGKILL)


@kind(DIED)
def stops_itself(agent: Hostile, *_: Any) -> None:
    """Stops its process (SIGSTOP) whenever it is asked."""
    os.kill(os.getpid(), signal.SIGSTOP)


@kind(FINISHED)
def is_stopped_for_a_while(agent: Hostile, *_: Any) -> None:
    """Is stopped (SIGSTOP), and goes on a little later."""
    if (child := os.fork()) == 0:
        time.sleep(0.05)
        os.kill(os.getppid(), signal.SIGCONT)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(child, 0)


@kind(FINISHED, landlock=True)
def signals_others(agent: Hostile, *_: Any) -> None:
    """Stops, ends and kills its supervisor, those above it, the driver and its opponent."""
    for which in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        for process in others():
            with contextlib.suppress(OSError):
                os.kill(process, which)


@kind(FINISHED, landlock=True)
def signals_by_other_ways(agent: Hostile, *_: Any) -> None:
    """Signals them by a thread's number, by a descriptor of the process, and by their groups."""
    libc = ctypes.CDLL(None)
    for process in others():
        libc.syscall(234, process, process, signal.SIGKILL)  # tgkill (x86_64)
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(os.pidfd_open(process), signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.killpg(os.getsid(os.getppid()), signal.SIGKILL)


@kind(FINISHED, "begin_game", landlock=True)
def signals_by_a_child(agent: Hostile, *_: Any) -> None:
    """Lets a child of a child kill them."""
    victims = list(others())
    if (child := os.fork()) == 0:
        if os.fork() == 0:
            for process in victims:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
        os._exit(0)
    os.waitpid(child, 0)


@kind(FINISHED, landlock=True)
def writes_into_their_memory(agent: Hostile, *_: Any) -> None:
    """Opens their memory, and attaches to them as a debugger."""
    libc = ctypes.CDLL(None, use_errno=True)
    for process in others():
        with contextlib.suppress(OSError):
            os.open(f"/proc/{process}/mem", os.O_RDWR)
            os.kill(process, 0)
            raise AssertionError("memory of another process is open")
        if libc.ptrace(16, process, 0, 0) == 0:  # PTRACE_ATTACH, which stops it
            raise AssertionError("attached to another process")


@kind(FINISHED, landlock=True)
def limits_others(agent: Hostile, *_: Any) -> None:
    """Takes processor time, memory and files away from them by prlimit."""
    for process in others():
        for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS):
            with contextlib.suppress(OSError, ValueError):
                resource.prlimit(process, what, (0, 0))


@kind(ANYHOW)
def is_traced_by_its_parent(agent: Hostile, *_: Any) -> None:
    """Asks to be traced by its supervisor, and is then stopped by every signal."""
    ctypes.CDLL(None).ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGUSR1)


# ---------------------------------------------------------------------- exits and exceptions


class Mine(BaseException):
    """An exception of the agent's own."""


class Unspeakable(Exception):
    """An exception that cannot be told."""

    def __str__(self) -> str:
        raise Mine

    __repr__ = __str__


class Endless(Exception):
    """An exception with a very long message."""

    def __str__(self) -> str:
        return "x" * (1 << 26)


def _enter_exits() -> None:
    raised = (SystemExit, KeyboardInterrupt, GeneratorExit, Mine, RecursionError)
    for call, error in itertools.product(CALLS, raised):

        def strike(agent: Hostile, *_: Any, error: type = error) -> None:
            raise error("gone")

        strike.__doc__ = f"Raises {error.__name__} in {call}."
        end = FINISHED if call == "close" else RAISED
        KINDS[f"raises_{error.__name__}_in_{call}"] = Kind(strike, call, end)
    for call in CALLS:

        def exits(agent: Hostile, *_: Any) -> None:
            os._exit(0)

        exits.__doc__ = f"Ends its process in {call}."
        end = FINISHED if call == "close" else DIED
        KINDS[f"exits_in_{call}"] = Kind(exits, call, end)

        def hangs(agent: Hostile, *_: Any) -> None:
            hang()

        hangs.__doc__ = f"Hangs in {call}."
        end = FINISHED if call == "close" else HUNG
        KINDS[f"hangs_in_{call}"] = Kind(hangs, call, end)


_enter_exits()


@kind(RAISED)
def raises_the_unspeakable(agent: Hostile, *_: Any) -> None:
    """Raises an exception whose text raises another."""
    raise Unspeakable


@kind(RAISED)
def raises_something_endless(agent: Hostile, *_: Any) -> None:
    """Raises an exception with a text of 64 MiB."""
    raise Endless


@kind(RAISED)
def raises_a_cycle(agent: Hostile, *_: Any) -> None:
    """Raises an exception that is its own cause, of a group of many."""
    error = ExceptionGroup("many", [ValueError(str(number)) for number in range(5000)])
    error.__cause__ = error
    raise error


# ---------------------------------------------------------------------- words


class Unloggable:
    """An argument of a log record that cannot be told."""

    def __str__(self) -> str:
        raise Mine("not to be told")

    __repr__ = __str__

    def __reduce__(self) -> Any:
        raise Mine("not to be pickled")


@kind(FINISHED)
def logs_what_cannot_be_told(agent: Hostile, *_: Any) -> None:
    """Logs arguments that cannot be pickled or told, and lines that no file can hold."""
    log = logging.getLogger("hostile")
    log.error("%s %s", Unloggable(), lambda: None)
    log.error("%s: %d", "not a number", "x", exc_info=Mine())
    log.log(1 << 70, "a high level \ud800 \x1b[2J \0")
    logging.getLogger("\ud800" * 100).error("x" * 1_000_000)


@kind(FINISHED)
def logs_a_flood(agent: Hostile, *_: Any) -> None:
    """Logs 5,000 long lines."""
    for _ in range(5000):
        logging.getLogger("flood").error("y" * 1000)


@kind(FINISHED)
def prints_a_flood(agent: Hostile, *_: Any) -> None:
    """Prints 30 MB, without line ends, by all ways."""
    for _ in range(300):
        os.write(1, b"\xff\x00\x1b[31m" * 5000)
        os.write(2, b"z" * 20_000)
        print("w" * 20_000, end="", file=sys.stderr, flush=True)
        print("v" * 20_000)


@kind(GARBAGE)
def prints_for_ever(agent: Hostile, *_: Any) -> None:
    """Prints, and never answers."""
    while True:
        os.write(1, b"still thinking\n" * 1000)


# ---------------------------------------------------------------------- strange answers


@kind(FINISHED)
def answers_in_numpy(agent: Hostile, position: Position, *_: Any) -> Any:
    """Answers with numpy's numbers, or the square's name, which is all right."""
    move: Any = agent.honest.move
    if len(position.moves) % 2:
        return Decision(square_name(move))  # type: ignore[arg-type]
    return Decision(np.int64(move), stats=SearchStats(np.int64(0)))  # type: ignore[arg-type]


def _enter_answers() -> None:
    class Liar(Decision):
        """Says that it is well, and another move each time."""

        def flaw(self) -> None:
            return None

        def __getattribute__(self, name: str) -> Any:
            return "well" if name == "move" else object.__getattribute__(self, name)

    stats, huge = SearchStats, 1 << 60
    answers: dict[str, tuple[str, Callable[[int], Any]]] = {
        "huge_counts": ("counts of 2^60", lambda m: Decision(m, stats=stats(nodes=huge))),
        "negative_counts": ("negative counts", lambda m: Decision(m, stats=stats(leaves=-1))),
        "bool_counts": ("a count that is a bool", lambda m: Decision(m, stats=stats(True))),
        "no_stats": ("stats None", lambda m: Decision(m, stats=None)),  # type: ignore[arg-type]
        "nan": ("value NaN", lambda m: Decision(m, math.nan)),
        "infinity": ("value infinity", lambda m: Decision(m, math.inf)),
        "bool_move": ("a move that is a bool", lambda m: Decision(True)),
        "float_move": ("a move that is a float", lambda m: Decision(float(m))),  # type: ignore
        "huge_move": ("a move of 2^70", lambda m: Decision(1 << 70)),
        "endless_move": ("a move of 10^5 digits", lambda m: Decision(10**100_000)),
        "huge_value": ("a value of 2^70", lambda m: Decision(m, 1 << 70)),
        "huge_depth": ("a depth of 2^70", lambda m: Decision(m, depth=1 << 70)),
        "list_pv": ("a line that is a list", lambda m: Decision(m, pv=[m])),  # type: ignore
        "gigantic_pv": ("a line of 10^6 moves", lambda m: Decision(m, pv=(m,) * 1_000_000)),
        "liar": ("a Decision whose properties lie", lambda m: Liar(m)),
        "text": ("a text", lambda m: "d3, I think"),
        "a_class": ("the class Decision", lambda m: Decision),
    }
    for name, (told, answer) in answers.items():

        def strike(
            agent: Hostile, position: Position, *_: Any, answer: Callable[[int], Any] = answer
        ) -> Any:
            return answer(position.moves[0])

        strike.__doc__ = f"Answers with {told}."
        KINDS[f"answers_{name}"] = Kind(strike, "decide", GARBAGE)


_enter_answers()


@kind("illegal move")
def passes(agent: Hostile, *_: Any) -> Decision:
    """Answers PASS, which is no legal move."""
    return Decision(PASS)


@kind("illegal move")
def plays_the_square_minus_64(agent: Hostile, *_: Any) -> Decision:
    """Answers a square below the board."""
    return Decision(-64)


# ---------------------------------------------------------------------- forged messages


@kind(GARBAGE)
def forges_a_number(agent: Hostile, *_: Any) -> None:
    """Answers a question that nobody has asked."""
    tell(frame([the_seat()[1] + 5, "ok"]))


@kind(ANYHOW)
def answers_in_advance(agent: Hostile, position: Position, *_: Any) -> None:
    """Answers the next questions before they are asked."""
    _, number = the_seat()
    plain = [position.moves[0], None, [], None, [0] * 9]
    for ahead in range(4):
        tell(frame([number + ahead, "decision", *plain]))


@kind(ANYHOW, "begin_game")
def answers_all_in_advance(agent: Hostile, *_: Any) -> None:
    """Answers all the questions to come, and listens no more."""
    _, number = the_seat()
    for ahead in range(3000):
        tell(frame([number + ahead, "ok"]))
    hang()


@kind(HUNG)
def sends_byte_by_byte(agent: Hostile, *_: Any) -> None:
    """Sends a message that never ends, byte by byte."""
    tell(struct.pack("<I", 1 << 20))
    for _ in range(1 << 19):
        tell(b" ")
        time.sleep(0.001)


@kind(HUNG)
def forges_a_flood(agent: Hostile, *_: Any) -> None:
    """Sends log records of its own making for ever."""
    for _ in range(1 << 30):
        tell(frame([None, "log", 40, "flood", "u" * 100_000]))


def _enter_messages() -> None:
    messages: dict[str, tuple[str, bytes]] = {
        "too_long": ("a message of 4 GiB", b"\xff\xff\xff\xff" + b"x" * 100),
        "no_json": ("a pickle", frame(b"cos\nsystem\n(S'true'\ntR.")),
        "no_text": ("bytes that are no text", frame(b"\xff\xfe\x80")),
        "nested": ("deeply nested lists", frame(b"[" * 500_000)),
        "digits": ("a number of 500,000 digits", frame(b"1" * 500_000)),
        "null": ("null", frame(None)),
        "empty": ("nothing", frame(b"")),
        "a_text": ("a text", frame("decision")),
        "a_dict": ("a mapping", frame({"1": 2, "3": 4})),
        "lists": ("lists in place of all", frame([[], {}, []])),
        "bad_log": ("a log record that is none", frame([None, "log", "high", 1, None])),
        "short_log": ("a log record without a text", frame([None, "log"])),
    }
    for name, (told, message) in messages.items():

        def strike(agent: Hostile, *_: Any, message: bytes = message) -> None:
            tell(message)

        strike.__doc__ = f"Sends the supervisor {told}."
        KINDS[f"forges_{name}"] = Kind(strike, "decide", GARBAGE)


_enter_messages()


@kind(RAISED)
def forges_a_long_exception(agent: Hostile, *_: Any) -> None:
    """Says that it has raised an exception of a megabyte."""
    tell(frame([the_seat()[1], "raised", "t" * 1_000_000]))
    hang()


@kind(GARBAGE)
def forges_a_strange_decision(agent: Hostile, *_: Any) -> None:
    """Sends a decision with mappings and texts in place of numbers."""
    strange = ["d3", {}, {"a": 1}, [], [{}, None, "x"]]
    tell(frame([the_seat()[1], "decision", *strange]))
    hang()


@kind(ANYHOW)
def sends_a_large_packet(agent: Hostile, *_: Any) -> None:
    """Sends a packet that is larger than is read at a time."""
    the_socket().send(frame([None, "log", 20, "large", "l" * 150_000]))


@kind(FINISHED)
def sends_descriptors(agent: Hostile, *_: Any) -> None:
    """Sends the supervisor hundreds of open files along with log records."""
    record = frame([None, "log", 10, "files", "here are some files"])
    for _ in range(5):
        socket.send_fds(the_socket(), [record], [0] * 100)


# ---------------------------------------------------------------------- memory and time


@kind(RAISED, run=SMALL)
def wants_all_memory(agent: Hostile, *_: Any) -> None:
    """Asks for more memory than it may have."""
    agent.memory = bytearray(1 << 32)  # type: ignore[attr-defined]


@kind(FINISHED, "begin_game", run=TIMED)
def prepares_for_long(agent: Hostile, *_: Any) -> None:
    """Honest: prepares itself for a game longer than a move may take."""
    time.sleep(0.8)


@kind(RAISED)
def raises_half_characters(agent: Hostile, *_: Any) -> None:
    """Raises what no file can hold: the name of a file in Latin-1, as Python reads it."""
    print("caf\udce9", flush=True)
    raise RuntimeError("no file caf\udce9.txt")


@kind(LATE, "observe", run=TIMED)
def thinks_while_it_is_told(agent: Hostile, position: Position) -> None:
    """Thinks where it should only take note of a move."""
    time.sleep(0.25)


@kind(LATE, run=TIMED)
def sleeps(agent: Hostile, *_: Any) -> None:
    """Answers late, and patches the clock."""
    patches_the_clock(agent)
    until = os.times().user + 0.4  # of the processor, however busy the machine is
    while os.times().user < until:
        pass


@kind(LATE, run=TIMED)
def thinks_below_the_supervisor(agent: Hostile, *_: Any) -> None:
    """Is stopped by a child of a child that it wants to hang below the supervisor, which thinks."""
    libc = ctypes.CDLL(None)
    libc.prctl(36, 0, 0, 0, 0)
    this = os.getpid()
    if (child := os.fork()) == 0:
        if os.fork() == 0:
            libc.setsid()
            os.kill(this, signal.SIGSTOP)
            until = time.process_time() + 0.3
            while time.process_time() < until:
                pass
            os.kill(this, signal.SIGCONT)
        os._exit(0)
    os.waitpid(child, 0)
    time.sleep(0.01)


class UsesStatsAgain(Agent):
    """Honest: one SearchStats object for all its decisions, counted on."""

    def __init__(self, notes: str = "") -> None:
        self.stats = SearchStats()

    def begin_game(self, *args: Any) -> None:
        super().begin_game(*args)
        self.stats.nodes = 0

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.stats.nodes += 1
        return Decision(position.moves[0], stats=self.stats)
