"""Sweeps: one run for each combination of settings, and one report of them all.

``composing`` lists the combinations, ``folder`` holds the format of a sweep's folder,
``sweep_session`` plays them, ``results`` collects the results, ``reporting`` shows them.
"""

from othello_lab.experiments.sweep.results import load

__all__ = ["load"]
