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

from othello_lab.agents.config import ConfigError
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.json_output import print_json, rows_of
from othello_lab.experiments.config import typed
from othello_lab.experiments.jobs.kinds import check_single, state_of
from othello_lab.experiments.record.folder import new_folder
from othello_lab.experiments.record.provenance import differences
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import FILE, AgentRow, GameRow, JobRow, PlayedGame, Record
from othello_lab.experiments.report.elo_lead import elo_lead
from othello_lab.experiments.report.markdown import link, write_report
from othello_lab.experiments.report.standings import rated_as_asked, rated_parts, standings
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
_HEAD = [name for name in JobRow._fields if name != "wall_seconds"]
_BATCH = 10_000  # games copied at a time


@dataclass(frozen=True)
class ComparedRun:
    """One of the runs.

    folder: its folder. head: the row of ``run``. games, openings: their numbers. state: see
    :func:`experiments.jobs.kinds.state_of`. among: the standings of the games among the agents that
    all runs have, their mean at 0 Elo; empty if there are fewer than two.
    """

    folder: Path
    head: dict[str, Any]
    games: int
    openings: int
    state: str
    among: pd.DataFrame


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
    def labels(self) -> list[str]:
        """Short names of the runs: A, B, ... Z, R27, ..."""
        return [chr(ord("A") + n) if n < 26 else f"R{n + 1}" for n in range(len(self.runs))]


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
    found = compare(options.folder)
    if options.json:
        print_json(_as_data(found))
    else:
        _tell(found, console)
    return 0


def compare(folders: Sequence[Path]) -> Comparison:
    """Compare runs; ConfigError where a folder has none, or none with games, or is named twice."""
    if len(folders) < 2:
        raise ConfigError("two runs or more are needed to compare")
    places = [folder.resolve() for folder in folders]
    for number, folder in enumerate(folders):
        check_single(folder)
        if places[number] in places[:number]:
            raise ConfigError(f"{folder} is named twice")
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
    runs = [
        ComparedRun(folder, head, *size, _standings(folder, shared))
        for folder, head, size in zip(folders, heads, sizes, strict=True)
    ]
    settings = _different([head["config"] for head in heads], shared)
    versions = sorted(
        {each for head in heads for each in differences(heads[0]["versions"], head["versions"])}
    )
    if why := _why_apart(heads, shared, settings, versions):
        return Comparison(runs, shared, settings, versions, why)
    games = sum(int(run.among["games"].sum()) for run in runs) // 2
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
    """Return the standings of a run's games among some agents, their mean at 0 Elo, otherwise as in
    its own report."""
    if len(names) < 2:
        import pandas as pd

        return pd.DataFrame({"agent": []})
    with pooled_record([folder], names) as record:
        settings = typed(record.head()["config"])
        settings.rating.anchor = None
        return standings(record, rated_as_asked(record, settings))


# ---------------------------------------------------------------------- the conditions


def _different(configs: Sequence[Mapping[str, Any]], shared: Sequence[str]) -> dict[str, list[str]]:
    """Return the settings that differ between runs, by key; a dash if a run has none of that name.
    Of the agents that not all runs have (all but ``shared``) only the names are listed."""
    flat = []
    for config in configs:
        agents = {name: each for name, each in config["agents"].items() if name in shared}
        others = [name for name in config["agents"] if name not in shared]
        asked = {key: value for key, value in config.items() if key not in _OWN}
        named = {_OTHERS: ", ".join(others)} if others else {}
        flat.append(dict(_flat(asked | {"agents": agents})) | named)
    keys = dict.fromkeys(key for each in flat for key in each)
    found = {key: [each.get(key, "-") for each in flat] for key in keys}
    return {key: values for key, values in found.items() if len(set(values)) > 1}


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
    """Why runs are no one experiment, "" if they are: if they differ in nothing that the games
    among the agents they share depend on."""
    if len(shared) < 2:
        return "they have fewer than two agents of the same name"
    may_differ = (_OTHERS, *_MORE_OF_THE_SAME)
    differ = [key for key in settings if key.partition(".")[0] not in may_differ]
    if differ:
        return f"they differ in {', '.join(differ[:_FEW])}{' ...' * (len(differ) > _FEW)}"
    if versions:
        return "they were played by other versions"
    if any(map(_goes_by_results, heads)):
        return "who met in them, or for how long, went by results, which would bias a pool"
    return ""


