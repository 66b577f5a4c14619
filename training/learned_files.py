"""The results of a training in the files of its folder: weights, and YAML that a run can use."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from othello_lab.agents.composing import load
from othello_lab.agents.config import build
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.system.files import make_folder, write_file
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import ConfigError, from_plain, one_line
from othello_lab.experiments.jobs.job import write_yaml
from othello_lab.experiments.pairing import ResultTable

WEIGHTS, CONF = "weights", "conf"
"""Folders in that of a training: files of weights, and YAMLs for ``--config-dir``."""
PREFIX = "trained_"
"""Begins the names of YAMLs of what was learned: the lab has some of the plain names itself."""


@dataclass(frozen=True)
class LearnedFigure:
    """A figure of learned weights, drawn right after learning.

    svg: an element of a page; empty in a record of version 0.1.
    """

    name: str
    title: str
    caption: str
    svg: str = ""


@dataclass(frozen=True, eq=False)
class StepResult:
    """The result of one learning step, without its weights, which are in a file.

    label: its name. evaluation: its settings, without ``weights`` if a file has them. kind,
    version: of the weights; None without. unit: the value of one disc; None if that is not known.
    minutes: of learning, on two cores. history: rows of numbers.
    """

    label: str
    evaluation: Mapping[str, Any]
    kind: str | None = None
    version: int | None = None
    unit: float | None = None
    minutes: float = 0.0
    findings: Sequence[str] = ()
    tables: Sequence[ResultTable] = ()
    figures: Sequence[LearnedFigure] = ()
    history: Sequence[Mapping[str, Any]] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    # ------------------------------------------------------------------ files

    def write(self, folder: Path, weights: LearnedWeights | None) -> None:
        """Write all of it into the training's folder; the file that :meth:`read` reads comes
        last."""
        if weights is not None:
            weights.write(self.weights_file(folder))
        conf = folder / CONF / "evaluation"
        for parent in (conf, folder / WEIGHTS):
            make_folder(parent)
        settings = yaml.safe_dump(self.settings(folder), sort_keys=False, allow_unicode=True)
        text = f"# What the training in {folder} has learned\n{settings}"
        write_file(conf / f"{PREFIX}{self.label}.yaml", text, durable=True)
        content = dataclasses.asdict(self)
        content["tables"] = [_plain_table(table) for table in self.tables]
        write_yaml(self._file(folder, self.label), content)

    @classmethod
    def read(cls, folder: Path, label: str) -> StepResult:
        """Return the result of this label; ConfigError."""
        path = cls._file(folder, label)
        try:
            result = from_plain(cls, read_yaml(path))
            if result.label != label:
                raise ValueError("its label is another")
            return result
        except (OSError, TypeError, ValueError) as error:
            reason = f"what was learned cannot be read ({one_line(error)})"
            raise ConfigError(f"{path}: {reason}") from error

    @staticmethod
    def _file(folder: Path, label: str) -> Path:
        return folder / WEIGHTS / f"{label}.learned.yaml"

    def weights_file(self, folder: Path) -> Path:
        """Return the file of the weights."""
        return folder / WEIGHTS / f"{self.label}.npz"

    def weights(self, folder: Path) -> LearnedWeights | None:
        """The weights, if it has any in a file; ConfigError."""
        if self.kind is None or self.version is None:
            return None
        try:
            return LearnedWeights.read(self.weights_file(folder), self.kind, self.version)
        except ValueError as error:
            raise ConfigError(str(error)) from error

    def described(self, folder: Path, **about: Any) -> StepResult:
        """The same, with more said of how it was made; also in its files."""
        weights = self.weights(folder)
        if weights is not None:
            weights = dataclasses.replace(weights, about={**weights.about, **about})
        result = dataclasses.replace(self, about={**self.about, **about})
        result.write(folder, weights)
        return result

    # ------------------------------------------------------------------ use

    def settings(self, folder: Path) -> dict[str, Any]:
        """Return the settings of the evaluation, with its weights from the file in this folder."""
        settings = dict(self.evaluation)
        if self.kind is not None:
            settings["weights"] = str(self.weights_file(folder).resolve())
        return settings

    def built(self, folder: Path) -> Evaluation:
        """The evaluation; ConfigError."""
        made: Evaluation = build(self.settings(folder), f"evaluation {self.label}", Evaluation)
        return made


def player(agent: str, evaluation: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """The settings of an agent (of ``conf/agent``) with this evaluation; ConfigError."""
    settings = load("agent", agent)
    if "evaluation" not in settings:
        raise ConfigError(f"agent {agent} has no evaluation, with which it could play")
    given = {"evaluation": dict(evaluation)} | ({"depth": depth} if "depth" in settings else {})
    return settings | given


def _plain_table(table: ResultTable) -> dict[str, Any]:
    """A table as YAML holds it."""
    plain = dataclasses.asdict(table)
    plain["rows"] = [[str(cell) for cell in row] for row in table.rows]
    for name in ("columns", "words", "code"):
        plain[name] = list(plain[name])
    return plain


PATTERNS = "patterns"
"""The evaluation of the champion, the training that makes it, and its folder."""
CHAMPION = "champion"


@dataclass(frozen=True)
class ChampionFiles:
    """The files in the folder of a champion's training."""

    folder: Path

    @property
    def patterns(self) -> Path:
        """The folder of the training of patterns."""
        return self.folder / PATTERNS

    @property
    def probcut(self) -> Path:
        """ProbCut's parameters."""
        return self.folder / "probcut.yaml"

    @property
    def openings(self) -> Path:
        """The file of balanced openings, or its future place. A YAML of the same name is beside
        it."""
        return next(self.folder.glob("balanced_*.txt"), self.folder / "balanced_8.txt")

    @property
    def held_out(self) -> Path:
        """The folder of self-play with positions to measure on."""
        return self.folder / "held_out"

    @property
    def match(self) -> Path:
        """The folder of the match of the new champion against the old one."""
        return self.folder / "match"

    @property
    def conf(self) -> Path:
        """The folder of YAMLs for ``--config-dir``."""
        return self.folder / CONF

    def rows(self, step: str) -> Path:
        """The folder of a step's rows that are kept meanwhile."""
        return self.folder / "rows" / step

    def learned(self) -> StepResult:
        """Return the learned evaluation. Raises ConfigError."""
        return StepResult.read(self.patterns, PATTERNS)

    def new_agent(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return an agent's settings with the new evaluation, and the new parameters of ProbCut if
        it has any."""
        agent = dict(settings) | {"evaluation": self.learned().settings(self.patterns)}
        if agent.get("probcut"):
            agent["probcut"] = str(self.probcut.resolve())
        return agent

    def write_agent(self, settings: Mapping[str, Any]) -> str:
        """Write this agent with all that is new as a YAML for ``--config-dir``; return its
        name."""
        name = f"{PREFIX}{CHAMPION}"
        text = yaml.safe_dump(self.new_agent(settings), sort_keys=False, allow_unicode=True)
        make_folder(self.conf / "agent")
        head = f"# The champion with what the training in {self.folder} has made\n"
        write_file(self.conf / "agent" / f"{name}.yaml", head + text, durable=True)
        return name
