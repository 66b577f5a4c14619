"""Test of a search, with the probable cause if it is wrong.

A search has to look a few plies ahead in some hundred positions, and its answers are held to
minimax's. Wrong answers are compared with those of searches with a usual mistake
(:mod:`~agents.diagnosis.references`): the mistake that gives the same wrong answers is the probable
cause.
"""

from othello_lab.agents.diagnosis.questions import (
    POSITIONS,
    RecordingEvaluation,
    SearchUnderTest,
    StrategyFromFactory,
)
from othello_lab.agents.diagnosis.verdict import Cause, Diagnosis, diagnose

__all__ = [
    "POSITIONS",
    "Cause",
    "Diagnosis",
    "RecordingEvaluation",
    "SearchUnderTest",
    "StrategyFromFactory",
    "diagnose",
]
