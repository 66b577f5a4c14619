"""The games in a report, to be stepped through on the page.

A page cannot hold a million games, so it has the first pairs of each pairing. Flipped discs are
worked out here: the page knows no rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core import bitboard
from othello_lab.core.notation import PASS, split_transcript
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.escaping import visible
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.facts import RunFacts

MOST_PAIRS = 60
"""Pairs of games in a page: half a megabyte, before it is compressed."""

_LOOKED_AT = 40 * MOST_PAIRS  # pairs of the schedule among which they are chosen
_COLUMNS = (
    "game, pair, black, white, result, disc_difference, end_reason, detail, opening, transcript"
)


@dataclass(frozen=True)
class GameSample:
    """The games of a page.

    pairs, all_pairs: their numbers on the page and in the run. unit: the name of a pair, possibly a
    single game. most_shown: the most of a pairing. every_pairing: True if there are some of every
    pairing.

    data: for ``browser.js``: ``rules``, ``unit`` (the worth of a disc of a finished game in a
    value), ``agents`` (names) and ``pairings``, each with the numbers of its two agents and its
    ``pairs``, lists of games.
    """

    pairs: int
    all_pairs: int
    unit: str
    most_shown: int
    every_pairing: bool
    data: dict[str, Any]

    @property
    def is_all(self) -> bool:
        """True if no game is missing."""
        return self.pairs == self.all_pairs


def game_sample(facts: RunFacts) -> GameSample:
    """The first pairs of each pairing; where there are too many pairings, of those among the agents
    that stand highest."""
    record, rules = facts.record, facts.plan.rules
    games_each = facts.plan.schedule.games_each
    names = record.agents()["name"].tolist()
    rank = {names.index(name): rank for name, rank in facts.ranks.items()}
    by_pairing: dict[tuple[int, int], list[list[Any]]] = {}
    rows = record.rows(
        f"select {_COLUMNS} from games order by game limit ?", [games_each * _LOOKED_AT]
    )
    for _, pair in groupby(rows, key=lambda row: row[1]):
        games = list(pair)
        first, second = sorted(games[0][2:4], key=rank.__getitem__)
        by_pairing.setdefault((first, second), []).append(games)
    order = sorted(by_pairing, key=lambda pairing: (max(map(rank.__getitem__, pairing)), pairing))
    order = sorted(order[:MOST_PAIRS], key=lambda pairing: [*map(rank.__getitem__, pairing)])
    shown = max(1, MOST_PAIRS // max(1, len(order)))
    pairings = [
        {
            "agents": pairing,
            "pairs": [
                [_game(record, row, rules) for row in pair] for pair in by_pairing[pairing][:shown]
            ],
        }
        for pairing in order
    ]
    met = {frozenset(seats) for *seats, _, _, _ in facts.ends}
    data = browser_data(rules, [visible(name) for name in names], pairings)
    embedded = sum(len(by_pairing[pairing][:shown]) for pairing in order)
    unit = "pair" if games_each == 2 else "game"
    all_pairs = -(-record.count_games() // games_each)
    return GameSample(embedded, all_pairs, unit, shown, len(order) == len(met), data)


def browser_data(
    rules: Ruleset, agents: Sequence[str], pairings: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return what ``browser.js`` needs to step through games."""
    return {
        "rules": {"side": rules.side, "firstRowOnTop": rules.first_row_on_top},
        "unit": FINAL_UNIT,
        "agents": agents,
        "pairings": pairings,
    }


def _game(record: Record, row: Sequence[Any], rules: Ruleset) -> dict[str, Any]:
    number, _, black, white, result, discs, reason, detail, opening, transcript = row
    begin = Opening.read(opening, rules).begin(rules)
    decided = {
        turn.ply: [
            turn.value if turn.value is None else round(turn.value, 3),
            turn.nodes,
            turn.depth,
            round((turn.nanoseconds or 0) / 1000),
        ]
        for turn in record.turns([number]).rows()
        if turn.nodes is not None
    }
    _, moves = begin.follow(split_transcript(transcript))
    board, to_move = begin.to_obf().split()
    return {
        "number": number,
        "black": black,
        "white": white,
        "result": result,
        "discs": discs,
        "reason": reason,
        "detail": visible(detail),
        "board": board,
        "turn": to_move,
        "plies": list(browser_plies(begin, moves, decided)),
    }


def browser_plies(
    begin: Position, moves: Iterable[int], decided: Mapping[int, Sequence[Any]]
) -> Iterator[list[Any]]:
    """Each ply: the square (64 for a pass), the squares flipped, and the rest of it.

    decided: by ply from 1 the value to the mover, and possibly nodes, depth and microseconds.
    """
    mover, opponent = begin.mover, begin.opponent
    for ply, move in enumerate(moves, start=1):
        flipped = 0 if move == PASS else bitboard.FLIPS.open(mover, opponent, move)
        disc = 0 if move == PASS else 1 << move
        yield [move, bitboard.bits(flipped), *decided.get(ply, ())]
        mover, opponent = opponent ^ flipped, mover | flipped | disc
