"""``compare``: several runs side by side, and pooled if they are one experiment.

Ratings of one run are relative to its own pool. So of each run only the games among the agents that
all runs have are rated again, and their mean is 0 Elo in each. Runs are pooled only if all that
games depend on is equal but the seed and the number of games; games that several runs have, move
for move, count once, and an opening that several have is one opening.
"""

from __future__ import annotations

import itertools
import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rich.console import Console

from othello_lab.core.system.cli import Parser
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.json_output import print_json, rows_of
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import typed
from othello_lab.experiments.jobs.kinds import check_single, state_of
from othello_lab.experiments.record.folder import new_folder
from othello_lab.experiments.record.provenance import differences
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import FILE, AgentRow, GameRow, JobRow, PlayedGame, Record
from othello_lab.experiments.report.elo_lead import elo_lead
from othello_lab.experiments.report.markdown import link, write_report
from othello_lab.experiments.report.standings import rated_by_settings, rated_parts, standings
from othello_lab.experiments.report.tables import COLUMNS, RATING, cells, order_note
from othello_lab.experiments.report.terminal import short_path, terminal_table

if TYPE_CHECKING:
    import pandas as pd

_OWN = (
    *("name", "results", "executor", "figures", "export", "log_level", "tuning", "published"),
    *("tags", "note", "judging"),
)
"""Settings that say nothing of the games."""
_MORE_OF_THE_SAME = ("seed", "games", "record", "study", "searches")
"""Settings that may differ between runs of one experiment."""
_OTHERS = "other agents"
POOLED = "all"
"""What the runs together are called."""
_FEW = 4  # settings that are named where there are many
_SHOWN = ("games", "score %", RATING, "discs", "nodes/move", "evals/move")
_RUNS = ("run", "folder", "started", "games", "openings", "seed", "state")
_STANDINGS = ("agent", "run", *_SHOWN)
_AGENTS = "select * from agents order by agent"
_HEAD = [name for name in JobRow._fields if name != "wall_seconds"]
_BATCH = 10_000  # games copied at a time


@dataclass(frozen=True)
class ComparedRun:
    """One of the runs.

    label: a short name of it: A, B, ... Z, R27, ... folder: its folder. games, openings: their
    numbers. state: see :func:`experiments.jobs.kinds.state_of`. standings: those of the games among
    the agents that all runs have, their mean at 0 Elo; empty if there are fewer than two. The rest
    is as its record has it.
    """

    label: str
    folder: str
    name: str
    started: str
    seed: int
    games: int
    openings: int
    state: str
    standings: pd.DataFrame

    @property
    def cells(self) -> list[str]:
        """Its row in the table of runs."""
        started, games, openings = self.started.replace("T", " "), self.games, self.openings
        counts = f"{games:,}", f"{openings:,}", str(self.seed)
        return [self.label, self.folder, started, *counts, self.state]

    @property
    def as_data(self) -> dict[str, Any]:
        """All of it as plain data."""
        return vars(self) | {"standings": rows_of(self.standings)}


