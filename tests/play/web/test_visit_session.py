"""What goes on behind the pages: who waits for whom, what a slow page misses, what is ended; and
all games of a server together hold one bound on memory."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")

import psutil
from processes import await_
from served import HUMAN, Page, served

from othello_lab import Decision
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.memory import free_memory, memory_of_machine
from othello_lab.core.system.processes import LINUX
from othello_lab.play.agent_process import AgentFailure
from othello_lab.play.config import GameSetup, read
from othello_lab.play.game import GameState
from othello_lab.play.web import messages
from othello_lab.play.web.compute import ComputeClient, ComputeSlots
from othello_lab.play.web.game_data import game_data, player_data
from othello_lab.play.web.memory import MemoryBudget, MemoryTaken
from othello_lab.play.web.visit_session import Outbox, RateLimit, VisitSession, VisitSessions
from othello_lab.play.web.visits import Visit

Table = Callable[..., GameSetup]
Later = Callable[[float], None]
START = game_data(GameState(Position.start()))


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., GameSetup]:
    def make(*words: str) -> GameSetup:
        return read([f"web.folder={tmp_path}/visits", f"web.runs={tmp_path}/runs", *words])

    return make


def make_client(table: Table, cores: ComputeSlots | None = None) -> ComputeClient:
    return ComputeClient(table(), cores or ComputeSlots(1), MemoryBudget(None))


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run


async def until(fits: Callable[[], Any]) -> None:
    while not fits():
        await asyncio.sleep(0.01)


def test_who_waits_for_agents_gets_one_move_at_a_time(table: Table) -> None:
    setup = table("black=random", "white=random")
    visit = Visit("a", GameState(Position.start()), dict(setup.players), 1, playing=False)
    assert visit.waits and visit.watched
    for _ in range(2):
        visit.go()
        assert (visit.steps, visit.waits) == (1, False)
    visit.play_decided(Decision(visit.game.position.moves[0]), 0.0)
    assert (visit.steps, visit.waits) == (0, True)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """``later(300)``: so many seconds pass at once."""
    real, ahead = time.monotonic, [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: real() + ahead[0])

    def passes(seconds: float) -> None:
        ahead[0] += seconds

    return passes


def quiet(note: str) -> None:
    pass


async def runs(client: ComputeClient, note: Callable[[str], None] = quiet) -> dict[str, Any]:
    return await client.ask("runs", START, {"folder": "."}, note)


@in_loop
async def test_a_slow_page_gets_the_newest_state_and_all_answers() -> None:
    outbox, done = Outbox(2), {"type": "done"}
    states = [{"type": "state", "number": number} for number in range(5)]
    for message in (*states, done):
        outbox.put(message)
    assert [await outbox.take(), await outbox.take()] == [done, states[-1]]
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(outbox.take(), 0.01)
    for _ in range(3):
        outbox.put({"type": "answer"})
    assert outbox.overflowed


def test_so_many_messages_a_second(later: Later) -> None:
    patience = RateLimit(2)
    assert [patience.take() for _ in range(7)] == [True] * 6 + [False]
    later(1)
    assert [patience.take() for _ in range(3)] == [True, True, False]


@in_loop
async def test_clients_wait_for_a_core_and_say_so(table: Table) -> None:
    cores = ComputeSlots(1)
    one, two = (make_client(table, cores) for _ in range(2))
    said: list[str] = []
    async with cores.one(quiet):
        waiting = asyncio.create_task(runs(two, said.append))
        await until(lambda: said)
        assert "free core" in said[0] and not waiting.done()
    assert "runs" in await waiting
    assert "runs" in await runs(one)
    one.end()
    two.end()


@in_loop
async def test_who_cancels_a_question_ends_the_move_client(table: Table) -> None:
    client = make_client(table)
    deep = read(["white=minimax", "white.depth=40"]).players[Color.WHITE]
    options = {"player": player_data(deep), "seed": 1}
    question = asyncio.create_task(client.ask("decide", START, options, quiet))
    await until(lambda: client.busy)
    process = client.process
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    assert process is not None and not psutil.pid_exists(process)
    assert "runs" in await runs(client)
    client.end()


@pytest.mark.skipif(not LINUX, reason="/proc tells which files a process has open")
@in_loop
async def test_a_client_keeps_nothing_of_the_server_open(table: Table) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = make_client(table)
        await runs(client)
        folder = Path(f"/proc/{client.process}/fd")
        opened = {os.readlink(path) for path in folder.iterdir()}
        assert f"socket:[{os.fstat(listening.fileno()).st_ino}]" not in opened
        assert not any("eventpoll" in file for file in opened)
        client.end()


@in_loop
async def test_a_client_that_dies_is_told_and_replaced(table: Table) -> None:
    client = make_client(table)
    await runs(client)
    assert client.process is not None
    os.kill(client.process, signal.SIGKILL)
    with pytest.raises(AgentFailure, match="has ended"):
        await runs(client)
    assert "runs" in await runs(client)
    with pytest.raises(AgentFailure, match="KeyError"):
        await client.ask("runs", START, {}, quiet)
    client.end()


def clients() -> set[int]:
    """The processes below this one that ask agents."""
    ours = {"ppid": os.getpid(), "nice": min(19, os.nice(0) + 5)}
    return {process.pid for process in psutil.process_iter(list(ours)) if process.info == ours}


@pytest.mark.integration
@pytest.mark.parametrize("playing", [True, False])
@in_loop
async def test_what_nobody_looks_at_or_asks_is_ended(
    playing: bool, table: Table, later: Later
) -> None:
    others = clients()
    sessions = VisitSessions(table(*["black=random"] * playing, "white=random", "web.games=2"))
    page = Outbox(10)
    session: VisitSession = sessions.session_of(None)
    session.enter(page)
    if not playing:
        await session.obey(messages.MoveMessage("d3", 0), page)
        await until(lambda: len(session.visit.game.turns) == 2)
    await until(lambda: clients() - others)
    if playing:
        session.leave(page)
    later(10)
    sessions.tidy()
    assert clients() - others, "a page that is loaded again comes back soon"
    later(15 if playing else 600)
    sessions.tidy()
    assert not clients() - others
    if playing:
        again = sessions.session_of(session.visit.number)
        assert again is not session and again.visit.number == session.visit.number
    else:
        move = session.visit.game.position.legal_moves()[0]
        await session.obey(messages.MoveMessage(move, 2), page)
        await until(lambda: len(session.visit.game.turns) == 4)
    sessions.close()


@in_loop
async def test_time_runs_only_for_a_person_who_sees_the_game(table: Table, later: Later) -> None:
    sessions, page = VisitSessions(table("white=human")), Outbox(10)
    session = sessions.session_of(None)

    async def seconds_left(seen: float = 0.0) -> float:
        session.enter(page)
        later(seen)
        session.leave(page)
        session.enter(page)
        while (message := await page.take())["type"] != "state":
            pass
        session.leave(page)
        return float(message["clock"]["left"]["white"])

    session.enter(page)
    new = {"type": "new", "rules": "standard", "black": HUMAN, "white": HUMAN}
    for content in (
        {**new, "clock": {"per": "game", "seconds": 1000}},
        {"type": "move", "move": "f5", "ply": 0},
    ):
        message, _ = messages.read(json.dumps(content))
        await session.obey(message, page)
    session.leave(page)
    before = await seconds_left()
    later(300)
    assert await seconds_left() == pytest.approx(before, abs=30)
    assert await seconds_left(300) == pytest.approx(before - 300, abs=30)
    sessions.close()


# ------------------------------------------------------------------ memory


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
        self.reasons: list[AgentFailure] = []
        budget.begin(self)

    def end(self, why: AgentFailure) -> None:
        self.reasons.append(why)
        self.process, self.busy = None, False


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr("othello_lab.play.web.memory.psutil", machine)
    return machine


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
    assert isinstance(last.reasons[0], MemoryTaken)
    asyncio.run(budget.check())
    (why,) = first.reasons
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
    memory = psutil.Process().memory_info().vms
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (memory + 20 * MEGABYTE, -1))
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
