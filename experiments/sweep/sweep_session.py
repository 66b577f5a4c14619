"""Playing a sweep: one run for each combination of settings, one after another.

Hydra's grammar says which combinations there are.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.config import ConfigError, compose
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.files import make_folder, write_file
from othello_lab.experiments.config import RunConfig, built_from, read, settings_of, typed
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.jobs.job import Job
from othello_lab.experiments.jobs.stopping import RunStopped
from othello_lab.experiments.playing.trust import check_trusted, foreign_code
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.sweep.composing import expand, in_a_line, is_hydras, varied
from othello_lab.experiments.sweep.folder import (
    FAILURE,
    Combination,
    State,
    Sweep,
    about,
    put_aside,
    read_combination,
    write_about,
    write_note,
)
from othello_lab.experiments.sweep.reporting import conclude

# ---------------------------------------------------------------------- what to run


def sweep(
    arguments: Sequence[str], overrides: Sequence[str], folders: Sequence[str], console: Console
) -> int:
    """Run all combinations and conclude; 0, or 1 if one of them failed.

    arguments: the words after ``run``. overrides, folders: the settings and further folders of
    YAMLs among them. Nothing is written before every known combination has been checked. Raises
    ConfigError; KeyboardInterrupt after Ctrl-C, once the finished part has been concluded.
    """
    places = [override for override in overrides if override.startswith("hydra.sweep.dir=")]
    words = [override for override in overrides if override not in places]
    if hydras := [word for word in words if is_hydras(word)]:
        raise ConfigError(f"{hydras[0]}: of Hydra's settings a sweep has only hydra.sweep.dir")
    known = expand(words)
    if len(known) == 1:
        raise ConfigError(
            "run -m: no setting has several values; write them with commas, such as depth=1,2,3"
        )
    for combination in known:
        read(combination, folders)
    hydra = compose("run", [*known[0], *places], folders).hydra
    if hydra.sweeper.params:
        raise ConfigError("hydra.sweeper.params: a sweep's values stand in its command, KEY=a,b")
    wanted = Path(str(hydra.sweep.dir))
    asked = Sweep(wanted, list(overrides), list(folders), known, trusted=True)
    job = SweepJob(asked, console, arguments)
    return job.start(as_typed(["run", *arguments]), wanted=wanted)


def resume(folder: Path | str, console: Console, trust: bool = False) -> int:
    """Run the unfinished combinations of a sweep, failed ones too, and conclude; as :func:`sweep`.

    trust: as for a single run.
    """
    asked = Sweep.read(folder)
    foreign = foreign_in(asked)
    check_trusted(folder, foreign, trust, console)
    return _go_on(replace(asked, trusted=bool(foreign)), Path(folder), console)


def extend(folder: Path | str, games: int, console: Console, trust: bool = False) -> int:
    """Continue a sweep with more games a pairing in all its runs; as :func:`resume`."""
    asked = Sweep.read(folder)
    if len({word for words in asked.known for word in words if _is_games(word)}) > 1:
        raise ConfigError(f"{folder}: it varies games; extend one of its numbered folders")
    known = [[*(w for w in words if not _is_games(w)), f"games={games}"] for words in asked.known]
    foreign = foreign_in(asked)
    check_trusted(folder, foreign, trust, console)
    for before, words in zip(asked.known, known, strict=True):
        already = read(before, asked.extra_folders).settings.games
        if games < already:
            raise ConfigError(
                f"games={games}: {folder} has {already} games a pairing already; it can only grow"
            )
        read(words, asked.extra_folders)
    said = about(asked.folder)
    write_about(asked.folder, said["command"], said["arguments"], known)
    return _go_on(replace(asked, known=known, trusted=bool(foreign)), Path(folder), console)


def _go_on(asked: Sweep, folder: Path, console: Console) -> int:
    """Continue a sweep. folder: as the user wrote it."""
    with locked(folder):
        return SweepJob(asked, console).go_on(folder, "")


def _is_games(word: str) -> bool:
    return word.lstrip("+").startswith("games=")


# ---------------------------------------------------------------------- code from outside the lab


def foreign_in(asked: Sweep) -> list[str]:
    """Return the code from outside the lab that a sweep would run, a line each; see
    :func:`experiments.playing.trust.foreign_code`. Raises ConfigError."""
    return list(dict.fromkeys(_foreign_in(asked)))


def _foreign_in(asked: Sweep) -> Iterator[str]:
    for folder in asked.extra_folders:
        yield f"--config-dir={folder}: its YAMLs may name any code"
    strange = [word for settings in asked.known for word in settings if _is_strange(word)]
    for word in strange:
        yield f"{word}: may name any code"
    if not strange:
        for settings in asked.known:
            yield from foreign_code(built_from(settings_of(settings, asked.extra_folders)), {})
    for each in asked.combinations():
        if each.state is State.STOPPED:
            with reading(each.folder) as record:
                head = record.head()
            yield from foreign_code(built_from(typed(head["config"])), head["versions"])


def _is_strange(word: str) -> bool:
    """Return True if a setting could bring in code that composing without it does not show."""
    key, _, value = word.lstrip("+~").partition("=")
    chooses_file = "." not in key.partition("@")[0]
    return is_hydras(word) or (chooses_file and ".." in value)


# ---------------------------------------------------------------------- running all


class SweepJob(Job[int]):
    """A sweep as a job: combinations that are not finished are run, and the sweep concluded.

    arguments: the words after ``run``, of a new sweep. The result is the exit code.
    """

    def __init__(self, asked: Sweep, console: Console, arguments: Sequence[str] = ()) -> None:
        super().__init__(RunConfig(asked.folder.parent.name), None, console)
        self._asked, self._arguments = asked, arguments

    def prepare(self, stack: ExitStack) -> None:
        """Do nothing: each combination prepares for itself."""

    def versions(self) -> dict[str, str]:
        return {}  # each combination's record has its own

    def foreign(self) -> list[str]:
        return foreign_in(self._asked)

    def write_head(self) -> None:
        """Do nothing: each combination has a record of its own."""

    @contextmanager
    def open_record(self, session: Mapping[str, Any]) -> Iterator[None]:
        self._asked = replace(self._asked, folder=self.folder.resolve())
        if not self.resumed:
            write_about(self.folder, session["command"], self._arguments, self._asked.known)
        yield

    def work(self, stack: ExitStack) -> int:
        try:
            _run_all(self._asked, self.console)
        finally:
            missing = self._conclude()
        return 1 if missing else 0

    def _conclude(self) -> int:
        """Report the finished part, and list the rest; return the number of combinations that are
        not finished."""
        found = self._asked.combinations()
        values = self._asked.varied(found)
        if any(combination.has_games for combination in found):
            conclude(self.folder, found, values, self.console)
        left = [one for one in found if one.state in (State.STOPPED, State.WAITING)]
        if left:
            self.say(
                f"{len(left)} of {len(found)} combinations are not finished; go on with  "
                f"{self.resume_hint()}"
            )
        failed = [one for one in found if one.state is State.FAILED]
        for one in failed:
            line = f"failed  {one.number}: {in_a_line(values, one.number)}: {one.failure}"
            self.console.print(plain(line, "red"))
        return len(left) + len(failed)


def _run_all(asked: Sweep, console: Console) -> None:
    """Run the unfinished combinations."""
    known = dict(enumerate(asked.known))
    values = varied(known, asked.overrides)
    for combination in asked.combinations():
        if combination.state is not State.FINISHED:
            number = combination.number
            line = in_a_line(values, number)
            console.rule(plain(f"{number + 1} of {len(known)}: {line}"))
            with suppress(Exception):  # it is written down
                _attempt(asked, number, known[number], console)


# ---------------------------------------------------------------------- one combination


def _attempt(asked: Sweep, number: int, settings: Sequence[str], console: Console) -> None:
    """Play a combination in the folder of its number; write a failure down before it is raised."""
    folder = asked.folder / str(number)
    before = read_combination(folder)
    others = ([w for w in words if not _is_games(w)] for words in (before.settings, settings))
    if before.state is not State.WAITING and len({tuple(words) for words in others}) > 1:
        raise ConfigError(f"{folder} holds another combination: {' '.join(before.settings)}")
    try:
        _play(asked, before, settings, console)
    except Exception as error:
        why = str(error)
        if isinstance(error, RunStopped):
            why = error.why or why  # it is the sweep that is to be continued
        expected = isinstance(error, ConfigError | RunStopped)
        text = why if expected else traceback.format_exc()
        console.print(plain(f"failed: {' '.join(why.split())}", "red"))
        with suppress(OSError):  # a full disk; the combination then is one that is not finished
            make_folder(folder)
            write_note(folder, settings)
            write_file(folder / FAILURE, text.rstrip() + "\n")
        raise


def _play(asked: Sweep, before: Combination, settings: Sequence[str], console: Console) -> None:
    """Play, continue, or take as played the run of a combination's folder."""
    plan, folder = read(settings, asked.extra_folders), before.folder
    extended = before.state is not State.WAITING and before.settings != tuple(settings)
    if before.state is State.FINISHED and not extended:
        return
    (folder / FAILURE).unlink(missing_ok=True)
    begun = has_begun(folder)
    if not begun and (folder / FILE).exists():
        put_aside(folder)
    make_folder(folder)
    if not extended:
        write_note(folder, settings)
    if begun:
        games = plan.settings.games if extended else None
        command = as_typed(["resume", str(folder)])
        result = runs.resume(folder, command, console, games=games, trust=asked.trusted)
    else:
        extra = [f"--config-dir={each}" for each in asked.extra_folders]
        command = as_typed(["run", *extra, *settings])
        result = runs.run(plan, command, console, folder)
    if result.interrupted or not result.complete:
        raise KeyboardInterrupt
    if extended:
        write_note(folder, settings)
