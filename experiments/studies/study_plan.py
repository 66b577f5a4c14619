"""The way from a study's name and settings to a plan that can be carried out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from othello_lab.agents.composing import choices, compose, plain, unknown
from othello_lab.agents.config import evaluation_settings
from othello_lab.agents.loading import resolve
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import Plan, RunConfig, checked_settings
from othello_lab.experiments.jobs.kinds import STUDY, KindEntry
from othello_lab.experiments.studies.study import Study


@dataclass(frozen=True)
class StudyPlan:
    """A study that has passed all checks, with its objects built.

    name: its name in ``conf/study``. described: its own settings, as plain data. kind: its kind of
    record.
    """

    name: str
    study: Study
    described: Mapping[str, Any]
    plan: Plan
    kind: KindEntry = STUDY

    @property
    def title(self) -> str:
        """Its name in messages: ``study scaling``."""
        return f"{self.kind.word} {self.name}"

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Turn a ValueError of the study into a ConfigError of one line that names it."""
        try:
            yield
        except ConfigError:
            raise
        except ValueError as error:
            raise ConfigError(f"{self.title}: {one_line(error)}") from error

    @property
    def as_data(self) -> dict[str, Any]:
        """All settings as the record has them."""
        return {self.kind.group: dict(self.described), **self.plan.as_data}


def read(
    name: str,
    overrides: Sequence[str],
    folders: Sequence[str] = (),
    kind: KindEntry = STUDY,
    of: type[Study] = Study,
    used: Collection[str] = (),
) -> StudyPlan:
    """Return the plan of the study of this name with overrides (``study.positions=5``,
    ``depth=3``), and further folders of YAMLs. Raises ConfigError.

    kind, of: the kind of record, and the class of its studies. used: settings that it uses even if
    no agent of the line-up does.
    """
    known = choices(kind.group, folders)
    if name not in known:
        raise unknown(kind.word, name, known)
    try:
        config = compose("run", [f"+{kind.group}={name}", f"name={name}", *overrides], folders)
    except ConfigError:
        _refuse_bare(name, overrides, folders, kind)
        raise
    described: Any = plain(config)[kind.group]
    del config[kind.group]
    if isinstance(evaluation := described.get("evaluation"), str):
        described["evaluation"] = evaluation_settings(evaluation, folders)
    for_agents = [word for word in overrides if word.partition("=")[0] not in used]
    return planned(name, described, checked_settings(config, for_agents), kind, of)


def _refuse_bare(
    name: str, overrides: Sequence[str], folders: Sequence[str], kind: KindEntry
) -> None:
    """Raise ConfigError for a setting of its own that was asked for as if it were the run's."""
    settings = compose("run", [f"+{kind.group}={name}"], folders)[kind.group]
    names = {field.name for field in fields(resolve(settings["_target_"]))}
    for word in overrides:
        key = word.partition("=")[0]
        if key in names - RunConfig.__dataclass_fields__.keys():
            raise ConfigError(f"unknown setting '{key}'. Did you mean '{kind.group}.{key}'?")


def planned(
    name: str,
    described: Any,
    settings: RunConfig,
    kind: KindEntry = STUDY,
    of: type[Study] = Study,
    settled: Plan | None = None,
) -> StudyPlan:
    """The plan of a study with these settings of its own, and of a run; raises ConfigError.

    settled: the plan of the run's settings, of a study that is only to be concluded.
    """
    study = of.from_settings(described, kind.group)
    made = StudyPlan(name, study, described, settled or study.plan_of(settings), kind)
    with made.refusals():
        study.check(made.plan)
    return made
