"""One bound on the memory of all games: their compute processes and the agents' processes below.

Memory is measured, not estimated: the proportional set size, which divides a page of memory among
the processes that share it. Where the system does not tell it, the resident set less shared pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

import psutil

from othello_lab.core.system.memory import memory_of_machine
from othello_lab.play.agent_process import AgentFailure

_SHARE = 4
"""By default all games may use this part of the memory, 1/4."""
_MEGABYTE = 1 << 20
_WAITING = "Waiting for memory that other games use."


class MemoryTaken(AgentFailure):
    """The process was ended for the games that began to search earlier; ask again after them."""


class MemoryUser(Protocol):
    """The owner of a process that may be ended while it is not busy.

    process: its number; None if there is none. busy: True while it works on a question. end: ends
    it at once; ``why`` goes to whoever waits for it.
    """

    @property
    def process(self) -> int | None: ...
    @property
    def busy(self) -> bool: ...
    def end(self, why: AgentFailure) -> None: ...


class MemoryBudget:
    """The memory of all games. ``megabytes``: its bound; None for a quarter of the machine's."""

    def __init__(self, megabytes: int | None) -> None:
        self.megabytes = megabytes
        if megabytes is None and (memory := memory_of_machine()) is not None:
            self.megabytes = max(1, memory // _SHARE)
        self._users: dict[MemoryUser, None] = {}  # the least recently used first
        self._turn = asyncio.Lock()
        self._answered = asyncio.Event()

    def begin(self, user: MemoryUser) -> None:
        """Note that a user begins with a question."""
        self._users.pop(user, None)
        self._users[user] = None

    def finish(self) -> None:
        """Note that a question has ended; whoever waits for memory looks again."""
        self._answered.set()

    async def make_room(self, note: Callable[[str], None]) -> None:
        """Make room for one more process: end idle ones, the least recently used first. If busy
        processes alone use too much, wait until one has answered."""
        async with self._turn:
            while await self._shrink(one_more=True) and self._busy():
                await self._next_answer(note)

    async def let_others_finish(self, note: Callable[[str], None]) -> None:
        """Wait until a busy process has answered, if there is one."""
        if self._busy():
            await self._next_answer(note)

    async def check(self) -> None:
        """Hold the bound while processes grow: idle ones too, when others that shared pages with
        them have ended. If busy ones alone use too much, the last to begin is ended; called now
        and then."""
        if self._users and await self._shrink() and (busy := self._busy()):
            alone = AgentFailure(f"more than web.total_memory_mb={self.megabytes} is needed")
            busy[-1].end(MemoryTaken() if len(busy) > 1 else alone)

    async def _next_answer(self, note: Callable[[str], None]) -> None:
        note(_WAITING)
        self._answered.clear()
        await self._answered.wait()

    def _busy(self) -> list[MemoryUser]:
        return [user for user in self._users if user.busy]

    async def _shrink(self, one_more: bool = False) -> bool:
        """End idle processes until all together hold the bound; return True if they still do not.
        one_more: leave room for another process, like the mean of these."""
        while self.megabytes is not None:
            used = await self._measure()
            more = sum(used.values()) // len(used) if one_more and used else 0
            over = sum(used.values()) + more - self.megabytes * _MEGABYTE
            idle = [user for user in self._users if user in used and not user.busy]
            if over <= 0 or not idle:
                return over > 0
            for user in idle:
                user.end(AgentFailure("stopped"))
                over -= used[user]  # or less: pages shared with it now count for the others
                if over <= 0:
                    break
        return False

    async def _measure(self) -> Mapping[MemoryUser, int]:
        """Return the bytes that each user's processes have. Pages are answered in between, as many
        processes take a while."""
        children = _children()
        for user in [user for user in self._users if user.process is None]:
            del self._users[user]
        used = {}
        for user in list(self._users):
            if (process := user.process) is not None:
                used[user] = sum(map(_bytes_of, _tree(process, children)))
                await asyncio.sleep(0)
        return {user: size for user, size in used.items() if user.process is not None}


def _children() -> dict[int, list[int]]:
    """Return the children of all processes of this machine."""
    children: dict[int, list[int]] = {}
    for process in psutil.process_iter(["ppid"]):
        children.setdefault(process.info["ppid"], []).append(process.pid)
    return children


def _tree(root: int, children: Mapping[int, list[int]]) -> list[int]:
    """Return a process and all below it."""
    processes = [root]
    for process in processes:
        processes += children.get(process, [])
    return processes


def _bytes_of(process: int) -> int:
    """Return the memory of a process in bytes; 0 if it has ended."""
    try:
        measured = psutil.Process(process)
        try:
            full = measured.memory_full_info()
            return int(getattr(full, "pss", full.uss))
        except psutil.AccessDenied:
            plain = measured.memory_info()
            return int(plain.rss - getattr(plain, "shared", 0))
    except psutil.Error:
        return 0
