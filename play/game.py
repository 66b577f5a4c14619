"""A game as people play it: it can be taken back, and goes on from any position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from othello_lab.agents.agent import Decision
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core.game import SearchStats, leader
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted

BEFORE = "before"
"""The player of moves whose player is not known."""


@dataclass(frozen=True)
class PlayedTurn:
    """A move that was made.

    before: the position it was made in. decision: the agent's, None for a person's move and a
    forced pass. by: the player that made it. seconds: the agent's time.
    """

    before: Position
    move: int
    by: str
    decision: Decision | None = None
    seconds: float = 0.0

    @property
    def color(self) -> Color:
        return self.before.to_move

    @property
    def after(self) -> Position:
        return self.before.play(self.move)


@dataclass
class GameState:
    """A game under way. resigned: the colour that gave up. late: True if its time was up."""

    start: Position
    turns: list[PlayedTurn] = field(default_factory=list)
    resigned: Color | None = None
    late: bool = False

    @property
    def position(self) -> Position:
        """The present position."""
        return self.turns[-1].after if self.turns else self.start

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves so far, passes included."""
        return tuple(turn.move for turn in self.turns)

    @property
    def is_over(self) -> bool:
        return self.resigned is not None or self.position.is_over

    def play(
        self, move: int, by: str, decision: Decision | None = None, seconds: float = 0
    ) -> PlayedTurn:
        """Make a move, by its number; raises IllegalMove, and then nothing has changed."""
        position = self.position
        position.play(move)
        self.turns.append(PlayedTurn(position, move, by, decision, seconds))
        return self.turns[-1]

    def follow(self, moves: Iterable[int], by: str) -> None:
        """Make several moves."""
        for move in moves:
            self.play(move, by)

    def take_back(self, deciders: Iterable[Color]) -> int:
        """Take back moves until one of these colours has to decide again; how many. If none of them
        has decided yet, nothing changes."""
        colors = set(deciders)
        for number in range(len(self.turns) - 1, -1, -1):
            turn = self.turns[number]
            if turn.color in colors and turn.move != PASS:
                taken = len(self.turns) - number
                del self.turns[number:]
                self.reopen()
                return taken
        return 0

    def give_up(self, color: Color, late: bool = False) -> None:
        """End the game: a colour resigns, or its time is up."""
        self.resigned, self.late = color, late

    def reopen(self) -> None:
        """Go on with a game that was given up."""
        self.resigned, self.late = None, False

    @property
    def winner(self) -> Color | None:
        """The winner of a game that is over; None for a draw."""
        if self.resigned is not None:
            return self.resigned.other
        return leader(self.position)

    @property
    def margin(self) -> int:
        """The winning margin in discs, empty squares to the winner. A player that resigns, or whose
        time is up, loses by the whole board: 64 on 8x8."""
        position = self.position
        if self.resigned is None:
            return abs(position.disc_difference)
        return position.ruleset.side**2


def outcome(game: GameState) -> str:
    """The end of a game in words: winner, score and margin; of an unfinished one its state."""
    position = game.position
    black, white = position.black.bit_count(), position.white.bit_count()
    if not game.is_over:
        made, color = counted(len(game.turns), "move"), position.to_move.value.capitalize()
        return f"The game stops after {made}, {color} to move; {black} : {white} so far."
    winner = game.winner
    if winner is None:
        return f"The game is over: a draw, {black} : {white}."
    name = winner.value.capitalize()
    if game.resigned is not None:
        loser = game.resigned.value.capitalize()
        ended = f"{loser}'s time is up" if game.late else f"{loser} resigns"
        return (
            f"{ended}: {name} wins by {game.margin}, the whole board. Black {black}, White {white}."
        )
    empty = ", the empty squares counted" if position.empties else ""
    return f"The game is over: {name} wins by {game.margin}{empty}. Black {black}, White {white}."


def value_text(value: float | None, per_disc: float | None = None) -> str:
    """A value as people read it: with a sign, in discs where the game is over or ``per_disc`` is
    known, the part of a value that stands for a disc; else in the heuristic's units."""
    if value is None:
        return "none"
    if per_disc and abs(value) < FINAL_UNIT:
        return f"{value / per_disc:+.1f} discs"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:+.3f}"
    if discs := round(value / FINAL_UNIT) if abs(value) >= FINAL_UNIT else 0:
        word = "win" if discs > 0 else "loss"
        return word if abs(discs) == 1 else f"{word} by {abs(discs)}"  # no game is won by one disc
    return f"{int(value):+d}"


def line_text(moves: Iterable[int]) -> str:
    """A line of moves by name."""
    return " ".join(square_name(move) for move in moves)


def decision_lines(turn: PlayedTurn) -> list[str]:
    """Yield an agent's statements on its move, below the move itself."""
    decision = turn.decision
    if decision is None:
        return []
    statements = [] if decision.value is None else [f"value {value_text(decision.value)}"]
    if decision.depth is not None:
        statements.append(f"depth {decision.depth}")
    if decision.pv:
        statements.append(f"line {line_text(decision.pv)}")
    counts = [*counts_in_words(decision.stats), f"{turn.seconds:.3f} s"]
    return [", ".join(line) for line in (statements, counts) if line]


def counts_in_words(stats: SearchStats) -> list[str]:
    """Return the counts of a search in words, without those of 0: few agents count everything."""
    words = {
        "game states examined": stats.nodes,
        "playouts": stats.playouts,
        "evaluations": stats.evaluations,
        "cutoffs": stats.cutoffs,
    }
    return [f"{number:,} {word}" for word, number in words.items() if number]
