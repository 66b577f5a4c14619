"""Stable discs: sound over many games, and everything on a full board."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab import PASS, Position
from othello_lab.core.bitboard import bits
from othello_lab.core.stability import edge_table, stable_discs


def play_out(seed: int) -> list[Position]:
    rng = np.random.default_rng(seed)
    positions = [Position.start()]
    while not positions[-1].is_over:
        moves = positions[-1].moves or (PASS,)
        positions.append(positions[-1].play(int(rng.choice(moves))))
    return positions


def check_soundness(games: range) -> None:
    table = edge_table()
    for seed in games:
        positions = play_out(seed)
        final = positions[-1]
        for position in positions:
            for own, other, kept in (
                (position.black, position.white, final.black),
                (position.white, position.black, final.white),
            ):
                stable = int(stable_discs(np.uint64(own), np.uint64(other), table))
                assert not stable & ~own
                lost = bits(stable & ~kept)
                assert not lost, f"seed {seed}: {lost} flipped after\n{position}"


def test_no_disc_counted_as_stable_is_ever_flipped() -> None:
    check_soundness(range(300))


@pytest.mark.integration
def test_no_disc_counted_as_stable_is_ever_flipped_in_thousands_of_games() -> None:
    check_soundness(range(300, 4300))


def test_on_a_full_board_everything_is_stable() -> None:
    full = next(p for p in (play_out(seed)[-1] for seed in range(20)) if not p.empties)
    stable = int(stable_discs(np.uint64(full.mover), np.uint64(full.opponent), edge_table()))
    assert stable == full.mover
