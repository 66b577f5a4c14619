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
"""What a line with a move begins with."""
_DEEPEST = 60


class NBoardAgent(ProgramAgent):
    """Any Othello engine that speaks NBoard's protocol. It knows of no time, but of a depth."""

    @checked
    def __init__(
        self,
        command: Command,
        depth: Annotated[int, Whole(1, _DEEPEST)],
        patience: Annotated[float, Number(above=0)] = PATIENCE,
        boards: Annotated[Sequence[int], Each(Whole(4, 8, even=True))] = (8,),
    ) -> None:
        """
        depth: plies that it is to search in midgame; of the endgame it decides by itself. The
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
        self._told_depth = 0
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

    # ------------------------------------------------------------------ what is said

    def _say(self, line: str) -> None:
        self._program.send(line, self.patience)

    def _set_depth(self, depth: int) -> None:
        if depth != self._told_depth:
            self._say(f"set depth {depth}")
            self._told_depth = depth

    def _synchronize(self) -> None:
        """Wait until it has done all it was told; what it says meanwhile is no matter."""
        self._pings += 1
        self._say(f"ping {self._pings}")
        while (line := self._program.receive(self.patience).strip()) != f"pong {self._pings}":
            if line.startswith(ANSWER):
                self._program.fail(GARBAGE, f"said '{line:.200}' without being asked")


def read_answer(line: str, side: int) -> tuple[int, float | None]:
    """Move and value of ``=== D3/1.25/0.50``; some have blanks in place of ``/``, or less. Raises
    IllegalMove for what is no square."""
    word, *numbers = re.split(r"[/\s]+", line.removeprefix(ANSWER).strip())
    return parse_square(word, side), _number(numbers[0]) if numbers else None


def _number(text: str) -> float | None:
    """A number as engines write them; None where it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _nodes(line: str, before: int) -> int:
    """The node count of a ``nodestats`` line where it is sane, or the one before."""
    words = line.split()
    if len(words) < 2 or words[0] != "nodestats":
        return before
    number = _number(words[1])
    return round(number) if number is not None and 0 <= number <= MOST_COUNTED else before
