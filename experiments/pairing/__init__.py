"""Who meets whom, and from which openings.

What a run may ask for by ``_target_`` is handed on here; each kind of schedule is a file.
"""

from experiments.pairing.gauntlet import Gauntlet
from experiments.pairing.openings import (
    AllOpenings,
    BalancedOpenings,
    FileOpenings,
    Openings,
    RandomOpenings,
    StartOpening,
)
from experiments.pairing.round_robin import RoundRobin
from experiments.pairing.schedule import Pairing, Results, Schedule
from experiments.pairing.sprt import SequentialMatch

__all__ = [
    "AllOpenings",
    "BalancedOpenings",
    "FileOpenings",
    "Gauntlet",
    "Openings",
    "Pairing",
    "RandomOpenings",
    "Results",
    "RoundRobin",
    "Schedule",
    "SequentialMatch",
    "StartOpening",
]
