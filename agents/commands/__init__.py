"""The commands of ``python -m agents``, one a file: each has ``add``, which declares it."""
