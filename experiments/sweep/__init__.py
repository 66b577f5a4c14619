"""Sweeps: one run for each combination of settings, and one report of them all.

``composing`` says which combinations there are, ``folder`` what a sweep's folder holds,
``running`` plays them, ``results`` collects what came out, ``reporting`` shows it.
"""

from othello_lab.experiments.sweep.results import load

__all__ = ["load"]
