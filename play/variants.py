"""Players changed in one respect: with and without pruning, with another heuristic."""

from __future__ import annotations

from dataclasses import replace

from othello_lab.agents.composing import load
from othello_lab.agents.config import evaluation_settings
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.config import PlayerSettings

_MINIMAX = "othello_lab.Minimax"


def with_evaluation(who: PlayerSettings, name: str) -> PlayerSettings:
    """A player with another heuristic; ConfigError if its agent has none, or there is none of this
    name."""
    assert who.agent is not None
    if "evaluation" not in who.agent:
        raise ConfigError(f"{who.name} has no evaluation")
    return replace(who, agent=who.agent | {"evaluation": evaluation_settings(name)})


def without_pruning(who: PlayerSettings) -> PlayerSettings:
    """Minimax with the same depth and heuristic; ConfigError where there are none."""
    return _like(who, "minimax")


def with_pruning(who: PlayerSettings, pruned: PlayerSettings | None) -> PlayerSettings:
    """The same player if it prunes; for minimax the pruning player that it was before, at the depth
    and with the heuristic of now, or else alpha-beta. ConfigError where there are none."""
    assert who.agent is not None
    if who.agent.get("_target_") != _MINIMAX:
        _like(who, "minimax")
        return who
    if pruned is not None and pruned.agent is not None and pruned.name != "minimax":
        now = {key: who.agent[key] for key in ("depth", "evaluation")}
        return replace(pruned, agent=pruned.agent | now)
    return _like(who, "alphabeta")


def rival(who: PlayerSettings, pruned: PlayerSettings) -> PlayerSettings:
    """Return the opponent of a comparison: minimax, or for minimax itself the search that
    prunes."""
    assert who.agent is not None
    return with_pruning(who, pruned) if who.agent["_target_"] == _MINIMAX else without_pruning(who)


def _like(who: PlayerSettings, name: str) -> PlayerSettings:
    assert who.agent is not None
    if not {"depth", "evaluation"} <= set(who.agent):
        raise ConfigError(f"pruning: {who.name} has no depth and evaluation to compare")
    same = {key: who.agent[key] for key in ("depth", "evaluation")}
    return PlayerSettings(name, load("agent", name) | same)
