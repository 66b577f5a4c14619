"""``python -m agents`` in a checkout, the same as ``othello-lab agents``."""

from othello_lab.__main__ import run_room

if __name__ == "__main__":
    run_room("agents")
