"""``othello-lab play terminal``: the board as text, and commands."""
