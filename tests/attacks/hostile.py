"""Hostile and careless agents of many kinds, each named by what it does, with its code.

A kind strikes once a game, when it is called in a certain way, and then plays on at random, with
the random numbers of :class:`RandomAgent`. So whoever does no harm by it plays the games
that a random agent plays in its place.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from othello_lab import Limits, Position, RandomAgent
from othello_lab.core import game as judge
from othello_lab.core.game import DIED, FINISHED, HUNG, RAISED

CALLS = ("constructor", "begin_game", "observe", "decide", "close")
ANYHOW = "anyhow"
"""It may lose or not; the honest must not be touched by it."""

PATIENT, TIMED, SMALL, CROWDED = "patient", "timed", "small", "crowded"
"""What a kind needs of the run: no limits, a time limit, a memory limit, few processes."""


@dataclass(frozen=True)
class Kind:
    """A kind of hostile agent.

    end: how its games end. code: run with ``agent``, and in ``decide`` ``position`` and ``limits``;
    what it calls ``answer`` is the answer. call: where it strikes. run: what it needs of the run.
    """

    end: str
    code: str
    call: str = "decide"
    run: str = PATIENT


class Hostile(RandomAgent):
    """An agent of one of the KINDS. notes: a folder, where it writes what the test looks at."""

    def __init__(self, kind: str, notes: str) -> None:
        self.kind = KINDS[kind]
        self.notes = Path(notes)
        if in_seat():
            self._strike("constructor")

    def begin_game(self, *args: Any) -> None:
        super().begin_game(*args)
        self.moves = self.decisions = 0
        self._strike("begin_game")

    def observe(self, move: int, position: Position) -> None:
        self.moves += 1
        if self.moves == 24 or position.is_over:
            self._strike("observe", position)

    def decide(self, position: Position, limits: Limits) -> Any:
        self.decisions += 1
        self.honest = super().decide(position, limits)
        struck = self._strike("decide", position, limits) if self.decisions >= 2 else None
        return self.honest if struck is None else struck

    def close(self) -> None:
        self._strike("close")

    def _strike(self, call: str, position: Any = None, limits: Any = None) -> Any:
        if call != self.kind.call:
            return None
        names = {**globals(), "agent": self, "position": position, "limits": limits}
        exec(IMPORTS + self.kind.code, names)
        return names.get("answer")

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
    text = json.dumps(content).encode()
    return struct.pack("<I", len(text)) + text


def hang() -> None:
    while True:
        signal.pause()


def think(seconds: float) -> None:
    """Use the processor, however busy the machine is and whatever the module time says."""
    until = sum(os.times()[:2]) + seconds
    while sum(os.times()[:2]) < until:
        pass


def daemon(agent: Hostile) -> None:
    """Leave a process behind that has a session of its own, and whose parent has ended."""
    if (child := os.fork()) == 0:
        os.setsid()
        if (heir := os.fork()) == 0:
            hang()
        agent.note(heir)
        os._exit(0)
    os.waitpid(child, 0)


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


class Unloggable:
    """An argument of a log record that cannot be told."""

    def __str__(self) -> str:
        raise Mine("not to be told")

    __repr__ = __str__

    def __reduce__(self) -> Any:
        raise Mine("not to be pickled")


IMPORTS = """
import asyncio, concurrent.futures, contextlib, ctypes, decimal, gc, io, locale, logging, math
import multiprocessing, os, random, resource, signal, socket, sqlite3, struct, subprocess, sys
import threading, time, warnings
import numpy as np
import othello_lab.core.game
import othello_lab.core.system.forked as forked
"""
# ---------------------------------------------------------------------- the kinds

TABLE = r"""
== meddles_with_all_of_its_process: FINISHED
othello_lab.core.game.play_game = lambda *_, **__: None
othello_lab.core.game._GameLoop.play = lambda *_: None
type.__setattr__(othello_lab.Decision, "flaw", lambda *_: None)
object.__setattr__(position, "mover", position.mover | position.opponent)
object.__setattr__(limits, "depth", 1)
os.chdir("/")
os.umask(0o777)
os.environ.clear()
for words in (sys.path, sys.meta_path, sys.argv):
    words.clear()
