"""Test of a search, with the probable cause if it is wrong.

A search has to look a few plies ahead in some hundred positions, and its answers are held to
minimax's. The positions that a wrong search evaluates are followed through the right tree
(:mod:`~agents.checks.search.causes`). If all of them are right and enough, its answers are
compared with those of searches with a usual mistake (:mod:`~agents.checks.search.references`).
"""

from othello_lab.agents.checks.search.case import Cause, plies
from othello_lab.agents.checks.search.diagnosis import Diagnosis, diagnose
from othello_lab.agents.checks.search.inside import DEEPEST, InsideEvaluation, alike, inside_of
from othello_lab.agents.checks.search.questions import (
    NARROW_FROM,
    POSITIONS,
    RecordingEvaluation,
    SearchUnderTest,
    StrategyFromFactory,
)

__all__ = [
    "DEEPEST",
    "NARROW_FROM",
    "POSITIONS",
    "Cause",
    "Diagnosis",
    "InsideEvaluation",
    "RecordingEvaluation",
    "SearchUnderTest",
    "StrategyFromFactory",
    "alike",
    "diagnose",
    "inside_of",
    "plies",
]
