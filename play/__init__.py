"""People and other programs at the board."""

from othello_lab.core.system.renamed import refuse_old_name

refuse_old_name(__name__)
