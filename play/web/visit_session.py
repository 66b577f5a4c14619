"""A visit under way: the pages that show it, the processes that ask its agents, and automatic
play."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from othello_lab.core.notation import IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.core.system.processes import available_cores
from othello_lab.play.agent_process import AgentFailure, checked_agent
from othello_lab.play.config import CHAMPION, ON_SMALL_BOARDS, PERSON, GameSetup, PlayerSettings
from othello_lab.play.game import GameState
from othello_lab.play.game_files import game_of
from othello_lab.play.series import Series
from othello_lab.play.web import messages
from othello_lab.play.web.catalogue import EVALUATION, Catalogue
from othello_lab.play.web.clock import PersonClock
from othello_lab.play.web.compute import ComputeClient, ComputeSlots, Note
from othello_lab.play.web.game_data import (
    decision_from,
    game_data,
    game_from,
    player_data,
    player_from,
)
from othello_lab.play.web.memory import MemoryBudget
from othello_lab.play.web.page_state import texts_of, visit_shown
from othello_lab.play.web.visits import ActionRefused, Visit, Visits, new_number

log = logging.getLogger("othello_lab.play.web")

_LINGER = 20.0  # seconds that a visit nobody looks at goes on, as pages are loaded anew
_IDLE = 600.0  # seconds after which clients that nobody asks are ended
_PASS_SECONDS = 1.0  # so that everybody sees it
_OF_RUNS = ("runs", "games", "recorded")  # questions that need to know where runs are
_OF_FILES = (*_OF_RUNS, "mine", "own_agent")  # questions that read files and wait for no search
_MOST_WAITING = 16  # questions of one visit


class Outbox:
    """Messages to be sent to a page. Of states only the newest is kept, so a slow page misses some,
    and costs no memory.

    most: messages of other kinds that may wait. overflowed: True if there were more.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.overflowed = False
        self._state: dict[str, Any] | None = None
        self._others: deque[dict[str, Any]] = deque()
        self._news = asyncio.Event()

    def put(self, message: dict[str, Any]) -> None:
        """Send this as soon as the page takes it."""
        if message["type"] == "state":
            self._state = message
        elif len(self._others) < self._most:
            self._others.append(message)
        else:
            self.overflowed = True
        self._news.set()

    async def take(self) -> dict[str, Any]:
        """The next message."""
        while not self._others and self._state is None:
            self._news.clear()
            await self._news.wait()
        if self._others:
            return self._others.popleft()
        state, self._state = self._state, None
        assert state is not None
        return state