def _goes_by_results(head: Mapping[str, Any]) -> bool:
    """Return True if pairings or the length of a run depended on results, so that pooling would be
    biased."""
    target = str(head["config"].get("schedule", {}).get("_target_", ""))
    return target.rpartition(".")[2] not in ("RoundRobin", "Gauntlet")


# ---------------------------------------------------------------------- the games


@contextmanager
def pooled_record(folders: Sequence[Path], names: Sequence[str]) -> Iterator[Record]:
    """Yield a temporary record of the games of several runs among some agents. Pairs that an
    earlier run has, move for move, are left out. Its head and agents are the first run's."""
    with tempfile.TemporaryDirectory() as folder, Record.create(Path(folder) / FILE) as made:
        with made.transaction():
            first, known = 0, set[int]()
            for number, place in enumerate(folders):
                with reading(place) as record:
                    if number == 0:
                        _copy_head(record, made, names)
                    first += _copy(record, made, names, first, known)
        yield made


def _copy_head(record: Record, made: Record, names: Sequence[str]) -> None:
    head = record.head()
    made.write_row("job", {key: head[key] for key in _HEAD})
    about = {row.name: row for row in record.agents().itertuples()}
    made.write_agents(
        AgentRow(number, *(getattr(about[name], key) for key in AgentRow._fields[1:]))
        for number, name in enumerate(names)
    )


def _copy(record: Record, made: Record, names: Sequence[str], first: int, known: set[int]) -> int:
    """Copy the games among some agents, as pairs from number ``first`` on; return an upper bound of
    the number of pairs. known: identities of pairs of earlier runs, left out here; new ones are
    added."""
    agents = {int(row.agent): row.name for row in record.agents().itertuples()}
    numbers = {agent: names.index(name) for agent, name in agents.items() if name in names}
    marks = ", ".join("?" * len(numbers))
    rows = record.each(
        f"select * from games where black in ({marks}) and white in ({marks}) order by game",
        [*numbers, *numbers],
    )
    own, last = set[int](), -1

    def new() -> Iterator[PlayedGame]:
        nonlocal last
        for pair, games in itertools.groupby(map(GameRow._make, rows), attrgetter("pair")):
            copied = [
                game._replace(
                    game=game.game + 2 * first,
                    pair=game.pair + first,
                    black=numbers[game.black],
                    white=numbers[game.white],
                )
                for game in games
            ]
            last = max(last, pair)
            # A pair is the same whichever of its games comes first.
            same = hash(frozenset((g.black, g.white, g.opening, g.transcript) for g in copied))
            own.add(same)
            if same not in known:
                yield from (PlayedGame(game, None) for game in copied)

    games = new()
    while batch := list(itertools.islice(games, _BATCH)):
        made.write_games(batch)
    known |= own
    return last + 1


# ---------------------------------------------------------------------- telling


def _run_rows(found: Comparison) -> list[list[str]]:
    return [
        [
            label,
            str(run.folder),
            str(run.head["started"]).replace("T", " "),
            f"{run.games:,}",
            f"{run.openings:,}",
            str(run.head["seed"]),
            run.state,
        ]
        for label, run in zip(found.labels, found.runs, strict=True)
    ]


_RUNS = ("run", "folder", "started", "games", "openings", "seed", "state")


