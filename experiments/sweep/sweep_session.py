"""Playing a sweep: one run for each combination of settings, or for each suggestion of a search
over settings.

Hydra's grammar says which combinations there are. A launcher that the user has chosen plays them by
Hydra; otherwise they are played here, one after another.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from othello_lab.agents import hydra_parts
from othello_lab.agents.config import ConfigError, compose
from othello_lab.core.system.console import as_typed, make_console
from othello_lab.core.system.escaping import plain
from othello_lab.experiments.config import RunConfig, read
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.jobs.job import Job
from othello_lab.experiments.jobs.stopping import RunStopped
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
from othello_lab.experiments.sweep.search import (
    SettingsSearch,
    Suggestion,
    check_installed,
    examples_of,
    judge_of,
    space_of,
)
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
    hydras = [override for override in overrides if is_hydras(override)]
    words = _swept(overrides, folders)
    known = None
    if _tunes(words, folders):
        example = _check_search(words, hydras, folders)
    else:
        known = expand(words)
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

    A search is repeated from its first suggestion: the run's seed leads to the same suggestions,
    and finished trials are not played again. trust: as for a single run.
    """
    asked = Sweep.read(folder)
    foreign = foreign_in(asked)
    check_trusted(folder, foreign, trust, console)
    if asked.known is None:
        check_installed()
    return _go_on(replace(asked, trusted=bool(foreign)), Path(folder), console)


def extend(folder: Path | str, games: int, console: Console, trust: bool = False) -> int:
    """Continue a sweep with more games a pairing in all its runs; as :func:`resume`."""
    asked = Sweep.read(folder)
    if asked.known is None:
        raise ConfigError(
            f"{folder}: all trials of a search must have the same number of games; extend "
            f"{Path(folder, CONFIRMATION)}"
        )
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


def _hydras_settings(overrides: Sequence[str], folders: Sequence[str]) -> DictConfig:
    """Return Hydra's own settings, without any that depend on the swept ones."""
    # Of the rest only an experiment may choose a sweeper, and some of it can only be composed
    # together with what is swept.
    plain = [override for override in overrides if is_hydras(override)]
    plain += [
        o for o in overrides if o.startswith("experiment=") and len(hydra_parts.all_values(o)) == 1
    ]
    return compose("run", plain, folders).hydra


