"""``othello-lab verify``: check that a record is true.

By the rules alone: every game is played through again from its transcript (:mod:`.games`), and the
schedule is drawn again (:mod:`.schedule`). By the agents: all games that the time allows are played
again (:mod:`.replaying`), and agents are asked again in the others (:mod:`.decisions`). By plain
Python, without kernels: :mod:`.independent`. :mod:`.verify_command` does all of it, and prints its
findings and its power.
"""