def _standing_rows(found: Comparison) -> list[list[list[str]]]:
    """Yield a row for each agent that all runs have: its numbers in each run, and in all of
    them."""
    tables = [(label, run.among) for label, run in zip(found.labels, found.runs, strict=True)]
    if found.pooled is not None:
        tables.append((POOLED, found.pooled))
    columns = {name: COLUMNS[name] for name in _SHOWN}
    order = found.pooled if found.pooled is not None else found.runs[0].among
    groups = []
    for name in order["agent"]:
        rows = []
        for label, table in tables:
            own = table[table["agent"] == name]
            rows += [[name, label, *row] for row in cells(columns, own)]
        groups.append(rows)
    return groups


def _sentences(found: Comparison) -> list[str]:
    """Return the sentences of the comparison."""
    said = []
    if found.pooled is not None:
        games, different = found.games
        same = f", {games - different:,} of which repeat others" if different < games else ""
        said.append(f"Pooled, as they are one experiment: {counted(games, 'game')}{same}.")
        if found.finding:
            said.append(f"In all: {found.finding}")
    else:
        said.append(f"Not pooled: {found.apart}.")
    order = found.runs[0].among if found.pooled is None else found.pooled
    if len(order) and (note := order_note(order)):
        said.append(note)
    if found.versions:
        said.append(f"Versions differ: {'; '.join(found.versions)}.")
    return said


def _tell(found: Comparison, console: Console) -> None:
    table = terminal_table(_RUNS)
    for column in table.columns[:3]:
        column.justify = "left"
    for label, folder, *row in _run_rows(found):
        table.add_row(label, short_path(folder, console), *map(plain, row))
    console.print(table)
    if found.settings:
        table = terminal_table(["setting", *found.labels])
        for column in table.columns:
            column.justify, column.no_wrap = "left", False
        for key, values in found.settings.items():
            table.add_row(*map(plain, (key, *values)))
        console.print(table)
    if len(found.shared) > 1:
        table = terminal_table(["agent", "run", *_SHOWN])
        for rows in _standing_rows(found):
            for place, row in enumerate(rows):
                table.add_row(*map(plain, ["" if place else row[0], *row[1:]]))
            table.add_section()
        console.print(table)
    for sentence in _sentences(found):
        console.print(plain(sentence))


def write_comparison(found: Comparison, output: Path | None, console: Console) -> None:
    """Write ``report.html`` and ``report.md`` that compare runs into a folder, made if need be;
    None for a new one beside the first run."""
    folder = output or new_folder(found.runs[0].folder.parent / "comparison")
    if (folder / FILE).exists():
        raise ConfigError(f"{folder} is a run itself; --output names a folder of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror})") from error
    runs = [
        [label, link(path, quote(os.path.relpath(Path(path, "report.md"), folder))), *rest]
        for label, path, *rest in _run_rows(found)
    ]
    write_report(
        "comparison",
        folder,
        title=" and ".join(dict.fromkeys(str(run.head["name"]) for run in found.runs)),
        lead=_sentences(found),
        run_columns=_RUNS,
        runs=runs,
        setting_columns=["setting", *found.labels],
        settings=[[key, *values] for key, values in found.settings.items()],
        columns=["agent", "run", *_SHOWN],
        rows=[row for rows in _standing_rows(found) for row in rows],
        command=f"othello-lab report {shlex.join(str(run.folder) for run in found.runs)}",
    )
    console.print(plain(f"report  {folder / 'report.html'}"), soft_wrap=True)


def _as_data(found: Comparison) -> dict[str, Any]:
    return {
        "runs": [
            {
                "label": label,
                "folder": str(run.folder),
                "name": run.head["name"],
                "started": run.head["started"],
                "seed": run.head["seed"],
                "games": run.games,
                "openings": run.openings,
                "state": run.state,
                "standings": rows_of(run.among),
            }
            for label, run in zip(found.labels, found.runs, strict=True)
        ],
        "shared": found.shared,
        "settings": found.settings,
        "versions": found.versions,
        "pooled": None if found.pooled is None else rows_of(found.pooled),
        "findings": _sentences(found),
    }
