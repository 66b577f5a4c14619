"""The game of Othello: boards as bit masks, positions, rulesets, notation, one refereed game."""

from othello_lab.core.system.rooms import refuse_second_import

refuse_second_import(__name__)
