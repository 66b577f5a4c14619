"""The folder of a sweep, and the state of each combination.

A sweep keeps everything in its folder: ``sweep.yaml`` has the command, and each combination has a
folder of its own, named by its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn

import yaml

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.files import MOST_TEXT, read_bytes, write_file
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.experiments.jobs.command_line import run_parser
from othello_lab.experiments.jobs.kinds import FILES
from othello_lab.experiments.record.folder import numbered
from othello_lab.experiments.record.reading import damage_told, has_begun
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.sweep.composing import varied

SWEEP = FILES["sweep"]
"""A sweep's own file: ``command``; ``arguments``, the words after ``run``; and ``combinations``,
the settings of each."""
COMBINATION = "combination.yaml"
"""In a combination's folder: its ``settings``."""
FAILURE = "failed.txt"
"""In a combination's folder: why it failed."""


class State(StrEnum):
    """The state of a combination."""

    FINISHED = "finished"
    STOPPED = "stopped"  # some of its games are there
    FAILED = "failed"
    WAITING = "waiting"  # none of its games are there


@dataclass(frozen=True)
class Combination:
    """One run of a sweep, as its folder shows it.

    number: from 0. settings: its overrides, ``key=value``. failure: the failure's last line.
    """

    number: int
    folder: Path
    settings: tuple[str, ...]
    state: State = State.WAITING
    failure: str = ""

    @property
    def has_games(self) -> bool:
        """True if there is anything to report."""
        return self.state in (State.FINISHED, State.STOPPED)


@dataclass(frozen=True)
class Sweep:
    """A sweep as its command describes it.

    folder: the folder of all results, an absolute path. overrides, extra_folders: the settings and
    the further folders of YAMLs in its command. known: the settings of each combination.
    trusted: True if the user allows code from outside the lab.
    """

    folder: Path
    overrides: list[str]
    extra_folders: list[str]
    known: list[list[str]]
    trusted: bool = False

    @classmethod
    def read(cls, folder: Path | str) -> Sweep:
        """The sweep of a folder; raises ConfigError if it is none."""
        if not is_sweep(folder):
            raise ConfigError(f"{folder} is no folder of a sweep: it has no {SWEEP}")
        folder = Path(folder).resolve()
        said = about(folder)
        try:
            options = run_parser().parse_intermixed_args(said["arguments"])
        except ConfigError as error:
            _refuse(folder / SWEEP, str(error))
        extra_folders = [options.config_dir] if options.config_dir else []
        return cls(folder, options.overrides, extra_folders, said["combinations"])

    def combinations(self) -> list[Combination]:
        """Return all combinations, by number. Reads every folder."""
        found = {
            int(path.name): read_combination(path)
            for path in self.folder.iterdir()
            if path.name.isdecimal() and path.is_dir()
        }
        for number, settings in enumerate(map(tuple, self.known)):
            there = found.get(number)
            if there is None or there.state is State.WAITING:
                found[number] = Combination(number, self.folder / str(number), settings)
            elif there.state is State.FINISHED and there.settings != settings:
                found[number] = replace(there, state=State.STOPPED)  # it is to be extended
        return [found[number] for number in sorted(found)]

    def varied(self, known: Sequence[Combination]) -> dict[str, dict[int, Any]]:
        """Return the differences between combinations, see
        :func:`experiments.sweep.composing.varied`."""
        return varied({each.number: each.settings for each in known}, self.overrides)


def is_sweep(folder: Path | str) -> bool:
    """Return True if a folder is a sweep's."""
    return (Path(folder) / SWEEP).is_file()


def about(folder: Path) -> dict[str, Any]:
    """Return the content of a sweep's own file; see :data:`SWEEP`."""
    said = _read(folder / SWEEP, "command", "arguments", "combinations")
    known = said["combinations"]
    if not _are_words(said["arguments"]):
        _refuse(folder / SWEEP, "arguments: a list of words is needed")
    if not (isinstance(known, list) and all(map(_are_words, known))):
        _refuse(folder / SWEEP, "combinations: a list of lists of words is needed")
    return said


def write_about(
    folder: Path, command: str, arguments: Sequence[str], known: list[list[str]]
) -> None:
    """Write a sweep's own file."""
    said = {"command": command, "arguments": list(arguments), "combinations": known}
    _write(folder / SWEEP, said)


def read_combination(folder: Path) -> Combination:
    """Return the combination in a folder."""
    number = int(folder.name) if folder.name.isdecimal() else -1
    if not (folder / COMBINATION).is_file():
        return Combination(number, folder, ())
    note, failure = _read(folder / COMBINATION, "settings"), ""
    if not _are_words(note["settings"]):
        _refuse(folder / COMBINATION, "settings: a list of words is needed")
    with suppress(FileNotFoundError):
        told = read_bytes(folder / FAILURE, MOST_TEXT).decode(errors="replace")
        failure = [*told.strip().splitlines(), "nothing is said of it"][
            -1 if not told.strip() else -2
        ]
    state = State.FAILED if failure else _state_of_games(folder)
    return Combination(number, folder, tuple(note["settings"]), state, failure)


def _state_of_games(folder: Path) -> State:
    if not has_begun(folder):
        return State.WAITING
    with damage_told(folder), Record.open(folder) as record:
        row = record.query("select complete, (select count(*) from games) as n from job").iloc[0]
    if not row["n"]:
        return State.WAITING
    return State.FINISHED if row["complete"] else State.STOPPED


def write_note(folder: Path, settings: Sequence[str]) -> None:
    """Write the settings of a combination into its folder."""
    _write(folder / COMBINATION, {"settings": list(settings)})


def put_aside(folder: Path) -> None:
    """Rename a combination's folder if its record has too little to be resumed."""
    stopped = folder.with_name(f"{folder.name}-stopped")
    folder.rename(next(path for path in numbered(stopped) if not path.exists()))


# The C library writes ten times as fast; it is not everywhere.
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _read(path: Path, *keys: str) -> dict[str, Any]:
    """Return the content of a file with these keys; ConfigError."""
    try:
        content: dict[str, Any] = read_yaml(path)
    except (OSError, ValueError) as error:
        _refuse(path, one_line(error))
    if not isinstance(content, dict) or not set(keys) <= set(content):
        _refuse(path, f"{', '.join(keys)} are needed")
    return content


def _refuse(path: Path, message: str) -> NoReturn:
    raise ConfigError(f"{path} cannot be used: {message:.300}")


def _are_words(said: object) -> bool:
    return isinstance(said, list) and all(isinstance(word, str) for word in said)


def _write(path: Path, content: dict[str, Any]) -> None:
    text = yaml.dump(content, Dumper=_DUMPER, sort_keys=False, allow_unicode=True)
    write_file(path, text)
