"""A session at the terminal: turns, questions to agents, and output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.text import Text

from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.agent_process import AgentFailure, AgentProcesses, AgentResigned
from othello_lab.play.config import GameSetup
from othello_lab.play.game import GameState, PlayedTurn, decision_lines, outcome
from othello_lab.play.game_files import described, game_text, players_of, write
from othello_lab.play.moves import written
from othello_lab.play.opening_names import opening_names
from othello_lab.play.series import Series
from othello_lab.play.terminal.board import disc_counts, draw
from othello_lab.play.terminal.explained import TraceOptions, compare, show_tree
from othello_lab.play.terminal.screen import Screen
from othello_lab.play.terminal.seats import Seats
from othello_lab.play.variants import rival as opposite


class SessionEnd(Exception):
    """The session is to end."""


class TerminalSession:
    """One person's evening at the board: some games, one after another. record: their file."""

    def __init__(
        self, setup: GameSetup, screen: Screen, thinkers: AgentProcesses, record: Path | None = None
    ) -> None:
        self.setup, self.screen, self.thinkers = setup, screen, thinkers
        self.seats = Seats(setup.players)
        self.game = GameState(Position.start(setup.rules))
        self.series = Series.of(setup.settings.series)
        self.debug = TraceOptions()
        self.debug_once: TraceOptions | None = None
        self.marks = setup.settings.marks
        self.halted = False  # an agent was stopped or broke down: somebody has to say what now
        self._number = 0  # of games before this one
        self.record = record
        self._finished: list[str] = []
        self._announced = False  # the end of this game

    @property
    def seed(self) -> int:
        """Of the game under way."""
        return self.setup.settings.seed + self._number

    # ------------------------------------------------------------------ the games

    def begin(self, game: GameState) -> None:
        """Begin another game, perhaps some moves into it."""
        self.thinkers.rules = game.start.ruleset
        self.game = game
        self.halted = self._announced = False
        self.show_board()

    def next_game(self) -> None:
        """Begin a new game from the start; the one before is kept in the record if it is over."""
        if self.game.is_over:
            self._finished.append(self.text())
        self._number += 1
        self.begin(GameState(Position.start(self.game.start.ruleset)))

    def announce_end(self) -> bool:
        """Print the winner, once; return True if another game of a series follows."""
        if self._announced:
            return False
        self._announced = True
        self.screen.say()
        self.screen.say(outcome(self.game), "bold")
        if self.series is None or self.series.winner is not None:
            self.save_record()
            return False
        self.series.add(self.game)
        self.save_record()
        self.screen.say(f"Series: {self.series_score()}")
        if self.series.winner is not None:
            return False
        self._finished.append(self.text())
        self._number += 1
        self.series.change_colours()
        self.seats.change_colours()
        self.screen.say(f"The colours change: {self._pairing()}.")
        self.begin(GameState(Position.start(self.game.start.ruleset)))
        return True

    def series_score(self) -> str:
        """The score of the series, or that there is none."""
        if self.series is None:
            return "no series; series games=5 or series points=100 begins one"
        names = {color: player.name for color, player in self.seats.lasting.items()}
        return self.series.score(self.series.names(names))

    def _pairing(self) -> str:
        return ", ".join(
            f"{color.value.capitalize()} is {described(self.seats.lasting[color])}"
            for color in Color
        )

    def reopen(self) -> None:
        """Something was taken back: the end, if there was one, is no longer."""
        self._announced = False

    @property
    def waits_for_a_person(self) -> bool:
        """True on a person's turn, and at the end."""
        return self.game.is_over or self.seats.of(self.game.position.to_move).is_human

    @property
    def waits_for_somebody(self) -> bool:
        """True if nothing goes on by itself: a person's turn, an agent that was stopped or has
        broken down, or the end."""
        return self.waits_for_a_person or self.halted

    # ------------------------------------------------------------------ what is shown

    def show_welcome(self) -> None:
        """Print the players."""
        self.screen.say(f"{self._pairing()}. help explains the commands.")
        self.show_board()

    def show_board(self) -> None:
        """Draw the position with the side to move."""
        game, screen = self.game, self.screen
        position = game.position
        look = screen.unicode, screen.colours
        names = {color: self.seats.of(color).name for color in Color}
        beside: list[str | Text] = [*disc_counts(position, names, *look), ""]
        to_move = position.to_move.value.capitalize()
        beside.append("  game over" if game.is_over else f"  {to_move} to move")
        if game.turns:
            last = game.turns[-1]
            made = written(last.move, last.color, position.ruleset)
            beside.append(f"  last: {last.color.value.capitalize()} {made}")
        if name := opening_names(game)[-1]:
            beside.append(f"  opening: {name}")
        last_move = game.turns[-1].move if game.turns else None
        screen.say()
        screen.show(draw(position, last_move, self.marks, *look, beside))

    # ------------------------------------------------------------------ moves

    def play(self, move: int, by: str) -> None:
        """A person's move; raises IllegalMove, and the board stays."""
        turn = self.game.play(move, by)
        self._made(turn)

    def _made(self, turn: PlayedTurn) -> None:
        self.seats.moved(turn.color)
        self.halted = False
        self.save_record()
        self.show_board()

    def force_pass(self) -> None:
        """The side to move has no move: say so, and pass."""
        position = self.game.position
        name, other = position.to_move.value.capitalize(), position.to_move.other.value.capitalize()
        passing = written(PASS, position.to_move, position.ruleset)
        self.screen.say()
        self.screen.say(f"{name} has no move and must pass: {passing}. {other} is to move.", "bold")
        self.game.play(PASS, described(self.seats.of(position.to_move)))
        self.save_record()
        self.show_board()

    def let_agent_move(self) -> None:
        """Ask the agent to move, print its statements, and make its move. If it is stopped, or
        breaks down, the next prompt is for the person at the terminal."""
        position = self.game.position
        color = position.to_move
        player = self.seats.of(color)
        name = f"{color.value.capitalize()} ({described(player)})"
        self.halted = True  # unless it moves
        with self.stoppable(f"{name} was stopped."):
            try:
                decision, seconds = self.thinkers.ask(player, self.game, self._seed_of(color))
            except AgentResigned:
                self.game.give_up(color)
                return
            except AgentFailure as trouble:
                self.screen.say(f"{name} has broken down: {trouble}", "bold red")
                self.screen.say(
                    "'agent NAME' puts another one in its place, 'human' lets you play on, "
                    "'go' asks it again, and a move is made for it."
                )
                return
            turn = PlayedTurn(position, decision.move, described(player), decision, seconds)
            self._state(name, turn)
            if (pruned := self.seats.pruned.get(color)) is not None:
                other = opposite(player, pruned)
                compare(self.screen, self.thinkers, other, self.game, turn, self._seed_of(color))
            options, self.debug_once = self.debug_once or self.debug, None
            if options.on:
                agent = self.thinkers.of(player, color.value).agent
                show_tree(self.screen, self.thinkers.limits, agent, turn, options)
            self.game.turns.append(turn)
            self._made(turn)

    def _seed_of(self, color: Color) -> int:
        return 2 * self.seed + (color is Color.WHITE)

    @contextmanager
    def stoppable(self, message: str) -> Iterator[None]:
        """Let Ctrl-C stop the block, and nothing else."""
        try:
            yield
        except KeyboardInterrupt:
            self.screen.say()
            self.screen.say(f"{message} 'go' lets it think again.")

    def _state(self, name: str, turn: PlayedTurn) -> None:
        rules = turn.before.ruleset
        self.screen.say()
        self.screen.say(f"{name} plays {written(turn.move, turn.color, rules)}", "bold")
        for line in decision_lines(turn):
            self.screen.say(f"  {line}")

    # ------------------------------------------------------------------ the record

    def text(self) -> str:
        """Return the game as it is written to files."""
        players = players_of(self.game, self.seats.lasting)
        return game_text(self.game, players, "" if self.series is None else self.series_score())

    def save_record(self) -> None:
        """Keep all games up to now, if they are to be."""
        if self.record is not None:
            write(self.record, [*self._finished, self.text()])
