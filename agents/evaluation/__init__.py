"""Heuristics: values of a position for the side to move, without looking ahead.

Each is one file with a formula, its range, units and source. :mod:`agents.evaluation.evaluation`
explains how to write one and how a search calls it. A new one is a module here and a YAML in
``conf/evaluation``; :mod:`agents.evaluation.catalogue` finds it.
"""

from othello_lab.agents.evaluation.catalogue import FEATURES
from othello_lab.agents.evaluation.composite import Composite
from othello_lab.agents.evaluation.corners import CornerCloseness, Corners
from othello_lab.agents.evaluation.disc_count import DiscCount
from othello_lab.agents.evaluation.edge_stability import EdgeStability
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, Evaluation, Feature
from othello_lab.agents.evaluation.function import FunctionEvaluation, as_evaluation, heuristic
from othello_lab.agents.evaluation.iago import Iago
from othello_lab.agents.evaluation.mobility import FrontierDiscs, Mobility, PotentialMobility
from othello_lab.agents.evaluation.parity import Parity
from othello_lab.agents.evaluation.square_weights import ModifiedSquareWeights, SquareWeights
from othello_lab.agents.evaluation.stable_discs import StableDiscs

__all__ = [
    "FEATURES",
    "FINAL_UNIT",
    "Composite",
    "CornerCloseness",
    "Corners",
    "DiscCount",
    "EdgeStability",
    "Evaluation",
    "Feature",
    "FrontierDiscs",
    "FunctionEvaluation",
    "Iago",
    "Mobility",
    "ModifiedSquareWeights",
    "Parity",
    "PotentialMobility",
    "SquareWeights",
    "StableDiscs",
    "as_evaluation",
    "heuristic",
]
