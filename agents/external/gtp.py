"""Othello engines that speak the Go Text Protocol (GTP 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from othello_lab.agents.agent import Decision, Limits
from othello_lab.agents.external.gtp_connection import RESIGN, GtpConnection, GtpDialect, GtpRefusal
from othello_lab.agents.external.program import PATIENCE, Command
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import GARBAGE, RESIGNED, PlayerFailure
from othello_lab.core.notation import parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Each, Number, Switch, Text, Whole, checked


class GtpAgent(ProgramAgent):
    """An Othello engine that speaks GTP."""

    @checked
    def __init__(
        self,
        command: Command,
        settings: Annotated[Sequence[str], Each(Text(r"\S[^\n]*", "a GTP command"))] = (),
        time: Annotated[bool, Switch()] = True,
        patience: Annotated[float, Number(above=0)] = PATIENCE,
        boards: Annotated[Sequence[int], Each(Whole(4, 8, even=True))] = (8,),
    ) -> None:
        """
        settings: GTP commands sent after the engine's start. time: true to send time limits to an
        engine that accepts them. The others as in :class:`ProgramAgent`.
        """
        super().__init__(command, patience, boards)
        self.settings, self.time = settings, time
        self._engine = GtpConnection(self._program, patience)

    @property
    def dialect(self) -> GtpDialect:
        """The forms of GTP that the engine has understood so far."""
        return self._engine.dialect

    # ------------------------------------------------------------------ the game

    def _greet(self) -> None:
        self._engine = GtpConnection(self._program, self.patience)
        self._engine.greet()
        self._engine.set_game()
        for setting in self.settings:
            self._engine.must(setting)

    def _begin(self, color: Color, start: Position, seed: int) -> None:
        self._start = start
        self._moves: list[tuple[Color, int]] = []
        self._own_move: int | None = None  # on the engine's board already, not yet observed
        self._sent_time = False
        self._set_up()

    def _set_up(self) -> None:
        """Set the engine's board to the start of the game and replay the moves made since."""
        start = self._start
        self._engine.clear(start.ruleset.side)
        usual = Position.start("standard")
        self._swapped = False
        if (start.mover, start.opponent) == (usual.mover, usual.opponent):
            # If White begins, as in ruleset wpi, the engine plays with exchanged colours.
            self._swapped = start.to_move is Color.WHITE
        elif start != Position.start(start.ruleset):
            self._engine.set_board(start)
        for color, move in self._moves:
            self._engine.play(self._seen(color), move)

    def observe(self, move: int, position: Position) -> None:
        color = position.to_move.other
        own_move, self._own_move = self._own_move, None
        self._moves.append((color, move))
        if own_move is None:
            self._engine.play(self._seen(color), move)
        elif own_move != move:  # a process that replaced a killed one has chosen another move
            self._set_up()

    def decide(self, position: Position, limits: Limits) -> Decision:
        color = self._seen(position.to_move)
        if self.time and limits.timed:
            self._engine.tell_time(color, limits, first=not self._sent_time)
            self._sent_time = True
        try:
            answer = self._engine.generate(color, None)
        except GtpRefusal as error:
            command = f"genmove {self._engine.color(color)}"
            self._program.fail(GARBAGE, f"refused '{command}': {error!s:.200}")
        if answer.lower() == RESIGN:
            raise PlayerFailure(RESIGNED, "")
        with self._blaming(GARBAGE, answer):
            self._own_move = parse_square(answer, position.ruleset.side)
        return Decision(self._own_move)

    def _seen(self, color: Color) -> Color:
        """Return a colour as the engine sees it."""
        return color.other if self._swapped else color
