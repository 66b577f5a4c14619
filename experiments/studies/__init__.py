"""Studies: questions that need more than one run, or no games at all, and what a run's report
counts beside its games.

What a study is stands in :mod:`experiments.studies.base`; each is a file of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def load(folder: str | Path) -> dict[str, pd.DataFrame]:
    """The tables of a study in a folder, by name, as its CSVs have them.

    Raises ConfigError if there is no study in the folder.
    """
    import pandas as pd

    from agents.config import ConfigError
    from experiments.studies.record import is_study

    if not is_study(folder):
        raise ConfigError(f"{folder} is no folder of a study")
    return {path.stem: pd.read_csv(path) for path in sorted(Path(folder).glob("*.csv"))}
