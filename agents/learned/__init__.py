"""Evaluations learned from games: their features and their inference.

The training is in :mod:`training`. The folder ``shipped`` holds the weights that come with the lab,
each file with a YAML that names its origin.
"""

from othello_lab.agents.learned.network import NetworkEvaluation
from othello_lab.agents.learned.patterns import PatternEvaluation
from othello_lab.agents.learned.trees import TreeEvaluation

__all__ = ["NetworkEvaluation", "PatternEvaluation", "TreeEvaluation"]
