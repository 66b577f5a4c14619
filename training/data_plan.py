"""The settings of the way from games to positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from othello_lab.core.system.settings import (
    Choice,
    Each,
    Nameable,
    Number,
    Switch,
    Text,
    Whole,
    check_settings,
)

ENDGAMES = PERFECT, PLAYED = "perfect", "played"
"""What follows once the exact solver gives the scores: perfect play, or the game's own moves."""
MOST_EXACT = 24
"""Empty squares; beyond these solving a position takes seconds."""


@dataclass(frozen=True, kw_only=True)
class DataConfig(Nameable):
    """The way from games to positions."""

    random_plies: Annotated[list[int], Each(Whole(0, 60))] = field(default_factory=lambda: [4, 24])
    """Each game begins with so many random plies after its opening, drawn for each game from this
    range, the least and the most."""
    exact: Annotated[int, Whole(0, MOST_EXACT)] = 10
    """From so many empty squares on the exact solver gives the scores; 0: the games' ends do."""
    trace: Annotated[float, Number(0, 1)] = 1.0
    """The weight of the end of the game against the values that the players' searches expected on
    the way: a score is (1 - trace) x the value expected there + trace x the score one move later.
    Below 1 the players' values must be in discs."""
    unit: Annotated[int, Whole(1)] = 100
    """The value of one disc in the players' searches (100 for evaluations that learned)."""
    endgames: Annotated[str, Choice(*ENDGAMES)] = PERFECT
    """The scores of solved endings: perfect (of perfect play), or played (of the game's own moves,
    each position solved)."""
    validation: Annotated[float, Number(0, 0.5)] = 0.1
    """The share of games kept for validation."""
    test: Annotated[float, Number(0, 0.5)] = 0.1
    """The share of games kept for the test."""
    read: Annotated[list[str], Each(Text(r".+", "a file"))] = field(default_factory=list)
    """Files to read games from, instead of playing: WTHOR (.wtb), GGF, transcripts, folders of
    runs."""
    partly: Annotated[bool, Switch()] = False
    """Use the rest of a file of which a part cannot be read."""

    def __post_init__(self) -> None:
        check_settings(self)
        if len(self.random_plies) != 2 or self.random_plies[0] > self.random_plies[1]:
            raise ValueError(
                f"random_plies={list(self.random_plies)}: the least and the most are needed, such "
                "as [4,24]"
            )
