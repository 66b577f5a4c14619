"""What goes on behind the pages: who waits for whom, what a slow page misses, what is ended."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

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

START = game_data(GameState(Position.start()))


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., GameSetup]:
    def make(*words: str) -> GameSetup:
        return read([f"web.folder={tmp_path}/visits", f"web.runs={tmp_path}/runs", *words])

    return make


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, 60))


def quiet(note: str) -> None:
    pass


def test_a_slow_page_gets_the_newest_state_and_all_answers() -> None:
    async def main() -> None:
        outbox = Outbox(2)
        for number in range(5):
            outbox.put({"type": "state", "number": number})
        outbox.put({"type": "done"})
        assert [await outbox.take(), await outbox.take()] == [
            {"type": "done"},
            {"type": "state", "number": 4},
        ]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(outbox.take(), 0.01)
        for _ in range(3):
            outbox.put({"type": "answer"})
        assert outbox.overflowed

    run(main())


def test_so_many_messages_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("othello_lab.play.web.visit_session.time.monotonic", lambda: now[0])
    patience = RateLimit(2)
    assert [patience.take() for _ in range(7)] == [True] * 6 + [False]
    now[0] += 1
    assert [patience.take() for _ in range(3)] == [True, True, False]


def test_desks_wait_for_a_core_and_say_so(table: Callable[..., GameSetup]) -> None:
    async def main() -> None:
        cores, settings = ComputeSlots(1), table()
        one, two = (ComputeClient(settings, cores, MemoryBudget(None)) for _ in range(2))
        said: list[str] = []
        async with cores.one(quiet):
            waiting = asyncio.create_task(two.ask("runs", START, {"folder": "."}, said.append))
            await asyncio.sleep(0.01)
            assert said == ["Waiting for a free core."]
        assert "runs" in await waiting
        assert "runs" in await one.ask("runs", START, {"folder": "."}, quiet)
        one.end()
        two.end()

    run(main())


def test_who_cancels_a_question_ends_the_desk_and_the_next_starts_another(
    table: Callable[..., GameSetup],
) -> None:
    async def main() -> None:
        desk = ComputeClient(table(), ComputeSlots(1), MemoryBudget(None))
        deep = read(["white=minimax", "white.depth=40"]).players[Color.WHITE]
        options = {"player": player_data(deep), "seed": 1}
        asked = asyncio.create_task(desk.ask("decide", START, options, quiet))
        while desk._process is None:
            await asyncio.sleep(0.01)
        process = desk._process
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert process.has_ended()
        assert "runs" in await desk.ask("runs", START, {"folder": "."}, quiet)
        desk.end()

    run(main())


@pytest.mark.skipif(not LINUX, reason="/proc tells which files a process has open")
def test_a_desk_keeps_nothing_of_the_server_open(table: Callable[..., GameSetup]) -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            desk = ComputeClient(table(), ComputeSlots(1), MemoryBudget(None))
            await desk.ask("runs", START, {"folder": "."}, quiet)
            assert desk._process is not None
            folder = Path(f"/proc/{desk._process.number}/fd")
            kept = {os.readlink(path) for path in folder.iterdir()}
            assert f"socket:[{os.fstat(listening.fileno()).st_ino}]" not in kept
            assert not any("eventpoll" in each for each in kept)
            desk.end()

    run(main())


def test_a_desk_that_dies_is_told_and_replaced(table: Callable[..., GameSetup]) -> None:
    async def main() -> None:
        desk = ComputeClient(table(), ComputeSlots(1), MemoryBudget(None))
        await desk.ask("runs", START, {"folder": "."}, quiet)
        assert desk._process is not None
        desk._process.kill()
        with pytest.raises(AgentFailure, match="has ended"):
            await desk.ask("runs", START, {"folder": "."}, quiet)
        assert "runs" in await desk.ask("runs", START, {"folder": "."}, quiet)
        with pytest.raises(AgentFailure, match="KeyError"):
            await desk.ask("runs", START, {}, quiet)
        desk.end()

    run(main())


@pytest.mark.integration
def test_what_nobody_looks_at_is_ended(
    table: Callable[..., GameSetup], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        house = VisitSessions(table("black=random", "white=random", "web.games=2"))
        page = Outbox(10)
        room = house.room(None)
        room.enter(page)
        await until(lambda: room._desk._process is not None)
        process = room._desk._process
        assert process is not None
        room.leave(page)
        house.tidy()
        assert not process.has_ended(), "a page that is loaded again comes back soon"
        monkeypatch.setattr("othello_lab.play.web.visit_session._LINGER", 0.0)
        house.tidy()
        assert process.has_ended()
        again = house.room(room.visit.number)
        assert again is not room
        assert again.visit.number == room.visit.number
        house.close()

    run(main())


async def until(fits: Callable[[], bool]) -> None:
    while not fits():
        await asyncio.sleep(0.01)


def test_desks_that_nobody_asks_are_ended(
    table: Callable[..., GameSetup], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        house = VisitSessions(table("white=greedy"))
        page = Outbox(10)
        room: VisitSession = house.room(None)
        room.enter(page)
        await room.obey(messages.MoveMessage("d3", 0), page)
        await until(lambda: len(room.visit.game.turns) == 2 and room._going is None)
        process = room._desk._process
        assert process is not None
        house.tidy()
        assert not process.has_ended()
        monkeypatch.setattr("othello_lab.play.web.visit_session._IDLE", 0.0)
        house.tidy()
        assert process.has_ended()
        await room.obey(messages.MoveMessage(room.visit.game.position.legal_moves()[0], 2), page)
        await until(lambda: len(room.visit.game.turns) == 4)
        house.close()

    run(main())
