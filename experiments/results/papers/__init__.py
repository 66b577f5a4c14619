"""Papers on the players: what each agent goes by, and what tests say of it, on one page.

``othello-lab players`` makes ``docs/players.md`` from configurations, docstrings, records
of runs and studies. What an agent does is told where it is declared: an evaluation in its
docstring, a technique below the setting that switches it on.
"""
