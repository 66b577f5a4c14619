"""Looking ahead: each search in a file of its own, over any evaluation.

:mod:`agents.search.window.plain` has the same searches in readable Python, held equal by tests.
"""

from agents.search.base import SearchAgent
from agents.search.montecarlo.mcts import MCTS
from agents.search.montecarlo.plain import MoveEstimate
from agents.search.window.alphabeta import AlphaBeta
from agents.search.window.minimax import Minimax
from agents.search.window.mtdf import MTDf
from agents.search.window.pvs import PVS
from agents.search.window.search import WindowSearch

__all__ = [
    "MCTS",
    "PVS",
    "AlphaBeta",
    "MTDf",
    "Minimax",
    "MoveEstimate",
    "SearchAgent",
    "WindowSearch",
]
