"""The line that says how far a run is, and the standings below it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.shared_memory import STOPPING
from othello_lab.experiments.report.terminal import terminal_table

STANDINGS_AFTER = 5.0
"""Seconds."""
_EVERY = 1.0  # seconds from one table to the next


class _GamesPerSecond(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed and task.elapsed:  # rich needs two updates apart; a short run has one
            speed = (task.completed - task.fields["before"]) / task.elapsed
        if not speed:
            return Text("")
        return Text(f"{speed:,.0f} games/s" if speed >= 10 else f"{speed:.2f} games/s")


class _Description(ProgressColumn):
    def render(self, task: Task) -> Text:
        return plain(task.description)


class _Note(ProgressColumn):
    def render(self, task: Task) -> Text:
        note, warnings = task.fields["note"], task.fields["warnings"]
        shown = [plain(note)] if note else []
        return Text(", ").join([*shown, *(plain(warning, "red") for warning in warnings)])


class Tally:
    """Wins, draws and losses of a line-up so far, for a look while games are played.

    names: of the agents, by number.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self.games = names, 0
        self._results = {number: [0, 0, 0] for number in range(len(names))}

    def tell(self, games: Iterable[tuple[int, int, str, int]]) -> None:
        """Count games: each Black's and White's number, the result, and their number. Impossible
        values of a record are left out; `verify` finds them."""
        for black, white, result, count in games:
            if result not in _OF_BLACK or not {black, white} <= self._results.keys():
                continue
            self.games += count
            self._results[black][_OF_BLACK[result]] += count
            self._results[white][2 - _OF_BLACK[result]] += count

    def table(self) -> Table:
        """The agents with the most points for their games first."""
        table = terminal_table(["agent", "games", "wins", "draws", "losses", "score %"])
        rows = [(_score(row), number, row) for number, row in self._results.items()]
        for score, number, row in sorted(rows, key=lambda row: (-row[0], row[1]))[:_MOST]:
            counts = [f"{count:,}" for count in (sum(row), *row)]
            table.add_row(plain(self._names[number]), *counts, f"{100 * score:.1f}")
        return table


_OF_BLACK = {"black": 0, "draw": 1, "white": 2}
_MOST = 20  # agents that are shown


def _score(row: Sequence[int]) -> float:
    """Points per game."""
    wins, draws, losses = row
    return (wins + draws / 2) / max(1, wins + draws + losses)


class RunProgress(Progress):
    """The line of progress; on a terminal with the standings below it, once a run has lasted some
    seconds and as long as it lasts.

    tally: that of the run. stopping: True if it has been asked to end. This is then written there,
    because the lines would cover the output of others.
    """

    def __init__(self, tally: Tally, console: Console, stopping: Callable[[], bool]) -> None:
        self._tally, self._stopping = tally, stopping
        self._since = self._drawn = time.monotonic()
        self._table: Table | None = None
        self._live = console.is_terminal
        whole = Column(no_wrap=True)
        super().__init__(
            _Description(),
            BarColumn(),
            MofNCompleteColumn(table_column=whole),
            TextColumn("games"),
            _GamesPerSecond(table_column=whole),
            TextColumn("left"),
            TimeRemainingColumn(table_column=whole),
            TextColumn("elapsed"),
            TimeElapsedColumn(table_column=whole),
            _Note(),
            console=console,
            disable=console.quiet,
        )

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        now = time.monotonic()
        if self._live and self._stopping():
            yield Text(f"{STOPPING}; Ctrl-C again to stop at once")
        elif self._live and self._tally.games and now > self._since + STANDINGS_AFTER:
            if self._table is None or now > self._drawn + _EVERY:
                self._table, self._drawn = self._tally.table(), now
            yield self._table

    def stop(self) -> None:
        self._live = False  # the report's table comes in its place
        super().stop()


def progress_bar(
    console: Console, tally: Tally | None = None, stopping: Callable[[], bool] = lambda: False
) -> Progress:
    """The line; a task has the fields ``note``, ``warnings`` (texts) and ``before``, games of an
    earlier session. tally, stopping: see :class:`RunProgress`."""
    return RunProgress(tally or Tally([]), console, stopping)
