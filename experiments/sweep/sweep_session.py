"""Playing a sweep: one run for each combination of settings, or for each guess of a search over
settings.

Hydra chooses the combinations, and its launchers the processes or machines that play them.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig
from rich.console import Console

from othello_lab.agents import hydra_parts
from othello_lab.agents.config import ConfigError, compose, one_line
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.escaping import plain
from othello_lab.experiments.config import RunConfig, read
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.jobs.job import Job
from othello_lab.experiments.playing.trust import check_trusted
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.sweep.composing import (
    expand,
    in_a_line,
    is_hydras,
    varied,
    without_guesses,
)
from othello_lab.experiments.sweep.folder import (
    CONFIRMATION,
    FAILURE,
    Combination,
    State,
    Sweep,
    about,
    has_begun,
    put_aside,
    read_combination,
    write_about,
    write_note,
)
from othello_lab.experiments.sweep.reporting import conclude
from othello_lab.experiments.sweep.results import best_of, objective_of
from othello_lab.experiments.sweep.trust import foreign_in

# ---------------------------------------------------------------------- what to run


def sweep(
    arguments: Sequence[str], overrides: Sequence[str], folders: Sequence[str], console: Console
) -> int:
    """Run all combinations and conclude; 0, or 1 if one of them failed.

    arguments: the words after ``run``. overrides, folders: the settings and further folders of
    YAMLs among them. Nothing is written before every known combination has been checked. Raises
    ConfigError; KeyboardInterrupt after Ctrl-C, once the finished part has been concluded.
    """
    own = [override for override in overrides if not is_hydras(override)]
    hydras = [override for override in overrides if is_hydras(override)]
    hydra = _hydras_settings(overrides, folders)
    known = None
    if not str(hydra.sweeper._target_).endswith("BasicSweeper"):  # it chooses as it goes
        example = _check_search(own, folders)
    else:
        parameters = [f"{key}={value}" for key, value in (hydra.sweeper.params or {}).items()]
        known = expand([*parameters, *own])
        if len(known) == 1:
            raise ConfigError(
                "run -m: no setting has several values; write them with commas, such as depth=1,2,3"
            )
        for combination in known:
            read(combination, folders)
        example = known[0]
    wanted = Path(str(compose("run", [*example, *hydras], folders).hydra.sweep.dir))
    asked = Sweep(wanted, list(overrides), list(folders), known, trusted=True)
    job = SweepJob(asked, console, arguments)
    return job.start(as_typed(["run", *arguments]), wanted=wanted)


def resume(folder: Path | str, console: Console, trust: bool = False) -> int:
    """Run the unfinished combinations of a sweep, failed ones too, and conclude; as :func:`sweep`.

    A search is repeated from its first guess: its sampler's seed leads it to the same guesses, and
    finished trials are not played again. trust: as for a single run.
    """
    asked = Sweep.read(folder)
    foreign = foreign_in(asked)
    check_trusted(folder, foreign, trust, console)
    asked = replace(asked, trusted=bool(foreign))
    if asked.known is None:
        sampler = _hydras_settings(asked.overrides, asked.extra_folders).sweeper.get("sampler")
        if (sampler or {}).get("seed") is None:
            raise ConfigError(
                f"{folder}: this search had no hydra.sweeper.sampler.seed, so it cannot be repeated"
            )
    return _go_on(asked, Path(folder), console)


def extend(folder: Path | str, games: int, console: Console, trust: bool = False) -> int:
    """Continue a sweep with more games a pairing in all its runs; as :func:`resume`."""
    asked = Sweep.read(folder)
    if asked.known is None:
        raise ConfigError(
            f"{folder}: the trials of a search are told from each other by as many games; extend "
            f"{Path(folder, CONFIRMATION)}"
        )
    if len({word for words in asked.known for word in words if _is_games(word)}) > 1:
        raise ConfigError(f"{folder}: games is what it varies; extend one of its numbered folders")
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


def _hydras_settings(overrides: Sequence[str], folders: Sequence[str]) -> DictConfig:
    """Return Hydra's own settings, without any that depend on the swept ones."""
    # Of the rest only an experiment may choose a sweeper, and some of it can only be composed
    # together with what is swept.
    plain = [override for override in overrides if is_hydras(override)]
    plain += [
        o for o in overrides if o.startswith("experiment=") and len(hydra_parts.all_values(o)) == 1
    ]
    return compose("run", plain, folders).hydra


