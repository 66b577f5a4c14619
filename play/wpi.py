"""``othello-lab play wpi``: any agent of the lab as a program that speaks the file protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from othello_lab.agents.external.mailbox import FileNameError, MailboxFile, mailbox_files
from othello_lab.agents.external.wpi import NAME, check_folder
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.core.game import Decision
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError, Number, Text
from othello_lab.core.wpi import FIRST, SECOND, color_letter, may_go_on, move_text, read_move
from othello_lab.play.agent_process import AgentFailure, AgentProcesses, changed
from othello_lab.play.config import GameSetup, PlayerSettings, Settings, config_folders, read_plain
from othello_lab.play.engine import announce, read_engine
from othello_lab.play.game import GameState, PlayedTurn, decision_lines, outcome

USAGE = """\
usage: othello-lab play wpi NAME agent=AGENT [key=value ...]

Any agent of the lab as a program that speaks the file protocol
(docs/file_protocol.md): it plays one game by NAME.in and NAME.out.

  othello-lab play wpi anna agent=alphabeta
  othello-lab play wpi anna agent=pvs agent.evaluation=iago limit=10
  othello-lab play wpi anna agent=greedy folder=/tmp/game

  limit=60       seconds that the referee gives for a move; the agent answers
                 within 90 % of them, or within limits.seconds
  folder=.       the game's folder

