"""Matches, sweeps and studies: pairings, games, the record, statistics, figures and reports."""

from othello_lab.core.system.rooms import refuse_second_import

refuse_second_import(__name__)
