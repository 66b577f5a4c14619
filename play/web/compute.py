"""The compute process of a visit, which asks its agents, and the server's client that waits for it.

The server only waits; all that takes long is done in a compute process. A question is cancelled by
killing that process, and the agents' processes end with it; the next question starts another one.
So the server needs no thread, and no agent can hold it up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from othello_lab.agents.sides import side_of
from othello_lab.core.notation import square_name
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import die_with_parent
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.play.agent_process import AgentFailure, AgentProcesses, AgentResigned
from othello_lab.play.config import GameSetup, read
from othello_lab.play.game import GameState, outcome, value_text
from othello_lab.play.game_files import described, players_of
from othello_lab.play.hints import hints
from othello_lab.play.recorded import game_of_run, games_of_run, runs_below
from othello_lab.play.review import GOOD, MoveReview, Reviewer, comment
from othello_lab.play.web import explanations
from othello_lab.play.web.game_data import (
    game_data,
    game_from,
    player_data,
    player_from,
)
from othello_lab.play.web.memory import MemoryBudget, MemoryTaken
from othello_lab.play.web.visits import find_visit, time_of_visit

Answer = Callable[[AgentProcesses, GameState, dict[str, Any]], dict[str, Any]]
"""What a client's process does: for a game, with the options of the question."""
Note = Callable[[str], None]

_MOST = 32 << 20  # bytes of an answer
_GAMES = 200  # that are listed at once
_LINE = 8  # moves of a better line that are shown
OWN = re.compile(r"\.(py|yaml|yml)$")
"""Ends of the files of own agents."""
_NICE = 5  # the server goes first


