"""The proxy of an agent on the judge's side: it asks the agent's process, and watches over it.

All that happens in that process is charged to its agent: a crash, a hang, an unreadable answer, and
time as :mod:`experiments.playing.time_account` counts it.

A process that is killed by somebody else (SIGKILL, SIGTERM) is replaced: the new one is led through
the game so far, and asked again, with the rest of the time limit. So the agent loses nothing by it,
and wins nothing either.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import select
import signal
import time
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.external.program import MOST_PRINTED, explained
from othello_lab.agents.external_agent import START_SECONDS, observes
from othello_lab.core.game import (
    DIED,
    FAULTS,
    GARBAGE,
    HUNG,
    LATE,
    RAISED,
    RESIGNED,
    PlayerFailure,
    TimeSpent,
)
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.confinement import ConfinedProcess, Confinement
from othello_lab.core.system.forked import ChildSignals
from othello_lab.core.system.processes import family, is_shortage
from othello_lab.experiments.playing.agent_server import (
    LONGEST_TEXT,
    MOST_LOGGED,
    plain_position,
    read_decision,
    sit,
)
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.time_account import (
    CONTINUED,
    FOUND_STOPPED,
    STALL,
    STOPPED,
    TimeAccount,
)
from othello_lab.experiments.playing.usage import ResourceMeter, cpu_time, own_ready
from othello_lab.experiments.record.log import OUTPUT

_KILLED = (-signal.SIGKILL, -signal.SIGTERM, None)  # None: somebody else has asked how it ended
MOST_KILLS = 5
"""An agent whose process was killed so often in a game loses it."""
STOPPED_SECONDS = 10.0
"""A process that was stopped (SIGSTOP) for so long is killed."""
MOST_KEPT = 1 << 20
"""Bytes of what an agent's processes print that are kept, for a worker."""
LONGEST_ANSWER = 1 << 20
"""Bytes."""
_TIMED = ("observe", "decide")  # questions whose time is charged
_LONGEST = LONGEST_TEXT + 100  # characters of a text that was cut by the agent's process
_FORK_AGAIN = (0.1, 0.3, 1.0, 3.0)  # seconds
_TICK = 0.1
_TIMED_TICK = 0.01  # a pause of everything that is shorter may go unnoticed; grace is longer
_CHECK_SECONDS = 0.1  # from one check to the next whether the run is to end
_END_SECONDS = 2.0  # from the end of a process's line to its own
_LOOK_SECONDS = 1.0  # from one look at a player's processes to the next


class _ProcessEnded(Exception):
    """The agent's process is no more."""


