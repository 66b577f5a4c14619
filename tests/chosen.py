"""Of many cases of a test a few are always tried, and all of them nightly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pytest


def mostly_nightly(cases: Iterable[Any], always: Collection[Any]) -> list[Any]:
    """Cases of one value for ``pytest.mark.parametrize``: all but ``always`` are nightly."""
    assert set(always) <= set(cases)
    nightly = pytest.mark.nightly
    return [pytest.param(case, marks=() if case in always else nightly) for case in cases]


def rows_mostly_nightly(rows: Iterable[Sequence[Any]], always: Collection[Any]) -> list[Any]:
    """As :func:`mostly_nightly`, of several values each; ``always`` has first values."""
    rows = list(rows)
    assert set(always) <= {first for first, *_ in rows}
    marks = [() if row[0] in always else pytest.mark.nightly for row in rows]
    return [pytest.param(*row, marks=mark) for row, mark in zip(rows, marks, strict=True)]
