"""Agents, their evaluations (heuristics) and searches."""

from othello_lab.core.system.renamed import refuse_old_name

refuse_old_name(__name__)