class AgentProxy:
    """Stands for the agent of this number, as a :class:`core.game.Player`."""

    def __init__(
        self,
        conditions: GameConditions,
        number: int,
        children: ChildSignals,
        check: Callable[[], None],
        end_strays: Callable[[], None] = lambda: None,
    ) -> None:
        """``check``: called while nothing comes; it may raise. ``end_strays``: called where the
        agent's process has ended by itself, and may have left others behind."""
        self.name = conditions.names[number]
        self._agent: Agent = conditions.agents[number]
        self._conditions = conditions
        self._children = children
        self._check, self._end_strays = check, end_strays
        self.observes = observes(self._agent)
        self.stopwatch = self
        self._number = number
        self._process: ConfinedProcess | None = None
        self._is_new = False  # not made yet
        self._is_stopped = False  # by this judge
        self._asked_in_game = False
        self._outside = self._cpu_then = 0  # nanoseconds of processor time
        self._asked = 0  # questions so far
        self._game: list[list[Any]] = []  # questions of this game that were answered
        self._kills = 0
        self._account = TimeAccount()
        # When, in nanoseconds: last woken, answered, and last seen that nothing was there.
        self._received = self._answered = self._empty = 0
        self._ready = self._worked = 0  # of this process, at the last look
        self._checked = self._looked = 0.0
        self._waited = 0  # for an answer, by processes that have ended
        self._printed = self._logged = 0  # of all its processes
        self._printed_before = 0  # the last question

    # ------------------------------------------------------------------ as a player

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self._game, self._kills = [], 0
        self._outside = self._cpu_then = 0
        self._asked_in_game = False  # what it is told of the opening before is free
        if self._process is not None and self._process.has_ended():
            self.kill()  # between two games, which is nobody's loss
        patience = self._conditions.prepare_seconds
        if self._process is None:
            patience += self._agent.compile_seconds
        self._ask(patience, "begin", color.value, plain_position(start), seed)

    def observe(self, move: int, position: Position) -> None:
        patience = self._conditions.patience(self._conditions.limits)
        self._ask(patience, "observe", move, plain_position(position))

    def decide(self, position: Position, limits: Limits) -> Decision:
        patience = self._conditions.patience(limits)
        plain = plain_position(position), [*astuple(limits)]
        answer = self._ask(patience, "decide", *plain)
        try:
            return read_decision(answer)
        except (TypeError, ValueError):
            raise PlayerFailure(GARBAGE, f"{answer!r:.500}: not a Decision") from None

    # ------------------------------------------------------------------ as a stopwatch

    def start(self) -> None:
        """The agent is about to be asked for a move, or told of one."""
        self._gone = TimeSpent(0, 0, 0)
        self._start()

    def _start(self) -> None:
        self._cpu = cpu_time(self._process.number) if self._process else 0
        if self._conditions.limits.timed and self._process is not None:
            if self._asked_in_game:
                self._note_outside()
            self._asked_in_game = True
            self._children.heard()
            self._meter.start()
            self.go_on()
            self._look(_TICK, False)  # so that what happened before is not its time
            self._account.stopped_since = None  # it was this judge that stopped it

    def stop(self) -> TimeSpent:
        """It has answered."""
        if self._conditions.limits.timed:
            self._meter.look()
            self._cpu_then = self._meter.cpu
            return TimeSpent(*map(sum, zip(self._gone, self._spent(), strict=True)))
        cpu = cpu_time(self._process.number) if self._process else 0
        return TimeSpent(self._received - self._account.asked, cpu - self._cpu, 0)

    @property
    def outside(self) -> int:
        """Nanoseconds of processor time that its processes have used in this game outside of its
        own moves, where time is limited."""
        if self._asked_in_game and self._process is not None:
            self._note_outside()
        return self._outside

    def _note_outside(self) -> None:
        self._meter.look()
        cpu = self._meter.cpu
        self._outside += max(0, cpu - self._cpu_then)
        self._cpu_then = cpu

    def _stop(self) -> None:
        """Stop its processes until it is asked again, so that it cannot think meanwhile."""
        timed = self._conditions.limits.timed and not self._conditions.ponder
        if timed and self._process is not None and not self._is_stopped:
            self._process.signal_all(signal.SIGSTOP)
            self._is_stopped = True

    def go_on(self) -> None:
        """Let its processes run, if this judge has stopped them."""
        if self._process is not None and self._is_stopped:
            self._process.signal_all(signal.SIGCONT)
        self._is_stopped = False

    def _spent(self) -> TimeSpent:
        """Return the time from the question to the last message received."""
        used = self._meter.cpu, self._meter.ready + self._meter.stolen
        return self._account.spent(self._answered, self._received, *used)

    # ------------------------------------------------------------------ its process

    @property
    def number(self) -> int | None:
        """Of its process; None if there is none."""
        return self._process.number if self._process else None

    def begin_to_close(self) -> None:
        """Let the agent close; it may take until :meth:`kill`."""
        if self._process is not None:
            self.go_on()
            self._asked += 1
            with contextlib.suppress(OSError):
                self._process.send(json.dumps([self._asked, "close"]).encode(), wait=False)

    def closed_within(self, seconds: float) -> bool:
        """Return True if it closes in time; its exceptions are logged."""
        try:
            if self._process is not None:
                self._receive(seconds)
        except _ProcessEnded:
            pass
        except PlayerFailure as fault:
            if fault.reason == HUNG:
                return False
            what = "raised an exception when it was closed"
            log.error("'%s' %s\n%s", self.name, what, fault.detail)
        return True

    def kill(self) -> None:
        """End its process and all that it has started."""
        if self._process is not None:
            self._process.close()
            self._take_output(to_the_end=True)
            os.close(self._output)
            self._process, self._is_stopped = None, False

    def _start_process(self) -> None:
        self._output, theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._output, False)
        confinement = self._conditions.confinement(self._number)
        self._process = _forked(self._agent, theirs, confinement, self._conditions.log_level)
        os.close(theirs)
        self._line = b""
        self._account, self._meter = TimeAccount(), ResourceMeter(self._process.number)
        if self._conditions.limits.timed:
            self._process.note_when_sent()
        self._poll = select.poll()
        for source in (self._process, self._output, self._children):
            self._poll.register(source, select.POLLIN)
        self._is_new = True
        self._answer(self._conditions.prepare_seconds, ["make"])
        self._is_new = False
        self._answer(START_SECONDS, ["prepare"])

    def _how_it_ended(self) -> int | str | None:
        """Return how its process has ended: its exit code, negative for a signal, or words."""
        assert self._process is not None
        if not self._process.has_ended(within=_END_SECONDS):
            return "it has closed the line to its supervisor, or does not listen"
        return self._process.exit_code()

    def _ask(self, patience: float, *question: Any) -> list[Any]:
        """Return the agent's answer to this call. Raises PlayerFailure."""
        asked = list(question)
        told_anew = False
        self._waited = 0
        while True:
            try:
                if self._process is None:
                    self._start_process()
                    for before in self._game:
                        with contextlib.suppress(_AgentRaised):
                            self._answer(max(patience, self._conditions.hang_seconds), before)
                    if question[0] in _TIMED:
                        self._start()  # what went before is not its time
                answer = self._answer(patience, asked)
                self._look_after(self._received)
            except _ProcessEnded:
                self._waited += self._account.patience_used(time.perf_counter_ns(), stops=True)
                how = self._how_it_ended()
                self.kill()
                self._end_strays()
                # It may have ended before it was asked.
                first = question[0] == "begin" and not told_anew
                told_anew = True
                killed = how in _KILLED
                self._kills += killed
                if question[0] == "decide" and self._conditions.limits.timed:
                    asked[-1] = self._what_is_left(question[-1])
                if not first and (not killed or self._kills >= MOST_KILLS):
                    raise PlayerFailure(
                        DIED, how if isinstance(how, str) else f"exit code {how}"
                    ) from None
                log.warning("the process of '%s' has ended (%s); it gets another", self.name, how)
            except PlayerFailure as fault:
                if fault.reason not in (RAISED, RESIGNED):  # else it plays on
                    self.kill()
                if not self._conditions.confinement(self._number).allows_children:
                    # It may have failed because it wanted another process.
                    place = getattr(self._agent, "path", None)
                    fault.detail = explained(fault.detail, self.name, place)
                raise
            else:
                self._game.append(asked)
                return answer
            finally:
                self._stop()

    def _what_is_left(self, limits: list[Any]) -> list[Any]:
        """Return the limits left for a replacement process, as plain data. At least a tenth is
        left; nobody is charged for it."""
        depth, nodes, *times = limits
        wall, cpu, waited = map(sum, zip(self._gone, self._spent(), strict=True))
        charged = min(wall - waited, round(0.9e9 * max(time or 0.0 for time in times)))
        self._gone = TimeSpent(wall, cpu, wall - charged)
        return [depth, nodes, *(time and time - charged / 1e9 for time in times)]

    def _answer(self, patience: float, question: list[Any]) -> list[Any]:
        assert self._process is not None
        self.go_on()
        self._asked += 1
        self._printed_before = self._printed
        message = json.dumps([self._asked, *question]).encode()
        self._received = self._answered = self._empty = time.perf_counter_ns()
        self._account.ask(self._received)
        try:
            self._process.send(message, wait=False)
        except OSError:
            raise _ProcessEnded from None
        timed = question[0] in _TIMED and self._conditions.limits.timed
        if timed and (now := time.perf_counter_ns()) - self._received > STALL:
            self._meter.look()
            used = self._meter.cpu + self._meter.ready
            # Sending waits for nobody, so it was not run in all the time that it did not work.
            idle = now - self._received - (time.thread_time_ns() - self._worked)
            self._account.send(now, idle, used)
        return self._receive(patience, timed)

    def _receive(self, patience: float, timed: bool = False) -> list[Any]:
        """The answer to the last question; raises Fault or _Ended."""
        answer = self._read()
        while answer is None:
            self._wait(_TIMED_TICK if timed else _TICK)
            if (answer := self._read()) is None:
                self._mind(self._received, patience, timed)
        return answer

    def _mind(self, now: int, patience: float, timed: bool) -> None:
        """Check, while there is no answer, that the wait may go on."""
        if now - self._checked > _CHECK_SECONDS * 1e9:
            self._checked = now
            self._check()
            self._look_after(now)
        if self._account.stopped_since is not None:
            self._mind_stopped(now, self._conditions.hang_seconds if timed else patience)
        used = self._account.patience_used(now)
        if timed:
            used = max(used - self._meter.ready, min(used, self._meter.cpu))
        elif self._is_new and used > patience * 1e9:
            self._meter.look()
            used -= self._meter.ready  # it may have waited for a processor
        if used > patience * 1e9:
            self.kill()
            detail = f"no answer for {patience:.3g} s"
            if self._printed - self._printed_before > MOST_PRINTED:
                many = f"printed more than {MOST_PRINTED >> 20} MiB, {detail}"
                raise PlayerFailure(GARBAGE, many)
            raise PlayerFailure(LATE if timed else HUNG, detail)

    def _mind_stopped(self, now: int, patience: float) -> None:
        """End a stopped process, if with those that it replaces it was awaited for so long."""
        waited = self._waited + self._account.patience_used(now, stops=True)
        if waited > patience * 1e9:
            self.kill()
            raise PlayerFailure(HUNG, f"no answer for {patience:.3g} s; its process was stopped")

    def _read(self) -> list[Any] | None:
        """Return the answer, if it is there; handle log records before it."""
        assert self._process is not None
        try:
            while (message := self._process.take()) is not None:
                content = json.loads(message)
                if not isinstance(content, list) or len(content) < 2:
                    raise ValueError("not what was asked for")
                number, kind, *answer = content
                if kind == "log":
                    self._log(*answer)
                    self._look(_TICK, False)
                elif number != self._asked:
                    raise ValueError("an answer that nobody has asked for")
                elif kind == "raised":
                    raise _AgentRaised(RAISED, str(answer[0])[:_LONGEST])
                elif kind == "fault" and answer[0] in FAULTS:
                    raise PlayerFailure(answer[0], str(answer[1])[:_LONGEST])
                elif kind == "garbage":
                    raise PlayerFailure(GARBAGE, str(answer[0])[:_LONGEST])
                elif kind in ("ok", "decision"):
                    return answer
                else:
                    raise ValueError(f"{kind!r:.50} is no answer")
        except (ValueError, TypeError, IndexError, RecursionError) as error:
            raise PlayerFailure(GARBAGE, f"its process sent what cannot be read: {error}") from None
        if self._process.ended:
            raise _ProcessEnded
        return None

    # ------------------------------------------------------------------ waiting

    def _wait(self, tick: float) -> None:
        """Wait a moment for something to read from the agent's process, and read it."""
        assert self._process is not None
        begun = time.perf_counter_ns()
        found = {descriptor for descriptor, _ in self._poll.poll(1000 * tick)}
        self._received = time.perf_counter_ns()
        news = self._children.heard()  # also such as came after the answer
        answered = self._process.fileno() in found
        if news or not answered or self._received - begun > 1e9 * tick:
            if self._conditions.limits.timed:
                self._meter.look()
            self._look(tick, signal.SIGCONT in news)
        if self._output in found:
            self._take_output()
        if answered:
            self._process.read()
            # The clock of the day may be wrong; but nothing was there when we waited before.
            self._answered = max(self._empty, self._received - self._process.sent_ago())
            return
        self._empty = begun
        if news and self._process.has_ended():
            self._process.read()  # its last words; a child of its own may hold the line open
            self._process.ended = True

    def _look(self, tick: float, continued: bool) -> None:
        """Note the events of the process, and of this one, since the last look. continued: True if
        this one was stopped meanwhile."""
        assert self._process is not None
        ready, worked = own_ready(), time.thread_time_ns()
        own = ready - self._ready, worked - self._worked
        self._ready, self._worked = ready, worked
        now, news = time.perf_counter_ns(), []
        with contextlib.suppress(ChildProcessError):
            options = os.WSTOPPED | os.WCONTINUED | os.WNOHANG
            while (found := os.waitid(os.P_PID, self._process.number, options)) is not None:
                news.append(CONTINUED if found.si_code == os.CLD_CONTINUED else STOPPED)
        if self._meter.stopped and STOPPED not in news:
            news.insert(0, FOUND_STOPPED)
        self._account.see(now, int(1e9 * tick), *own, continued, news)

    def _look_after(self, now: int) -> None:
        """End a process that is stopped for good, or has taken more than it may."""
        assert self._process is not None
        since = self._account.stopped_since
        if since is not None and now - since > STOPPED_SECONDS * 1e9:
            self._process.kill()
            self._process.ended = True
        if (too_much := self._too_much(now)) is not None:
            self.kill()
            raise PlayerFailure(DIED, too_much)

    def _too_much(self, now: int) -> str | None:
        """Return what the agent has taken beyond its bounds, and these; None for nothing."""
        assert self._process is not None
        most = self._conditions.memory_mb
        if most is not None and (used := self._meter.memory()) > most << 20:
            return f"it had {used >> 20:,} MiB of memory; {most:,} are allowed"
        if now - self._looked > _LOOK_SECONDS * 1e9:
            self._looked = now
            below, processes = len(family(self._process.number)) - 1, self._conditions.processes
            if below > processes:
                return f"it had {below} processes below it; {processes} are allowed"
            if self._process.scratch is not None:
                return self._process.scratch.excess()
        return None

    def _take_output(self, to_the_end: bool = False) -> None:
        """Log the agent's output, line by line. to_the_end: True for a process that has ended."""
        found = b""
        with contextlib.suppress(BlockingIOError):
            found = os.read(self._output, 1 << 16)
            if not found and not to_the_end:  # closed by the agent
                self._poll.unregister(self._output)
        if to_the_end and (found or self._line):
            found += b"\n"
        left = MOST_KEPT - self._printed
        self._printed += len(found)
        if left <= 0:
            return
        *lines, self._line = (self._line + found[:left]).split(b"\n")
        if self._printed >= MOST_KEPT:
            lines += [self._line, b"it has printed too much; the rest is dropped"]
        for line in lines:
            _handle(OUTPUT, OUTPUT, logging.INFO, f"{self.name}: {line.decode(errors='replace')}")

    def _log(self, level: Any, name: Any, text: Any) -> None:
        """Handle a log record from the agent's process."""
        if not (type(level) is int and type(name) is str and type(text) is str):
            raise ValueError("a log record that is none")
        left = MOST_LOGGED - self._logged
        self._logged += len(text)
        if left > 0:
            more = "" if len(text) < left else "\nit has logged too much; the rest is dropped"
            name = re.sub(r"[^\w.]+", "_", name)[:100]
            said = f"{self.name}: {text[:_LONGEST]}{more}"
            _handle("agent", name, max(0, min(level, 100)), said)


class _AgentRaised(PlayerFailure):
    """The agent raised an exception; its process lives on."""


log = logging.getLogger("lab.games")


def _handle(logger: str, name: str, level: int, text: str) -> None:
    """Log a record of an agent."""
    to = logging.getLogger(logger)
    to.handle(to.makeRecord(name, level, "", 0, text, (), None))


def _forked(agent: Agent, output: int, confinement: Confinement, log_level: int) -> ConfinedProcess:
    """Return a process for the agent. Where the system has none to give, others may soon end."""
    waits = iter(_FORK_AGAIN)
    while True:
        try:
            return ConfinedProcess(
                sit,
                agent,
                confinement.allows_children,
                log_level,
                confinement=confinement,
                output=output,
                most=LONGEST_ANSWER,
            )
        except OSError as error:
            seconds = next(waits, None) if is_shortage(error) else None
            if seconds is None:
                raise
            log.warning("no process can be started: %s", error)
            time.sleep(seconds)
