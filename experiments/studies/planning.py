"""The way from a study's name and settings to a plan that can be carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omegaconf import OmegaConf

from agents.config import ConfigError, build, choices, compose, one_line, unknown
from experiments.config import Plan, check
from experiments.studies.base import Study

GROUP = "study"
"""The group of YAMLs, and the part of a configuration, that studies are in."""


@dataclass(frozen=True)
class StudyPlan:
    """A study that has passed all checks, with its objects built.

    name: its name in ``conf/study``. described: its own settings, as plain data.
    """

    name: str
    study: Study
    described: Mapping[str, Any]
    plan: Plan

    @property
    def as_data(self) -> dict[str, Any]:
        """All settings as the record has them."""
        return {GROUP: dict(self.described), **self.plan.as_data}


def read(name: str, overrides: Sequence[str], folders: Sequence[str] = ()) -> StudyPlan:
    """The plan of the study of this name with overrides (``study.positions=5``, ``depth=3``), and
    further folders of YAMLs; raises ConfigError."""
    known = choices(GROUP, folders)
    if name not in known:
        raise unknown("study", name, known)
    config = compose("run", [f"+{GROUP}={name}", f"name={name}", *overrides], folders)
    described = OmegaConf.to_container(config[GROUP], resolve=True)
    of_run = OmegaConf.masked_copy(config, [str(key) for key in config if key != GROUP])
    return planned(name, described, check(of_run, overrides))


def planned(name: str, described: Any, plan: Plan) -> StudyPlan:
    """The plan of a study with these settings of its own; raises ConfigError."""
    study = build(described, GROUP, Study)
    try:
        study.check(plan)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"study {name}: {one_line(error)}") from error
    return StudyPlan(name, study, described, plan)
