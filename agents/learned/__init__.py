"""Evaluations that were learned from games: their features, and how they answer.

How they learn is in :mod:`training`; what comes with the lab, in ``shipped``, each file
of weights beside a YAML that says how it was made.
"""

from othello_lab.agents.learned.network import NetworkEvaluation
from othello_lab.agents.learned.patterns import PatternEvaluation
from othello_lab.agents.learned.trees import TreeEvaluation

__all__ = ["NetworkEvaluation", "PatternEvaluation", "TreeEvaluation"]
