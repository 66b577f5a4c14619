"""Who decides: simple agents, evaluations (heuristics), searches. Imports only :mod:`core`."""

import core as core  # first, for Ctrl-C
from agents.base import Agent, Decision, Limits, SearchStats
from agents.evaluation import DiscCount, Evaluation, SquareWeights
from agents.limited import Limited
from agents.search import MCTS, PVS, AlphaBeta, Minimax, MTDf
from agents.simple import GreedyAgent, Maximizer, RandomAgent

__all__ = [
    "MCTS",
    "PVS",
    "Agent",
    "AlphaBeta",
    "Decision",
    "DiscCount",
    "Evaluation",
    "GreedyAgent",
    "Limited",
    "Limits",
    "MTDf",
    "Maximizer",
    "Minimax",
    "RandomAgent",
    "SearchStats",
    "SquareWeights",
]
