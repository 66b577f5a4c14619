"""What is measured: runs of many games, their record, statistics, figures and reports. Imports
:mod:`agents` and :mod:`core`."""

from experiments.run import RunResult, resume, run_match

__all__ = ["RunResult", "resume", "run_match"]
