"""``othello-lab verify``: check that a run is true, and that all its files say what it says."""
