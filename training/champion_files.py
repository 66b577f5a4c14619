"""The files in the folder of a champion's training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from othello_lab.core.system.files import make_folder, write_file
from othello_lab.training.learned_files import CONF, PREFIX, StepResult

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
