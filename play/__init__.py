"""People and other programs at the board."""

from othello_lab.core.system.rooms import refuse_second_import

refuse_second_import(__name__)
