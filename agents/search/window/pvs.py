"""Principal variation search: prove that a move is better before measuring how much."""

from __future__ import annotations

from othello_lab.agents.search.window.search import WindowSearch
from othello_lab.core.system.settings import explained


@explained
class PVS(WindowSearch):
    """Principal variation search (NegaScout): the first move of a node is searched with the whole
    window, each later one first with a window of width 1, which only asks whether it is better,
    and again with the rest of the window if it is. It pays as far as the first move is the best,
    so it lives by its ordering.

    Sources: J. Pearl, *Scout* (1980); A. Reinefeld, *An improvement to the Scout tree search
    algorithm* (1983).
    """

    null_windows = True
