"""The figures of a run's report, in the order in which they are shown.

A new figure is a function in a file of its own that yields a
:class:`~experiments.report.figures.base.ReportFigure`, and its name in this list.
"""

from experiments.report.figures.elo import elo_figures
from experiments.report.figures.matrices import superiority_figures, win_rates_figures
from experiments.report.figures.pruning import pruning_figures
from experiments.report.figures.searches import searches_figures
from experiments.report.figures.times import times_figures

RUN_FIGURES = (
    elo_figures,
    win_rates_figures,
    superiority_figures,
    searches_figures,
    times_figures,
    pruning_figures,
)
