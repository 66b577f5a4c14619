"""Playing games of a record again: agents whose moves follow from the seed make the same ones."""

from __future__ import annotations

import pickle
import random
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from othello_lab.core.game import FINISHED
from othello_lab.core.system.shared_memory import STOP_AT_ONCE
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.pool import WorkerDied, WorkerPool
from othello_lab.experiments.playing.supervisor import play_pairs, start_worker
from othello_lab.experiments.record.store import COUNTS, GameRow, PlayedGame, Record, read_turns

_SAME = ("square", "value", "depth", *COUNTS)  # columns of moves that do not depend on time


def drawn(record: Record, agents: Collection[int], number: int, seed: int) -> list[GameRow]:
    """Return up to this many games, drawn at random, that these agents played to the end among
    themselves."""
    known = ", ".join(str(agent) for agent in agents)
    which = f"from games where end_reason = '{FINISHED}' and black in ({known})"
    found = record.rows(f"select game {which} and white in ({known}) order by game")
    games = [game for (game,) in found]
    chosen = sorted(random.Random(seed).sample(games, min(number, len(games))))
    select = "select * from games where game = ?"
    return [GameRow._make(record.rows(select, [game])[0]) for game in chosen]


def played_again(
    conditions: GameConditions, games: Sequence[GameRow], numbers: Sequence[int]
) -> Iterator[tuple[GameRow, PlayedGame | None]]:
    """Yield games of a record and the same games played again, as in a run: by processes other than
    this one. None if the process that led the game died.

    numbers: of the agents of the conditions, in the record.
    """
    with WorkerPool(1, start_worker, (conditions,)) as pool:
        try:
            for row in games:
                black, white = numbers.index(row.black), numbers.index(row.white)
                opening = Opening.read(row.opening, conditions.rules)
                game = ScheduledGame(row.game, row.pair, black, white, opening, row.seed)
                try:
                    (bundle,) = pool.submit(play_pairs, [(game,)]).result()
                except WorkerDied:
                    yield row, None
                else:
                    yield row, pickle.loads(bundle)[0]
        finally:
            conditions.stop.value = STOP_AT_ONCE


def difference(game: GameRow, rows: Sequence[Any], again: PlayedGame | None) -> str | None:
    """Return the first difference between a recorded game, with its moves, and the same game played
    again."""
    if again is None:
        return "the process that played it again died"
    now = again.game
    if now.transcript != game.transcript or now.end_reason != game.end_reason:
        alike = zip(now.transcript, game.transcript, strict=False)
        same = sum(one == other for one, other in alike)
        return (
            f"played again it ends with {now.end_reason!r} after {now.transcript}, "
            f"{same // 2} moves as recorded"
        )
    for row, move in zip(rows, read_turns(now.game, again.turns or "[]"), strict=False):
        for name in _SAME:
            recorded, value = getattr(row, name), getattr(move, name)
            if recorded != value:
                return f"ply {row.ply}: {name} is {recorded}; played again it is {value}"
    return None