def _check_search(overrides: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Check all that is known before a search guesses; return its settings without the guesses."""
    fixed = without_guesses(overrides)
    settings = read(fixed, folders).settings
    if settings.tuning.agent is None:
        raise ConfigError("a search needs to know whose Elo is to be high: tuning.agent=NAME")
    if settings.tuning.seed == settings.seed:
        raise ConfigError(
            f"tuning.seed={settings.seed}: fresh openings need another than the run's"
        )
    return fixed


# ---------------------------------------------------------------------- running all


class SweepJob(Job[int]):
    """A sweep as a job: combinations that are not finished are run, and the sweep concluded.

    Hydra sweeps over the numbers of the combinations, unless it searches. arguments: the words
    after ``run``, of a new sweep. The result is the exit code.
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

    @contextmanager
    def open_record(self, session: Mapping[str, Any]) -> Iterator[None]:
        self._asked = replace(self._asked, folder=self.folder.resolve())
        if not self.resumed:
            write_about(self.folder, session["command"], self._arguments, self._asked.known)
        yield

    def work(self, stack: ExitStack) -> int:
        confirmed = True
        try:
            confirmed = _run_all(self._asked, self.console)
        finally:
            failed = self._conclude()
        return 0 if confirmed and not failed else 1

    def _conclude(self) -> int:
        """Report the finished part, and list the rest; return the number of failures."""
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
        return len(failed)


def _run_all(asked: Sweep, console: Console) -> bool:
    """Run the unfinished combinations; return False if a search could not be confirmed."""
    if asked.known is None:
        words = list(asked.overrides)
        if "max_failure_rate" in _hydras_settings(words, asked.extra_folders).sweeper:
            words.append("hydra.sweeper.max_failure_rate=1.0")  # or one failure ends the search
        _hand_over(asked, words)
        return _confirm(asked, console)
    known = asked.combinations()
    left = [str(each.number) for each in known if each.state is not State.FINISHED]
    words = [override for override in asked.overrides if is_hydras(override)]
    words.append(f"+combination={','.join(left)}")
    words.append("hydra.sweeper.params=null")  # they are among the combinations' settings
    if left:
        _hand_over(asked, words)
    return True


def _hand_over(asked: Sweep, words: Sequence[str]) -> None:
    """Let Hydra run a sweep in its folder."""
    quoted = str(asked.folder).replace("\\", "\\\\").replace("'", "\\'")
    arguments = [
        *(f"--config-dir={extra}" for extra in asked.extra_folders),
        "--multirun",
        *words,
        f"hydra.sweep.dir='{quoted}'",
        "hydra.sweep.subdir=.",
    ]
    known = dict(enumerate(asked.known or ()))
    values = varied(known, asked.overrides)
    # All that a combination has to know goes along, for it may be played in another process.
    lines = [in_a_line(values, number) for number in known]
    task = functools.partial(play_combination, asked=asked, lines=lines)
    own = [word for word in words if not is_hydras(word) and not word.startswith("+combination=")]
    composed = compose("run", without_guesses(own), asked.extra_folders)
    hydra_parts.hand_over("othello-lab run", arguments, task, composed)


def _confirm(asked: Sweep, console: Console) -> bool:
    """Play the best settings of a search again, from other openings; False if that failed."""
    best = best_of(asked.combinations())
    if best is None:
        return False
    tuning = read(best.settings, asked.extra_folders).settings.tuning
    settings = [*best.settings, f"seed={tuning.seed}", f"games={tuning.games}"]
    console.rule("the best again, from fresh openings")
    try:
        _attempt(asked, CONFIRMATION, settings, console)
    except Exception:
        return False
    return True


# ---------------------------------------------------------------------- one combination


def play_combination(config: DictConfig, asked: Sweep, lines: Sequence[str]) -> float | None:
    """Hydra's task, in this process or another: play one combination of a sweep.

    lines: the varied settings, in words, by number of combination; unknown for a search. Returns
    the objective if a search asks for one. A failure is written down, and raised only for a search,
    because a search has to know of it.
    """
    job = HydraConfig.get()
    settings = list(job.overrides.task)
    if asked.known is None:
        number, total = int(job.job.num), job.sweeper.get("n_trials", "?")
        line = in_a_line(varied({number: settings}, asked.overrides), number)
    else:
        number, total = int(settings[-1].partition("=")[2]), len(asked.known)
        settings, line = asked.known[number], lines[number]
    elsewhere = not str(job.launcher._target_).endswith("BasicLauncher")
    console = Console(quiet=True) if elsewhere else make_console()
    console.rule(plain(f"{number + 1} of {total}: {line}"))
    try:
        return _attempt(asked, str(number), settings, console)
    except Exception:
        if asked.known is None:
            raise
        return None


def _attempt(asked: Sweep, name: str, settings: Sequence[str], console: Console) -> float | None:
    """Play a combination in the folder of this name; write a failure down before it is raised."""
    folder = asked.folder / name
    before = read_combination(folder)
    others = ([w for w in words if not _is_games(w)] for words in (before.settings, settings))
    if before.state is not State.WAITING and len({tuple(words) for words in others}) > 1:
        raise ConfigError(f"{folder} holds another combination: {' '.join(before.settings)}")
    try:
        return _play(asked, before, settings, console)
    except Exception as error:
        folder.mkdir(exist_ok=True)
        write_note(folder, settings)
        text = str(error) if isinstance(error, ConfigError) else traceback.format_exc()
        (folder / FAILURE).write_text(text.rstrip() + "\n", encoding="utf-8")
        console.print(plain(f"failed: {one_line(error)}", "red"))
        raise


def _play(
    asked: Sweep, before: Combination, settings: Sequence[str], console: Console
) -> float | None:
    """Play, continue, or take as played the run of a combination's folder."""
    plan, folder = read(settings, asked.extra_folders), before.folder
    extended = before.state is not State.WAITING and before.settings != tuple(settings)
    if before.state is not State.FINISHED or extended:
        (folder / FAILURE).unlink(missing_ok=True)
        begun = has_begun(folder)
        if not begun and (folder / FILE).exists():
            put_aside(folder)
        folder.mkdir(exist_ok=True)
        if not extended:
            write_note(folder, settings)
        if begun:
            games = plan.settings.games if extended else None
            command = as_typed(["resume", str(folder)])
            result = runs.resume(folder, command, console, games=games, trust=asked.trusted)
        else:
            extra = [f"--config-dir={each}" for each in asked.extra_folders]
            result = runs.run(plan, as_typed(["run", *extra, *settings]), console, folder)
        if result.interrupted or not result.complete:
            raise KeyboardInterrupt
        if extended:
            write_note(folder, settings)
    if plan.settings.tuning.agent is None:
        return None
    found = objective_of(folder)
    write_note(folder, settings, found)
    return found
