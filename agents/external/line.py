"""Bots in any language that read and write lines of text: see ``docs/line_protocol.md``."""

from __future__ import annotations

import re
from typing import Any

from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import GARBAGE
from othello_lab.core.notation import parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

READY = "ready"
_COMMENT = "#"
_LETTERS = {Color.BLACK: "X", Color.WHITE: "O"}
_COUNTS = ("nodes", "evaluations", "playouts")
_WHOLE, _DECIMAL = re.compile(r"[+-]?\d{1,18}"), re.compile(r"[+-]?\d{1,18}(\.\d{1,18})?")


class LineAgent(ProgramAgent):
    """A bot that reads lines from its standard input and answers on its standard output."""

    def _begin(self, color: Color, start: Position, seed: int) -> None:
        self._color = color
        side = start.ruleset.side
        self._tell(f"game {_LETTERS[color]} {side} {seed} {start.to_obf()}")
        answer = self._answer(self.patience)
        if answer != READY:
            self._program.fail(GARBAGE, f"answered '{answer:.200}' to game; {READY} is needed")

    def observe(self, move: int, position: Position) -> None:
        mover = position.to_move.other
        self._tell(f"played {_LETTERS[mover]} {square_name(move)}")

    def decide(self, position: Position, limits: Limits) -> Decision:
        board, letter = position.to_obf().split()
        moves = " ".join(position.legal_moves())
        self._tell(f"move {letter} {board} {_time(limits)} {moves}")
        answer = self._answer(None)
        with self._blaming(GARBAGE, answer):
            return _decision(answer, position)

    def _tell(self, line: str) -> None:
        """Send a line; raises PlayerFailure for an answer that nobody asked for."""
        while (said := self._program.receive_now()) is not None:
            if _is_answer(said):
                self._program.fail(GARBAGE, f"said '{said:.200}' without being asked")
        self._program.send(line, self.patience)

    def _answer(self, patience: float | None) -> str:
        while not _is_answer(line := self._program.receive(patience)):
            pass
        return line.strip()


def _is_answer(line: str) -> bool:
    """Return True unless a line is blank or a comment."""
    return bool(line.strip()) and not line.lstrip().startswith(_COMMENT)


def _time(limits: Limits) -> str:
    """Format the time for this move, or the time left for the game; ``-`` for no limit."""
    if limits.per_move is not None:
        return f"move:{limits.per_move:.3f}"
    return "-" if limits.clock is None else f"game:{limits.clock:.3f}"


def _decision(answer: str, position: Position) -> Decision:
    """Parse ``d3 value=12 depth=5 nodes=1234``; raises ValueError if it is malformed."""
    word, *notes = answer.split()
    move = parse_square(word, position.ruleset.side)
    notes_read: dict[str, Any] = {}
    for note in notes:
        name, equals, text = note.partition("=")
        if not equals or name not in ("value", "depth", *_COUNTS):
            raise ValueError(f"'{note:.60}': one of value, depth, {', '.join(_COUNTS)} =number")
        form = _DECIMAL if name == "value" else _WHOLE
        if not form.fullmatch(text):
            raise ValueError(f"'{note:.60}' is no number")
        notes_read[name] = int(text) if _WHOLE.fullmatch(text) else float(text)
    counts = SearchStats(**{name: notes_read.pop(name) for name in _COUNTS if name in notes_read})
    return Decision(move, notes_read.get("value"), (), notes_read.get("depth"), counts)
