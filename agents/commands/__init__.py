"""The commands of ``othello-lab agents``, one a file: each has ``add``, which declares it."""
