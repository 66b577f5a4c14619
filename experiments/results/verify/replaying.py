"""Playing games of a record again: agents whose moves follow from the seed make the same ones."""

from __future__ import annotations

import pickle
import random
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any

from othello_lab.core.game import FINISHED
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.shared_memory import STOP_AT_ONCE
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import PickledPairs, ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.pool import WorkerDied, WorkerPool
from othello_lab.experiments.playing.supervisor import play_pairs, start_worker
from othello_lab.experiments.record.store import COUNTS, GameRow, PlayedGame, Record, read_turns

_SAME = ("square", "value", "depth", *COUNTS)  # columns of moves that do not depend on time
_SAME_TOTALS = tuple(
    f"{side}_{name}" for side in ("black", "white") for name in ("moves", "nodes", "evaluations")
)
_IN_HAND = 4  # games that each worker has been given or works on


def drawn(record: Record, agents: Collection[int], seed: int) -> list[int]:
    """Return in random order the numbers of all games that these agents played to the end among
    themselves."""
    known = ", ".join(str(agent) for agent in agents)
    which = f"from games where end_reason = '{FINISHED}' and black in ({known})"
    found = record.rows(f"select game {which} and white in ({known}) order by game")
    return random.Random(seed).sample([game for (game,) in found], len(found))


def played_again(
    conditions: GameConditions, games: Iterable[GameRow], numbers: Sequence[int], until: float
) -> Iterator[tuple[GameRow, PlayedGame | None]]:
    """Yield games of a record and the same games played again, as in a run: by processes other than
    this one. None if the process that led the game died.

    numbers: of the agents of the conditions, in the record. until: when to end, by the monotonic
    clock; games under way then are left out.
    """
    workers = available_cores()
    longest = threading.TIMEOUT_MAX
    rows = iter(games)
    waiting: deque[tuple[GameRow, Future[list[bytes]]]] = deque()
    with WorkerPool(workers, start_worker, (conditions,)) as pool:
        try:
            while True:
                for row in islice(rows, _IN_HAND * workers - len(waiting)):
                    black, white = numbers.index(row.black), numbers.index(row.white)
                    opening = Opening.read(row.opening, conditions.rules)
                    game = ScheduledGame(row.game, row.pair, black, white, opening, row.seed)
                    waiting.append((row, pool.submit(play_pairs, PickledPairs([(game,)]))))
                if not waiting:
                    return
                row, future = waiting.popleft()
                try:
                    (bundle,) = future.result(min(max(0.0, until - time.monotonic()), longest))
                except WorkerDied:
                    yield row, None
                except TimeoutError:
                    return
                else:
                    yield row, pickle.loads(bundle)[0][0]
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
    for name in _SAME_TOTALS:
        recorded, value = getattr(game, name), getattr(now, name)
        if recorded != value:
            return f"{name} is {recorded}; played again it is {value}"
    return None
