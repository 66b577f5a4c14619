"""``othello-lab verify``: check that a record is true.

By the rules alone: every game is played through again from its transcript (:mod:`.games`), and the
schedule is drawn again (:mod:`.schedule`). By the agents: a sample of the games is played again
(:mod:`.replaying`). :mod:`.verify_command` does all of it and prints its findings.
"""
