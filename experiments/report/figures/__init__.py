"""The figures of a run's report, one kind a file, drawn in this order."""

from experiments.report.figures.base import draw_figures
from experiments.report.figures.elo import EloFigure
from experiments.report.figures.matrices import SuperiorityFigure, WinRatesFigure
from experiments.report.figures.pruning import PruningFigure
from experiments.report.figures.searches import SearchesFigure

RUN_FIGURES = (EloFigure, WinRatesFigure, SuperiorityFigure, SearchesFigure, PruningFigure)

__all__ = ["RUN_FIGURES", "draw_figures"]
