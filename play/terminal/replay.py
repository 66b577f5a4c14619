"""``othello-lab play replay``: step through a game that was played."""

from __future__ import annotations

import re
from pathlib import Path

from othello_lab.core.rules import Ruleset
from othello_lab.play.game import PlayedTurn, outcome
from othello_lab.play.game_files import ReadGame
from othello_lab.play.moves import written
from othello_lab.play.recorded import open_game
from othello_lab.play.terminal.board import disc_counts, draw
from othello_lab.play.terminal.screen import Screen

HELP = """\
Enter or n: next   p: back   12: after move 12   start, end   all: to the end   help   q: leave"""


def replay(path: Path, number: int | None, rules: Ruleset, whole: bool) -> None:
    """Show a game of a file in any notation, or of a run. whole: all of it at once. The rest is as
    for :func:`open_game`. Raises ConfigError."""
    screen = Screen()
    player = _ReplayPosition(screen, open_game(path, number, rules, screen.say))
    if whole:
        player.go_on()
        return
    player.show()
    try:
        while player.obey(screen.ask(f"{player.at}/{len(player.game.turns)}> ")):
            pass
    except EOFError:
        screen.say()
        screen.say("The input has ended. Goodbye.")
    except KeyboardInterrupt:
        screen.say()


class _ReplayPosition:
    """A place in a game."""

    def __init__(self, screen: Screen, shown: ReadGame) -> None:
        self._screen = screen
        self._shown = shown
        self.game = shown.game
        self.at = 0

    def obey(self, line: str) -> bool:
        """Obey a line; return True to go on."""
        word = line.lower()
        last = len(self.game.turns)
        if word in ("q", "quit"):
            return False
        if word in ("", "n", "next"):
            self._move_to(self.at + 1)
        elif word in ("p", "b", "back"):
            self._move_to(self.at - 1)
        elif word == "start":
            self._move_to(0)
        elif word == "end":
            self._move_to(last)
        elif word == "all":
            self.go_on()
        elif re.fullmatch(r"\d{1,4}", word):
            self._move_to(int(word))
        else:
            self._screen.say(HELP)
        return True

    def _move_to(self, number: int) -> None:
        last = len(self.game.turns)
        if not 0 <= number <= last:
            where = "the end" if number > last else "the start"
            moves = f"its moves are 1 to {last}" if last else "it has no moves"
            self._screen.say(f"That is {where} of the game; {moves}.")
            return
        self.at = number
        self.show()

    def go_on(self) -> None:
        """Show where one is, and all that follows."""
        self.show()
        while self.at < len(self.game.turns):
            self._move_to(self.at + 1)

    def show(self) -> None:
        """Show the position after move ``at``, and the statements on that move."""
        screen, turns = self._screen, self.game.turns
        turn = turns[self.at - 1] if self.at else None
        position = turn.after if turn else self.game.start
        screen.say()
        if turn is not None:
            self._tell(turn)
        look = screen.unicode, screen.colours
        names = {color: f"{name:.34}" for color, name in self._shown.players.items()}
        beside = list(disc_counts(position, names, *look))
        last = turn.move if turn else None
        screen.show(draw(position, last, True, *look, beside))
        if self.at == len(turns):
            over = self.game.is_over
            screen.say(outcome(self.game) if over else "The record ends here.", "bold")

    def _tell(self, turn: PlayedTurn) -> None:
        name = turn.color.value.capitalize()
        move = written(turn.move, turn.color, self.game.start.ruleset)
        self._screen.say(f"{self.at}. {name} {move}", "bold")
        for line in self._shown.notes[self.at - 1]:
            self._screen.say(f"   {line}")
