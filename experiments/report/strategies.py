"""Strategies: agents of a run that play the same moves are one strategy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import combinations, takewhile
from typing import Any

import numpy as np

from othello_lab.core.game import FINISHED
from othello_lab.core.notation import split_transcript
from othello_lab.core.rules import Color
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import Pairing
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.statistics.pairs import IntArray

_Game = tuple[str, ...]  # opening, transcript, result, end_reason


def strategies(record: Record) -> IntArray:
    """Return the strategy of every agent, shape (agents,): numbers from 0 by their first agent.

    Two agents play the same strategy if they never chose differently in comparable games: in the
    two games of a pair against each other, then the same game, and from one opening with the same
    colour against the same third agent, until that one chooses differently (it may play by chance).
    They must have played a whole game alike.
    """
    agents = len(record.agents())
    undecided = set(combinations(range(agents), 2))
    alike: set[Pairing] = set()
    rows = record.select(
        "select black, white, opening, transcript, result, end_reason from games order by game"
    )
    for games in _rounds(rows):
        for one, other in sorted(undecided):
            for both in _comparable(one, other, games):
                said = _alike(*both, record)
                if said:
                    alike.add((one, other))
                elif said is False:  # most pairs end at their first game, and few are replayed
                    undecided.discard((one, other))
                    break
        if not undecided:
            break
    return _numbered(agents, undecided, alike & undecided)


def _rounds(rows: Iterable[tuple[Any, ...]]) -> Iterator[dict[Pairing, _Game]]:
    """Games by Black and White, cut where the opening changes or a pairing comes again."""
    games: dict[Pairing, _Game] = {}
    opening = None
    for black, white, *game in rows:
        if games and (game[0] != opening or (black, white) in games):
            yield games
            games = {}
        opening = game[0]
        games[black, white] = tuple(game)
    yield games


def _comparable(
    one: int, other: int, games: Mapping[Pairing, _Game]
) -> Iterator[tuple[_Game, _Game, Color | None]]:
    """Yield games in which two agents had the same seat, and the colour of their third opponent;
    None if each was the other's."""
    if (one, other) in games and (other, one) in games:
        yield games[one, other], games[other, one], None
    for black, white in games:
        if white == one and black != other and (black, other) in games:
            yield games[black, one], games[black, other], Color.BLACK
        if black == one and white != other and (other, white) in games:
            yield games[one, white], games[other, white], Color.WHITE


def _alike(game: _Game, other: _Game, third: Color | None, record: Record) -> bool | None:
    """Return True if two agents chose alike in the same seat of two games; None if the opponent,
    the ``third``, was the first to choose differently, or broke the game off: that is no evidence.
    """
    if game == other:
        return True if game[-1] == FINISHED else None
    if third is None:
        return False
    ((rules,),) = record.rows("select ruleset from job")
    opening, *transcripts = game[0], game[1], other[1]
    moves = zip(*map(split_transcript, transcripts), strict=False)
    common = [move for move, counterpart in takewhile(lambda both: both[0] == both[1], moves)]
    position, _ = Opening.read(opening, rules).begin(rules).follow(common)
    turn = position.to_move.other if position.must_pass else position.to_move
    return None if turn is third else False


def _numbered(agents: int, possible: Set[Pairing], alike: Set[Pairing]) -> IntArray:
    """The strategies by number: an agent plays that of others if it was seen to play like one of
    them, and unlike none."""
    groups: list[list[int]] = []
    for agent in range(agents):
        for group in groups:
            pairs = {(member, agent) for member in group}
            if pairs <= possible and pairs & alike:
                group.append(agent)
                break
        else:
            groups.append([agent])
    numbers = np.empty(agents, dtype=np.int64)
    for number, group in enumerate(groups):
        numbers[group] = number
    return numbers
