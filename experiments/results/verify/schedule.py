"""Comparison of recorded games with the games that the schedule draws."""

from __future__ import annotations

from collections.abc import Iterator

from othello_lab.experiments.pairing.schedule import PairDraw, ScheduledGame
from othello_lab.experiments.record.store import GameRow, Record

_CHUNK = 1000  # pairs that are drawn at a time


def half_pairs(record: Record, games_each: int = 2) -> Iterator[str]:
    """Pairs that are not two games of the same agents from one opening, colours swapped.

    games_each: 1 where the schedule has single games in the place of pairs.
    """
    for pair, games, skipped in record.rows(
        """select pair, count(*), pair in (select pair from skipped) from games
           group by pair having count(*) != ? or pair in (select pair from skipped)""",
        [games_each],
    ):
        more = ", and it is among the skipped" if skipped else ""
        yield f"pair {pair} has {games} {'game' if games == 1 else 'games'}{more}"
    for pair, one, other in record.rows(
        """select one.pair, one.game, other.game from games one join games other
           on one.pair = other.pair and one.game < other.game
           where one.black != other.white or one.white != other.black
           or one.black = one.white or one.opening != other.opening"""
    ):
        yield (
            f"pair {pair}: games {one} and {other} are not of the same agents from one opening, "
            "colours swapped"
        )


def strays(record: Record, draw: PairDraw, most: int) -> Iterator[str]:
    """Yield differences between recorded games and those drawn with the same results: agents,
    openings, seeds.

    draw: the run's, nothing of it drawn yet. most: largest number of pairs.
    """
    played = dict(record.pairs(draw.schedule.games_each))
    drawn: set[int] = set()
    while pairs := draw.take(_CHUNK):
        for pair in pairs:
            number = pair[0].pair
            drawn.add(number)
            if number not in played:
                continue
            for game, row in zip(pair, played[number], strict=False):
                if said := _stray(game, row):
                    yield said
            draw.tell(number, played[number])
    for number in sorted(set(played) - drawn):
        yield f"pair {number}: the schedule has no such pair"
    if draw.verdict:
        for number in sorted(number for number in played if number >= len(draw.results)):
            yield f"pair {number}: it was decided at pair {len(draw.results) - 1}: {draw.verdict}"
    said_complete = bool(record.run()["complete"])
    if said_complete and not draw.complete(len(played), most):
        yield f"said to be complete, with {len(played):,} of {most:,} pairs"


def _stray(game: ScheduledGame, row: GameRow) -> str:
    wanted = {
        "game": game.number,
        "black": game.black,
        "white": game.white,
        "opening": game.opening.text,
        "seed": game.seed,
    }
    for name, value in wanted.items():
        found = getattr(row, name)
        if found != value:
            return f"game {row.game}: {name} is {found!r}; the schedule has {value!r}"
    return ""