def _swept(overrides: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Return the overrides that are not of Hydra's own settings, after those of an experiment's
    ``hydra.sweeper.params``."""
    hydra = _hydras_settings(overrides, folders)
    if not str(hydra.sweeper._target_).endswith("BasicSweeper"):
        raise ConfigError("hydra/sweeper: the lab searches by itself, with tuning.agent=NAME")
    own = [override for override in overrides if not is_hydras(override)]
    keys = {word.partition("=")[0] for word in own}
    parameters = (hydra.sweeper.params or {}).items()
    return [*(f"{key}={value}" for key, value in parameters if key not in keys), *own]


def _tunes(words: Sequence[str], folders: Sequence[str]) -> bool:
    """Return True if an override, or the experiment among them, names an agent to tune."""
    chosen = [word for word in words if word.startswith(("experiment=", "tuning.agent="))]
    if any(len(hydra_parts.all_values(word)) > 1 for word in chosen):
        return False
    return bool(OmegaConf.select(compose("run", chosen, folders), "tuning.agent"))


def _check_search(words: Sequence[str], hydras: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Check a search before it begins; return its fixed settings.

    words: of :func:`_swept`. hydras: Hydra's own.
    """
    check_installed()
    strange = [word for word in hydras if not word.lstrip("+").startswith("hydra.sweeper.params")]
    if strange:
        raise ConfigError(f"{strange[0]}: a search plays one trial after the other, here")
    fixed, space = without_guesses(words), space_of(words)
    if not space:
        raise ConfigError("a search needs settings to choose from: key=interval(0,20), key=a,b")
    for example in examples_of(space):
        settings = read([*fixed, *example], folders).settings
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
            missing = self._conclude()
        return 0 if confirmed and not missing else 1

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


def _run_all(asked: Sweep, console: Console) -> bool:
    """Run the unfinished combinations; return False if a search could not be confirmed."""
    if asked.known is None:
        _search(asked, console)
        return _confirm(asked, console)
    known = asked.combinations()
    left = [each.number for each in known if each.state is not State.FINISHED]
    if left and _needs_hydra(asked):
        words = [override for override in asked.overrides if is_hydras(override)]
        words.append(f"+combination={','.join(map(str, left))}")
        words.append("hydra.sweeper.params=null")  # they are among the combinations' settings
        _hand_over(asked, words)
    elif left:
        lines = _lines(asked)
        for number in left:
            _play_known(asked, number, lines[number], console)
    return True


def _needs_hydra(asked: Sweep) -> bool:
    """Return True if Hydra does more between known combinations than to compose each once more,
    which takes it longer than twenty games of simple agents."""
    if any(map(is_hydras, asked.overrides)):
        return True
    hydra, plain = _hydras_settings(asked.overrides, asked.extra_folders), compose("run").hydra
    parts = ("callbacks", "launcher", "job.chdir", "job.env_copy", "job.env_set")
    return any(OmegaConf.select(hydra, part) != OmegaConf.select(plain, part) for part in parts)


def _lines(asked: Sweep) -> list[str]:
    """Return the varied settings of each known combination, in words."""
    known = dict(enumerate(asked.known or ()))
    values = varied(known, asked.overrides)
    return [in_a_line(values, number) for number in known]


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
    # All that a combination has to know goes along, for it may be played in another process.
    task = functools.partial(play_combination, asked=asked, lines=_lines(asked))
    composed = compose("run", (), asked.extra_folders)
    hydra_parts.hand_over("othello-lab run", arguments, task, composed)


def _search(asked: Sweep, console: Console) -> None:
    """Play the trials of a search that are not finished, and tell the search of all."""
    words = _swept(asked.overrides, asked.extra_folders)
    fixed, space = without_guesses(words), space_of(words)
    settings = read([*fixed, *examples_of(space)[0]], asked.extra_folders).settings
    search = SettingsSearch(asked.folder, space, settings.seed)
    for number in range(settings.tuning.trials):
        suggestion = search.suggest()
        console.rule(plain(f"{number + 1} of {settings.tuning.trials}: {suggestion.line}"))
        found = None
        with suppress(Exception):  # it is written down
            found = _attempt(asked, str(number), [*fixed, *suggestion.words], console, suggestion)
        search.tell(suggestion, found)
    console.print(plain(f"study   {search.file}  (optuna-dashboard shows it)"), soft_wrap=True)


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


def play_combination(config: DictConfig, asked: Sweep, lines: Sequence[str]) -> None:
    """Hydra's task, in this process or another: play one combination of a sweep.

    lines: the varied settings, in words, by number of combination. A failure is written down.
    """
    job = HydraConfig.get()
    elsewhere = not str(job.launcher._target_).endswith("BasicLauncher")
    console = Console(quiet=True) if elsewhere else make_console()
    number = int(list(job.overrides.task)[-1].partition("=")[2])
    _play_known(asked, number, lines[number], console)


def _play_known(asked: Sweep, number: int, line: str, console: Console) -> None:
    """Play one of the known combinations; a failure is written down."""
    assert asked.known is not None
    console.rule(plain(f"{number + 1} of {len(asked.known)}: {line}"))
    with suppress(Exception):
        _attempt(asked, str(number), asked.known[number], console)


def _attempt(
    asked: Sweep,
    name: str,
    settings: Sequence[str],
    console: Console,
    suggestion: Suggestion | None = None,
) -> float | None:
    """Play a combination in the folder of this name; write a failure down before it is raised.

    suggestion: of a search, whose objective is returned.
    """
    folder = asked.folder / name
    before = read_combination(folder)
    others = ([w for w in words if not _is_games(w)] for words in (before.settings, settings))
    if before.state is not State.WAITING and len({tuple(words) for words in others}) > 1:
        raise ConfigError(f"{folder} holds another combination: {' '.join(before.settings)}")
    try:
        return _play(asked, before, settings, console, suggestion)
    except Exception as error:
        why = str(error)
        if isinstance(error, RunStopped):
            why = error.why or why  # it is the sweep that is to be continued
        expected = isinstance(error, ConfigError | RunStopped)
        text = why if expected else traceback.format_exc()
        console.print(plain(f"failed: {' '.join(why.split())}", "red"))
        with suppress(OSError):  # a full disk; the combination then is one that is not finished
            folder.mkdir(exist_ok=True)
            write_note(folder, settings)
            (folder / FAILURE).write_text(text.rstrip() + "\n", encoding="utf-8")
        raise


def _play(
    asked: Sweep,
    before: Combination,
    settings: Sequence[str],
    console: Console,
    suggestion: Suggestion | None = None,
) -> float | None:
    """Play, continue, or take as played the run of a combination's folder."""
    plan, folder = read(settings, asked.extra_folders), before.folder
    if suggestion is not None and before.objective is not None:
        for pairs, elo in before.looks.items():
            suggestion.look(pairs, elo)
        return before.objective
    extended = before.state is not State.WAITING and before.settings != tuple(settings)
    # A trial without an objective was ended before its looks were written; resuming it tells them.
    if before.state is not State.FINISHED or extended or suggestion is not None:
        (folder / FAILURE).unlink(missing_ok=True)
        begun = has_begun(folder)
        if not begun and (folder / FILE).exists():
            put_aside(folder)
        folder.mkdir(exist_ok=True)
        if not extended:
            write_note(folder, settings)
        give_up = None if suggestion is None else judge_of(suggestion, plan)
        if begun:
            games = plan.settings.games if extended else None
            command = as_typed(["resume", str(folder)])
            result = runs.resume(
                folder, command, console, games=games, trust=asked.trusted, give_up=give_up
            )
        else:
            extra = [f"--config-dir={each}" for each in asked.extra_folders]
            command = as_typed(["run", *extra, *settings])
            result = runs.run(plan, command, console, folder, give_up=give_up)
        hopeless = suggestion is not None and suggestion.hopeless
        if result.interrupted or not (result.complete or hopeless):
            raise KeyboardInterrupt
        if extended:
            write_note(folder, settings)
    if suggestion is None:
        return None
    found = objective_of(folder)
    write_note(folder, settings, found, suggestion.elo_by_pairs, suggestion.hopeless)
    return found
