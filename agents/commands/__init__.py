"""The commands of ``othello-lab agents``, one a file; ``add`` in each declares the command."""
