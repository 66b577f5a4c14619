"""Sweeps: one run for each combination of settings, and one report of them all."""

from experiments.sweep.running import load

__all__ = ["load"]
