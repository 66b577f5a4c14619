"""Who meets whom, and from which openings.

What a run may ask for by ``_target_`` is handed on here; each kind of schedule is a file.
"""

from experiments.pairing.class_tournament import ClassTournament
from experiments.pairing.gauntlet import Gauntlet
from experiments.pairing.knockout import Knockout
from experiments.pairing.openings import (
    AllOpenings,
    BalancedOpenings,
    FileOpenings,
    Openings,
    RandomOpenings,
    StartOpening,
)
from experiments.pairing.round_robin import RoundRobin
from experiments.pairing.schedule import Pairing, Results, ResultTable, Schedule
from experiments.pairing.sprt import SequentialMatch
from experiments.pairing.swiss import Swiss

__all__ = [
    "AllOpenings",
    "BalancedOpenings",
    "ClassTournament",
    "FileOpenings",
    "Gauntlet",
    "Knockout",
    "Openings",
    "Pairing",
    "RandomOpenings",
    "ResultTable",
    "Results",
    "RoundRobin",
    "Schedule",
    "SequentialMatch",
    "StartOpening",
    "Swiss",
]
