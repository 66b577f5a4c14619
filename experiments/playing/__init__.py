"""Where games are played: processes that agents cannot break, on this machine or a cluster.

What a run may ask for by ``_target_`` is handed on here.
"""

from othello_lab.experiments.playing.executors import Dask, Executor, Processes, Serial

__all__ = ["Dask", "Executor", "Processes", "Serial"]
