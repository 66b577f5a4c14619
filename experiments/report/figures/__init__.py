"""The figures of a run's report, in their order on the page.

A new figure is a function in a file of its own that yields a
:class:`~experiments.report.figures.drawing.ReportFigure`, and its name in this list.
"""

from othello_lab.experiments.report.figures.cost import cost_figures
from othello_lab.experiments.report.figures.course import course_figures, values_figures
from othello_lab.experiments.report.figures.discs import discs_figures
from othello_lab.experiments.report.figures.elo import elo_figures
from othello_lab.experiments.report.figures.matrices import superiority_figures, win_rates_figures
from othello_lab.experiments.report.figures.openings import (
    colours_figures,
    openings_figures,
    pairs_figures,
)
from othello_lab.experiments.report.figures.pruning import pruning_figures
from othello_lab.experiments.report.figures.ranks import ranks_figures
from othello_lab.experiments.report.figures.searches import searches_figures
from othello_lab.experiments.report.figures.times import times_figures

RUN_FIGURES = (
    elo_figures,
    ranks_figures,
    win_rates_figures,
    superiority_figures,
    colours_figures,
    pairs_figures,
    openings_figures,
    discs_figures,
    cost_figures,
    times_figures,
    course_figures,
    values_figures,
    searches_figures,
    pruning_figures,
)
