"""Training: positions of the lab's own games, and agents that learn from them.

Where positions come from stands in :mod:`experiments.training.data`, what a training is in
:mod:`experiments.training.base`; each training is a file of its own.
"""
