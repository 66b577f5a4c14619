"""Playing games: processes that agents cannot break, on this machine or a cluster.

The classes that a run may name by ``_target_`` are handed on here.
"""

from othello_lab.experiments.playing.executors import Dask, Executor, Processes, Serial

__all__ = ["Dask", "Executor", "Processes", "Serial"]
