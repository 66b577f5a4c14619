"""Games in which an agent did not get its time are told, and can be played again."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import query
from runs import DUEL, changed, played, told
from shared import copied

TIMED = [*DUEL, "ruleset=mini6", "games=4", "limits.seconds=20", "executor.workers=1"]


def starved(folder: Path, share: float, seconds: float = 10.0) -> str:
    """Write into a record that Black of game 1 waited for this share of its time, in seconds.
    Return what is then shown of it."""
    time, waited = round(seconds * 1e9), round(share * seconds * 1e9)
    changes = f"black_nanoseconds = {time}, black_waited_nanoseconds = {waited}"
    return told("show", changed(folder, f"update games set {changes} where game = 1"))


@pytest.mark.parametrize(
    ("limit", "share", "seconds", "named"),
    [
        ("seconds", 0.31, 10, True),
        ("seconds", 0.29, 10, False),
        ("seconds", 0.31, 9.9, False),  # less than half the limit of a single move
        ("cpu_seconds", 0.9, 10, False),
    ],
)
def test_starved_games_are_told(
    limit: str, share: float, seconds: float, named: bool, recorded_duel: Path, tmp_path: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    changed(folder, f"update job set config = json_set(config, '$.limits.{limit}', 20)")
    shown = starved(folder, share, seconds)
    assert ("70 %" in shown and "in 1; resume FOLDER --retry-starved" in shown) == named


@pytest.mark.integration
def test_starved_pairs_are_played_again(tmp_path: Path) -> None:
    folder = played(tmp_path, *TIMED).folder
    games = "select game, transcript from games order by game"
    before = query(folder, games)
    starved(folder, 0.31)
    told("resume", folder, "--retry-starved")
    assert query(folder, games) == before
    waited = query(folder, "select black_waited_nanoseconds from games where game = 1")
    assert waited[0][0] < 3_000_000_000


@pytest.mark.integration
def test_a_schedule_that_goes_by_results_does_not_play_them_again(tmp_path: Path) -> None:
    folder = played(tmp_path, *TIMED, "schedule=swiss").folder
    shown = starved(folder, 0.31)
    assert "in 1; this schedule goes by results" in shown
    assert "executor.workers=1" in shown
    assert "goes by results" in told("resume", folder, "--retry-starved", code=2)
