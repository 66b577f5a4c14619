"""The plan of a run again from its record alone, to report on it: nothing that the record names
from outside the lab is run, and nothing has to be there any more but the record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.config import build, build_agent
from othello_lab.agents.external_agent import own_kind
from othello_lab.agents.loading import only
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import Plan, RunConfig, built_from, plays_elsewhere, typed
from othello_lab.experiments.pairing import Openings, Schedule, StartOpening
from othello_lab.experiments.pairing.schedule import Pairing, PairOutcomes
from othello_lab.experiments.playing import Executor, Serial
from othello_lab.experiments.record.store import Record


class AbsentAgent(Agent):
    """Stands for an agent that played and is not made again. A report uses the record's facts about
    it; costs of its searches on further positions are not counted.

    settings: its own. kind: its class if it is the lab's own. missed: True if the run's own
    report may say more of it, because the run had the agent itself.
    """

    def __init__(self, row: Any, settings: RunConfig) -> None:
        """row: an AgentRow. settings: of its run."""
        stored = settings.agents.get(row.name)
        self.settings = stored = stored if isinstance(stored, Mapping) else {}
        self.version, self.selective = int(row.version), bool(row.selective)
        self.reproducible = bool(row.reproducible)
        self.kind = kind = own_kind(stored)
        self.watches_clock = getattr(kind, "watches_clock", not self.reproducible)
        self.missed = not getattr(kind, "from_outside", False)
        if kind is None and "object" not in stored:
            self.missed = settings.limits.of_moves().timed or not plays_elsewhere(stored, settings)

    def decide(self, position: Position, limits: Limits) -> Decision:
        raise NotImplementedError("this agent is known from a record alone")


class _AbsentSchedule(Schedule):
    """Stands for a schedule from outside the lab."""

    def __init__(self, both_colours: bool) -> None:
        self.both_colours = both_colours

    def pairings(
        self, number: int, names: Sequence[str], results: PairOutcomes
    ) -> Sequence[Pairing]:
        return ()


@dataclass(frozen=True)
class _AbsentOpenings(StartOpening):
    """Stands for openings from outside the lab."""

    text: str = ""


def recorded_plan(record: Record, trust: bool = False) -> Plan:
    """Return the plan of a record's run, to report on it. What is from outside the lab has a
    stand-in, as has what cannot be made any more.

    trust: True if code from outside the lab may run.
    """
    settings = typed(record.head()["config"])
    with only(None if trust else ()):
        rows = record.agents().itertuples()
        plan = settled_plan(settings, rows, _plays_both_colours(record))
    if vars(plan.executor).get("workers") and settings.executor.get("workers") is None:
        plan.executor.workers = last_session(record)[1].get("cores", plan.executor.workers)
    return plan


def settled_plan(settings: RunConfig, rows: Iterable[Any], both_colours: bool = True) -> Plan:
    """Return the plan of settings from a record, with stand-ins for what cannot be made now.

    rows: AgentRows. both_colours: True if a pair has two games.
    """
    parts, serial = built_from(settings), Serial()
    serial.text, text = (str(parts[name].get("_target_")) for name in ("executor", "openings"))

    def made(name: str, kind: type, stand_in: Any) -> Any:
        with suppress(ConfigError):
            return build(parts[name], name, kind)
        return stand_in

    return Plan(
        settings,
        {row.name: _agent(row, settings) for row in rows},
        ruleset(settings.ruleset.name),
        settings.limits.of_moves(),
        made("openings", Openings, _AbsentOpenings(text=text)),
        made("schedule", Schedule, _AbsentSchedule(both_colours)),
        made("executor", Executor, serial),
    )


def _plays_both_colours(record: Record) -> bool:
    """Return True if a pair of the record has two games."""
    twice = "select 1 from games group by pair having count(*) > 1 limit 1"
    return any(True for _ in record.rows(twice))


def last_session(record: Record) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the versions and the machine that wrote the last games."""
    newest = "select versions, machine from sessions order by session desc limit 1"
    for versions, machine in record.rows(newest):
        return json.loads(versions), json.loads(machine)
    return {}, {}


def _agent(row: Any, settings: RunConfig) -> Agent:
    absent = AbsentAgent(row, settings)
    if "object" not in absent.settings and not plays_elsewhere(absent.settings, settings):
        with suppress(ConfigError):
            return build_agent(absent.settings, row.name)
    return absent
