"""The Othello strategy lab: compare ways of choosing a move.

The names that a notebook or a file of your own needs are loaded when they are first used:

>>> from othello_lab import Position
>>> len(Position.start().legal_moves())
4
"""

import lazy_loader

# ``__init__.pyi`` declares the names.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
