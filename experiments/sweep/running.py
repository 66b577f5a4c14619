"""Sweeps: one run for each combination of settings, or for each guess of a search over settings,
all in one folder that ends in one table and one report.

Hydra chooses what to run and its launchers where, maybe in other processes or on other machines.
So a sweep keeps everything in its folder: ``sweep.yaml`` says what was asked for, and each
combination has a folder of its own, named by its number. What is there is all that :func:`load`,
the report and :func:`resume` know.
"""

from __future__ import annotations

import functools
import itertools
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from agents.config import ConfigError, compose, conf_folder, one_line

if TYPE_CHECKING:
    import pandas as pd
    from hydra.core.override_parser.types import Override

    from experiments.config import TuningConfig

SWEEP = "sweep.yaml"
"""A sweep's own file: ``command``; ``arguments``, the words after ``run``; and ``combinations``,
the settings of each, or null where a search chooses them as it goes."""
COMBINATION = "combination.yaml"
"""In a combination's folder: ``settings``; ``objective``, once a search has got it."""
FAILURE = "failed.txt"
"""In a combination's folder: why it failed."""
RECORD = "games.sqlite"
CONFIRMATION = "confirmation"
"""The folder of a search's second run of its best settings."""

_NUMBER = "+combination"  # Hydra sweeps over the combinations' numbers alone
_ZIP = re.compile(r"^([^=]+)=\s*zip\((.*)\)\s*$", re.DOTALL)
_COLUMNS = {"games": "games_per_pairing"}  # settings whose names the standings use otherwise


@dataclass(frozen=True)
class Combination:
    """One run of a sweep, as its folder shows it.

    number: from 0. settings: its overrides, ``key=value``. state: ``finished``, ``stopped`` (some
    games are there), ``failed`` or ``waiting``. failure: the failure's last line. objective: what
    a search got for it.
    """

    number: int
    folder: Path
    settings: tuple[str, ...]
    state: str
    failure: str = ""
    objective: float | None = None


# ---------------------------------------------------------------------- what to run


def expand(overrides: Sequence[str]) -> list[list[str]]:
    """The combinations of a sweep's overrides, each a list of ``key=value``.

    Values separated by commas, ``choice(...)``, ``range(...)`` and ``glob(...)`` are crossed, as in
    Hydra; all keys written ``key=zip(...)`` advance together, and are crossed with the others.
    Raises ConfigError.

    >>> expand(["depth=1,2", "seed=5"])
    [['depth=1', 'seed=5'], ['depth=2', 'seed=5']]
    >>> expand(["a=zip(1,2)", "b=zip(x,y)", "games=4,8"])
    [['games=4', 'a=1', 'b=x'], ['games=4', 'a=2', 'b=y'], ['games=8', 'a=1', 'b=x'], ['games=8', 'a=2', 'b=y']]
    """  # noqa: E501
    zipped: dict[str, list[str]] = {}
    crossed: dict[str, list[str]] = {}
    for override in overrides:  # the last word on a key counts, as in Hydra
        match = _ZIP.match(override)
        values = _values(f"{match[1]}={match[2]}" if match else override)
        key = values[0].partition("=")[0]
        for words in (zipped, crossed):
            words.pop(key, None)
        (zipped if match else crossed)[key] = values
    if len({len(values) for values in zipped.values()}) > 1:
        lengths = ", ".join(f"{key} has {len(values)}" for key, values in zipped.items())
        raise ConfigError(f"zip: all keys need as many values; {lengths}")
    rows = list(zip(*zipped.values(), strict=True)) if zipped else [()]
    return [[*product, *row] for product in itertools.product(*crossed.values()) for row in rows]


def _values(override: str) -> list[str]:
    """All that one override says: ``depth=1,2`` says ``depth=1`` and ``depth=2``."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.errors import HydraException

    try:
        return [words[0] for words in BasicSweeper.split_arguments([_parsed(override)], None)[0]]
    except HydraException as error:
        raise ConfigError(
            f"{override}: that is for a search over settings, hydra/sweeper=optuna"
        ) from error


def _parsed(override: str) -> Override:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        return OverridesParser.create().parse_override(override)
    except HydraException as error:
        why = str(error).splitlines()[0]
        raise ConfigError(f"cannot read '{override}': {why}") from error


def is_sweep(folder: Path | str) -> bool:
    """Whether a folder is a sweep's."""
    return (Path(folder) / SWEEP).is_file()


