"""``othello-lab play gtp``: any agent of the lab as an engine that speaks the Go Text Protocol."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata

from othello_lab.agents.external.gtp_connection import RESIGN
from othello_lab.core.game import Limits
from othello_lab.core.notation import PASS, IllegalMove, NotationError, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS, Color
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.play.agent_process import AgentFailure, AgentProcesses, AgentResigned
from othello_lab.play.config import GameSetup, PlayerSettings
from othello_lab.play.game import GameState, PlayedTurn, outcome
from othello_lab.play.game_files import described

GAME = "Othello"
_OTHER_NAMES = ("reversi",)
_COLORS = {"b": Color.BLACK, "black": Color.BLACK, "w": Color.WHITE, "white": Color.WHITE}
_UNASKED = "nobody"  # who has made a pass that the controller left out
_MARGIN = 0.1  # seconds of a move's time that are left for the way to and fro


class GtpFailure(Exception):
    """A command cannot be done; the message is the answer."""


@dataclass
class GtpClock:
    """The controller's time: seconds of main time, then further seconds for a number of moves.

    left: of each colour, seconds and moves (0: main time), as last received.
    """

    main: float
    period: float
    moves: int
    left: dict[Color, tuple[float, int]]

    def limits(self, color: Color, given: Limits) -> Limits:
        """Return the limits of the next move, within limits that hold anyway."""
        seconds, moves = self.left.get(color, (self.main, 0))
        if moves == 0 and seconds <= 0 and self.moves:
            seconds, moves = self.period, self.moves
        if moves:
            share = seconds / moves
            share = max(share / 2, share - _MARGIN)
            return replace(given, seconds=min(share, given.seconds or share), clock=None)
        if given.seconds is not None:
            return given if given.seconds < seconds else replace(given, seconds=seconds / 2)
        return replace(given, clock=max(seconds - _MARGIN, seconds / 2))


class GtpServer:
    """Answers commands about one game of an agent."""

    def __init__(self, setup: GameSetup, player: PlayerSettings, thinkers: AgentProcesses) -> None:
        self._setup, self._player, self._thinkers = setup, player, thinkers
        self._game = GameState(Position.start(setup.rules))
        self._clock: GtpClock | None = None
        self.quitting = False
        self._commands: dict[str, Callable[..., str]] = {
            name.removeprefix("do_").replace("gogui_rules", "gogui-rules"): getattr(self, name)
            for name in dir(self)
            if name.startswith("do_")
        }

    def answer(self, line: str) -> str | None:
        """The answer to a line, with the empty line at its end; None for an empty line or a
        comment."""
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line.replace("\t", " "))
        words = text.partition("#")[0].split()
        number = words.pop(0) if words and re.fullmatch(r"\d{1,18}", words[0]) else ""
        if not words:
            return f"?{number} a command is needed\n\n" if number else None
        name, *arguments = words
        try:
            if name not in self._commands:
                raise GtpFailure("unknown command")
            said, mark = self._called(self._commands[name], arguments), "="
        except GtpFailure as failure:
            said, mark = str(failure), "?"
        return f"{mark}{number} {said}".rstrip() + "\n\n"

    def _called(self, command: Callable[..., str], arguments: Sequence[str]) -> str:
        needed = len(inspect.signature(command).parameters)
        if len(arguments) < needed:
            raise GtpFailure("syntax error: an argument is missing")
        return command(*arguments[:needed])

    # ------------------------------------------------------------------ about itself

    def do_protocol_version(self) -> str:
        return "2"

    def do_name(self) -> str:
        return f"Othello strategy lab: {described(self._player)}"

    def do_version(self) -> str:
        try:
            return metadata.version("othello-strategy-lab")
        except metadata.PackageNotFoundError:
            return "unknown"

    def do_known_command(self, name: str) -> str:
        return "true" if name in self._commands else "false"

    def do_list_commands(self) -> str:
        return "\n".join(sorted(self._commands))

    def do_quit(self) -> str:
        self.quitting = True
        return ""

    def do_list_games(self) -> str:
        return GAME

    def do_set_game(self, name: str) -> str:
        if name.lower() not in (GAME.lower(), *_OTHER_NAMES):
            raise GtpFailure(f"unsupported game; this is {GAME}")
        return ""

    # ------------------------------------------------------------------ the board

    def do_boardsize(self, size: str) -> str:
        rules = [rule for rule in RULESETS.values() if str(rule.side) == size]
        if not rules:
            raise GtpFailure("unacceptable size")
        if self._game.start.ruleset.side != rules[0].side:
            try:
                self._thinkers.change_rules_for(self._player, rules[0])
            except ConfigError as error:
                raise GtpFailure(f"unacceptable size: {error}") from None
            self._game = GameState(Position.start(rules[0]))
        return self.do_clear_board()

    def do_clear_board(self) -> str:
        self._game = GameState(Position.start(self._game.start.ruleset))
        if self._clock:
            self._clock.left.clear()
        return ""

    def do_komi(self, points: str) -> str:
        return ""  # which Othello has not

    def do_setboard(self, board: str, color: str) -> str:
        rules = self._game.start.ruleset
        letter = "X" if self._color(color) is Color.BLACK else "O"
        try:
            self._game = GameState(Position.from_obf(f"{board} {letter}", rules))
        except NotationError as error:
            raise GtpFailure(f"syntax error: {error}") from None
        return ""

    def do_showboard(self) -> str:
        return "\n" + str(self._game.position)

    def do_play(self, color: str, vertex: str) -> str:
        side = self._color(color)
        try:
            move = parse_square(vertex, self._game.start.ruleset.side)
        except IllegalMove:
            raise GtpFailure("syntax error: a square or pass is needed") from None
        before = len(self._game.turns)
        try:
            self._pass_if_left_out(side, move)
            self._game.play(move, "controller")
        except (GtpFailure, IllegalMove) as error:
            del self._game.turns[before:]
            raise GtpFailure(f"illegal move: {error}") from None
        return ""

    def do_undo(self) -> str:
        turns = self._game.turns
        if not turns:
            raise GtpFailure("cannot undo")
        turns.pop()
        if turns and turns[-1].by == _UNASKED:
            turns.pop()
        return ""

    # ------------------------------------------------------------------ moves

    def do_genmove(self, color: str) -> str:
        return self._thought(self._color(color), keep=True)

    def do_reg_genmove(self, color: str) -> str:
        return self._thought(self._color(color), keep=False)

    def _thought(self, side: Color, keep: bool) -> str:
        """The move that the agent chooses for a side."""
        game = self._game if keep else GameState(self._game.start, list(self._game.turns))
        if game.position.is_over:
            return "pass"
        if game.position.must_pass and game.position.to_move is side:
            game.play(PASS, self._player.name)
            return "pass"
        self._pass_if_left_out(side, None, game)
        seed = 2 * self._setup.settings.seed + (side is Color.WHITE)
        limits = self._setup.limits
        if self._clock:
            limits = self._clock.limits(side, limits)
        try:
            decision, seconds = self._thinkers.ask(self._player, game, seed, limits)
        except AgentResigned:
            return RESIGN
        except (AgentFailure, ConfigError) as error:
            raise GtpFailure(f"no move: {one_line(error)}") from None
        position = game.position
        game.turns.append(PlayedTurn(position, decision.move, self._player.name, decision, seconds))
        self._spend(side, seconds)
        return square_name(decision.move).upper()

    def _pass_if_left_out(
        self, side: Color, move: int | None, game: GameState | None = None
    ) -> None:
        """Make the pass that a controller may leave out; raises GtpFailure if it is not the side's
        turn."""
        game = game or self._game
        position = game.position
        if position.to_move is side:
            return
        if not position.must_pass or move == PASS:
            raise GtpFailure(f"it is {position.to_move.value}'s turn")
        game.play(PASS, _UNASKED)

    def _color(self, word: str) -> Color:
        if word.lower() not in _COLORS:
            raise GtpFailure("syntax error: a color is needed, black or white")
        return _COLORS[word.lower()]

    # ------------------------------------------------------------------ time

    def do_time_settings(self, main: str, period: str, moves: str) -> str:
        seconds, period_seconds, count = (self._number(word) for word in (main, period, moves))
        # A period of time for no moves means no limit at all.
        endless = period_seconds > 0 and count == 0
        self._clock = None if endless else GtpClock(seconds, period_seconds, int(count), {})
        return ""

    def do_time_left(self, color: str, seconds: str, moves: str) -> str:
        side, left, count = self._color(color), self._number(seconds), int(self._number(moves))
        if self._clock is None:
            self._clock = GtpClock(left, 0, 0, {})
        self._clock.left[side] = left, count
        return ""

    def _number(self, word: str) -> float:
        if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", word):
            raise GtpFailure("syntax error: a number is needed")
        return float(word)

    def _spend(self, side: Color, seconds: float) -> None:
        """Take a move's time off main time, until the controller sends the rest."""
        if self._clock:
            left, moves = self._clock.left.get(side, (self._clock.main, 0))
            if not moves:
                self._clock.left[side] = max(0.0, left - seconds), 0

    # ------------------------------------------------------------------ the end

    def do_final_score(self) -> str:
        if not self._game.is_over:
            raise GtpFailure("cannot score")
        winner, margin = self._game.winner, self._game.margin
        return "0" if winner is None else f"{winner.value[0].upper()}+{margin}"

    # ------------------------------------------------------------------ GoGui's, for any game

    def do_gogui_rules_game_id(self) -> str:
        return GAME

    def do_gogui_rules_board_size(self) -> str:
        return str(self._game.start.ruleset.side)

    def do_gogui_rules_board(self) -> str:
        position, side = self._game.position, self._game.start.ruleset.side
        squares = position.to_obf().split()[0].replace("-", ".")
        rows = [" ".join(squares[side * row : side * (row + 1)]) for row in range(side)]
        return "\n" + "\n".join(rows)

    def do_gogui_rules_legal_moves(self) -> str:
        position = self._game.position
        if position.must_pass:
            return "pass"
        return " ".join(square_name(move).upper() for move in position.moves)

    def do_gogui_rules_side_to_move(self) -> str:
        return self._game.position.to_move.value

    def do_gogui_rules_final_result(self) -> str:
        return outcome(self._game) if self._game.is_over else ""
