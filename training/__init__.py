"""Evaluations learned from games: positions, self-play, trainings and their reports."""

from othello_lab.core.system.renamed import refuse_old_name

refuse_old_name(__name__)