random.seed(1)
np.random.seed(1)
np.seterr(all="raise")
locale.setlocale(locale.LC_ALL, "C")
decimal.getcontext().prec = 1
warnings.simplefilter("error")
sys.setrecursionlimit(300)
sys.setswitchinterval(100)
sys.set_int_max_str_digits(640)
gc.disable()
for number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
sys.stdout = sys.stderr = object()
== stops_the_run: DIED
gc.unfreeze()
for thing in gc.get_objects():
    if type(thing).__name__ == "GameConditions":
        ctypes.memset(ctypes.addressof(thing.stop), 2, 4)
== finds_the_record: FINISHED
gc.unfreeze()
for thing in gc.get_objects():
    with contextlib.suppress(Exception):
        if isinstance(thing, sqlite3.Connection):
            thing.execute("delete from games")
        if isinstance(thing, io.IOBase) and thing.fileno() > 2:
            thing.truncate(0)
== writes_to_all_descriptors: GARBAGE
for descriptor in range(3, 4096):
    with contextlib.suppress(OSError):
        os.write(descriptor, b"SQLite format 3\0" * 64)
== closes_all_descriptors: DIED
os.closerange(0, 4096)
== hears_nothing_more: DIED
the_socket().shutdown(socket.SHUT_RD)
plain = [position.moves[0], None, [], None, [0] * 9]
tell(frame([the_seat()[1], "decision", *plain]))
hang()
== says_nothing_more: DIED
the_socket().shutdown(socket.SHUT_WR); hang()
== becomes_another_program: DIED
os.execv('/bin/sleep', ['sleep', '1000'])
== dies_between_games: FINISHED observe
# Right after its last answer.
if position.is_over and agent.first_time("died"):
    send = forked.Channel.send
    forked.Channel.send = lambda *message: (send(*message), os._exit(3))
== dies_in_a_thread: DIED begin_game
threading.Thread(target=os._exit, args=[3]).start(); hang()
== leaves_a_daemon: FINISHED
daemon(agent)
== leaves_a_daemon_to_the_supervisor: FINISHED
ctypes.CDLL(None).prctl(36, 0, 0, 0, 0); daemon(agent)
== dies_and_leaves_a_daemon: DIED
daemon(agent); os._exit(4)
== is_killed_and_leaves_a_daemon: FINISHED
# Once, so it is replaced.
agent.first_time('killed') and (daemon(agent), os.kill(os.getpid(), 9))
== forks_on_and_on: DIED crowded
# At most 400 processes, as a machine may have others to run.
for _ in range(400):
    if (child := os.fork()) == 0:
        hang()
    agent.note(child)
    time.sleep(0.005)
hang()
== computes_in_many_processes: FINISHED
# Honest.
if agent.first_time(f"computed-{os.getpid()}"):
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        assert list(threads.map(math.isqrt, [4, 9])) == [2, 3]
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as processes:
        assert list(processes.map(math.isqrt, [4, 9])) == [2, 3]
    assert asyncio.run(asyncio.sleep(0, "awake")) == "awake"
    assert subprocess.run(["/bin/echo", "hello"], capture_output=True).stdout == b"hello\n"
    (agent.notes / "computed").touch()
