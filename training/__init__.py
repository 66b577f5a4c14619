"""Evaluations learned from games: positions, self-play, trainings and their reports."""

from othello_lab.core.system.rooms import refuse_second_import

refuse_second_import(__name__)