A search goes deeper and deeper until its time is over, unless depth or
agent.depth says how deep; mcts plays out games so long, unless agent.playouts
says how many. Other settings: evaluation, where the agent leaves it
open, limits.depth, limits.nodes, seed; --config-dir DIR.
othello-lab agents list explains the agents and evaluations.
"""
SHARE = 0.9
"""Of the time for a move, in which it is answered."""
_LEAST = 0.02
"""Of that time, which an agent gets even where the rest has gone by."""
_LOOK_SECONDS = 0.1  # the rules have it look no more often


@dataclass
class WpiConfig:
    """As in USAGE."""

    name: Annotated[str, NAME] = ""
    folder: Annotated[str, Text(r".+", "a folder")] = "."
    limit: Annotated[float, Number(above=0)] = 60.0


def run_wpi(arguments: Sequence[str]) -> int:
    """Play the game that a command line asks for; returns the exit code. Raises ConfigError."""
    if {"-h", "--help"} & set(arguments) or not arguments:
        print(USAGE, end="")
        return 0
    settings, setup, player = read_player(arguments)
    incoming, outgoing = mailbox_files(Path(settings.folder), settings.name)

    def say(*lines: str) -> None:
        print(visible("\n".join(lines), keep="\n"), flush=True)

    hang = setup.settings.limits.hang
    with AgentProcesses(setup.rules, setup.limits, hang, announce) as thinkers:
        thinkers.of(player, _USE)  # before its time runs

        def decide(game: GameState, seconds: float) -> tuple[Decision, float]:
            limits = replace(setup.limits, seconds=min(seconds, setup.limits.seconds or seconds))
            return thinkers.ask(player, game, setup.settings.seed, limits, _USE)

        FilePlayer(settings.name, incoming, outgoing, settings.limit, decide, say).play()
    return 0


_USE = "play"


def read_player(words: Sequence[str]) -> tuple[WpiConfig, GameSetup, PlayerSettings]:
    """Return the files, the game, and the agent of a command line; ConfigError."""
    name, *rest = words
    if "=" in name or name.startswith("-"):
        raise ConfigError(f"wpi: NAME is needed before {name}, as in wpi anna agent=alphabeta")
    rest, folders, _ = config_folders(rest)
    known = WpiConfig.__dataclass_fields__
    mine = [word for word in rest if word.partition("=")[0] in known]
    said = {word.partition("=")[0] for word in rest}
    settings = read_plain(WpiConfig, [f"name='{name}'", *mine])
    try:
        check_folder(settings.folder)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    words = ["ruleset=wpi", f"limits.seconds={SHARE * settings.limit}"]
    words += [word for word in rest if word not in mine]
    setup, player = read_engine(words, folders)
    return settings, setup, _deepening(player, said)


def _deepening(player: PlayerSettings, said: set[str]) -> PlayerSettings:
    """A search that goes deeper until it is stopped, where nothing else was said."""
    settings: Settings = player.agent or {}
    if "iterative" in settings:
        if "agent.iterative" not in said:
            player = changed(player, "iterative", True)
        if not {"depth", "agent.depth"} & said:
            player = changed(player, "depth", MAX_DEPTH)
    return player


class FilePlayer:
    """Plays one game by two files, and judges it itself."""

    def __init__(
        self,
        name: str,
        incoming: MailboxFile,
        outgoing: MailboxFile,
        limit: float,
        decide: Callable[[GameState, float], tuple[Decision, float]],
        say: Callable[..., None],
    ) -> None:
        """limit: seconds for each move. decide: returns a move within a number of seconds; may
        raise AgentFailure. say: prints lines."""
        self._name, self._incoming, self._outgoing = name, incoming, outgoing
        self._limit, self._decide, self._say = limit, decide, say
        self._turn_began = 0.0

    def play(self) -> None:
        """Raises ConfigError where the files cannot be used."""
        self._say(f"{self._name} waits for {self._incoming.path}.")
        game = GameState(Position.start("wpi"))
        color = self._colour(game)
        self._say(f"{self._name} has {color.value.capitalize()}.", "", str(game.position))
        while not game.is_over:
            if game.position.to_move is color:
                self._move(game)
            elif not self._follow(game, color):
                return
        result = {color: "won", color.other: "lost", None: "drawn"}[game.winner]
        self._say("", outcome(game), f"{self._name} has {result}.")

    # ------------------------------------------------------------------ turns

    def _colour(self, game: GameState) -> Color:
        text = self._receive(lambda text: bool(text.strip()))
        letter = text.strip().upper()
        if letter not in (FIRST, SECOND):
            raise ConfigError(f"{self._incoming.path} says '{text.strip():.60}'; W or B is needed")
        return next(color for color in Color if color_letter(color, game.start.ruleset) == letter)

    def _move(self, game: GameState) -> None:
        """Make a move, or pass."""
        position = game.position
        decision, seconds, move = None, 0.0, PASS
        if not position.must_pass:
            left = SHARE * self._limit - (time.monotonic() - self._turn_began)
            try:
                decision, seconds = self._decide(game, max(left, _LEAST * self._limit))
                move = decision.move
            except AgentFailure as trouble:
                move = position.moves[0]
                self._say(f"The agent has broken down ({trouble}); the first legal move instead.")
        turn = game.play(move, self._name, decision, seconds)
        try:
            self._outgoing.write(move_text(move, turn.color, position.ruleset))
        except OSError as error:
            raise ConfigError(
                f"{self._outgoing.path}: cannot be written ({error.strerror})"
            ) from None
        self._show(turn, game)

    def _follow(self, game: GameState, color: Color) -> bool:
        """Make the opponent's move; return True if it is valid."""
        text = self._receive(lambda text: not may_go_on(text))
        try:
            move = read_move(text, game.position)
        except IllegalMove as error:
            other, own_name = color.other.value.capitalize(), color.value.capitalize()
            self._say("", f"{other} wrote {error}", f"The move is not valid: {own_name} wins.")
            self._say(f"{self._name} has won.")
            return False
        self._show(game.play(move, "the opponent"), game)
        return True

    def _show(self, turn: PlayedTurn, game: GameState) -> None:
        made = move_text(turn.move, turn.color, turn.before.ruleset)
        who = f"{turn.color.value.capitalize()} ({turn.by})"
        lines = [f"{len(game.turns)}. {who} {made}"]
        lines += [f"  {line}" for line in decision_lines(turn)]
        self._say("", *lines, str(game.position))

    # ------------------------------------------------------------------ the file that is read

    def _receive(self, whole: Callable[[str], bool]) -> str:
        """Return the content of the file, once it is complete, and remove it. Meanwhile nothing is
        done but to look for it from time to time."""
        while True:
            try:
                text = self._incoming.read()
                if text is not None and whole(text):
                    self._turn_began = time.monotonic() - self._incoming.age
                    self._incoming.remove()
                    return text
            except FileNameError as error:
                raise ConfigError(f"{error}; a file is needed") from None
            except OSError as error:
                path = self._incoming.path
                raise ConfigError(f"{path}: cannot be removed ({error.strerror})") from None
            time.sleep(_LOOK_SECONDS)
