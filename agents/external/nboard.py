"""Engines that speak the NBoard protocol, version 2, such as NTest and Edax."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated

from othello_lab.agents.agent import Decision, Limits, SearchStats
from othello_lab.agents.external.program import PATIENCE, Command
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import GARBAGE, MOST_COUNTED
from othello_lab.core.notation import format_ggf, ggf_word, parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Each, Number, Whole, checked

ANSWER = "==="
"""Beginning of a line with a move."""
_DEEPEST = 60


class NBoardAgent(ProgramAgent):
    """An Othello engine that speaks NBoard's protocol, limited by depth and never by time."""

    @checked
    def __init__(
        self,
        command: Command,
        depth: Annotated[int, Whole(1, _DEEPEST)],
        patience: Annotated[float, Number(above=0)] = PATIENCE,
        boards: Annotated[Sequence[int], Each(Whole(4, 8, even=True))] = (8,),
    ) -> None:
        """
        depth: plies to search in midgame; the engine chooses its own depth in the endgame. The
        others as in :class:`ProgramAgent`.
        """
        super().__init__(command, patience, boards)
        self.depth = depth
        self._pings = 0

    def check_limits(self, limits: Limits) -> None:
        if limits.depth is None:
            super().check_limits(limits)
        else:
            super().check_limits(Limits(nodes=limits.nodes))

    # ------------------------------------------------------------------ the game

    def _greet(self) -> None:
        self._sent_depth = 0
        self._say("nboard 2")
        self._set_depth(self.depth)
        self._synchronize()

    def _begin(self, color: Color, start: Position, seed: int) -> None:
        self._say(f"set game {format_ggf(start.to_obf(), [], PC='lab', RE='?')}")
        self._synchronize()

    def observe(self, move: int, position: Position) -> None:
        self._say(f"move {ggf_word(move)}")

    def decide(self, position: Position, limits: Limits) -> Decision:
        self._set_depth(min(self.depth, limits.depth or self.depth))
        self._synchronize()
        self._say("go")
        nodes = 0
        while not (line := self._program.receive().strip()).startswith(ANSWER):
            nodes = _nodes(line, nodes)
        with self._blaming(GARBAGE, line):
            move, value = read_answer(line, position.ruleset.side)
        return Decision(move, value, stats=SearchStats(nodes=nodes))

    # ------------------------------------------------------------------ commands

    def _say(self, line: str) -> None:
        self._program.send(line, self.patience)

    def _set_depth(self, depth: int) -> None:
        if depth != self._sent_depth:
            self._say(f"set depth {depth}")
            self._sent_depth = depth

    def _synchronize(self) -> None:
        """Wait until the engine has done all its commands; ignore its other lines meanwhile."""
        self._pings += 1
        self._say(f"ping {self._pings}")
        while (line := self._program.receive(self.patience).strip()) != f"pong {self._pings}":
            if line.startswith(ANSWER):
                self._program.fail(GARBAGE, f"said '{line:.200}' without being asked")


def read_answer(line: str, side: int) -> tuple[int, float | None]:
    """Parse move and value of ``=== D3/1.25/0.50``.

    Some engines write blanks in place of ``/`` or leave numbers out. Raises IllegalMove if the
    first word is no square.
    """
    word, *numbers = re.split(r"[/\s]+", line.removeprefix(ANSWER).strip())
    return parse_square(word, side), _number(numbers[0]) if numbers else None


def _number(text: str) -> float | None:
    """Parse a number as engines write it; None if the text is no finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _nodes(line: str, before: int) -> int:
    """Return the node count of a ``nodestats`` line, or ``before`` if it has no sane count."""
    words = line.split()
    if len(words) < 2 or words[0] != "nodestats":
        return before
    number = _number(words[1])
    return round(number) if number is not None and 0 <= number <= MOST_COUNTED else before
