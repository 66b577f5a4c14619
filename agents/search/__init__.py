"""Looking ahead: each search in a file of its own, over any evaluation.

:mod:`agents.search.plain` has the same searches in readable Python, held equal by tests.
"""

from agents.search.alphabeta import AlphaBeta
from agents.search.base import SearchAgent
from agents.search.minimax import Minimax

__all__ = ["AlphaBeta", "Minimax", "SearchAgent"]
