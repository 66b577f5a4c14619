"""Playing recorded games again: agents whose moves follow from the seed make the same ones. Moves
of all others are repeated as they are recorded."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.core.game import FINISHED, SearchStats
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.shared_memory import STOP_AT_ONCE
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import Pair, ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.executors import Processes
from othello_lab.experiments.playing.match import TaskRunner, pairs_of
from othello_lab.experiments.record.store import GameRow, PlayedGame
from othello_lab.experiments.record.turns import COUNTS

_TWINS = tuple(field.name for field in fields(SearchStats) if field.compare)


class RecordedAgent(Agent):
    """Stands for an agent that is not made again: it repeats its recorded moves. These are given
    without passes, by the seed of the side."""

    def __init__(self, moves: Mapping[int, Sequence[int]]) -> None:
        self._moves = moves

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self._left = iter(self._moves[seed])

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(next(self._left))


def played_again(
    conditions: GameConditions, games: Iterable[GameRow], until: float
) -> Iterator[tuple[int, PlayedGame | None]]:
    """Play games of a record again, as in a run: in processes other than this one. Yield them by
    number, in no fixed order; None if the processes that led a game died.

    until: when to end, by the monotonic clock; games under way then are left out.
    """
    left = iter(games)

    def take(most: int) -> list[Pair]:
        return [(_scheduled(row, conditions.rules),) for row in islice(left, most)]

    def check_time() -> bool:
        if time.monotonic() > until:
            raise TimeoutError
        return False

    with Processes().workers_for(conditions, lambda line: None) as workers:
        try:
            for batch in TaskRunner(workers, check_time).play(take):
                for number, played in pairs_of(batch):
                    yield number, played[0] if played else None
        except TimeoutError:
            return
        finally:
            conditions.stop.value = STOP_AT_ONCE


def _scheduled(row: GameRow, rules: Ruleset) -> ScheduledGame:
    opening = Opening.read(row.opening, rules)
    return ScheduledGame(row.game, row.game, row.black, row.white, opening, row.seed)


def difference(
    game: GameRow,
    rows: Sequence[Any],
    again: PlayedGame | None,
    known: Collection[int],
    plainly: bool,
) -> str | None:
    """Return the first difference of a recorded game, with its moves, from the same game played
    again. known: numbers of the agents that were made again. plainly: as their reading twins, which
    do not count everything."""
    if again is None:
        return "the process that played it again died"
    same = ("square", "value", "depth", *(_TWINS if plainly else COUNTS))
    turns = zip(rows, again.moves(), strict=False)
    pairs = [(f"ply {row.ply}: ", same, row, now) for row, now in turns if row.agent in known]
    if game.end_reason == FINISHED and {game.black, game.white} <= {*known}:
        totals = ("moves", "nodes", "evaluations")
        sums = [f"{color.value}_{name}" for color in Color for name in totals]
        pairs.append(("", ("transcript", "end_reason", *sums), game, again.game))
    for where, names, one, other in pairs:
        for name in names:
            if (recorded := getattr(one, name)) != (now := getattr(other, name)):
                return f"{where}{name} is {recorded}; played again it is {now}"
    return None