== kills_itself: DIED
os.kill(os.getpid(), signal.SIGKILL)
== is_killed_once: FINISHED
# As if from outside: it is replaced, and nothing is lost.
agent.first_time('killed') and os.kill(os.getpid(), signal.SIGKILL)
== kills_its_group: DIED
assert os.getpgrp() == os.getpid(); os.killpg(0, 9)
== is_traced_by_its_parent: ANYHOW
ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), signal.SIGUSR1)
== raises_the_unspeakable: RAISED
raise Unspeakable
== raises_something_endless: RAISED
# A text of 64 MiB.
raise Endless
== raises_half_characters: RAISED
print('caf\udce9', flush=True); raise RuntimeError('no file caf\udce9.txt')
== logs_what_cannot_be_told: FINISHED
log = logging.getLogger("hostile")
log.error("%s %s", Unloggable(), lambda: None)
log.error("%s: %d", "not a number", "x", exc_info=Mine())
log.log(1 << 70, "a high level \ud800 \x1b[2J \0")
logging.getLogger("\ud800" * 100).error("x" * 1_000_000)
== logs_a_flood: FINISHED
[logging.getLogger('flood').error('y' * 1000) for _ in range(5000)]
== prints_a_flood: FINISHED
# 30 MB, without line ends, by all ways.
for _ in range(300):
    os.write(1, b"\xff\x00\x1b[31m" * 5000)
    os.write(2, b"z" * 20_000)
    print("w" * 20_000, end="", file=sys.stderr, flush=True)
    print("v" * 20_000)
== prints_for_ever: GARBAGE
while True: os.write(1, b'still thinking\n' * 1000)
== hears_of_its_children: FINISHED
# Honest; no signal of the lab's may write into its pipes.
pipes = [os.pipe() for _ in range(20)]
for _ in range(3):
    subprocess.run(["/bin/true"])
for reader, writer in pipes:
    os.set_blocking(reader, False)
    with contextlib.suppress(BlockingIOError):
        raise AssertionError(os.read(reader, 10))
    os.close(reader)
    os.close(writer)
== raises_a_cycle: RAISED
# An exception that is its own cause, of a group of many.
error = ExceptionGroup("many", [ValueError(str(number)) for number in range(5000)])
error.__cause__ = error
raise error
== leaves_the_dead: ANYHOW
[os.fork() or os._exit(0) for _ in range(20)]; os._exit(5)
== forges_a_long_message: GARBAGE
tell(b'\xff\xff\xff\xff' + b'x' * 100)
== answers_all_in_advance: ANYHOW begin_game
[tell(frame([the_seat()[1] + n, 'ok'])) for n in range(3000)]; hang()
== sends_byte_by_byte: HUNG
# A message that never ends.
tell(struct.pack("<I", 1 << 20))
for _ in range(1 << 19):
    tell(b" ")
    time.sleep(0.001)
== forges_a_flood: HUNG
while True: tell(frame([None, 'log', 40, 'flood', 'u' * 100_000]))
== sends_a_large_packet: ANYHOW
# Larger than is read at a time.
the_socket().send(frame([None, 'log', 20, 'large', 'l' * 150_000]))
== sends_descriptors: FINISHED
record = frame([None, "log", 10, "files", "here are some files"])
for _ in range(5):
    socket.send_fds(the_socket(), [record], [0] * 100)
== wants_all_memory: RAISED small
agent.memory = bytearray(1 << 32)
== prepares_for_long: FINISHED begin_game timed
# Honest, though longer than a move may take.
time.sleep(0.8)
== thinks_while_it_is_told: LATE observe timed
think(0.25)
== sleeps: LATE timed
for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
    setattr(time, name, lambda: 0.0)
    setattr(time, f"{name}_ns", lambda: 0)
think(0.4)
"""
"""The name of each kind, how its games end, and what else it needs; its code."""

KINDS: dict[str, Kind] = {}
for part in TABLE.split("\n== ")[1:]:
    head, _, code = part.partition("\n")
    name, _, words = head.partition(": ")
    end, *more = words.split()
    call = next((word for word in more if word in CALLS), "decide")
    run = next((word for word in more if word not in CALLS), PATIENT)
    KINDS[name] = Kind(getattr(judge, end, ANYHOW), code, call, run)

for call in CALLS:
    harmless = call == "close"
    for error in ("SystemExit", "KeyboardInterrupt", "GeneratorExit", "Mine", "RecursionError"):
        end = FINISHED if harmless else RAISED
        KINDS[f"raises_{error}_in_{call}"] = Kind(end, f"raise {error}('gone')", call)
    KINDS[f"exits_in_{call}"] = Kind(FINISHED if harmless else DIED, "os._exit(0)", call)
    KINDS[f"hangs_in_{call}"] = Kind(FINISHED if harmless else HUNG, "hang()", call)
