"""Sweeps: one run for each combination of settings, and one report of them all.

``composing`` lists the combinations, ``sweep`` plays them as a study, ``results`` collects the
results, ``reporting`` and ``trend`` say what they show.
"""

from othello_lab.experiments.sweep.sweep import load

__all__ = ["load"]
