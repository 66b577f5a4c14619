"""The review of a game: the discs that each move lost, the better move, and the reason.

Where few squares are empty the values are exact, by the endgame solver; before that they are
estimates by a search with the champion's evaluation. Both are in discs, to the side that moves, and
the move that was played is compared with the best one by the same search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from othello_lab.agents.agent import Limits
from othello_lab.agents.composing import load
from othello_lab.agents.config import evaluation_settings, load_evaluation
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import PlayerSettings
from othello_lab.play.game import GameState, PlayedTurn, line_text

EXACT_EMPTIES = 22
"""Empty squares from which on values are exact; solving takes some tenths of a second there."""
DEPTH = 14
"""Plies of the searches before."""
MARKS = {"blunder": 8.0, "mistake": 4.0, "inaccuracy": 2.0}
"""Discs that a move has to lose for each mark. An exact move that changes the winner is a mistake
at least."""
GOOD = 1.0
"""A move that loses less discs than this counts as a best one."""

_JUDGE = {
    "depth": 18,
    "ordering": "tt+mobility+history",
    "table_mb": 32,
    "step": 2,
    "probcut": True,
    "probcut_confidence": 1.2,
    "probcut_glance": 0.5,
    "endgame_table_mb": 32,
}
"""Settings of ``pvs``. The champion itself saves more of a fixed depth."""
_EVALUATIONS = {8: "patterns", 6: "patterns6", 4: "disc_count"}  # by side
_CLEAR = 2.0  # discs that an estimate of a won game has at least
_USE = "review"
_MOST_REASONS = 2
_LOOK = 6  # plies of lines whose ends are compared


@dataclass(frozen=True)
class MoveReview:
    """One move.

    number: of the move, from 1. best: the better move, or the same. line: the best line from the
    position before, beginning with ``best``. value, best_value: discs to the mover with the move
    and with the best one. exact: False for estimates. choices: the number of legal moves. reason: a
    sentence on the difference; empty for good moves.
    """

    number: int
    color: Color
    move: int
    best: int
    line: tuple[int, ...]
    value: float
    best_value: float
    exact: bool
    choices: int
    reason: str = ""

    @property
    def loss(self) -> float:
        """Discs that the move has lost."""
        return max(0.0, self.best_value - self.value)

    @property
    def changed(self) -> bool:
        """True if the move has changed the winner; of estimates if both are clear of a draw."""
        clear = self.exact or min(abs(self.value), abs(self.best_value)) >= _CLEAR
        return self.loss >= GOOD and clear and _sign(self.value) != _sign(self.best_value)

    @property
    def mark(self) -> str:
        """``blunder``, ``mistake``, ``inaccuracy`` or nothing."""
        mark = next((mark for mark, discs in MARKS.items() if self.loss >= discs), "")
        return "mistake" if self.exact and self.changed and mark != "blunder" else mark

    @property
    def to_black(self) -> float:
        """The value after the move in discs to Black."""
        return self.value if self.color is Color.BLACK else -self.value


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


class Reviewer:
    """Reviews moves of games of one ruleset."""

    def __init__(self, thinkers: AgentProcesses, side: int) -> None:
        judge = load("agent", "pvs") | _JUDGE
        judge["evaluation"] = evaluation_settings(_EVALUATIONS[side])
        if side != 8:
            judge |= {"probcut": None, "probcut_glance": None}
        self._thinkers = thinkers
        self._per_disc = load_evaluation(_EVALUATIONS[side]).per_disc or 1
        self._solver = PlayerSettings("solver", judge | {"endgame": EXACT_EMPTIES})
        self._judge = PlayerSettings("judge", judge | {"endgame": 0, "depth": DEPTH})

    def review(self, game: GameState, numbers: Sequence[int]) -> Iterator[MoveReview]:
        """Yield the reviews of these moves of a game; forced passes have none. Raises
        AgentFailure."""
        for number in numbers:
            turn = game.turns[number - 1]
            if turn.move != PASS:
                yield self._review(turn, number)

    def _review(self, turn: PlayedTurn, number: int) -> MoveReview:
        before, move = turn.before, turn.move
        exact = before.empties <= EXACT_EMPTIES
        best_value, line = self._value(before, exact, DEPTH)
        value, played = best_value, line
        if move != line[0]:
            theirs, answer = self._value(turn.after, exact, DEPTH - 1)
            value, played = -theirs, (move, *answer)
            if value >= best_value:  # as good; an estimate may even find it better
                best_value, line = value, played
        review = MoveReview(
            number, turn.color, move, line[0], line, value, best_value, exact, len(before.moves)
        )
        if review.loss < GOOD:
            return review
        return replace(review, reason=reason(before, played, line))

    def _value(self, position: Position, exact: bool, depth: int) -> tuple[float, tuple[int, ...]]:
        """Return the discs to the mover, and the best line."""
        if position.is_over:
            return float(position.disc_difference), ()
        if position.must_pass:
            value, line = self._value(position.play(PASS), exact, depth - 1)
            return -value, (PASS, *line)
        player = self._solver if exact else self._judge
        limits = Limits() if exact else Limits(depth=max(1, depth))
        decision, _ = self._thinkers.ask(player, GameState(position), 0, limits, use=_USE)
        value = float(decision.value or 0)
        unit = FINAL_UNIT if abs(value) >= FINAL_UNIT or exact else self._per_disc
        line = decision.pv if decision.pv[:1] == (decision.move,) else (decision.move,)
        return value / unit, line


# ---------------------------------------------------------------------- reasons

_FEATURES = {
    "mobility": (2, "gives up {} moves of freedom"),
    "stable_discs": (2, "secures {} fewer discs for good"),
    "frontier_discs": (3, "leaves {} more discs beside empty squares"),
}
"""Parts of evaluations: from which difference on, and in which words, they are a reason."""


def reason(before: Position, played: Sequence[int], better: Sequence[int]) -> str:
    """Return a sentence on the difference between two lines of moves.

    It is what can be seen after their first moves, or else some moves later.
    """
    color = before.to_move
    words = _after_a_move(before.play(played[0]), before.play(better[0]), color, better[0])
    if words:
        return f"{square_name(played[0])} {' and '.join(words[:_MOST_REASONS])}."
    plies = min(len(played), len(better), _LOOK)
    if plies > 1:
        ends = _follow(before, played[:plies]), _follow(before, better[:plies])
        if words := _differences(*ends, color):
            return f"Some moves later it {' and '.join(words[:_MOST_REASONS])}."
    return "Only looking further ahead shows it."


def _after_a_move(played: Position, better: Position, color: Color, best: int) -> list[str]:
    """Return what a colour's move does worse than its best one, the gravest first."""
    corners = _corners(played)
    said = []
    opened = _moves_of(played, color.other) & corners - _moves_of(better, color.other)
    if best in corners and not (played.black | played.white) >> best & 1:
        said.append(f"leaves the corner {square_name(best)}")
    elif opened:
        said.append(
            f"opens the corner {line_text(sorted(opened))} to {color.other.value.capitalize()}"
        )
    return said + _parts(played, better, color)


