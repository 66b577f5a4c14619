"""``python -m play terminal``: the board as text, and commands."""
