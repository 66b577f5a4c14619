"""Counts of sequences of plies: the known ones, sums of each other, and the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from boards import random_game
from refusals import refused
from runs import printed

from othello_lab import RULESETS, DiscCount, Minimax, Position
from othello_lab.core.perft import perft, tree_size

ROOT = Path(__file__).parents[2]

# Depths 1, 2, ... from the start of the 8x8 game, a pass counting as a ply. Depth 9 is the first
# at which a game can be over, and at which counting without passes would differ (3005320).
STANDARD = (4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800)
MINI4_GAMES = 60_060  # games of 4x4 Othello, the longest of 15 plies


def test_standard_counts() -> None:
    start = Position.start()
    assert tuple(perft(start, depth) for depth in range(1, 12)) == STANDARD


def test_the_whole_4x4_game() -> None:
    # Beyond the longest game every depth counts the finished games.
    start = Position.start("mini4")
    counts = [perft(start, depth) for depth in (14, 15, 16, 40)]
    assert counts == [59_980, MINI4_GAMES, MINI4_GAMES, MINI4_GAMES]
    with refused("-1"):
        perft(start, -1)


@pytest.mark.parametrize("name", RULESETS)
def test_perft_is_the_sum_over_the_moves(name: str) -> None:
    for seed in range(5):
        for position in random_game(name, seed):
            if not position.is_over:
                after = [position.play(move) for move in position.legal_moves() or ("--",)]
                assert sum(perft(child, 3) for child in after) == perft(position, 4), position


@pytest.mark.parametrize("name", RULESETS)
def test_a_tree_has_the_nodes_that_minimax_enters(name: str) -> None:
    for depth in range(1, 5):
        minimax = Minimax(depth, DiscCount())
        for position in random_game(name, depth)[:-1:3]:
            stats = minimax.search(position).stats
            assert tree_size(position, depth) == stats.nodes, position
            assert perft(position, depth) == stats.leaves, position


def test_command_prints_depths_and_counts() -> None:
    assert printed("core", "perft", "--depth", 5) == "1 4\n2 12\n3 56\n4 244\n5 1396\n"
    assert printed("core", "perft", "--depth", 3, "--ruleset", "mini4") == "1 4\n2 12\n3 44\n"


@pytest.mark.integration
def test_the_portable_kernels_count_the_same() -> None:
    # In a process of its own, since the choice is made once, at import.
    run = subprocess.run(
        [sys.executable, "-m", "core", "perft", "--depth", "7"],
        cwd=ROOT,
        env={**os.environ, "OTHELLO_LAB_PORTABLE": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{n} {STANDARD[n - 1]}" for n in range(1, 8)]
