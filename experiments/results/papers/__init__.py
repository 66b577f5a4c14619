"""Papers on the players: the method of each agent, and its test results, a page each.

``othello-lab players`` makes them from configurations, docstrings, records of runs
and studies. The method of an agent is described at its declaration: an evaluation in its docstring,
a technique below the setting that switches it on.
"""
