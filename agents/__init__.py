"""Agents, their evaluations (heuristics) and searches."""

from othello_lab.core.system.rooms import refuse_second_import

refuse_second_import(__name__)
