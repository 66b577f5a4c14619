"""Playing games of a record again: agents whose moves follow from the seed make the same ones."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from agents.base import Agent
from core.game import FINISHED, Limits, play_game
from core.rules import Color, Ruleset
from experiments.pairing.openings import Opening
from experiments.record.store import COUNTS, GameRow, Record

_SAME = ("square", "value", "depth", *COUNTS)  # columns of moves that do not depend on time


def drawn(record: Record, agents: Collection[int], number: int, seed: int) -> list[GameRow]:
    """Up to so many games, by chance, that these agents played to the end among themselves."""
    known = ", ".join(str(agent) for agent in agents)
    which = f"from games where end_reason = '{FINISHED}' and black in ({known})"
    found = record.rows(f"select game {which} and white in ({known}) order by game")
    games = [game for (game,) in found]
    chosen = sorted(random.Random(seed).sample(games, min(number, len(games))))
    select = "select * from games where game = ?"
    return [GameRow._make(record.rows(select, [game])[0]) for game in chosen]


def differences(
    game: GameRow,
    rows: Sequence[Any],
    players: Mapping[int, Agent],
    rules: Ruleset,
    limits: Limits,
) -> Iterator[str]:
    """Where a game goes otherwise when it is played again; rows: its MoveRows in order.

    players: by number.
    """
    opening = Opening.read(game.opening, rules)
    played = play_game(
        {Color.BLACK: players[game.black], Color.WHITE: players[game.white]},
        opening.begin(rules),
        opening.moves,
        limits,
        seeds={Color.BLACK: game.seed, Color.WHITE: game.seed + 1},
    )
    if played.transcript != game.transcript or played.end_reason != game.end_reason:
        same = sum(
            one == other for one, other in zip(played.transcript, game.transcript, strict=False)
        )
        yield (
            f"played again it ends with {played.end_reason!r} after {played.transcript}, "
            f"{same // 2} moves as recorded"
        )
        return
    for row, turn in zip(rows, played.plies, strict=False):
        again: tuple[Any, ...] = (turn.move,) + (None,) * (len(_SAME) - 1)
        if (decision := turn.decision) is not None:
            counts = (getattr(decision.stats, name) for name in COUNTS)
            again = (turn.move, decision.value, decision.depth, *counts)
        for name, value in zip(_SAME, again, strict=True):
            if getattr(row, name) != value:
                recorded = getattr(row, name)
                yield f"ply {row.ply}: {name} is {recorded}; played again it is {value}"
                return
