"""Asking agents again for single decisions of a record, drawn from all its games.

A game can be played again only if both agents follow from the seed. A decision needs only one of
them. Each decision is compared for itself, so that one difference hides no other.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any

from othello_lab.agents.agent import Agent, Decision
from othello_lab.agents.search import SearchAgent
from othello_lab.core.game import TOO_LATE, Limits
from othello_lab.core.notation import PASS
from othello_lab.core.rules import Color, Ruleset
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.store import COUNTS, GameRow, Record

Side = tuple[int, Color, int]
"""A game, a colour in it, and the number of that side's decisions."""


def sides_of(record: Record, agents: Collection[int], replayed: Collection[int]) -> list[Side]:
    """Return the sides of these agents in all games except the ``replayed`` ones."""
    return [
        (game, color, moves)
        for game, *seats in record.rows(
            "select game, black, black_moves, white, white_moves from games order by game"
        )
        if game not in replayed
        for color, agent, moves in zip(Color, seats[::2], seats[1::2], strict=True)
        if agent in agents and moves
    ]


def drawn_decisions(
    sides: Sequence[Side], number: int | None, seed: int
) -> Iterator[tuple[int, Color, Collection[int]]]:
    """Yield decisions of these sides, by game and colour; the first of a side is 0.

    number: the size of the sample, each decision as likely as any other. None for all of them,
    side by side in random order.
    """
    if number is None:
        for game, color, moves in random.Random(seed).sample(sides, len(sides)):
            yield game, color, range(moves)
        return
    ends = list(accumulate(moves for *_, moves in sides))
    every = ends[-1] if ends else 0
    found: dict[int, set[int]] = defaultdict(set)
    for place in sorted(random.Random(seed).sample(range(every), min(number, every))):
        side = bisect_right(ends, place)
        found[side].add(place - (ends[side] - sides[side][2]))
    for side, decisions in found.items():
        game, color, _ = sides[side]
        yield game, color, decisions


def asked_again(
    agent: Agent,
    color: Color,
    game: GameRow,
    rows: Sequence[Any],
    wanted: Collection[int],
    rules: Ruleset,
    limits: Limits,
) -> Iterator[list[str]]:
    """Yield for each of an agent's chosen decisions in a game the differences of the recorded one
    from the new one, a line each.

    The game takes its recorded course, also after a different answer. An agent that carries
    anything from move to move, such as a transposition table, decides all its moves before again.
    color: the agent's. rows: the game's MoveRows. wanted: the chosen decisions of the agent.
    """
    forgets = isinstance(agent, SearchAgent) and getattr(agent, "table_mb", None) is None
    opening = Opening.read(game.opening, rules)
    position = opening.begin(rules)
    agent.begin_game(color, position, game.seed if color is Color.BLACK else game.seed + 1)
    for move in opening.moves:
        position = position.play(move)
        agent.observe(move, position)
    number = 0
    for row in rows:
        if row.square != PASS and row.square not in position.moves:
            raise ValueError(f"ply {row.ply}: {row.square} is no legal move there")
        if position.to_move is color and row.square != PASS:
            if number in wanted or not forgets:
                decision = agent.decide(position, limits)
                if number in wanted:
                    yield list(_differences(row, decision))
            number += 1
            if number > max(wanted):
                return
        if row.late == TOO_LATE:
            return
        position = position.play(row.square)
        agent.observe(row.square, position)


def _differences(row: Any, decision: Decision) -> Iterator[str]:
    now = {"square": decision.move, "value": decision.value, "depth": decision.depth}
    now |= {name: getattr(decision.stats, name) for name in COUNTS}
    for name, value in now.items():
        recorded = getattr(row, name)
        if recorded != value:
            yield f"ply {row.ply}: {name} is {recorded}; asked again it is {value}"
