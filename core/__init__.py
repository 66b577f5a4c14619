"""The game of Othello: boards as bit masks, positions, rulesets, notation, one refereed game."""

from othello_lab.core.system.renamed import refuse_old_name

refuse_old_name(__name__)
