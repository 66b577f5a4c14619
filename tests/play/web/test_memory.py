"""All games of a server together hold one bound on memory, and go on."""

from __future__ import annotations

import asyncio
import resource
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")

import psutil
from processes import await_
from served import HUMAN, Page, served

from othello_lab.core.system.memory import free_memory, memory_of_machine
from othello_lab.core.system.processes import LINUX
from othello_lab.play.agent_process import AgentFailure
from othello_lab.play.web.memory import MemoryBudget, MemoryTaken

MEGABYTE = 1 << 20


class Machine:
    """In place of psutil, with processes that are on paper only. megabytes: of each process."""

    Error, AccessDenied = psutil.Error, psutil.AccessDenied

    def __init__(self) -> None:
        self.megabytes: dict[int, int] = {}

    def process_iter(self, names: list[str]) -> list[Any]:
        return []

    def Process(self, number: int) -> Any:
        size = self.megabytes[number] * MEGABYTE
        return SimpleNamespace(memory_full_info=lambda: SimpleNamespace(pss=size, uss=size))


class User:
    """The owner of a process of a given size."""

    def __init__(self, budget: MemoryBudget, size: int, machine: Machine) -> None:
        self.process: int | None = len(machine.megabytes)
        machine.megabytes[self.process] = size
        self.busy = False
        self.told: list[AgentFailure] = []
        budget.begin(self)

    def end(self, why: AgentFailure) -> None:
        self.told.append(why)
        self.process, self.busy = None, False


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine()
    monkeypatch.setattr("othello_lab.play.web.memory.psutil", found)
    return found


def ended(users: list[User]) -> list[int]:
    return [number for number, user in enumerate(users) if user.process is None]


def test_the_least_recently_used_make_room(machine: Machine) -> None:
    budget = MemoryBudget(400)
    users = [User(budget, 100, machine) for _ in range(4)]
    said: list[str] = []
    budget.begin(users[0])
    asyncio.run(budget.make_room(said.append))
    assert ended(users) == [1]
    users.append(User(budget, 250, machine))  # it has grown since
    asyncio.run(budget.check())
    assert ended(users) == [1, 2, 3]
    # An idle process counts for more when others that shared pages with it have ended.
    assert users[0].process is not None
    machine.megabytes[users[0].process] = 200
    asyncio.run(budget.check())
    assert ended(users) == [0, 1, 2, 3]
    assert not said


def test_who_is_searching_is_waited_for(machine: Machine) -> None:
    async def main() -> None:
        budget = MemoryBudget(150)
        user = User(budget, 100, machine)
        user.busy = True
        said: list[str] = []
        waiting = asyncio.create_task(budget.make_room(said.append))
        while not said:
            await asyncio.sleep(0)
        assert said and not waiting.done()
        user.busy = False
        budget.finish()
        await waiting
        assert user.process is None

    asyncio.run(asyncio.wait_for(main(), 60))


def test_searches_that_need_too_much_come_one_after_another(machine: Machine) -> None:
    budget = MemoryBudget(150)
    first, last = users = [User(budget, 200, machine) for _ in range(2)]
    first.busy = last.busy = True
    asyncio.run(budget.check())
    assert ended(users) == [1]
    assert isinstance(last.told[0], MemoryTaken)
    asyncio.run(budget.check())
    (why,) = first.told
    assert "web.total_memory_mb=150" in str(why) and not isinstance(why, MemoryTaken)


def test_memory_is_that_of_the_machine_or_of_its_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(name: str, text: str) -> None:
        (tmp_path / name).write_text(text, encoding="ascii")

    whole, system = memory_of_machine(tmp_path), tmp_path / "meminfo"
    assert whole is not None and free_memory(tmp_path, system) is None
    assert MemoryBudget(None).megabytes == (memory_of_machine() or 0) // 4
    write("meminfo", "MemTotal: 9000 kB\nMemAvailable:    512000 kB\n")
    assert free_memory(tmp_path, system) == 500
    write("memory.current", f"{30 * MEGABYTE}\n")
    for most, all_of_it, free in (("max", whole, 500), (f"{100 * MEGABYTE}", 100, 70)):
        write("memory.max", f"{most}\n")
        assert memory_of_machine(tmp_path) == all_of_it
        assert free_memory(tmp_path, system) == free
    own = psutil.Process().memory_info().vms
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (own + 20 * MEGABYTE, -1))
    assert 10 <= (free_memory(tmp_path, system) or 0) <= 20


@pytest.mark.nightly
@pytest.mark.skipif(not LINUX, reason="the system tells shares of memory")
def test_many_games_hold_the_bound_and_go_on(tmp_path: Path) -> None:
    bound = 180  # of some 300 that these games would use
    with served(tmp_path, f"web.total_memory_mb={bound}") as server, ExitStack() as stack:
        process = psutil.Process(server.process.number)
        pages: list[Page] = []
        for _ in range(8):
            page = stack.enter_context(server.page())
            settings = {"name": "alphabeta", "settings": {"depth": 2}}
            assert page.tell("new", rules="standard", black=HUMAN, white=settings) is None
            answered(page, "f5")
            pages.append(page)
            # It grows until the next look.
            await_(lambda: memory_below(process) < 1.2 * bound * MEGABYTE, timeout=60)
        answered(pages[0], pages[0].state["position"]["legal"][0])
        assert len(pages[0].moves) == 4


def memory_below(process: psutil.Process) -> int:
    """Return the bytes that the processes below this one use."""
    used = 0
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended
            used += child.memory_full_info().pss
    return used


def answered(page: Page, move: str) -> None:
    """Play a move, and wait for the agent's."""
    ply = len(page.moves)
    assert page.move(move) is None
    page.wait_for(lambda state: len(state["moves"]) == ply + 2)
    page.wait_for(lambda state: not state["thinking"])
