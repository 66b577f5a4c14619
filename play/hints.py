"""What an agent would advise: the best moves of a position, with their values."""

from __future__ import annotations

from dataclasses import replace

from agents.evaluation.base import FINAL_UNIT
from agents.search import SearchAgent
from core.notation import PASS
from play.config import PlayerSettings
from play.game import Game
from play.thinking import Thinkers

_USE = "hint"

Hint = tuple[int, int | float | None, tuple[int, ...]]
"""A move, its value to the mover, and the line that it begins."""


def hints(thinkers: Thinkers, who: PlayerSettings, game: Game, wanted: int) -> list[Hint]:
    """The ``wanted`` best moves, the best first. More than one takes a search of each move. Raises
    ConfigError and Trouble."""
    position = game.position
    if wanted == 1:
        decision, _ = thinkers.ask(who, Game(position), 0, use=_USE)
        return [(decision.move, decision.value, decision.pv)]
    found = [_hint(thinkers, who, game, move) for move in position.moves]
    found.sort(key=lambda hint: -hint[1] if hint[1] is not None else 0.0)
    return found[:wanted]


def _hint(thinkers: Thinkers, who: PlayerSettings, game: Game, move: int) -> Hint:
    """One move, searched as deep as the agent would from here."""
    after = game.position.play(move)
    line: tuple[int, ...] = (move,)
    sign = -1
    if after.must_pass:
        after, line, sign = after.play(PASS), (move, PASS), 1
    if after.is_over:
        return move, sign * after.disc_difference * FINAL_UNIT, line
    limits = thinkers.limits
    agent = thinkers.of(who, _USE).agent
    if isinstance(agent, SearchAgent):
        depth = min(agent.depth, limits.depth or agent.depth) - len(line)
        limits = replace(limits, depth=max(1, depth))
    decision, _ = thinkers.ask(who, Game(after), 0, limits, _USE)
    value = None if decision.value is None else sign * decision.value
    return move, value, line + decision.pv
