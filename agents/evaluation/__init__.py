"""Heuristics: what a position is worth to the side to move, without looking ahead.

Each is one file with a formula, its range, units and source; :mod:`agents.evaluation.base` says
how one is written and how a search calls it.
"""

from agents.evaluation.base import FINAL_UNIT, Evaluation
from agents.evaluation.composite import FEATURES, Composite
from agents.evaluation.corners import CornerCloseness, Corners
from agents.evaluation.disc_count import DiscCount
from agents.evaluation.edge_stability import EdgeStability
from agents.evaluation.function import FunctionEvaluation, heuristic
from agents.evaluation.iago import Iago
from agents.evaluation.mobility import FrontierDiscs, Mobility, PotentialMobility
from agents.evaluation.parity import Parity
from agents.evaluation.square_weights import ModifiedSquareWeights, SquareWeights
from agents.evaluation.stable_discs import StableDiscs

__all__ = [
    "FEATURES",
    "FINAL_UNIT",
    "Composite",
    "CornerCloseness",
    "Corners",
    "DiscCount",
    "EdgeStability",
    "Evaluation",
    "FrontierDiscs",
    "FunctionEvaluation",
    "Iago",
    "Mobility",
    "ModifiedSquareWeights",
    "Parity",
    "PotentialMobility",
    "SquareWeights",
    "StableDiscs",
    "heuristic",
]