@dataclass(frozen=True)
class Comparison:
    """Several runs side by side.

    shared: names of the agents that all have. settings: differences, by key, a value a run.
    versions: differences of the lab, in words. apart: the reason against one experiment, "" if
    there is none. pooled: then the standings of all games together; games: the number of these, and
    of different ones; finding: the leader in them, its lead and all ranks.
    """

    runs: list[ComparedRun]
    shared: list[str]
    settings: dict[str, list[str]]
    versions: list[str]
    apart: str = ""
    pooled: pd.DataFrame | None = None
    games: tuple[int, int] = (0, 0)
    finding: str = ""

    @property
    def order(self) -> pd.DataFrame:
        """The standings that order the agents: of all runs together, or of the first."""
        return self.runs[0].standings if self.pooled is None else self.pooled

    @property
    def setting_table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of the table of different settings."""
        header = ["setting", *(run.label for run in self.runs)]
        return header, [[key, *values] for key, values in self.settings.items()]

    @property
    def standing_rows(self) -> list[list[list[str]]]:
        """For each agent that all runs have its rows: its numbers in each run, and in all."""
        tables = [(run.label, run.standings) for run in self.runs]
        tables += [(POOLED, self.pooled)] if self.pooled is not None else []
        columns = {name: COLUMNS[name] for name in _SHOWN}
        return [
            [
                [name, label, *row]
                for label, table in tables
                for row in cells(columns, table[table["agent"] == name])
            ]
            for name in self.order["agent"]
        ]

    @property
    def sentences(self) -> list[str]:
        """Its findings in words."""
        said = [f"Not pooled: {self.apart}."]
        if self.pooled is not None:
            games, different = self.games
            same = f", {games - different:,} of which repeat others" if different < games else ""
            said = [f"Pooled, as they are one experiment: {counted(games, 'game')}{same}."]
            said += [f"In all: {self.finding}"] * bool(self.finding)
        said += filter(None, [order_note(self.order) if len(self.order) else ""])
        return said + [f"Versions differ: {'; '.join(self.versions)}."] * bool(self.versions)

    @property
    def as_data(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "runs": [run.as_data for run in self.runs],
            "shared": self.shared,
            "settings": self.settings,
            "versions": self.versions,
            "pooled": None if self.pooled is None else rows_of(self.pooled),
            "findings": self.sentences,
        }


def compare_command(arguments: Sequence[str], console: Console) -> int:
    """Print several runs side by side."""
    parser = Parser(
        prog="othello-lab compare",
        description="Several runs side by side: the settings that differ, and the standings of the "
        "agents that all have, from the games among these. Where nothing differs but seeds and "
        "numbers of games the runs are pooled. report FOLDER FOLDER writes the same as a page.",
    )
    parser.add_argument("folder", type=Path, nargs="+", help="results/NAME/DATE, two or more")
    parser.add_argument("--json", action="store_true", help="for a program to read")
    options = parser.parse_args(arguments)
    comparison = compare(options.folder)
    if options.json:
        print_json(comparison.as_data)
    else:
        _tell(comparison, console)
    return 0


def compare(folders: Sequence[Path]) -> Comparison:
    """Compare runs; ConfigError where a folder has none, or none with games, or is named twice."""
    if len(folders) < 2:
        raise ConfigError("two runs or more are needed to compare")
    seen = set[Path]()
    for folder in folders:
        check_single(folder)
        if folder.resolve() in seen:
            raise ConfigError(f"{folder} is named twice")
        seen.add(folder.resolve())
    heads, names, sizes = [], [], []
    for folder in folders:
        with reading(folder) as record:
            if not (games := record.count_games()):
                raise ConfigError(f"{folder}: no game of this run has ended yet")
            heads.append(record.head())
            names.append(record.agents()["name"].tolist())
            ((openings,),) = record.rows("select count(distinct opening) from games")
            sizes.append((games, openings, state_of(folder, bool(heads[-1]["complete"]))))
    shared = [name for name in names[0] if all(name in other for other in names)]
    runs = []
    for number, (folder, head, size) in enumerate(zip(folders, heads, sizes, strict=True)):
        label = chr(ord("A") + number) if number < 26 else f"R{number + 1}"
        facts = str(folder), head["name"], head["started"], head["seed"], *size
        runs.append(ComparedRun(label, *facts, _standings(folder, shared)))
    settings = _different([head["config"] for head in heads], shared)
    versions = sorted(
        {change for head in heads for change in differences(heads[0]["versions"], head["versions"])}
    )
    if why := _why_apart(heads, shared, settings, versions):
        return Comparison(runs, shared, settings, versions, why)
    games = sum(int(run.standings["games"].sum()) for run in runs) // 2
    with pooled_record(folders, shared) as record:
        seed = int(heads[0]["seed"])  # as its own report has it
        parts = rated_parts(record, seed)
        ((different,),) = record.rows(
            "select count(distinct black || ' ' || white || opening || transcript) from games"
        )
        finding = " ".join(elo_lead(record, parts, seed)) if parts else ""
        table = standings(record, parts)
    return Comparison(runs, shared, settings, [], "", table, (games, different), finding)


def _standings(folder: Path, names: Sequence[str]) -> pd.DataFrame:
    if len(names) < 2:
        import pandas as pd

        return pd.DataFrame({"agent": []})
    with pooled_record([folder], names) as record:
        settings = typed(record.head()["config"])
        settings.rating.anchor = None
        return standings(record, rated_by_settings(record, settings))


def _different(configs: Sequence[Mapping[str, Any]], shared: Sequence[str]) -> dict[str, list[str]]:
    """Return the settings that differ, by key; of agents that are not ``shared`` only the names."""
    flat = []
    for config in configs:
        agents = {name: settings for name, settings in config["agents"].items() if name in shared}
        others = [name for name in config["agents"] if name not in shared]
        of_games = {key: value for key, value in config.items() if key not in _OWN}
        named = {_OTHERS: ", ".join(others)} if others else {}
        flat.append(dict(_flat(of_games | {"agents": agents})) | named)
    keys = dict.fromkeys(key for settings in flat for key in settings)
    table = {key: [settings.get(key, "-") for settings in flat] for key in keys}
    return {key: values for key, values in table.items() if len(set(values)) > 1}


def _flat(settings: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, str]]:
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{where}{key}.")
        else:
            yield f"{where}{key}", f"{value}"


def _why_apart(
    heads: Sequence[Mapping[str, Any]],
    shared: Sequence[str],
    settings: Mapping[str, Any],
    versions: Sequence[str],
) -> str:
    """Return why runs are no one experiment; "" if their shared agents' games are alike."""
    if len(shared) < 2:
        return "they have fewer than two agents of the same name"
    may_differ = (_OTHERS, *_MORE_OF_THE_SAME)
    differ = [key for key in settings if key.partition(".")[0] not in may_differ]
    if differ:
        return f"they differ in {', '.join(differ[:_FEW])}{' ...' * (len(differ) > _FEW)}"
    if versions:
        return "they were played by other versions"
    targets = [str(head["config"].get("schedule", {}).get("_target_", "")) for head in heads]
    if any(target.rpartition(".")[2] not in ("RoundRobin", "Gauntlet") for target in targets):
        return "who met in them, or for how long, went by results, which would bias a pool"
    return ""