def decide(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """An agent's move. options: ``player`` as :func:`play.web.game_data.player_data` gives it, and
    the ``seed``."""
    decision, seconds = thinkers.ask(player_from(options["player"]), game, options["seed"])
    return {"decision": asdict(decision), "seconds": seconds}


def prepare(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """Load or compile the kernels of players. options: ``players``, by colour."""
    for color, player in options["players"].items():
        thinkers.of(player_from(player), color)
    return {}


def runs(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """Return the runs with games to look at. options: ``folder``."""
    return {"runs": runs_below(Path(options["folder"]))}


def games(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """Some games of a run. options: ``folder``, ``run`` and the ``first``."""
    listed, total = games_of_run(_run(options), options["first"], _GAMES)
    return {"games": listed, "total": total}


def mine(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """Return a summary of some visits that have moves, in their order. options: ``visits``, their
    numbers, and ``kept``, the folder of all visits."""
    folder = Path(options["kept"])
    summaries = []
    for number in options["visits"]:
        visit = find_visit(folder, number)
        if visit is None or not visit.game.turns:
            continue
        players = players_of(visit.game, visit.players)
        summaries.append(
            {
                "visit": number,
                "black": players[Color.BLACK],
                "white": players[Color.WHITE],
                "moves": len(visit.game.turns),
                "outcome": outcome(visit.game) if visit.game.is_over else "",
                "seconds": time_of_visit(folder, number),
            }
        )
    return {"games": summaries}


def own_agent(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """Return an own agent as :func:`play.web.game_data.player_data` has it. options: its ``path``,
    in the server's folder."""
    word = options["path"]
    file = re.split(r":(?!.*[/\\])", word, maxsplit=1)[0]
    path = Path(file).resolve()
    if not (path.is_relative_to(Path.cwd()) and path.is_file() and OWN.search(file)):
        raise ConfigError(f"'{word:.60}': needed is file.py:NAME or a YAML in the server's folder")
    side = side_of(word)
    setup = read([f"ruleset={game.start.ruleset.name}", *side.words("white")])
    return player_data(replace(setup.players[Color.WHITE], name=re.sub(r"\W+", "-", side.label)))


def recorded(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """A game of a run. options: ``folder``, ``run`` and ``game``, its number."""
    return {"game": game_data(game_of_run(_run(options), options["game"]).game)}


def _run(options: dict[str, Any]) -> Path:
    """The folder of a run; raises ConfigError for a name that is not in the list."""
    folder = Path(options["folder"])
    if options["run"] not in runs_below(folder):
        raise ConfigError(f"unknown run '{options['run']}'")
    return folder / options["run"]


def hint(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """The best move. options: ``player``, the agent that gives hints."""
    who = player_from(options["player"])
    if not game.position.moves:
        raise ConfigError("there is no move to advise")
    (best,) = hints(thinkers, who, game, 1)
    return {
        "by": described(who),
        "move": square_name(best.move),
        "value_text": value_text(best.value),
        "line": [square_name(move) for move in best.line or (best.move,)],
    }


def review(thinkers: AgentProcesses, game: GameState, options: dict[str, Any]) -> dict[str, Any]:
    """The reviews of some moves. options: the numbers of the ``first`` and the ``last``."""
    last = min(options["last"], len(game.turns))
    reviewer = Reviewer(thinkers, game.start.ruleset.side)
    numbers = range(last, options["first"] - 1, -1)
    return {"moves": [_review_data(game, move) for move in reviewer.review(game, numbers)]}


def _review_data(game: GameState, review: MoveReview) -> dict[str, Any]:
    """line: the better line, with the board after each move."""
    position = game.turns[review.number - 1].before
    line = []
    for move in review.line[:_LINE]:
        after = position.play(move)
        line.append(
            {
                "move": square_name(move),
                "color": position.to_move.value,
                "board": after.to_obf().split()[0],
                "to_move": after.to_move.value,
            }
        )
        position = after
    return {
        "number": review.number,
        "color": review.color.value,
        "move": square_name(review.move),
        "value": review.to_black,
        "loss": review.loss,
        "exact": review.exact,
        "mark": review.mark,
        "changed": review.changed,
        "choices": review.choices,
        "comment": comment(review),
        "line": line if review.loss >= GOOD else [],
    }


ANSWERS: dict[str, Answer] = {
    answer.__name__: answer
    for answer in (
        *(decide, prepare, runs, games, mine, own_agent, recorded, hint, review),
        *(explanations.values, explanations.parts, explanations.course, explanations.tree),
    )
}
"""The functions that answer questions, by name of the question."""


def serve(link: Channel, parent: int, setup: GameSetup) -> None:
    """The main function of a compute process: answer questions until the server is gone."""
    die_with_parent(parent)
    os.nice(_NICE)
    _let_go_of_all_but(link.fileno())
    question_id = 0

    def say(text: str) -> None:
        link.send(json.dumps({"id": question_id, "note": text}).encode())

    settings = setup.settings.limits
    stopped_by = "Stop ends that"
    with AgentProcesses(setup.rules, setup.limits, settings.hang, say, stopped_by) as thinkers:
        while True:
            try:
                question = json.loads(link.receive())
            except EOFError:
                return
            question_id = question["id"]
            link.send(json.dumps({"id": question_id, **_answer(thinkers, question)}).encode())


def _answer(thinkers: AgentProcesses, question: dict[str, Any]) -> dict[str, Any]:
    try:
        game = game_from(question["game"])
        thinkers.rules = ruleset(game.start.ruleset)
        return {"ok": ANSWERS[question["ask"]](thinkers, game, question["options"])}
    except AgentResigned:
        return {"ok": {"resigned": True}}
    except (AgentFailure, ValueError) as error:
        return {"trouble": one_line(error)}
    except Exception as error:
        return {"trouble": f"{type(error).__name__}: {one_line(error):.300}"}


def _let_go_of_all_but(link: int) -> None:
    """Close everything that the server has open: the port, and other visitors' connections.

    Each number is kept busy: the objects of the server's sockets are still here, and would close
    later files under their number.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/dev/fd"):
        number = int(name)
        if number > 2 and number not in (link, nothing):
            with contextlib.suppress(OSError):
                os.fstat(number)
                os.dup2(nothing, number)
    os.dup2(nothing, 0)


class ComputeSlots:
    """The number of compute processes that work at once; the others wait, the first come first."""

    def __init__(self, number: int) -> None:
        self._free = asyncio.Semaphore(number)
        self.waiting = 0

    @contextlib.asynccontextmanager
    async def one(self, note: Note) -> AsyncIterator[None]:
        """Wait for a core, and have it."""
        if self._free.locked():
            note(f"Waiting for a free core; {self.waiting} before you." if self.waiting else _BUSY)
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self._free.release()


_BUSY = "Waiting for a free core."


@dataclass
class _OpenQuestion:
    number: int
    note: Note
    answer: asyncio.Future[dict[str, Any]]


class ComputeClient:
    """One visit's connection to its compute process, for one question after another."""

    def __init__(self, setup: GameSetup, cores: ComputeSlots, memory: MemoryBudget) -> None:
        self._setup, self._cores, self._memory = setup, cores, memory
        self._process: ForkedProcess | None = None
        self._number = 0
        self._open: _OpenQuestion | None = None
        self._turn = asyncio.Lock()

    async def ask(
        self, name: str, game: dict[str, Any], options: dict[str, Any], note: Note
    ) -> dict[str, Any]:
        """Return the answer; raises AgentFailure. Cancelling it ends the work on the question.

        game: from :func:`play.web.game_data.game_data`. note: gets messages on the progress.
        """
        async with self._turn, self._cores.one(note):
            while True:
                if self._process is None:
                    await self._memory.make_room(note)
                note("")
                try:
                    return await self._ask_in_time(name, game, options, note)
                except MemoryTaken:
                    await self._memory.let_others_finish(note)

    async def _ask_in_time(self, *question: Any) -> dict[str, Any]:
        seconds = self._setup.settings.web.seconds
        self._memory.begin(self)
        try:
            async with asyncio.timeout(seconds):
                return await self._ask_process(*question)
        except TimeoutError:
            raise AgentFailure(f"no answer for {seconds:g} s") from None
        finally:
            if self._open is not None:
                self.end()
            self._memory.finish()

    async def _ask_process(
        self, name: str, game: dict[str, Any], options: dict[str, Any], note: Note
    ) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        if self._process is None:
            self._process = ForkedProcess(serve, os.getpid(), self._setup, most=_MOST)
            loop.add_reader(self._process.fileno(), self._read)
        self._number += 1
        self._open = _OpenQuestion(self._number, note, loop.create_future())
        question = {"id": self._number, "ask": name, "game": game, "options": options}
        try:
            self._process.send(json.dumps(question).encode(), wait=False)
        except OSError:
            raise AgentFailure(_ENDED) from None
        answer = await self._open.answer
        self._open = None
        if "trouble" in answer:
            raise AgentFailure(answer["trouble"])
        result: dict[str, Any] = answer["ok"]
        return result

    def _read(self) -> None:
        """Something has come from the process."""
        process, question = self._process, self._open
        if process is None:
            return
        try:
            process.read()
            while (message := process.take()) is not None:
                content = json.loads(message)
                if question is None or content["id"] != question.number:
                    continue
                if "note" in content:
                    question.note(content["note"])
                elif not question.answer.done():
                    question.answer.set_result(content)
        except ValueError as error:
            self.end(AgentFailure(one_line(error)))
        if process.ended:
            self.end(AgentFailure(_ENDED))

    @property
    def process(self) -> int | None:
        """The number of the compute process; None if there is none."""
        return self._process.number if self._process is not None else None

    @property
    def busy(self) -> bool:
        """True while a question is open."""
        return self._open is not None

    def end(self, why: AgentFailure | None = None) -> None:
        """End the process at once; ``why`` is raised where its answer is waited for."""
        process, self._process = self._process, None
        question, self._open = self._open, None
        if process is not None:
            asyncio.get_running_loop().remove_reader(process.fileno())
            process.close()
        if question is not None and not question.answer.done():
            question.answer.set_exception(why or AgentFailure("stopped"))


_ENDED = "the process in which agents are asked has ended"
