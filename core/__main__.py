"""``othello-lab core`` in a checkout; everywhere else it is ``othello-lab``."""

from othello_lab.__main__ import run_room

if __name__ == "__main__":
    run_room("core")
