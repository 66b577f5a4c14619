"""The unit of all statistics: a pair, two games from one opening with colours swapped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

OUTCOMES = 5
"""Results of a pair: 0, 1/2, 1, 3/2 or 2 points of 2 (LL, LD, DD or WL, WD, WW)."""

SHARES = np.arange(OUTCOMES) / (OUTCOMES - 1)
"""The share of a pair's two points, by outcome."""
