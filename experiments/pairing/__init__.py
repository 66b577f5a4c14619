"""Schedules, which pair the agents of a run, and openings.

The classes that a run may name by ``_target_`` are handed on here; each kind of schedule is a file.
"""

from othello_lab.experiments.pairing.class_tournament import ClassTournament
from othello_lab.experiments.pairing.knockout import Knockout
from othello_lab.experiments.pairing.match_of_two import SequentialMatch, UntilDecided
from othello_lab.experiments.pairing.openings import (
    AllOpenings,
    BalancedOpenings,
    FileOpenings,
    Openings,
    RandomOpenings,
    StartOpening,
)
from othello_lab.experiments.pairing.round_robin import Gauntlet, RoundRobin
from othello_lab.experiments.pairing.schedule import Pairing, PairOutcomes, ResultTable, Schedule
from othello_lab.experiments.pairing.swiss import Swiss

__all__ = [
    "AllOpenings",
    "BalancedOpenings",
    "ClassTournament",
    "FileOpenings",
    "Gauntlet",
    "Knockout",
    "Openings",
    "PairOutcomes",
    "Pairing",
    "RandomOpenings",
    "ResultTable",
    "RoundRobin",
    "Schedule",
    "SequentialMatch",
    "StartOpening",
    "Swiss",
    "UntilDecided",
]
