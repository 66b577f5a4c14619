"""The plan of a run again from its record alone, to report on it: nothing that the record names
from outside the lab is run, and nothing has to be there any more but the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.config import ConfigError, build, build_agent
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.experiments.config import Plan, RunConfig, built_from, typed
from othello_lab.experiments.pairing import Openings, Schedule
from othello_lab.experiments.playing import Executor
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.store import Record


class AbsentAgent(Agent):
    """Stands for an agent that played and is not made again. A report uses the record's facts about
    it; costs of its searches on further positions are not counted."""

    def __init__(self, version: int, reproducible: bool, selective: bool) -> None:
        self.version, self.reproducible, self.selective = version, reproducible, selective
        self.watches_clock = not reproducible

    def decide(self, position: Position, limits: Limits) -> Decision:
        raise NotImplementedError("this agent is known from a record alone")


def recorded_plan(
    record: Record, trusted: Callable[[Sequence[str]], None], trust: bool = False
) -> Plan:
    """Return the plan of a record's run; agents that cannot be made, or may not, are
    :class:`AbsentAgent`.

    trusted: gets a schedule, openings or an executor from outside the lab before any is imported,
    and raises ConfigError to refuse them. trust: True if agents and heuristics from outside may
    run, too.
    """
    settings = typed(record.run()["config"])
    described = built_from(settings)
    agents = _agents(record, settings, trust)
    del described["agents"]
    if "address" in described["executor"]:  # of a cluster, where nobody plays now
        described["executor"] = described["executor"] | {"address": None}
    trusted(foreign_code(described, {}))
    openings, schedule, executor = (
        build(described[name], name, kind)
        for name, kind in (("openings", Openings), ("schedule", Schedule), ("executor", Executor))
    )
    limits = settings.limits.of_moves()
    rules = ruleset(settings.ruleset.name)
    return Plan(settings, agents, rules, limits, openings, schedule, executor)


def _agents(record: Record, settings: RunConfig, trust: bool) -> dict[str, Agent]:
    agents: dict[str, Agent] = {}
    for row in record.agents().itertuples():
        about: Mapping[str, Any] = settings.agents.get(row.name, {})
        absent = AbsentAgent(int(row.version), bool(row.reproducible), bool(row.selective))
        agents[row.name] = absent
        if "object" not in about and (trust or not foreign_code({"agents": about}, {})):
            with suppress(ConfigError):
                agents[row.name] = build_agent(about, row.name)
    return agents
