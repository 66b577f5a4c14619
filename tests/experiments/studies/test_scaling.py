"""Strength against effort: the study of scaling."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from othello_lab.__main__ import main
from othello_lab.experiments.studies import load

MIRROR = "study.by=nodes agents=ab_mirror agents.left.iterative=true agents.right.iterative=true"


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        "games=8 study.levels=[1,2] evaluation@agents.iago.evaluation=mobility",
        f"games=4 study.levels=[20,40] {MIRROR}",
    ],
    ids=["depth", "nodes"],
)
def test_elo_by_doubling(tmp_path: Path, words: str) -> None:
    """The finding is the slope of the levels' ratings."""
    quick = ["executor=serial", "openings.plies=6", "figures=files", f"results={tmp_path}"]
    assert main(["study", "scaling", *words.split(), *quick]) == 0
    (folder,) = (tmp_path / "scaling").iterdir()
    assert sorted(path.stem for path in folder.glob("*.png")) == ["cost", "scaling"]
    if "nodes" in words:
        return
    tables = load(folder)
    levels, gains = tables["levels"], tables["doublings"]
    assert sorted(levels["name"])[:2] == ["disc_count 1", "disc_count 2"]
    own = levels[(levels["agent"] == "iago") & levels["bound"].isna()]
    gain = gains[(gains["agent"] == "iago") & (gains["effort"] == "depth")].iloc[0]
    slope = np.polyfit(np.log2(own["level"]), own["elo"], 1)[0]
    assert gain["elo"] == pytest.approx(slope, abs=0.01)
    assert gain["low"] < gain["elo"] < gain["high"]
    assert "each doubling of depth" in (folder / "report.md").read_text()
