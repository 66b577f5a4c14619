"""One game of a run: played under its conditions, and turned into rows of the record."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

from othello_lab.agents.agent import Agent
from othello_lab.agents.external.program import LAST_OUTPUT
from othello_lab.core.game import FAIR_ENDS, GARBAGE, BeforeCall, GameRecord, Player, Ply, play_game
from othello_lab.core.notation import PASS, split_transcript, square_name
from othello_lab.core.rules import Color, Ruleset
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.record.log import logging_game
from othello_lab.experiments.record.store import TOTALS, GameRow, PlayedGame, misfit, seat_totals
from othello_lab.experiments.record.turns import COUNTS, TIMES, MoveRow, written

log = logging.getLogger("lab.games")

_LONGEST = 400  # characters
_PLACE = re.compile(r'^ *File "(.*)", line (\d+)', re.MULTILINE)  # in a traceback

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
        if played.end_reason not in FAIR_ENDS:
            loser = conditions.names[game.black if played.winner is Color.WHITE else game.white]
            log.warning("'%s' loses: %s. %s", loser, played.end_reason, played.detail)
            log.warning("The position then:\n%s", played.final)
    recorded = recordable(_to_row(conditions, game, played), conditions.rules)
    note_finished(conditions, [recorded])
    return recorded


def note_finished(conditions: GameConditions, games: Iterable[PlayedGame]) -> None:
    """Log the games without a fault, where so much is logged."""
    if not log.isEnabledFor(logging.DEBUG):
        return
    for row in (played.game for played in games):
        if row.end_reason not in FAIR_ENDS:
            continue
        names = conditions.names[row.black], conditions.names[row.white]
        result = "draw" if row.result == "draw" else f"{row.result} wins"
        end = row.end_reason if row.disc_difference is None else f"{row.disc_difference:+d}"
        seconds = (row.black_nanoseconds + row.white_nanoseconds) / 1e9
        with logging_game(row.game):
            log.debug("%s - %s: %s (%s) in %.3f s", *names, result, end, seconds)


def _to_row(conditions: GameConditions, game: ScheduledGame, played: GameRecord) -> PlayedGame:
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
        )._replace(
            black_outside_nanoseconds=played.outside[0], white_outside_nanoseconds=played.outside[1]
        ),
        written(game.number, game.black, turns) if conditions.record_moves else None,
    )


def recordable(played: PlayedGame, rules: Ruleset) -> PlayedGame:
    """Return the game if the record can hold it. Otherwise return a forfeit: the agent with the
    unwritable data loses at its first move, as by an invalid answer."""
    row = played.game
    column = misfit(row)
    if not column:
        return played
    if column == "detail":
        return played._replace(game=row._replace(detail="its reason cannot be recorded"))
    sides = [color for color in Color if column.removeprefix(f"{color.value}_") in TOTALS]
    if not sides:
        return played
    loser, opening = sides[0], Opening.read(row.opening, rules)
    _, moves = opening.begin(rules).follow(split_transcript(row.transcript))
    position, turns = opening.reach(rules), []
    for number, move in enumerate(moves[len(opening.moves) :], start=len(opening.moves) + 1):
        if position.to_move is loser and position.legal_mask:
            break
        agent = row.black if position.to_move is Color.BLACK else row.white
        costs = [] if move == PASS else [None, None, *[0] * (len(COUNTS) + len(TIMES))]
        turns.append(MoveRow(row.game, number, agent, move, *costs))
        position = position.play(move)
    black, white = seat_totals(turns, (row.black, row.white))
    begun = [*opening.moves, *(turn.square for turn in turns)]
    forfeit = GameRow(
        *(row.game, row.pair, row.black, row.white),
        loser.other.value,
        float(loser is Color.WHITE),
        None,
        position.black.bit_count(),
        position.white.bit_count(),
        GARBAGE,
        row.opening,
        row.seed,
        "".join(square_name(move) for move in begun if move != PASS),
        f"its {column} cannot be recorded",
        *black,
        *white,
    )
    log.warning("game %d is lost: %s cannot be recorded", row.game, column)
    return PlayedGame(forfeit, played.turns and written(row.game, row.black, turns))


def in_a_line(detail: str) -> str:
    """Return the reason of a forfeit in a line.

    Of a traceback that is the exception with its place, as in ``TypeError: no such move (mine.py,
    line 12)``. A program's last output is left out, but for the exception of a traceback.
    """
    reason, _, output = detail.partition(LAST_OUTPUT)
    raised = _PLACE.search(output) is not None
    return ": ".join(map(_last_line, [reason, output] if raised else [reason]))


def _last_line(text: str) -> str:
    """Return the last line of a text, and of a traceback its place."""
    lines = text.strip().splitlines()
    places = _PLACE.findall(text)
    where = f" ({os.path.basename(places[-1][0])}, line {places[-1][1]})" if places else ""
    return f"{lines[-1]:.{_LONGEST}}{where:.{_LONGEST}}" if lines else ""


def _turn(game: ScheduledGame, number: int, ply: Ply) -> Any:
    agent = game.black if ply.color is Color.BLACK else game.white
    costs: tuple[Any, ...] = ()
    if (decision := ply.decision) is not None:
        wall, cpu, *rest = _times(ply)
        costs = (decision.value, decision.depth, wall, cpu, *_counts(decision.stats), *rest)
    return MoveRow(game.number, number, agent, ply.move, *costs)


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
