"""A sweep as a kind of job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.json_output import print_json, rows_of
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import typed
from othello_lab.experiments.jobs.kinds import JobKind, JobSummary, labels, state_of
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.record.reading import damage_told
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.sweep.composing import in_a_line
from othello_lab.experiments.sweep.folder import Sweep, about

_MOST_SHOWN = 40  # combinations, while they are played


class SweepKind(JobKind):
    """A sweep: one run for each combination of settings."""

    word = "sweep"
    hint = "its runs are the numbered folders in it"

    def summary(self, folder: Path) -> JobSummary:
        known = Sweep.read(folder).combinations()
        games, agents, started = 0, 0, ""
        said: dict[str, Any] = {}
        for each in known:
            if each.has_games:
                with Record.open(each.folder) as record:
                    games += record.count_games()
                    agents = max(agents, len(record.agents()))
                    head = record.head()
                    said = said or labels(head["config"])
                    started = min(filter(None, (started, str(head["started"]))))
        counts = Counter(str(each.state) for each in known)
        playing = state_of(folder, complete=False) == "being played"
        state = ", ".join(f"{count} {state}" for state, count in counts.items())
        return JobSummary(
            folder=str(folder),
            kind="sweep",
            name=folder.parent.name,
            started=started,
            agents=agents or None,
            games=games,
            state=f"sweep, {'being played, ' if playing else ''}{state or 'not begun'}",
            **said,
        )

    def show(self, folder: Path, console: Console, as_json: bool) -> None:
        from othello_lab.experiments.sweep.reporting import sweep_table
        from othello_lab.experiments.sweep.results import table_of

        with _with_games(folder) as (known, values):
            table = table_of(known, values)
        if as_json:
            print_json({"folder": str(folder), "kind": "sweep", "runs": rows_of(table)})
        else:
            console.print(sweep_table(table, values))

    def resume(self, folder: Path, command: str, console: Console, **options: Any) -> int:
        from othello_lab.experiments.sweep import sweep_session

        return sweep_session.resume(folder, console, _trust_alone(folder, options))

    def extend(
        self, folder: Path, games: int, command: str, console: Console, **options: Any
    ) -> int:
        from othello_lab.experiments.sweep import sweep_session

        return sweep_session.extend(folder, games, console, _trust_alone(folder, options))

    def write_report(self, folder: Path, console: Console, figures: str | None) -> None:
        from othello_lab.experiments.sweep.reporting import conclude

        with _with_games(folder) as (known, values):
            conclude(folder, known, values, console, figures)

    def latex(self, folder: Path, console: Console) -> str:
        from othello_lab.experiments.sweep.reporting import latex_of_sweep

        with _with_games(folder) as (known, values):
            return latex_of_sweep(folder, known, values)

    def bibtex(self, folder: Path, console: Console) -> str:
        from othello_lab.experiments.report.citing import bibtex

        with (
            _with_games(folder) as (known, _),
            Record.open(next(each for each in known if each.has_games).folder) as record,
        ):
            return bibtex(record.head() | {"command": about(folder)["command"]}, "Sweep")

    def look(self, folder: Path, console: Console) -> tuple[RenderableType, bool]:
        from rich.console import Group

        from othello_lab.experiments.report import watch
        from othello_lab.experiments.report.terminal import terminal_table

        asked = Sweep.read(folder)
        with damage_told(folder):
            known = asked.combinations()
        values = asked.varied(known)
        playing = [each for each in known if each.folder.is_dir() and is_locked(each.folder)]
        states = {each.number: str(each.state) for each in known}
        states |= {each.number: "playing" for each in playing}
        ended = not playing and not is_locked(asked.folder)
        counts = ", ".join(f"{count} {state}" for state, count in Counter(states.values()).items())
        table = terminal_table(["run", "settings", "state", "games"])
        table.columns[1].justify = table.columns[2].justify = "left"
        shown = [each for each in known if each.has_games or each in playing][-_MOST_SHOWN:]
        for each in shown:
            games = ""
            if each.has_games:
                with damage_told(each.folder), Record.open(each.folder) as record:
                    all_games = watch.total_games(typed(record.head()["config"]))
                    games = f"{record.count_games():,} of {all_games}"
            number, settings = str(each.number), plain(in_a_line(values, each.number))
            table.add_row(number, settings, states[each.number], games)
        parts: list[RenderableType] = [plain(f"{folder}: {counts or 'not begun yet'}")]
        parts += [table] if shown else []
        parts += [watch.look(each.folder, console)[0] for each in playing[:1]]
        return Group(*parts), ended


@contextmanager
def _with_games(folder: Path) -> Iterator[tuple[list[Any], Mapping[str, Mapping[int, Any]]]]:
    """Yield the combinations of a sweep, and the settings that vary.

    Raises ConfigError if none has games, or if anything that is read meanwhile is damaged.
    """
    asked = Sweep.read(folder)
    with damage_told(folder):
        known = asked.combinations()
        if not any(each.has_games for each in known):
            raise ConfigError(f"{folder}: no run of this sweep has any games yet")
        yield known, asked.varied(known)


def _trust_alone(folder: Path, options: dict[str, Any]) -> bool:
    """Return True to trust a sweep; ConfigError for an option that is for single runs."""
    trust = bool(options.pop("trust"))
    if any(options.values()):
        raise ConfigError(
            f"{folder} is a sweep; options are for single runs, the numbered folders in it"
        )
    return trust
