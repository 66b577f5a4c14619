"""Results as JSON on the terminal, for other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain data, nan as None."""
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return rows


def print_json(data: Any) -> None:
    """Print data for a program to read."""
    print(json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False))
