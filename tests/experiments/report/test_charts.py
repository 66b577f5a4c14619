"""Charts that answer to the mouse: what is written in them."""

from __future__ import annotations

import pandas as pd
import pytest

from othello_lab.experiments.report.charts import log_ticks, place_names


def agents(*rows: tuple[str, float, float, bool]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["agent", "microseconds", "elo", "best"])
    return frame.assign(low=frame["elo"] - 100, high=frame["elo"] + 100)


def test_names_beside_dots_hide_none() -> None:
    frame = agents(
        ("lonely", 10.0, -200.0, False),
        ("dear and long", 900.0, 0.0, False),
        ("front", 880.0, 2.0, True),
        ("between", 890.0, 1.0, False),
    )
    named = place_names(frame, 5, 1800).set_index("agent")
    assert named["align"].to_dict() == {"lonely": "left", "front": "right"}
    assert named["room"].max() < 400  # on a telephone too
    apart = frame.assign(microseconds=[10.0, 900.0, 100.0, 300.0])
    assert place_names(apart, 5, 1800)["agent"].tolist() == frame["agent"].tolist()


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (20, 700, [20, 50, 100, 200, 500]),
        (0.5, 3, [0.5, 1, 2]),
        (5, 1e6, [10, 100, 1e3, 1e4, 1e5, 1e6]),
    ],
)
def test_a_log_axis_has_round_ticks(low: float, high: float, ticks: list[float]) -> None:
    assert log_ticks(low, high) == ticks
