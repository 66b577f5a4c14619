"""Stages of the game: numbers of empty squares that share what is learned."""

from __future__ import annotations

import numpy as np

MOST_EMPTIES, SQUARES = 60, 64


def stages_of_empties(stages: int) -> np.ndarray:
    """The stage of each number of empty squares from 0 to 64, uint8, all about equally long; stage
    0 is the game's end."""
    empties = np.minimum(np.arange(SQUARES + 1), MOST_EMPTIES)
    return (empties * stages // (MOST_EMPTIES + 1)).astype(np.uint8)


def empties_text(of_empties: np.ndarray, stage: int) -> str:
    """The numbers of empty squares of a stage, as ``42-37``."""
    empties = np.flatnonzero(of_empties[: MOST_EMPTIES + 1] == stage)
    return f"{empties[-1]}-{empties[0]}" if len(empties) > 1 else f"{empties[0]}"
