"""Looking ahead: each search in a file of its own, over any evaluation.

:mod:`agents.search.plain` has the same searches in readable Python, held equal by tests.
"""

from agents.search.alphabeta import AlphaBeta
from agents.search.base import SearchAgent
from agents.search.iterative import WindowSearch
from agents.search.mcts import MCTS
from agents.search.minimax import Minimax
from agents.search.mtdf import MTDf
from agents.search.plain_mcts import MoveEstimate
from agents.search.pvs import PVS

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
