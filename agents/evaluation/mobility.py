"""Mobility: how many moves there are now, and how many there may be soon."""

from __future__ import annotations

from typing import Any

from agents.evaluation.base import Evaluation, ratio
from core.bitboard import legal_moves, neighbours, popcount
from core.position import Position
