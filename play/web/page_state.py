"""The state of a page: a visit's game as one message."""

from __future__ import annotations

import time
from typing import Any

from othello_lab.core.bitboard import bits
from othello_lab.core.notation import PASS, format_ggf, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.game import PlayedTurn, outcome, value_text
from othello_lab.play.game_files import described, game_text, players_of, value_of_a_disc
from othello_lab.play.moves import written
from othello_lab.play.opening_names import opening_names
from othello_lab.play.web.catalogue import Catalogue
from othello_lab.play.web.visits import Visit


def position_shown(position: Position) -> dict[str, Any]:
    """Return a position: its squares a1, b1, ... (X black, O white, - empty), the side to move, and
    its legal squares."""
    board, _, _ = position.to_obf().partition(" ")
    return {
        "board": board,
        "to_move": position.to_move.value,
        "legal": list(position.legal_moves()),
        "black": position.black.bit_count(),
        "white": position.white.bit_count(),
    }


def _names(squares: int) -> list[str]:
    return [square_name(square) for square in bits(squares)]


def turn_shown(turn: PlayedTurn) -> dict[str, Any]:
    """Return a move, the position after it, and the agent's statements on it."""
    before, after = turn.before, turn.after
    shown = {
        "move": square_name(turn.move),
        "written": written(turn.move, turn.color, before.ruleset),
        "color": turn.color.value,
        "by": turn.by,
        "forced": turn.move == PASS,
        "flipped": [] if turn.move == PASS else _names(before.opponent & after.opponent),
        "position": position_shown(after),
    }
    if turn.decision is not None:
        decision, stats = turn.decision, turn.decision.stats
        shown["decision"] = {
            "value": decision.value,
            "value_text": value_text(decision.value),
            "depth": decision.depth,
            "pv": [square_name(move) for move in decision.pv],
            "nodes": stats.nodes,
            "evaluations": stats.evaluations,
            "cutoffs": stats.cutoffs,
            "playouts": stats.playouts,
            "seconds": turn.seconds,
        }
    return shown


def visit_shown(visit: Visit, catalogue: Catalogue, thinking: bool, note: str) -> dict[str, Any]:
    """Return all that a page shows of a visit. thinking: True if its agent is; note: the agent's
    message."""
    game = visit.game
    rules = game.start.ruleset
    position = game.position
    played_by = players_of(game, visit.players)
    return {
        "type": "state",
        "rules": {
            "name": rules.name,
            "side": rules.side,
            "first_row_on_top": rules.first_row_on_top,
        },
        "start": position_shown(game.start),
        "moves": [turn_shown(turn) for turn in game.turns],
        "position": position_shown(position),
        "over": game.is_over,
        "outcome": outcome(game) if game.is_over else "",
        "openings": opening_names(game),
        "winner": game.winner.value if game.is_over and game.winner else None,
        "resigned": game.resigned.value if game.resigned else None,
        "waits": visit.waits,
        "players": {
            color.value: {
                "name": player.name,
                "human": player.is_human,
                "described": described(player),
                "played": played_by[color],
                "per_disc": value_of_a_disc(player),
                "settings": catalogue.chosen(player),
            }
            for color, player in visit.players.items()
        },
        "seed": visit.seed,
        "clock": visit.clock and visit.clock.shown(time.monotonic()),
        "series": series_shown(visit),
        "pace": {"playing": visit.playing, "delay": visit.delay},
        "thinking": thinking,
        "note": note,
        "halted": visit.halted,
        "trouble": visit.trouble,
    }


def series_shown(visit: Visit) -> dict[str, Any] | None:
    """Return the score of a visit's series, with the present game if it is over; None without a
    series."""
    if visit.series is None:
        return None
    series = visit.series_so_far
    assert series is not None
    names = series.names({color: player.name for color, player in visit.players.items()})
    return {"text": series.score(names), "won": series.winner is not None}


def texts_of(visit: Visit) -> dict[str, str]:
    """Return the game in every notation."""
    game = visit.game
    players = players_of(game, visit.players)
    moves = [(turn.color, turn.move) for turn in game.turns]
    difference = game.position.black.bit_count() - game.position.white.bit_count()
    ggf = {"PB": players[Color.BLACK], "PW": players[Color.WHITE]}
    if game.resigned is not None:
        sign = "+" if game.winner is Color.BLACK else "-"
        ggf["RE"] = f"{sign}{game.margin}:{'t' if game.late else 'r'}"
    else:
        ggf["RE"] = f"{difference:+d}" if game.is_over else "?"
    return {
        "transcript": "".join(square_name(move) for _, move in moves if move != PASS),
        "obf": game.position.to_obf(),
        "ggf": format_ggf(game.start.to_obf(), moves, **ggf),
        "text": game_text(game, players),
    }
