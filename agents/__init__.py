"""Who decides: simple agents, evaluations (heuristics), searches. Imports only :mod:`core`."""

from agents.base import Agent, Decision, Limits, SearchStats
from agents.evaluation import DiscCount, Evaluation, SquareWeights
from agents.search import MCTS, AlphaBeta, Minimax
from agents.simple import GreedyAgent, Maximizer, RandomAgent

__all__ = [
    "MCTS",
    "Agent",
    "AlphaBeta",
    "Decision",
    "DiscCount",
    "Evaluation",
    "GreedyAgent",
    "Limits",
    "Maximizer",
    "Minimax",
    "RandomAgent",
    "SearchStats",
    "SquareWeights",
]