class VisitSession:
    """One visit under way. A page is known by its outbox.

    cores: for searches. readers: for reading the records of runs, which waits for no search.
    memory: of all visits together.
    """

    def __init__(
        self,
        visit: Visit,
        visits: Visits,
        catalogue: Catalogue,
        cores: ComputeSlots,
        readers: ComputeSlots,
        memory: MemoryBudget,
    ) -> None:
        setup = visits.setup
        self.visit = visit
        self.pages: list[Outbox] = []
        self.empty_since = time.monotonic()
        self._visits, self._catalogue, self._setup = visits, catalogue, setup
        self._move_client = ComputeClient(setup, cores, memory)
        self._analysis_client = ComputeClient(setup, cores, memory)
        self._file_client = ComputeClient(setup, readers, memory)
        self._going: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._thinking, self._note = False, ""
        self._questions: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._used = time.monotonic()
        self._alarm: asyncio.TimerHandle | None = None
        self.on_new_number: Callable[[str], None] = lambda old: None

    # ------------------------------------------------------------------ pages

    def enter(self, page: Outbox) -> None:
        """Another page shows this visit."""
        self.pages.append(page)
        self._run_clock()
        page.put(self._state())
        self._go_on()
        if self._warming is None:
            self._warm_up()

    def leave(self, page: Outbox) -> None:
        """Forget a page that is gone, with its open questions."""
        self.pages.remove(page)
        for key in [key for key in self._questions if key[0] == id(page)]:
            self._questions[key].cancel()
        self.empty_since = time.monotonic()
        self._run_clock()

    @property
    def left(self) -> bool:
        """True if nobody has looked for a while."""
        return not self.pages and time.monotonic() - self.empty_since > _LINGER

    def close(self) -> None:
        """End all that goes on here."""
        self._halt()
        if self._alarm is not None:
            self._alarm.cancel()
        if self._warming is not None:
            self._warming.cancel()
        for task in self._questions.values():
            task.cancel()
        self._end_clients()

    def _end_clients(self) -> None:
        for client in (self._move_client, self._analysis_client, self._file_client):
            client.end()

    def rest(self) -> None:
        """End the clients if nobody has asked for a while; called now and then."""
        if self._going is None and not self._questions and time.monotonic() - self._used > _IDLE:
            self._end_clients()

    def _state(self) -> dict[str, Any]:
        return visit_shown(self.visit, self._catalogue, self._thinking, self._note)

    def _show(self) -> None:
        state = self._state()
        for page in self.pages:
            page.put(state)

    def _changed(self) -> None:
        """Store and show a change, and go on."""
        self._run_clock()
        self._visits.keep(self.visit)
        self._go_on()
        self._show()

    # ------------------------------------------------------------------ what goes on by itself

    def _go_on(self) -> None:
        if self._going is None and not self.visit.waits:
            self._going = asyncio.get_running_loop().create_task(self._play_on())

    def _halt(self) -> None:
        """End all automatic play, also an agent's search."""
        going, self._going = self._going, None
        if going is not None:
            going.cancel()
        self._thinking, self._note = False, ""

    def _run_clock(self) -> None:
        """Let the time of a person run who is to move, as long as a page shows the game."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        clock, game = self.visit.clock, self.visit.game
        if clock is None:
            return
        color = game.position.to_move
        runs = self.pages and not (game.is_over or game.position.must_pass)
        runs = runs and self.visit.to_move.is_human
        now = time.monotonic()
        clock.run(color if runs else None, now)
        if runs:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(clock.left(color, now), self._time_is_up, color)

    def _time_is_up(self, color: Color) -> None:
        self._alarm = None
        self.visit.game.give_up(color, late=True)
        self._changed()

    def _warm_up(self) -> None:
        """Load or compile the agents' kernels while a person thinks."""
        visit = self.visit
        if self._going is not None or visit.game.is_over or len(visit.humans) == len(Color):
            return
        if self._warming is not None:
            self._warming.cancel()
        players = {
            color.value: player_data(player)
            for color, player in visit.players.items()
            if not player.is_human
        }
        self._warming = asyncio.get_running_loop().create_task(self._prepare(players))

    async def _prepare(self, players: dict[str, Any]) -> None:
        with contextlib.suppress(AgentFailure):  # who is asked for a move will say so again
            options = {"players": players}
            await self._move_client.ask(
                "prepare", game_data(self.visit.game, 0), options, self._hear
            )

    async def _play_on(self) -> None:
        """Passes and agents' moves, until somebody has to do something."""
        try:
            while not self.visit.waits:
                if self.visit.game.position.must_pass:
                    await asyncio.sleep(_PASS_SECONDS)
                    self.visit.force_pass()
                else:
                    await self._let_agent_move()
                self._visits.keep(self.visit)
                self._thinking, self._note = False, ""
                if not self.visit.waits:
                    self._show()
        except Exception as error:
            log.exception("a visit cannot go on")
            self.visit.stop(f"{type(error).__name__}: {error}")
        if self._going is asyncio.current_task():
            self._going, self._thinking = None, False
            self._run_clock()
            self._show()

    async def _let_agent_move(self) -> None:
        visit = self.visit
        begun = time.monotonic()
        self._used = begun
        color = visit.game.position.to_move
        options = {
            "player": player_data(visit.to_move),
            "seed": 2 * visit.seed + (color is Color.WHITE),
        }
        self._thinking = True
        self._show()
        try:
            answer = await self._move_client.ask(
                "decide", game_data(visit.game), options, self._hear
            )
            if "resigned" in answer:
                visit.game.give_up(color)
                return
            decision = decision_from(answer["decision"])
            if visit.watched and not visit.steps:
                await asyncio.sleep(max(0.0, visit.delay - (time.monotonic() - begun)))
            visit.play_decided(decision, float(answer["seconds"]))
        except (AgentFailure, IllegalMove, ValueError, KeyError) as trouble:
            visit.stop(
                f"{color.value.capitalize()} ({visit.to_move.name}) has broken down: {trouble}"
            )

    def _hear(self, note: str) -> None:
        if note != self._note:
            self._note = note
            self._show()

    # ------------------------------------------------------------------ what pages say

    async def obey(self, message: Any, page: Outbox) -> None:
        """Obey a page; raises ValueError with one line, and AgentFailure."""
        self._used = time.monotonic()
        match message:
            case messages.AskMessage():
                self._begin_question(message, page)
            case messages.CancelMessage():
                if (task := self._questions.get((id(page), message.id))) is not None:
                    task.cancel()
            case messages.PaceMessage():
                self.visit.playing, self.visit.delay = message.playing, message.delay
                self._changed()
            case messages.StepMessage():
                self.visit.steps, self.visit.playing = 1, False
                self._changed()
            case messages.StopMessage():
                self._stop()
            case messages.NewMessage():
                await self._begin(message)
            case messages.NextMessage():
                self._begin_next()
            case messages.PlayersMessage():
                await self._seat(message)
            case _:
                self._change(message)

    async def _begin(self, message: messages.NewMessage) -> None:
        """Another game."""
        rules, left_out = ruleset(message.rules), list[str]()
        if message.recorded is not None:
            answer = await self._ask_client("recorded", asdict(message.recorded), lambda note: None)
            game = game_from(answer["game"])
        elif message.text.strip():
            game = game_of(message.text, rules, left_out.append)
        else:
            game = GameState(Position.start(rules))
        players = await self._players(message, game.start.ruleset)
        self._halt()
        self._renumber()
        self.visit.begin(game, players, message.playing)
        self.visit.series = None if message.series is None else Series(games=message.series)
        wanted = message.clock
        self.visit.clock = None if wanted is None else PersonClock(wanted.per, wanted.seconds)
        self._changed()
        self._hear(" ".join(left_out[-1:]))
        self._warm_up()

    def _begin_next(self) -> None:
        """Begin the next game of a series."""
        before = copy.copy(self.visit)
        before.begin_next()  # which may refuse
        self._renumber()
        self.visit.begin_next()
        self._changed()
        self._warm_up()

    def _renumber(self) -> None:
        """Leave the present game, if it has moves, under its number, so that its address stays."""
        if not self.visit.game.turns:
            return
        self.visit = copy.copy(self.visit)
        old, self.visit.number = self.visit.number, new_number()
        self._visits.make_room()
        self.on_new_number(old)
        for page in self.pages:
            page.put({"type": "moved", "visit": self.visit.number})

    async def _seat(self, message: messages.PlayersMessage) -> None:
        """Others play on."""
        players = await self._players(message, self.visit.game.start.ruleset)
        self._halt()
        self.visit.seat(players)
        self._changed()

    def _change(self, message: Any) -> None:
        """Obey a message that makes another game of it, or changes players: nothing goes on from
        before."""
        visit = self.visit
        match message:
            case messages.MoveMessage():
                mover = visit.game.position.to_move
                visit.play(message.move, message.ply)
                if visit.clock is not None:
                    visit.clock.moved(mover, time.monotonic())
            case messages.UndoMessage():
                visit.undo()
                self._halt()
            case messages.BackMessage():
                visit.back_to(message.moves, message.ply)
                self._halt()
            case messages.ResignMessage():
                visit.resign()
                self._halt()
            case messages.GoMessage():
                visit.go()
        self._changed()

    async def _players(
        self, message: messages.NewMessage | messages.PlayersMessage, rules: Ruleset
    ) -> dict[Color, PlayerSettings]:
        """Return the chosen players; raises ConfigError and AgentFailure."""
        players = dict(self.visit.players)
        for color, seat in ((Color.BLACK, message.black), (Color.WHITE, message.white)):
            if seat is not None and seat.path is not None:
                players[color] = await self._own_agent(seat.path, rules)
                continue
            present = players[color] if seat is None else self._here.get(seat.name)
            if present is None:
                assert seat is not None
                players[color] = self._catalogue.player(seat.name, seat.settings, rules)
                continue
            players[color] = present
            if not present.is_human:
                checked_agent(players[color], rules, self._setup.limits)
        return players

    async def _own_agent(self, path: str, rules: Ruleset) -> PlayerSettings:
        """Return the agent that a file of the server's folder has; raises ActionRefused."""
        if not self._catalogue.own_agents:
            raise ActionRefused("own agents play only where the page is for this machine alone")
        game = game_data(GameState(Position.start(rules)))
        answer = await self._file_client.ask("own_agent", game, {"path": path}, lambda note: None)
        agent = player_from(answer)
        checked_agent(agent, rules, self._setup.limits)
        self._catalogue.trust(agent)
        return agent

    def _stop(self) -> None:
        if self._going is None:
            raise ActionRefused("no agent is thinking")
        color = self.visit.game.position.to_move
        self._halt()
        self.visit.stop(f"{color.value.capitalize()} ({self.visit.to_move.name}) was stopped.")
        self._changed()

    # ------------------------------------------------------------------ questions

    def _begin_question(self, message: messages.AskMessage, page: Outbox) -> None:
        options, ply = messages.check_question(message)
        key = id(page), message.id
        if key in self._questions:
            raise ActionRefused(f"question {message.id} has been asked already")
        if len(self._questions) >= _MOST_WAITING:
            raise ActionRefused(f"{_MOST_WAITING} questions are waiting; that is enough")
        task = asyncio.get_running_loop().create_task(self._answer(message, options, ply, page))
        self._questions[key] = task

        def ended(task: asyncio.Task[None]) -> None:
            self._questions.pop(key, None)
            if task.cancelled():  # perhaps before it has begun
                page.put({"type": "answer", "id": message.id, "trouble": "stopped"})

        task.add_done_callback(ended)

    async def _answer(
        self, message: messages.AskMessage, options: dict[str, Any], ply: int | None, page: Outbox
    ) -> None:
        said: dict[str, Any] = {"type": "answer", "id": message.id}

        def note(text: str) -> None:
            page.put({"type": "note", "id": message.id, "text": text})

        try:
            if message.name == "texts":
                answer: dict[str, Any] = dict(texts_of(self.visit))
            else:
                answer = await self._ask_client(message.name, options, note, ply)
            page.put(said | {"ok": answer})
        except (AgentFailure, ValueError) as trouble:
            page.put(said | {"trouble": str(trouble)})

    async def _ask_client(
        self, name: str, options: dict[str, Any], note: Note, ply: int | None = None
    ) -> dict[str, Any]:
        """Ask a client that is not for play; raises AgentFailure."""
        rules = self.visit.game.start.ruleset
        if (position := options.pop("position", None)) is not None:
            rules = ruleset(options["rules"])
            game = game_data(GameState(Position.from_obf(position, rules)))
        else:
            game = game_data(self.visit.game, ply)
        if name in _OF_FILES:
            web = self._setup.settings.web
            options = options | ({"folder": web.runs} if name in _OF_RUNS else {"kept": web.folder})
            return await self._file_client.ask(name, game, options, note)
        if name == "hint":
            options = {"player": player_data(self._adviser())}
        elif "player" in options:
            options = options | {"player": self._player_to_ask(rules, options["player"])}
        if "evaluation" in options:
            options = options | {"evaluation": self._catalogue.evaluation(options["evaluation"])}
        return await self._analysis_client.ask(name, game, options, note)

    def _adviser(self) -> PlayerSettings:
        """Return the agent that gives hints: the champion against itself and against levels."""
        rules = self.visit.game.start.ruleset
        settings: dict[str, Any] = {}
        name = self._setup.hint.name
        opponents = {player.name for player in self.visit.players.values()}
        if any(name == CHAMPION or self._catalogue.is_level(name) for name in opponents):
            name = CHAMPION
        elif rules is self._setup.rules or name not in self._catalogue.agents:
            return self._setup.hint
        elif rules.side != 8 and self._catalogue.agents[name].takes_evaluation:
            settings[EVALUATION] = ON_SMALL_BOARDS
        return self._catalogue.player(name, settings, rules)

    def _player_to_ask(self, rules: Ruleset, choice: dict[str, Any]) -> dict[str, Any]:
        """The agent that a question is for; raises ActionRefused and ConfigError."""
        player = self._here.get(choice["name"])
        if player is None:
            player = self._catalogue.player(choice["name"], choice["settings"], rules)
        if player.is_human:
            raise ActionRefused("a person cannot be asked; an agent can")
        return player_data(player)

    @property
    def _here(self) -> dict[str, PlayerSettings]:
        """Return the players of this game that are not in the list: own agents."""
        players = self.visit.players.values()
        return {who.name: who for who in players if not self._catalogue.knows(who)}