def sweep(
    arguments: Sequence[str], overrides: Sequence[str], folders: Sequence[str], console: Console
) -> int:
    """Run all combinations and conclude; 0, or 1 if one of them failed.

    arguments: the words after ``run``. overrides, folders: the settings and further folders of
    YAMLs among them. Nothing is written before every combination that is known has been checked.
    Raises ConfigError; KeyboardInterrupt after Ctrl-C, once what there is has been concluded.
    """
    from experiments.config import read
    from experiments.run import as_typed

    own = [override for override in overrides if not _is_hydras(override)]
    hydras = [override for override in overrides if _is_hydras(override)]
    hydra = _compose_hydra(overrides, folders)
    known = None
    if _searches(hydra):
        example = _check_search(own, folders)
    else:
        parameters = [f"{key}={value}" for key, value in (hydra.sweeper.params or {}).items()]
        known = expand([*parameters, *own])
        for combination in known:
            read(combination, folders)
        example = known[0]
    folder = _make_folder(Path(str(compose("run", [*example, *hydras], folders).hydra.sweep.dir)))
    written = {
        "command": as_typed(["run", *arguments]),
        "arguments": list(arguments),
        "combinations": known,
    }
    (folder / SWEEP).write_text(OmegaConf.to_yaml(OmegaConf.create(written)), encoding="utf-8")
    return _go(folder, console)


def resume(folder: Path | str, console: Console) -> int:
    """Run what a sweep has not finished, failed combinations too, and conclude; as :func:`sweep`.

    A search is repeated from its first guess: its sampler's seed leads it to the same guesses, and
    those that have been played are not played again.
    """
    folder = Path(folder)
    if not is_sweep(folder):
        raise ConfigError(f"{folder} is no folder of a sweep: it has no {SWEEP}")
    overrides, folders = asked(folder)
    if about(folder)["combinations"] is None:
        sampler = _compose_hydra(overrides, folders).sweeper.get("sampler") or {}
        if sampler.get("seed") is None:
            raise ConfigError(
                f"{folder}: this search had no hydra.sweeper.sampler.seed, so it cannot be repeated"
            )
    return _go(folder, console)


def about(folder: Path) -> dict[str, Any]:
    """What a sweep's own file says; see :data:`SWEEP`."""
    return dict(OmegaConf.to_container(OmegaConf.load(folder / SWEEP)))  # type: ignore[arg-type]


def asked(folder: Path) -> tuple[list[str], list[str]]:
    """The overrides and the further folders of YAMLs in a sweep's command."""
    from hydra._internal.utils import get_args_parser

    options = get_args_parser().parse_intermixed_args(about(folder)["arguments"])
    return options.overrides, [options.config_dir] if options.config_dir else []


def _is_hydras(override: str) -> bool:
    return re.match(r"[+~]*hydra[./=]", override) is not None


def _searches(hydra: DictConfig) -> bool:
    """Whether the sweeper chooses its combinations as it goes."""
    return not str(hydra.sweeper._target_).endswith("BasicSweeper")


def _compose_hydra(overrides: Sequence[str], folders: Sequence[str]) -> DictConfig:
    """Hydra's own settings, as far as they don't depend on what is swept."""
    # Of the rest only an experiment may choose a sweeper, and some of it can only be composed
    # together with what is swept.
    plain = [override for override in overrides if _is_hydras(override)]
    plain += [o for o in overrides if o.startswith("experiment=") and len(_values(o)) == 1]
    return compose("run", plain, folders).hydra


