"""The ladder: the Elo of the ten levels and of the agents of all line-ups.

``othello-lab play levels --measure`` writes it to ``conf/levels.yaml``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from othello_lab.agents.composing import choices, conf_folder
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import ConfigError

MEASURED = "levels.yaml"


@dataclass(frozen=True)
class Rung:
    """A level, or an agent of a line-up.

    name: of the level, or LINEUP.NAME. about: a level's way to play. elo: on a scale where random
    moves have 0, with the 95 % interval from low to high, all rounded. agent, evaluation: an
    agent's names in ``conf/``, "" for none.
    """

    name: str
    elo: int
    low: int
    high: int
    about: str = ""
    agent: str = ""
    evaluation: str = ""

    @property
    def interval(self) -> str:
        return f"[{self.low}, {self.high}]"


def levels(folder: Path | None = None) -> list[Rung]:
    """Return the levels, the weakest first. folder: in place of ``conf/``. Raises ConfigError."""
    return [rung for rung in ladder(folder) if not rung.agent]


def ladder(folder: Path | None = None) -> list[Rung]:
    """Return levels and agents, the weakest first. folder: in place of ``conf/``. Raises
    ConfigError."""
    about, path = choices("level"), (folder or conf_folder()) / MEASURED
    try:
        found = read_yaml(path)
        rungs = [Rung(name, about=about[name], **elo) for name, elo in found["levels"].items()]
        rungs += [Rung(name, **elo) for name, elo in found["agents"].items()]
        return sorted(rungs, key=lambda rung: int(rung.elo))
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path}: no measured levels ({error})") from error
