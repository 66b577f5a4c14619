"""Studies: questions that need more than one run, or no games at all.

:mod:`experiments.studies.study` describes the class of a study; each study is a file of its own.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.jobs.job import JobResult


def make(name: str, *settings: str, quiet: bool = False) -> JobResult:
    """Make a study from Python, as ``othello-lab study NAME`` does: ``make("pruning",
    "study.positions=5", "agents=search_family")``.

    Raises ConfigError (a ValueError) for settings that cannot be used.
    """
    from rich.console import Console

    from othello_lab.experiments.studies.study_plan import read
    from othello_lab.experiments.studies.study_session import study

    command = f"othello_lab.experiments.studies.make({', '.join(map(repr, (name, *settings)))})"
    return study(read(name, settings), command, Console(quiet=quiet))


def load(folder: str | Path) -> dict[str, pd.DataFrame]:
    """The tables of a study in a folder, by name, as its CSVs have them.

    Raises ConfigError if there is no study in the folder.
    """
    import pandas as pd

    from othello_lab.core.system.files import read_bytes
    from othello_lab.core.system.settings import ConfigError
    from othello_lab.experiments.jobs.kinds import STUDY, TRAINING, kind_name

    if kind_name(folder) not in (STUDY.word, TRAINING.word):
        raise ConfigError(f"{folder} is no folder of a study")
    paths = sorted(Path(folder).glob("*.csv"))
    return {path.stem: pd.read_csv(io.BytesIO(read_bytes(path))) for path in paths}
