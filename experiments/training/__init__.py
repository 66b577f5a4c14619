"""Training: positions of the lab's own games, and agents that learn from them.

Where positions come from stands in :mod:`experiments.training.data`.
"""
