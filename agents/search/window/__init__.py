"""Minimax and the searches that find its value by alpha-beta windows."""
