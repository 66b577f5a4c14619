"""People at the board: they play against agents, and see why these move.

May use all other packages; none of them imports this one.
"""

import experiments as experiments  # notices if Python has found somebody else's core or agents