def _differences(played: Position, better: Position, color: Color) -> list[str]:
    """Return the same for the positions at the ends of two lines."""
    saved, other = (
        {square for square in _corners(played) if _discs(end, color) >> square & 1}
        for end in (better, played)
    )
    said = [f"costs the corner {line_text(sorted(saved - other))}"] if saved - other else []
    return said + _parts(played, better, color)


def _parts(played: Position, better: Position, color: Color) -> list[str]:
    worse = []
    for name, (least, words) in _FEATURES.items():
        evaluation = load_evaluation(name)
        if played.ruleset.side in evaluation.sides and not (played.is_over or better.is_over):
            lost = _to(evaluation, better, color) - _to(evaluation, played, color)
            if lost >= least:
                worse.append((lost / least, words.format(round(lost))))
    return [words for _, words in sorted(worse, reverse=True)]


def _follow(position: Position, line: Sequence[int]) -> Position:
    for move in line:
        position = position.play(move)
    return position


def _corners(position: Position) -> set[int]:
    last = position.ruleset.side - 1
    return {0, last, 8 * last, 9 * last}


def _discs(position: Position, color: Color) -> int:
    return position.black if color is Color.BLACK else position.white


def _moves_of(position: Position, color: Color) -> set[int]:
    if position.to_move is not color:
        position = position.other_side()
    return set(position.moves)


def _to(evaluation: Any, position: Position, color: Color) -> float:
    """Return the value of a position to a colour."""
    value = float(evaluation.plain(position))
    return value if position.to_move is color else -value


# ---------------------------------------------------------------------- accuracy


@dataclass(frozen=True)
class Accuracy:
    """Of one player. moves: those with a choice. good: the ones that lost less than a disc. loss:
    discs lost a move on average."""

    moves: int
    good: int
    loss: float


def accuracy(moves: Sequence[MoveReview]) -> Mapping[Color, Accuracy]:
    """Return the accuracy of both players over the reviewed moves."""
    result = {}
    for color in Color:
        choices = [move for move in moves if move.color is color and move.choices > 1]
        lost = sum(move.loss for move in choices)
        good = sum(move.loss < GOOD for move in choices)
        result[color] = Accuracy(len(choices), good, lost / len(choices) if choices else 0.0)
    return result


def accuracy_text(moves: Sequence[MoveReview], players: Mapping[Color, str]) -> list[str]:
    """Return a sentence on the accuracy of each player who had a choice."""
    return [
        f"{color.value.capitalize()} ({players[color]}): {known.good} of "
        f"{counted(known.moves, 'move')} with a choice were best "
        f"({100 * known.good / known.moves:.0f} %); {known.loss:.1f} discs lost a move."
        for color, known in accuracy(moves).items()
        if known.moves
    ]


def scale_text() -> str:
    """Return a sentence on the values of a review."""
    return (
        f"Values are discs to Black: exact with {EXACT_EMPTIES} or fewer empty squares, by the "
        "champion's search before."
    )


def comment(review: MoveReview) -> str:
    """Return the comment on a move in a line; empty for a good one."""
    if review.loss < GOOD:
        return ""
    how = "" if review.exact else "about "
    mark = f"{review.mark}: " if review.mark else ""
    winner = ", and the winner changes" if review.changed else ""
    return (
        f"{mark}loses {how}{counted(round(review.loss), 'disc')}{winner}; "
        f"better {line_text(review.line[:6])}. {review.reason}"
    )
