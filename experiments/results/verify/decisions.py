"""Asking agents again for single decisions of a record, drawn from all its games.

A game can be played again only if both agents follow from the seed. A decision needs only one of
them. Each decision is compared for itself, so that one difference hides no other.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from othello_lab.agents.agent import Agent, Decision
from othello_lab.agents.search import SearchAgent
from othello_lab.core.game import TOO_LATE, Limits
from othello_lab.core.notation import PASS
from othello_lab.core.rules import Color, Ruleset
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.store import COUNTS, GameRow, Record

Asked = Mapping[int, Mapping[Color, Collection[int]]]
"""Decisions by number of the game and colour: the first of a side is 0."""


def drawn_decisions(record: Record, agents: Collection[int], number: int, seed: int) -> Asked:
    """Return up to this many decisions of these agents, drawn at random, each as likely as any
    other."""
    sides: list[tuple[int, Color, int]] = []
    for game, *seats in record.rows(
        "select game, black, black_moves, white, white_moves from games order by game"
    ):
        for color, agent, moves in zip(Color, seats[::2], seats[1::2], strict=True):
            if agent in agents and moves:
                sides.append((game, color, moves))
    ends = list(accumulate(moves for *_, moves in sides))
    every = ends[-1] if ends else 0
    found: dict[int, dict[Color, set[int]]] = defaultdict(lambda: defaultdict(set))
    for place in sorted(random.Random(seed).sample(range(every), min(number, every))):
        side = bisect_right(ends, place)
        game, color, moves = sides[side]
        found[game][color].add(place - (ends[side] - moves))
    return found


def asked_again(
    agent: Agent,
    color: Color,
    game: GameRow,
    rows: Sequence[Any],
    wanted: Collection[int],
    rules: Ruleset,
    limits: Limits,
) -> Iterator[str]:
    """Yield a line for each difference between an agent's recorded decisions in a game and its new
    ones.

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
                    yield from _differences(row, decision)
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
