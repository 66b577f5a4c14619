"""Heuristics: what a position is worth to the side to move, without looking ahead.

Each is one file with a formula, its range, units and source; :mod:`agents.evaluation.base` says
how one is written and how a search calls it.
"""

from agents.evaluation.base import FINAL_UNIT, Evaluation
from agents.evaluation.disc_count import DiscCount
from agents.evaluation.square_weights import SquareWeights

__all__ = ["FINAL_UNIT", "DiscCount", "Evaluation", "SquareWeights"]
