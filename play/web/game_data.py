"""Games and players as plain data, for the disk and for the compute process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from othello_lab.core.game import Decision, SearchStats, valid_answer
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.config import PERSON, PlayerSettings
from othello_lab.play.game import GameState

Data = dict[str, Any]


def decision_from(data: Mapping[str, Any]) -> Decision:
    """The decision that was kept; raises ValueError."""
    try:
        stats = SearchStats(**data["stats"])
        decision = Decision(data["move"], data["value"], tuple(data["pv"]), data["depth"], stats)
        return valid_answer(decision)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no decision: {error}") from error


def game_data(game: GameState, plies: int | None = None) -> Data:
    """A game as plain data, or its first plies."""
    return {
        "rules": game.start.ruleset.name,
        "start": game.start.to_obf(),
        "resigned": game.resigned.value if game.resigned and plies is None else None,
        "late": game.late,
        "turns": [
            {
                "move": turn.move,
                "by": turn.by,
                "seconds": turn.seconds,
                "decision": turn.decision and asdict(turn.decision),
            }
            for turn in game.turns[:plies]
        ],
    }


def game_from(data: Mapping[str, Any]) -> GameState:
    """The game that was kept; raises ValueError."""
    try:
        game = GameState(Position.from_obf(data["start"], data["rules"]))
        for turn in data["turns"]:
            decision = turn["decision"] and decision_from(turn["decision"])
            game.play(turn["move"], str(turn["by"]), decision or None, float(turn["seconds"]))
        if data["resigned"]:
            game.give_up(Color(data["resigned"]), bool(data.get("late")))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no game: {error}") from error
    return game


def player_data(player: PlayerSettings) -> Data:
    """A player as plain data."""
    return {"name": player.name, "agent": player.agent}


def player_from(data: Mapping[str, Any]) -> PlayerSettings:
    """The player that was kept; raises ValueError."""
    try:
        name, agent = str(data["name"]), data["agent"]
        return PERSON if agent is None else PlayerSettings(name, dict(agent))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no player: {error}") from error
