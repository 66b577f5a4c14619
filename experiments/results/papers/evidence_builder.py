"""The tests that a page asks for, and the making of missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from othello_lab.agents.config import ConfigError, choices, conf_folder, one_line, unknown
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import resume, run
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.results.listing import places_below
from othello_lab.experiments.studies.record import STUDY, StudyRecord, is_study
from othello_lab.experiments.studies.study_plan import read as read_study
from othello_lab.experiments.studies.study_session import resume as resume_study
from othello_lab.experiments.studies.study_session import study

PAGE = "players.yaml"
RUN, ERRORS = "run", "errors"
TESTS = (RUN, ERRORS, "pruning", "scaling")
"""What a line-up can be put to: a run, and studies, the first one of the games of that run."""
_APART = ("executor", "figures", "results", "log_level", "export", "tags", "note")
"""Settings of a run that change no number of it."""


@dataclass(frozen=True)
class PageContent:
    """The content of a page. settings: of all runs and studies (``games=10``). lineups: by name,
    each with its tests and their settings."""

    settings: list[str]
    lineups: dict[str, dict[str, list[str]]]

    @classmethod
    def read(cls, path: Path | None, folders: Sequence[str] = ()) -> PageContent:
        """Return the content in a YAML (None: the lab's own); ConfigError."""
        path = path or conf_folder() / PAGE
        try:
            said = read_yaml(path)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path} cannot be read: {one_line(error)}") from error
        wrong = not isinstance(said, dict) or set(said) - {"settings", "lineups"}
        if wrong or "lineups" not in said:
            raise ConfigError(f"{path}: settings and lineups are needed, and nothing else")
        settings = _words(said.get("settings"), f"{path}: settings")
        if not isinstance(said["lineups"], dict) or not said["lineups"]:
            raise ConfigError(f"{path}: lineups: names of line-ups are needed, each with its tests")
        known, lineups = choices("agents", folders), {}
        for name, tests in said["lineups"].items():
            if name not in known:
                raise unknown(f"line-up in {path}", str(name), known)
            if not isinstance(tests or {}, dict):
                raise ConfigError(f"{path}: lineups.{name}={tests}: tests by name are needed")
            for kind in tests or {}:
                if kind not in TESTS:
                    raise unknown(f"test in {path}, lineups.{name}", str(kind), TESTS)
            lineups[name] = {
                kind: _words(words, f"{path}: lineups.{name}.{kind}")
                for kind, words in (tests or {}).items()
            }
        return cls(settings, lineups)

    def overrides(self, lineup: str, kind: str = RUN) -> list[str]:
        """The settings of one of its tests as a command line has them."""
        own = self.lineups[lineup].get(kind, [])
        # Those of a run are for its players, whatever it is put to: also for a study's own pool.
        return [f"agents={lineup}", *self.settings, *own]


def _words(said: Any, where: str) -> list[str]:
    if said is None:
        return []
    if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
        raise ConfigError(f"{where}: a list of settings is needed, such as [games=100]")
    return list(said)


class EvidenceBuilder:
    """The tests of a page in a folder of results: existing ones, and those to be made."""

    def __init__(
        self,
        page: PageContent,
        results: Path,
        extra: Sequence[str],
        folders: Sequence[str],
        force: bool,
    ) -> None:
        """extra: settings that come after those of the page. force: continue tests that another
        version of the lab has begun."""
        self._page, self._results, self._force = page, results, force
        self._extra, self._folders = list(extra), folders

    def make(self, command: str, console: Console) -> list[Path] | None:
        """Make missing tests, and continue incomplete ones; return the folders of all, in the order
        of the page, or None after an interruption. Raises ConfigError and RunStopped."""
        for lineup, tests in self._page.lineups.items():  # nothing is begun that cannot be ended
            for kind in tests:
                self._plan(lineup, kind, None)
        found: list[Path] = []
        for lineup, tests in self._page.lineups.items():
            games = None
            for kind in sorted(tests, key=TESTS.index):
                folder, complete = self._made(lineup, kind, games, command, console)
                if not complete:
                    return None
                games = folder if kind == RUN else games
                found.append(folder)
        return found

    def told(self) -> str:
        """Return the tests of the page in words: runs, their games, and studies."""
        lineups = self._page.lineups
        games = sum(self._plan(name, RUN, None).games for name in lineups if RUN in lineups[name])
        studies = sum(kind != RUN for tests in lineups.values() for kind in tests)
        runs = sum(RUN in tests for tests in lineups.values())
        return f"{counted(runs, 'run')} of {games:,} games in all, and {studies:,} studies,"

    def _plan(self, lineup: str, kind: str, games: Path | None) -> Any:
        words = [*self._page.overrides(lineup, kind), *self._extra]
        name = lineup if kind == RUN else f"{lineup}-{kind}"
        words += [f"name={name}", f"results={self._results}", "figures=false"]
        if kind == RUN:
            words = [word for word in words if not word.startswith(f"{STUDY.group}.")]
            return read(words, self._folders)
        if kind == ERRORS:
            if RUN not in self._page.lineups[lineup]:
                raise ConfigError(f"line-up {lineup}: {ERRORS} needs a {RUN} whose moves it judges")
            words += [f"{STUDY.group}.run={games}"] if games else []
        return read_study(kind, words, self._folders)

    def _made(
        self, lineup: str, kind: str, games: Path | None, command: str, console: Console
    ) -> tuple[Path, bool]:
        """Return a test's folder, and True if it is complete now."""
        plan = self._plan(lineup, kind, games)
        settings = (plan if kind == RUN else plan.plan).settings
        wanted = _compared(plan.as_data)
        for folder in self._there(settings.name):
            config, complete = _recorded(folder)
            if _compared(config) != wanted:
                continue
            if complete:
                return folder, True
            console.rule(plain(f"{settings.name}: going on with {folder}"))
            if kind == RUN:
                return folder, resume(
                    folder, command, console, force=self._force, brief=True
                ).complete
            return folder, resume_study(folder, command, console, force=self._force).complete
        console.rule(plain(settings.name))
        if kind == RUN:
            played = run(plan, command, console, brief=True)
            return played.folder, played.complete
        made = study(plan, command, console)
        return made.folder, made.complete

    def _there(self, name: str) -> list[Path]:
        """Return the folders begun under this name, the latest first."""
        return sorted(places_below(self._results / name), reverse=True)


def _recorded(folder: Path) -> tuple[dict[str, Any], bool]:
    if is_study(folder):
        with StudyRecord.open(folder) as about:
            head = about.study()
    else:
        with reading(folder) as record:
            head = record.run()
    return dict(head["config"]), bool(head["complete"])


def _compared(config: Mapping[str, Any]) -> str:
    """Return the settings that the numbers follow from."""
    return yaml.safe_dump({k: v for k, v in config.items() if k not in _APART}, sort_keys=True)
