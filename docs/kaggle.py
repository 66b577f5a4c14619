"""An agent of the lab for Kaggle's Othello.

The environment is ``open_spiel_othello`` of kaggle-environments (1.33), with OpenSpiel's rules. A
game on your own machine:

    from kaggle_environments import make
    env = make("open_spiel_othello", configuration={"includeLegalActions": True})  # for "random"
    env.run(["docs/kaggle.py", "random"])

To enter it elsewhere, put the lab's package ``othello_lab`` beside this file.
"""

import json

from othello_lab import PASS, PVS, Color, Limits, Position, SquareWeights

SECONDS = 1.0  # for each move
PLAYER = PVS(
    60, SquareWeights(), ordering="tt+mobility+static", table_mb=64, iterative=True, endgame=14
)


def agent(observation, configuration):
    """Answer an observation by a square's number, a1 = 0 to h8 = 63, or 64 to pass."""
    if "observationString" not in observation:  # the call before the game; any answer will do
        PLAYER.prepare()
        return {"submission": -1}
    # All moves so far, as squares and "pass".
    moves = json.loads(observation["observationString"])["move_history"]
    position, plies = Position.start().follow(moves)
    if position.must_pass:
        return {"submission": PASS}
    color = (Color.BLACK, Color.WHITE)[observation["playerId"]]
    PLAYER.begin_game(color, Position.start(), seed=len(plies))
    return {"submission": PLAYER.decide(position, Limits(seconds=SECONDS)).move}
