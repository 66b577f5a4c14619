"""The games that a page has with it are those of the record, and not too many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from othello_lab import AlphaBeta, DiscCount, GreedyAgent, Position, RandomAgent
from othello_lab.core.notation import PASS, split_transcript
from othello_lab.experiments.jobs.run import run_match
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.games import MOST_PAIRS, game_sample


def played(folder: Path, agents: dict[str, Any], **how: Any) -> Path:
    quiet: dict[str, Any] = {"workers": 0, "figures": False, "quiet": True}
    return run_match(agents, results=folder, **quiet, **how).folder


@pytest.mark.parametrize("rules", ["standard", "wpi", "mini4"])
def test_what_is_flipped_leads_to_the_same_boards(tmp_path: Path, rules: str) -> None:
    agents = {"greedy": GreedyAgent(), "random": RandomAgent(), "deep": AlphaBeta(2, DiscCount())}
    folder = played(tmp_path, agents, games=4, ruleset=rules)
    with facts_of(folder, Console(quiet=True)) as facts:
        sample = game_sample(facts)
    assert (sample.pairs, sample.all_pairs, sample.is_all) == (6, 6, True)
    seen = set()
    with Record.open(folder) as record:
        known = {row.game: row for row in record.games().itertuples()}
        for pairing in sample.data["pairings"]:
            for game in (game for pair in pairing["pairs"] for game in pair):
                seen.add(game["number"])
                row = known[game["number"]]
                names = [sample.data["agents"][game[color]] for color in ("black", "white")]
                assert names == [row.black, row.white]
                assert sorted(pairing["agents"]) == sorted((game["black"], game["white"]))
                check_plies(game, row, record, rules)
    assert seen == set(known)


def check_plies(game: dict[str, Any], row: Any, record: Record, rules: str) -> None:
    position = Position.start(rules)
    assert f"{game['board']} {game['turn']}" == position.to_obf()
    turns = {turn.ply: turn for turn in record.turns(game["number"])}
    moves = position.follow(split_transcript(row.transcript))[1]
    assert [square for square, *_ in game["plies"]] == list(moves)
    for ply, (square, flipped, *decided) in enumerate(game["plies"], start=1):
        after = position.play(square)
        changed = (position.black ^ after.black) & (position.white ^ after.white)
        assert sum(1 << each for each in flipped) == changed
        assert bool(flipped) == (square != PASS)
        turn = turns.get(ply)
        stated = turn is not None and turn.nodes is not None
        assert decided[:3] == ([turn.value, turn.nodes, turn.depth] if stated else [])
        position = after


@pytest.mark.integration
def test_of_many_pairings_those_of_the_best(tmp_path: Path) -> None:
    folder = played(tmp_path, {f"random {n}": RandomAgent() for n in range(12)}, games=2)
    with facts_of(folder, Console(quiet=True)) as facts:
        sample, standing = game_sample(facts), facts.standings["agent"].tolist()
    assert (sample.pairs, sample.all_pairs, sample.each) == (MOST_PAIRS, 66, 1)
    assert not sample.every_pairing
    names = sample.data["agents"]
    pairings = [each["agents"] for each in sample.data["pairings"]]
    there = {frozenset(names[agent] for agent in each) for each in pairings}
    best = standing[:11]  # 55 pairings; the last one meets five of them
    assert {frozenset((one, other)) for one in best for other in best if one != other} <= there
    assert len(there) == MOST_PAIRS
