"""Looking ahead: each search in a file of its own, over any evaluation.

:mod:`agents.search.window.plain` has the same searches in readable Python, held equal by tests.
"""

from othello_lab.agents.search.montecarlo.mcts import MCTS
from othello_lab.agents.search.montecarlo.plain import MoveEstimate
from othello_lab.agents.search.search_agent import SearchAgent
from othello_lab.agents.search.window.alphabeta import AlphaBeta
from othello_lab.agents.search.window.minimax import Minimax
from othello_lab.agents.search.window.mtdf import MTDf
from othello_lab.agents.search.window.pvs import PVS
from othello_lab.agents.search.window.search import WindowSearch

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
