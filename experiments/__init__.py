"""Matches, sweeps and studies: pairings, games, the record, statistics, figures and reports."""

from othello_lab.core.system.renamed import refuse_old_name

refuse_old_name(__name__)