@contextmanager
def pooled_record(folders: Sequence[Path], names: Sequence[str]) -> Iterator[Record]:
    """Yield a temporary record of the games of several runs among some agents. Pairs that an
    earlier run has, move for move, are left out. Its head and agents are the first run's."""
    with tempfile.TemporaryDirectory() as folder, Record.create(Path(folder) / FILE) as made:
        with made.transaction():
            with reading(folders[0]) as record:
                head = record.head()
                agents = {row.name: row for row in map(AgentRow._make, record.rows(_AGENTS))}
            made.write_row("job", {key: head[key] for key in _HEAD})
            made.write_agents(agents[name]._replace(agent=n) for n, name in enumerate(names))
            games = _different_games(folders, names)
            while batch := list(itertools.islice(games, _BATCH)):
                made.write_games(batch)
        yield made


def _different_games(folders: Sequence[Path], names: Sequence[str]) -> Iterator[PlayedGame]:
    """Yield the games of several runs among some agents, numbered anew; no pair twice."""
    known, last = set[int](), -1
    for folder in folders:
        seen, first = set[int](), last + 1
        with reading(folder) as record:
            agents = {row.agent: row.name for row in map(AgentRow._make, record.rows(_AGENTS))}
            numbers = {agent: names.index(name) for agent, name in agents.items() if name in names}
            marks = ", ".join("?" * len(numbers))
            where = f"black in ({marks}) and white in ({marks})"
            rows = record.select(f"select * from games where {where} order by game", [*numbers] * 2)
            for pair, games in itertools.groupby(map(GameRow._make, rows), attrgetter("pair")):
                last = first + pair
                sides = [(numbers[game.black], numbers[game.white], game) for game in games]
                # A pair is the same whichever of its games comes first.
                same = hash(frozenset((b, w, g.opening, g.transcript) for b, w, g in sides))
                seen.add(same)
                for black, white, game in sides if same not in known else ():
                    new = game.game + 2 * first
                    row = game._replace(game=new, pair=last, black=black, white=white)
                    yield PlayedGame(row, None)
        known |= seen


def _tell(comparison: Comparison, console: Console) -> None:
    table = terminal_table(_RUNS)
    for column in table.columns[:3]:
        column.justify = "left"
    for label, folder, *row in (run.cells for run in comparison.runs):
        table.add_row(label, short_path(folder, console), *map(plain, row))
    console.print(table)
    if comparison.settings:
        header, settings = comparison.setting_table
        table = terminal_table(header)
        for column in table.columns:
            column.justify, column.no_wrap = "left", False
        for setting in settings:
            table.add_row(*map(plain, setting))
        console.print(table)
    if len(comparison.shared) > 1:
        table = terminal_table(_STANDINGS)
        for first, *rows in comparison.standing_rows:
            for row in (first, *(["", *row[1:]] for row in rows)):
                table.add_row(*map(plain, row))
            table.add_section()
        console.print(table)
    for sentence in comparison.sentences:
        console.print(plain(sentence))


def write_comparison(comparison: Comparison, output: Path | None, console: Console) -> None:
    """Write ``report.html`` and ``report.md`` that compare runs into a folder, made if need be;
    None for a new one beside the first run."""
    folder = output or new_folder(Path(comparison.runs[0].folder).parent / "comparison")
    if (folder / FILE).exists():
        raise ConfigError(f"{folder} is a run itself; --output names a folder of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror})") from error
    runs = [
        [label, link(path, quote(os.path.relpath(Path(path, "report.md"), folder))), *rest]
        for label, path, *rest in (run.cells for run in comparison.runs)
    ]
    header, settings = comparison.setting_table
    write_report(
        "comparison",
        folder,
        title=" and ".join(dict.fromkeys(run.name for run in comparison.runs)),
        lead=comparison.sentences,
        run_columns=_RUNS,
        runs=runs,
        setting_columns=header,
        settings=settings,
        columns=_STANDINGS,
        rows=[row for rows in comparison.standing_rows for row in rows],
        command=f"othello-lab report {shlex.join(run.folder for run in comparison.runs)}",
    )
    console.print(plain(f"report  {folder / 'report.html'}"), soft_wrap=True)