def _check_search(overrides: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Check what can be known before a search guesses; returns its settings without the guesses."""
    from experiments.config import read

    if any(_ZIP.match(override) for override in overrides):
        raise ConfigError("zip(...) is for sweeps, not for a search over settings")
    fixed = [override for override in overrides if not _parsed(override).is_sweep_override()]
    settings = read(fixed, folders).settings
    if settings.tuning.agent is None:
        raise ConfigError("a search needs to know whose Elo is to be high: tuning.agent=NAME")
    if settings.tuning.seed == settings.seed:
        raise ConfigError(
            f"tuning.seed={settings.seed}: fresh openings need another than the run's"
        )
    return fixed


def _make_folder(wanted: Path) -> Path:
    for path in (wanted, *(wanted.with_name(f"{wanted.name}-{n}") for n in range(2, 100))):
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise ConfigError(f"results: cannot write {path}: {error.strerror}") from None
        return path
    raise ConfigError(f"results: {wanted} exists")


# ---------------------------------------------------------------------- running


def _go(folder: Path, console: Console) -> int:
    """Run what is not finished, and conclude whatever happens."""
    from experiments.sweep.reporting import conclude

    overrides, folders = asked(folder)
    known = about(folder)["combinations"]
    words = [f"--config-dir={extra}" for extra in folders] + ["--multirun"]
    if known is None:
        words += overrides
        hydra = _compose_hydra(overrides, folders)
        if "max_failure_rate" in hydra.sweeper:  # otherwise one failure ends the search
            words.append("hydra.sweeper.max_failure_rate=1.0")
    else:
        missing = [c.number for c in combinations(folder) if c.state != "finished"]
        words += [o for o in overrides if _is_hydras(o)]
        words.append(f"{_NUMBER}={','.join(map(str, missing))}")
        words.append("hydra.sweeper.params=null")  # they are among the combinations' settings
    quoted = str(folder.resolve()).replace("\\", "\\\\").replace("'", "\\'")
    words += [f"hydra.sweep.dir='{quoted}'", "hydra.sweep.subdir=."]
    confirmed = True
    try:
        if known is None or missing:
            hydra_main(words, functools.partial(play_combination, folder=str(folder.resolve())))
        if known is None:
            confirmed = _confirm(folder, folders, console)
    finally:
        found = combinations(folder)
        if any(each.state in ("finished", "stopped") for each in found):
            conclude(folder, console)
        left = [each for each in found if each.state in ("stopped", "waiting")]
        if left:
            console.print(
                f"{len(left)} of {len(found)} combinations are not finished; go on with  "
                f"python -m experiments resume {shlex.quote(str(folder))}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
        failed = [each for each in found if each.state == "failed"]
        for each in failed:
            line = in_a_line(varied(found, overrides), each.number)
            console.print(
                f"failed  {each.number}: {line}: {each.failure}",
                style="red",
                highlight=False,
                markup=False,
            )
    return 0 if confirmed and not failed else 1


def hydra_main(arguments: Sequence[str], task: Callable[[DictConfig], Any]) -> None:
    """Hand over to Hydra's own command line."""
    import hydra

    sys.argv = ["python -m experiments run", *arguments]
    hydra.main(config_path=str(conf_folder()), config_name="run", version_base="1.3")(task)()


def play_combination(config: DictConfig, folder: str) -> float | None:
    """Hydra's task, in this process or another: play one combination of the sweep in ``folder``.

    Returns the objective where a search asks for one. A failure is written down, not raised,
    unless a search has to know of it.
    """
    from hydra.core.hydra_config import HydraConfig

    job = HydraConfig.get()
    settings = list(job.overrides.task)
    path, number = Path(folder), int(job.job.num)
    searching = not settings or not settings[-1].startswith(_NUMBER)
    known = about(path)["combinations"]
    if not searching:
        number = int(settings[-1].partition("=")[2])
        settings = known[number]
    elsewhere = not str(job.launcher._target_).endswith("BasicLauncher")
    console = Console(quiet=True) if elsewhere else _console()
    total = len(known) if known is not None else job.sweeper.get("n_trials", "?")
    others = [each for each in combinations(path) if each.number != number]
    own = Combination(number, path / str(number), tuple(settings), "waiting")
    line = in_a_line(varied([*others, own], asked(path)[0]), number)
    console.rule(f"{number + 1} of {total}: {line}")
    try:
        return _attempt(own.folder, settings, asked(path)[1], console)
    except Exception:
        if searching:
            raise
        return None


def _attempt(
    folder: Path, settings: Sequence[str], folders: Sequence[str], console: Console
) -> float | None:
    """Play a combination; write a failure down before it is raised."""
    state = _state(folder)
    if state.state != "waiting" and state.settings != tuple(settings):
        raise ConfigError(f"{folder} holds another combination: {' '.join(state.settings)}")
    try:
        return _play(folder, settings, folders, console)
    except Exception as error:
        folder.mkdir(exist_ok=True)
        _note(folder, settings)
        text = str(error) if isinstance(error, ConfigError) else traceback.format_exc()
        (folder / FAILURE).write_text(text.rstrip() + "\n", encoding="utf-8")
        console.print(f"failed: {one_line(error)}", style="red", highlight=False, markup=False)
        raise


def _console() -> Console:
    from experiments.__main__ import make_console

    return make_console()


def _play(
    folder: Path, settings: Sequence[str], folders: Sequence[str], console: Console
) -> float | None:
    """Play, or play on, or take as played, what belongs into a combination's folder."""
    from experiments import run as runs
    from experiments.config import read

    plan = read(settings, folders)
    if _state(folder).state != "finished":
        folder.mkdir(exist_ok=True)
        _note(folder, settings)
        (folder / FAILURE).unlink(missing_ok=True)
        if _has_begun(folder):
            result = runs.resume(folder, runs.as_typed(["resume", str(folder)]), console)
        else:
            if (folder / RECORD).exists():
                folder.rename(_free(folder.with_name(f"{folder.name}-stopped")))
                folder.mkdir()
                _note(folder, settings)
            extra = [f"--config-dir={each}" for each in folders]
            command = runs.as_typed(["run", *extra, *settings])
            result = runs.run(plan, command, console, folder)
        if result.interrupted or not result.complete:
            raise KeyboardInterrupt
    if plan.settings.tuning.agent is None:
        return None
    found = elo_of_tuned(folder, plan.settings.tuning)[0]
    _note(folder, settings, found)
    return found


def _has_begun(folder: Path) -> bool:
    """Whether a folder's record got as far as to say what is to be played."""
    from experiments.record.store import Record

    if not (folder / RECORD).exists():
        return False
    with Record.open(folder) as record:
        return record.format() is not None


def _free(path: Path) -> Path:
    names = (path, *(path.with_name(f"{path.name}-{n}") for n in range(2, 1000)))
    return next(each for each in names if not each.exists())


def _note(folder: Path, settings: Sequence[str], objective: float | None = None) -> None:
    note = OmegaConf.create({"settings": list(settings), "objective": objective})
    (folder / COMBINATION).write_text(OmegaConf.to_yaml(note), encoding="utf-8")


def combinations(folder: Path) -> list[Combination]:
    """All combinations of a sweep, by number; of a search those that were tried."""
    known = about(folder)["combinations"]
    found = {int(p.name): _state(p) for p in folder.iterdir() if p.name.isdecimal() and p.is_dir()}
    for number, settings in enumerate(known or ()):
        waiting = Combination(number, folder / str(number), tuple(settings), "waiting")
        if number not in found or found[number].state == "waiting":
            found[number] = waiting
    return [found[number] for number in sorted(found)]


def _state(folder: Path) -> Combination:
    """What a combination's folder says of it."""
    from experiments.record.store import Record

    number = int(folder.name) if folder.name.isdecimal() else -1
    if not (folder / COMBINATION).is_file():
        return Combination(number, folder, (), "waiting")
    note = OmegaConf.load(folder / COMBINATION)
    state, failure = "waiting", ""
    if (folder / FAILURE).is_file():
        state = "failed"
        failure = (folder / FAILURE).read_text(encoding="utf-8").strip().splitlines()[-1]
    elif (folder / RECORD).is_file():
        if not _has_begun(folder):
            return Combination(number, folder, tuple(note.settings), "waiting")
        with Record.open(folder) as record:
            games = record.query("select complete, (select count(*) from games) as n from run")
        if games["n"].iloc[0]:
            state = "finished" if games["complete"].iloc[0] else "stopped"
    return Combination(number, folder, tuple(note.settings), state, failure, note.objective)


# ---------------------------------------------------------------------- what came out


def load(folder: Path | str) -> pd.DataFrame:
    """The runs of a sweep that have games: one row a run and agent.

    Columns: run (the combination's number), folder (its name), one for each key that was varied,
    by its name (``games`` as games_per_pairing), numbers as numbers, then the standings' (see
    :func:`experiments.report.standings.standings`), complete, and for a search objective. Raises
    ConfigError where the folder is no sweep's.
    """
    import pandas as pd

    from experiments.record.store import Record
    from experiments.report.standings import standings

    folder = Path(folder)
    if not is_sweep(folder):
        raise ConfigError(f"{folder} is no folder of a sweep: it has no {SWEEP}")
    known = combinations(folder)
    values = varied(known, asked(folder)[0])
    tables = []
    for each in known:
        if each.state in ("finished", "stopped"):
            with Record.open(each.folder) as record:
                table = standings(record, seed=record.run()["seed"])
            head = {"run": each.number, "folder": each.folder.name}
            tables.append(
                pd.DataFrame(head | {k: v.get(each.number) for k, v in values.items()}, table.index)
                .join(table)
                .assign(complete=each.state == "finished")
            )
            if each.objective is not None:
                tables[-1]["objective"] = each.objective
    if not tables:
        raise ConfigError(f"{folder}: no run of this sweep has any games")
    return pd.concat(tables, ignore_index=True).infer_objects()


def varied(known: Sequence[Combination], asked: Sequence[str]) -> dict[str, dict[int, Any]]:
    """The keys that differ between combinations, and their values by number of combination:
    numbers, words, truth values and None as such, lists and mappings as written."""
    written: dict[str, dict[int, str]] = {}
    for each in known:
        for setting in each.settings:
            written.setdefault(setting.partition("=")[0], {})[each.number] = setting
    found = {}
    for key, settings in written.items():
        if len(known) > 1:
            differs = len(settings) < len(known) or len(set(settings.values())) > 1
        else:
            differs = not set(settings.values()) & set(asked)
        if differs:
            name = key.lstrip("+")
            found[_COLUMNS.get(name, name)] = {
                number: _value(_parsed(setting)) for number, setting in settings.items()
            }
    return found


def _value(override: Any) -> Any:
    value = override.value()
    if isinstance(value, bool | int | float | str | None):
        return value
    text = override.get_value_element_as_str()
    return text.strip("'\"") if hasattr(value, "text") else text


# ---------------------------------------------------------------------- search over settings


def elo_of_tuned(folder: Path, tuning: TuningConfig) -> tuple[float, float, float, int]:
    """The tuned agent's Elo above its opponent, the ends of its 95 % interval, and the games.

    With half a pair won and half a pair lost added, so that winning everything is a number too and
    more points are always more Elo.
    """
    import numpy as np

    from experiments.record.store import Record
    from experiments.report.standings import pair_counts
    from experiments.statistics.intervals import share_interval

    with Record.open(folder) as record:
        own = record.agents()["name"].tolist().index(tuning.agent)
        counts = pair_counts(record)[own, 1 - own]
    share, low, high, pairs = share_interval(counts)
    ends = np.clip([(share * pairs + 0.5) / (pairs + 1), low, high], 1e-6, 1 - 1e-6)
    elo, low, high = (-400 * np.log10(1 / ends - 1)).tolist()
    return elo, low, high, 2 * pairs


def best_of(known: Sequence[Combination]) -> Combination | None:
    """The combination of a search with the highest objective, the first among equals."""
    tried = [each for each in known if each.objective is not None and each.state == "finished"]
    return max(tried, key=lambda each: each.objective or 0.0, default=None)


def _confirm(folder: Path, folders: Sequence[str], console: Console) -> bool:
    """Play the best settings of a search again, from openings of another seed; False if there
    are none, or if that failed."""
    from experiments.config import read

    best = best_of(combinations(folder))
    if best is None:
        return False
    tuning = read(best.settings, folders).settings.tuning
    settings = [*best.settings, f"seed={tuning.seed}", f"games={tuning.games}"]
    console.rule("the best again, from fresh openings")
    try:
        _attempt(folder / CONFIRMATION, settings, folders, console)
    except Exception:
        return False
    return True


def grouped(table: pd.DataFrame, keys: Sequence[str]) -> list[list[str]]:
    """The keys of a sweep's table in groups that vary together: one value of any key of a group
    always goes with the same values of its others."""
    runs = table.drop_duplicates("run")
    groups: list[list[str]] = []
    for key in keys:
        for group in groups:
            both = runs[[group[0], key]].astype(str).drop_duplicates()
            if len(both) == both[key].nunique() == both[group[0]].nunique():
                group.append(key)
                break
        else:
            groups.append([key])
    return groups


def short_names(keys: Iterable[str]) -> dict[str, str]:
    """For each key the shortest end of it that no other key has.

    >>> short_names(["first.depth", "second.depth", "agents.second.evaluation.weights.corners"])
    {'first.depth': 'first.depth', 'second.depth': 'second.depth', \
'agents.second.evaluation.weights.corners': 'corners'}
    """
    keys = list(keys)
    found = {}
    for key in keys:
        parts = key.split(".")
        ends = (".".join(parts[-n:]) for n in range(1, len(parts)))
        found[key] = next(
            (e for e in ends if sum(f".{other}".endswith(f".{e}") for other in keys) == 1), key
        )
    return found


def in_a_line(values: Mapping[str, Mapping[int, Any]], number: int) -> str:
    """What was varied, for one combination: ``depth=3 evaluation=iago``. values: of
    :func:`varied`."""
    short = short_names(values)
    return " ".join(f"{short[k]}={v[number]}" for k, v in values.items() if number in v)
