"""The question that the settings of a run pose. It decides the beginning of the report."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from othello_lab.agents.config import short_name
from othello_lab.experiments.config import RunConfig

_EXACT = ("Minimax", "AlphaBeta", "PVS", "MTDf")  # searches with minimax's value
_SELECTIVE = ("probcut", "taper", "singular_margin")  # settings that may miss it
_ENDS = {"final": "discs", "endgame": 0, "endgame_by_time": None}  # with their defaults


class Question(Enum):
    """COST: the nodes and the time of agents that are equally strong by construction. MATCH: the
    better one of two agents. RANKS: the order of several agents."""

    COST = auto()
    MATCH = auto()
    RANKS = auto()


def question_of(settings: RunConfig) -> Question:
    """Return the question of a run with these settings."""
    if same_values(settings):
        return Question.COST
    return Question.MATCH if len(settings.agents) == 2 else Question.RANKS


def same_values(settings: RunConfig) -> bool:
    """Return True if all agents find the same values: searches for minimax's value, equally deep
    and with the same evaluation. They differ in their choice among equal moves at most."""
    limits = settings.limits
    if any((limits.depth, limits.nodes, limits.seconds, limits.clock, limits.cpu_seconds)):
        return False
    values = [_value_settings(agent) for agent in settings.agents.values()]
    return len(values) > 1 and None not in values and all(value == values[0] for value in values)


def _value_settings(agent: Mapping[str, Any]) -> list[Any] | None:
    """Return the settings that decide the values of a search; None for any other agent."""
    target = str(agent.get("_target_") or agent.get("object", ""))
    if not target.startswith("othello_lab.") or short_name(target) not in _EXACT:
        return None
    if any(agent.get(key) for key in _SELECTIVE):
        return None
    ends = [agent.get(key, default) for key, default in _ENDS.items()]
    return [agent.get("depth"), agent.get("evaluation"), *ends]


def differ_in_depth(settings: RunConfig) -> bool:
    """Return True if agents may spend differently: in depth, or in a budget of their own."""
    keys = ("depth", "nodes", "seconds", "playouts")
    spent = [[agent.get(key) for key in keys] for agent in settings.agents.values()]
    return any(budget != spent[0] for budget in spent)
