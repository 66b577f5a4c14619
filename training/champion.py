"""The champion from nothing: the parts, their sizes, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import yaml

from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.agents.search.window.probcut_fit import MIN_SAMPLES
from othello_lab.agents.search.window.selective import DEEPEST
from othello_lab.core.system.files import make_folder, write_file
from othello_lab.core.system.settings import Constraint, Switch, Whole, explained
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing.balanced import Recipe
from othello_lab.training.learned_files import CONF, PREFIX, StepResult
from othello_lab.training.training import TrainingStudy

PATTERNS = "patterns"
"""The evaluation of the champion, the training that makes it, and its folder."""
CHAMPION = "champion"
NEW, OLD = "new", "old"
"""The champion that plays with all that is new, and its opponent, in games that measure it."""


class Settings(Constraint):
    """Settings by name."""

    needed = "settings by name"

    def allows(self, value: object) -> bool:
        return isinstance(value, Mapping)


@explained
@dataclass(frozen=True, kw_only=True)
class ChampionTraining(TrainingStudy):
    """Make each part of the champion, one step after another, and tell the changes.

    Of the line-up the first agent plays with what is new, the second as it is.
    """

    patterns: Annotated[Mapping[str, Any], Settings()] = field(default_factory=dict)
    """Settings of the training of patterns that differ from conf/train/patterns.yaml."""
    probcut_depth: Annotated[int, Whole(3, DEEPEST)] = 16
    """Plies up to which ProbCut's parameters are fitted, to searches of the first agent."""
    probcut_positions: Annotated[int, Whole(MIN_SAMPLES)] = 3000
    """Positions that ProbCut's parameters are fitted to."""
    balanced: Annotated[Mapping[str, Any], Settings()] = field(default_factory=dict)
    """Options of the command openings, such as plies, depth and games, for balanced openings."""
    held_out: Annotated[int, Whole(2)] = 4000
    """Games whose positions the weights are measured on; nothing is learned from these."""
    held_out_depth: Annotated[int, Whole(1, MAX_DEPTH)] = 4
    """Plies that the players of these games look ahead."""
    endgames: Annotated[int, Whole(1)] = 200
    """Positions of these games that the solver solves with the old and the new weights."""
    endgame_empties: Annotated[int, Whole(1, 30)] = 20
    """Empty squares of these positions."""
    minutes: Annotated[Mapping[str, float], Settings()] = field(default_factory=dict)
    """About how many minutes each step takes on two cores, for the time left that is shown."""
    ship: Annotated[bool, Switch()] = False
    """Put the results into the lab itself at the end, in the place of what is there."""

    def check(self, plan: Plan) -> None:
        self.recipe.check()
        if len(plan.settings.agents) != 2:
            raise ValueError("agents: two are needed, the new champion and its opponent")
        if "evaluation" not in next(iter(plan.settings.agents.values())):
            raise ValueError("agents: the first has no evaluation that could be learned")

    @property
    def recipe(self) -> Recipe:
        """The recipe of the balanced openings. Raises ValueError for unknown options."""
        try:
            return Recipe(**{"evaluation": PATTERNS, **self.balanced})
        except TypeError as error:
            raise ValueError(f"balanced={dict(self.balanced)}: {error}") from error


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
        made = dict(settings) | {"evaluation": self.learned().settings(self.patterns)}
        if made.get("probcut"):
            made["probcut"] = str(self.probcut.resolve())
        return made

    def write_agent(self, settings: Mapping[str, Any]) -> str:
        """Write this agent with all that is new as a YAML for ``--config-dir``; return its
        name."""
        name = f"{PREFIX}{CHAMPION}"
        settings = self.new_agent(settings)
        said = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
        make_folder(self.conf / "agent")
        head = f"# The champion with what the training in {self.folder} has made\n"
        write_file(self.conf / "agent" / f"{name}.yaml", head + said, durable=True)
        return name
