"""Evaluations that were learned from games: their features, and how they answer.

How they learn is in :mod:`experiments.training`; what comes with the lab, in ``shipped``, each file
of weights beside a YAML that says how it was made.
"""

from agents.learned.network import NetworkEvaluation
from agents.learned.patterns import PatternEvaluation
from agents.learned.trees import TreeEvaluation

__all__ = ["NetworkEvaluation", "PatternEvaluation", "TreeEvaluation"]
