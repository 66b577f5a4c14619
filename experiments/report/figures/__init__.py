"""The figures of a run's report, and their order on the page.

A new figure is a function in a file of its own that yields a
:class:`~experiments.report.figures.drawing.ReportFigure`, and its name in ``RUN_FIGURES``. It is
also in ``LEADING`` if it answers a question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.cost import cost_figures
from othello_lab.experiments.report.figures.course import course_figures, values_figures
from othello_lab.experiments.report.figures.disagreements import disagreement_figures
from othello_lab.experiments.report.figures.discs import discs_figures
from othello_lab.experiments.report.figures.elo import elo_figures
from othello_lab.experiments.report.figures.matrices import superiority_figures, win_rates_figures
from othello_lab.experiments.report.figures.openings import (
    colours_figures,
    openings_figures,
    pairs_figures,
)
from othello_lab.experiments.report.figures.pruning import pruning_figures
from othello_lab.experiments.report.figures.searches import searches_figures
from othello_lab.experiments.report.figures.times import times_figures
from othello_lab.experiments.report.question import Question, differ_in_depth

if TYPE_CHECKING:
    from othello_lab.experiments.report.figures.drawing import ReportFigure

RunFigure = Callable[[RunFacts], "Iterator[ReportFigure]"]

RUN_FIGURES: Sequence[RunFigure] = (
    elo_figures,
    win_rates_figures,
    cost_figures,
    superiority_figures,
    colours_figures,
    pairs_figures,
    disagreement_figures,
    discs_figures,
    times_figures,
    course_figures,
    searches_figures,
    pruning_figures,
    openings_figures,
    values_figures,
)
"""All figures of a run."""

LEADING: Mapping[Question, Sequence[RunFigure]] = {
    Question.COST: (searches_figures, pruning_figures, times_figures, course_figures),
    Question.MATCH: (pairs_figures, disagreement_figures, cost_figures, course_figures),
    Question.RANKS: (elo_figures, win_rates_figures, cost_figures),
}
"""The figures that answer a question, the first ones of a report."""


def run_figures(facts: RunFacts) -> list[RunFigure]:
    """Return the figures of a run in their order: first those that answer its question. Costs are
    the second where agents of several strengths may spend differently."""
    leading = list(LEADING[facts.question])
    if facts.question is Question.RANKS and differ_in_depth(facts.plan.settings):
        leading = [elo_figures, cost_figures, *leading]
    return list(dict.fromkeys([*leading, *RUN_FIGURES]))
