"""Of many cases of a test a few are always tried, and all of them with the slow tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], always: Collection[Any]) -> list[Any]:
    """Cases of one value for ``pytest.mark.parametrize``: all but ``always`` are slow."""
    assert set(always) <= set(cases)
    return [pytest.param(case, marks=() if case in always else pytest.mark.slow) for case in cases]
