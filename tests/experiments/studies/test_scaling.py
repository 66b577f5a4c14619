"""Strength against effort: the study of scaling."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from othello_lab.__main__ import main
from othello_lab.experiments.studies import load

SMALL = ("executor=serial", "openings.plies=6")


def made(
    folder: Path, *words: str, figures: bool = False
) -> tuple[dict[str, pd.DataFrame], str, list[str]]:
    """A small study: its tables, its report, and the figures it has."""
    drawn = f"figures={'files' if figures else 'none'}"
    assert main(["study", *words, *SMALL, drawn, f"results={folder}"]) == 0
    (where,) = (folder / words[0]).iterdir()
    names = sorted(path.stem for path in where.glob("*.png"))
    return load(where), (where / "report.md").read_text(), names


@pytest.mark.integration
def test_elo_by_doubling(tmp_path: Path) -> None:
    """The finding is the slope of the levels' ratings."""
    tables, report, _ = made(
        tmp_path, "scaling", "games=8", "study.levels=[1,2]",
        "evaluation@agents.iago.evaluation=mobility",
    )  # fmt: skip
    levels, gains = tables["levels"], tables["doublings"]
    assert sorted(levels["name"])[:2] == ["disc_count 1", "disc_count 2"]
    own = levels[(levels["agent"] == "iago") & levels["bound"].isna()]
    gain = gains[(gains["agent"] == "iago") & (gains["effort"] == "depth")].iloc[0]
    slope = np.polyfit(np.log2(own["level"]), own["elo"], 1)[0]
    assert gain["elo"] == pytest.approx(slope, abs=0.01)
    assert gain["low"] < gain["elo"] < gain["high"]
    assert "Elo gained by each doubling of depth" in report


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "figures"),
    [
        (("scaling", "games=8", "study.levels=[1,2]"), ["cost", "scaling"]),
        (("scaling", "games=4", "study.levels=[20,40]", "study.by=nodes", "agents=ab_mirror",
          "agents.left.iterative=true", "agents.right.iterative=true"), ["cost", "scaling"]),
    ],
)  # fmt: skip
def test_studies_have_figures(tmp_path: Path, words: tuple[str, ...], figures: list[str]) -> None:
    assert made(tmp_path, *words, figures=True)[2] == figures


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("scaling", "study.levels=[2]"), "two or more, ascending"),
        (("scaling", "study.levels=[2, 1]"), "two or more, ascending"),
        (("scaling", "study.levels=[1.5, 2]"), "whole numbers"),
        (("scaling", "study.levels=[1, 100]"), "a depth is 64 at most"),
        (("scaling", "study.by=nodes"), "does not deepen iteratively"),
        (("scaling", "agents=duel", "agent@first=random", "agent@second=pvs"), "has no depth"),
    ],
)  # fmt: skip
def test_what_cannot_be_studied_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
) -> None:
    assert main(["study", *words, f"results={tmp_path}"]) == 2
    told = capsys.readouterr().err.strip()
    assert why in told and "\n" not in told
    assert not list(tmp_path.iterdir())
