"""What goes on behind the pages: who waits for whom, what a slow page misses, what is ended."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import psutil
import pytest

from othello_lab import Decision
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.processes import LINUX
from othello_lab.play.agent_process import AgentFailure
from othello_lab.play.config import GameSetup, read
from othello_lab.play.game import GameState
from othello_lab.play.web import messages
from othello_lab.play.web.compute import ComputeClient, ComputeSlots
from othello_lab.play.web.game_data import game_data, player_data
from othello_lab.play.web.memory import MemoryBudget
from othello_lab.play.web.visit_session import Outbox, RateLimit, VisitSession, VisitSessions
from othello_lab.play.web.visits import Visit

PERSON = {"name": "human", "settings": {}}
Table = Callable[..., GameSetup]
Later = Callable[[float], None]
START = game_data(GameState(Position.start()))


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., GameSetup]:
    def make(*words: str) -> GameSetup:
        return read([f"web.folder={tmp_path}/visits", f"web.runs={tmp_path}/runs", *words])

    return make


def client(table: Table, cores: ComputeSlots | None = None) -> ComputeClient:
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


async def runs(desk: ComputeClient, note: Callable[[str], None] = quiet) -> dict[str, Any]:
    return await desk.ask("runs", START, {"folder": "."}, note)


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
async def test_desks_wait_for_a_core_and_say_so(table: Table) -> None:
    cores = ComputeSlots(1)
    one, two = (client(table, cores) for _ in range(2))
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
async def test_who_cancels_a_question_ends_the_desk(table: Table) -> None:
    desk = client(table)
    deep = read(["white=minimax", "white.depth=40"]).players[Color.WHITE]
    options = {"player": player_data(deep), "seed": 1}
    asked = asyncio.create_task(desk.ask("decide", START, options, quiet))
    await until(lambda: desk.busy)
    process = desk.process
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert process is not None and not psutil.pid_exists(process)
    assert "runs" in await runs(desk)
    desk.end()


@pytest.mark.skipif(not LINUX, reason="/proc tells which files a process has open")
@in_loop
async def test_a_desk_keeps_nothing_of_the_server_open(table: Table) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        desk = client(table)
        await runs(desk)
        folder = Path(f"/proc/{desk.process}/fd")
        kept = {os.readlink(path) for path in folder.iterdir()}
        assert f"socket:[{os.fstat(listening.fileno()).st_ino}]" not in kept
        assert not any("eventpoll" in each for each in kept)
        desk.end()


@in_loop
async def test_a_desk_that_dies_is_told_and_replaced(table: Table) -> None:
    desk = client(table)
    await runs(desk)
    assert desk.process is not None
    os.kill(desk.process, signal.SIGKILL)
    with pytest.raises(AgentFailure, match="has ended"):
        await runs(desk)
    assert "runs" in await runs(desk)
    with pytest.raises(AgentFailure, match="KeyError"):
        await desk.ask("runs", START, {}, quiet)
    desk.end()


def desks() -> set[int]:
    """The processes below this one that ask agents."""
    ours = {"ppid": os.getpid(), "nice": min(19, os.nice(0) + 5)}
    return {each.pid for each in psutil.process_iter(list(ours)) if each.info == ours}


@pytest.mark.integration
@pytest.mark.parametrize("playing", [True, False])
@in_loop
async def test_what_nobody_looks_at_or_asks_is_ended(
    playing: bool, table: Table, later: Later
) -> None:
    others = desks()
    house = VisitSessions(table(*["black=random"] * playing, "white=random", "web.games=2"))
    page = Outbox(10)
    room: VisitSession = house.room(None)
    room.enter(page)
    if not playing:
        await room.obey(messages.MoveMessage("d3", 0), page)
        await until(lambda: len(room.visit.game.turns) == 2)
    await until(lambda: desks() - others)
    if playing:
        room.leave(page)
    later(10)
    house.tidy()
    assert desks() - others, "a page that is loaded again comes back soon"
    later(15 if playing else 600)
    house.tidy()
    assert not desks() - others
    if playing:
        again = house.room(room.visit.number)
        assert again is not room and again.visit.number == room.visit.number
    else:
        move = room.visit.game.position.legal_moves()[0]
        await room.obey(messages.MoveMessage(move, 2), page)
        await until(lambda: len(room.visit.game.turns) == 4)
    house.close()


@in_loop
async def test_time_runs_only_for_a_person_who_sees_the_game(table: Table, later: Later) -> None:
    house, page = VisitSessions(table("white=human")), Outbox(10)
    room = house.room(None)

    async def seconds_left(seen: float = 0.0) -> float:
        room.enter(page)
        later(seen)
        room.leave(page)
        room.enter(page)
        while (message := await page.take())["type"] != "state":
            pass
        room.leave(page)
        return float(message["clock"]["left"]["white"])

    room.enter(page)
    new = {"type": "new", "rules": "standard", "black": PERSON, "white": PERSON}
    for content in (
        {**new, "clock": {"per": "game", "seconds": 1000}},
        {"type": "move", "move": "f5", "ply": 0},
    ):
        message, _ = messages.read(json.dumps(content))
        await room.obey(message, page)
    room.leave(page)
    before = await seconds_left()
    later(300)
    assert await seconds_left() == pytest.approx(before, abs=30)
    assert await seconds_left(300) == pytest.approx(before - 300, abs=30)
    house.close()
