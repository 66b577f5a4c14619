"""Studies that are not tournaments."""
