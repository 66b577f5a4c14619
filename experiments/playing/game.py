"""One game of a run: played under its conditions, and turned into rows of the record."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from othello_lab.agents.agent import Agent
from othello_lab.core.game import FINISHED, BeforeCall, GameRecord, Player, Ply, play_game
from othello_lab.core.rules import Color
from othello_lab.experiments.pairing.schedule import ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.record.log import logging_game
from othello_lab.experiments.record.store import (
    COUNTS,
    TIMES,
    GameRow,
    MoveRow,
    PlayedGame,
    seat_totals,
    written,
)

log = logging.getLogger("lab.games")

_LONGEST = 200  # characters

_counts, _times = attrgetter(*COUNTS), attrgetter(*TIMES)


def play(
    conditions: GameConditions,
    game: ScheduledGame,
    players: Mapping[int, Player] | None = None,
    before_call: BeforeCall | None = None,
) -> PlayedGame:
    """Play one game, judged in this process; return its rows of the record.

    players: by number of the agent, its player or proxy; default the agents themselves.
    """
    of = players or conditions.agents
    with logging_game(game.number):
        played = play_game(
            {Color.BLACK: of[game.black], Color.WHITE: of[game.white]},
            game.opening.begin(conditions.rules),
            game.opening.moves,
            conditions.limits,
            conditions.grace,
            {Color.BLACK: game.seed, Color.WHITE: game.seed + 1},
            before_call,
        )
        if played.end_reason != FINISHED:
            loser = conditions.names[game.black if played.winner is Color.WHITE else game.white]
            log.warning("'%s' loses: %s. %s", loser, played.end_reason, played.detail)
    recorded = _to_row(conditions, game, played)
    note_finished(conditions, recorded.game)
    return recorded


def note_finished(conditions: GameConditions, row: GameRow) -> None:
    """Log a game that went to its end, where so much is logged."""
    if row.end_reason != FINISHED or not log.isEnabledFor(logging.DEBUG):
        return
    names = conditions.names[row.black], conditions.names[row.white]
    result = "draw" if row.result == "draw" else f"{row.result} wins"
    seconds = (row.black_nanoseconds + row.white_nanoseconds) / 1e9
    with logging_game(row.game):
        log.debug("%s - %s: %s (%+d) in %.3f s", *names, result, row.disc_difference, seconds)


def _to_row(conditions: GameConditions, game: ScheduledGame, played: GameRecord) -> PlayedGame:
    """The rows of the record for a game that was played."""
    plies = [*played.plies, *([played.too_late] if played.too_late else [])]
    first = len(played.opening) + 1
    turns = [_turn(game, number, ply) for number, ply in enumerate(plies, start=first)]
    black, white = seat_totals(turns, (game.black, game.white))
    return PlayedGame(
        GameRow(
            game.number,
            game.pair,
            game.black,
            game.white,
            played.winner.value if played.winner else "draw",
            0.5 if played.winner is None else float(played.winner is Color.BLACK),
            played.disc_difference,
            played.final.black.bit_count(),
            played.final.white.bit_count(),
            played.end_reason,
            game.opening.text,
            game.seed,
            played.transcript,
            in_a_line(played.detail),
            *black,
            *white,
        ),
        written(turns) if conditions.record_moves else None,
    )


def in_a_line(detail: str) -> str:
    """Return the reason of a forfeit: its last line, and of a traceback the place, as in
    ``TypeError: no such move (mine.py, line 12)``."""
    lines = detail.strip().splitlines()
    places = re.findall(r'^ *File "(.*)", line (\d+)', detail, re.MULTILINE)
    where = f" ({os.path.basename(places[-1][0])}, line {places[-1][1]})" if places else ""
    return f"{lines[-1]:.{_LONGEST}}{where:.{_LONGEST}}" if lines else ""


def _turn(game: ScheduledGame, number: int, ply: Ply) -> Any:
    """The MoveRow of a turn."""
    agent = game.black if ply.color is Color.BLACK else game.white
    about: tuple[Any, ...] = ()
    if (decision := ply.decision) is not None:
        wall, cpu, *rest = _times(ply)
        about = (decision.value, decision.depth, wall, cpu, *_counts(decision.stats), *rest)
    return MoveRow(game.number, number, agent, ply.move, *about)


def close_all(agents: Mapping[str, Agent]) -> None:
    """Close agents, each once; one that raises is logged and holds nobody up."""
    closed: list[Agent] = []
    for name, agent in agents.items():
        if any(agent is other for other in closed):
            continue
        closed.append(agent)
        try:
            agent.close()
        except (Exception, SystemExit):
            log.exception("'%s' raised an exception when it was closed", name)