class VisitSessions:
    """All visits under way."""

    def __init__(self, setup: GameSetup) -> None:
        self.catalogue = Catalogue(setup)
        self.marks = setup.settings.marks
        self._visits = Visits(setup)
        self._cores = ComputeSlots(setup.settings.web.cores or available_cores()), ComputeSlots(1)
        self.memory = MemoryBudget(setup.settings.web.total_memory_mb)
        self._most = setup.settings.web.games
        self._sessions: dict[str, VisitSession] = {}

    def session_of(self, number: str | None) -> VisitSession:
        """Return the session of a visit, or of a new one; ActionRefused if there are too many."""
        self.tidy()
        if number is not None and number in self._sessions:
            return self._sessions[number]
        if len(self._sessions) >= self._most:
            self._make_room()
        visit = self._visits.find(number) if number is not None else None
        visit = visit or self._visits.new()
        for color, player in visit.players.items():
            if not self.catalogue.may_play(player):  # its code would run
                visit.players[color] = PERSON
        self._visits.keep(visit)
        session = VisitSession(visit, self._visits, self.catalogue, *self._cores, self.memory)
        session.on_new_number = lambda old: self._renumber(session, old)
        self._sessions[visit.number] = session
        return session

    def _renumber(self, session: VisitSession, old: str) -> None:
        """Know a session by the number of the game that it has begun."""
        del self._sessions[old]
        self._sessions[session.visit.number] = session

    def _make_room(self) -> None:
        empty = [number for number, session in self._sessions.items() if not session.pages]
        if not empty:
            raise ActionRefused(
                f"all games that may be open at once ({self._most}) are; try again later"
            )
        number = min(empty, key=lambda number: self._sessions[number].empty_since)
        self._sessions.pop(number).close()

    def tidy(self) -> None:
        """End visits that nobody looks at any more."""
        for number in [number for number, session in self._sessions.items() if session.left]:
            self._sessions.pop(number).close()
        for session in self._sessions.values():
            session.rest()

    def close(self) -> None:
        """End everything."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()


class RateLimit:
    """A limit on the messages of a page: a number each second, and a few seconds' worth at once."""

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, 3 * rate
        self._left, self._seen = self._most, time.monotonic()

    def take(self) -> bool:
        """Return True if another one is allowed."""
        now = time.monotonic()
        self._left = min(self._most, self._left + self._rate * (now - self._seen))
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
