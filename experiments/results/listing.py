"""``list``: all runs, sweeps and studies under a folder of results."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.escaping import plain, visible
from othello_lab.experiments.record.reading import DAMAGES, not_begun, reading
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.experiments.results.data import print_json, state_of
from othello_lab.experiments.studies.record import StudyRecord, kind_of
from othello_lab.experiments.sweep.folder import Sweep, is_sweep
from othello_lab.training.folder import about_of, is_selfplay

RESULTS = Path("results")
_LONGEST = 60  # characters of what is wrong with a run


@dataclass(frozen=True)
class Found:
    """What is in a folder of results.

    folder: where it is. kind: run, sweep, study or selfplay. name: of the experiment. started: date
    and time, "" where that is not known. agents: how many. games: how many were played. leader:
    who scored most, with the share of points in percent; of a sweep nobody. state: what has become
    of it, or what is wrong with it.
    """

    folder: str
    kind: str
    name: str
    started: str
    agents: int | None
    games: int | None
    leader: str
    score: float | None
    state: str


def list_command(arguments: Sequence[str], console: Console) -> int:
    """Print all that is under a folder, the latest first."""
    parser = Parser(
        prog="othello-lab list",
        description="All runs and sweeps under a folder, the latest first: what, when, how many "
        "games, who leads by points, and whether it is complete. What cannot be read is told.",
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", default=RESULTS, help=f"(default: {RESULTS})"
    )
    parser.add_argument("--last", type=whole_number(1), metavar="N", help="only the N latest")
    parser.add_argument("--json", action="store_true", help="for a program to read")
    options = parser.parse_args(arguments)
    if options.folder.is_file():
        raise ConfigError(f"{options.folder} is a file; a folder of results is needed")
    if not options.folder.is_dir():
        raise ConfigError(f"{options.folder}: there is no such folder")
    places = sorted(places_below(options.folder), key=_age)
    found = [look_into(folder) for folder in places[: options.last]]
    if options.json:
        print_json([asdict(each) for each in found])
        return 0
    if not found:
        console.print(plain(f"{options.folder}: no run is here yet"))
        return 0
    table = terminal_table(["folder", "agents", "games", "leader", "score %", "state"])
    for number in (0, 3, 5):
        table.columns[number].justify = "left"
    table.columns[0].no_wrap = table.columns[5].no_wrap = False
    table.columns[0].overflow = "fold"
    for each in found:
        cells = (each.folder, each.agents, each.games, each.leader, each.score, each.state)
        table.add_row(*map(plain, map(_cell, cells)))
    console.print(table)
    return 0


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _age(folder: Path) -> tuple[str, str]:
    """Sorts the latest first: folders are named by date and time."""
    inverted = "".join(chr(0x10FFFF - ord(letter)) for letter in folder.name)
    return inverted, str(folder)


def places_below(folder: Path) -> Iterator[Path]:
    """The folders of runs, sweeps and studies in a folder, however deep; the runs that belong to a
    sweep or study left out."""
    for path, inside, files in os.walk(folder):
        if FILE in files or _kind(path) != "run":
            inside.clear()
            yield Path(path)


def _kind(folder: Path | str) -> str:
    """What a folder is of: ``run`` where it is of nothing else."""
    if made := kind_of(folder):
        return made.word
    kinds = {"sweep": is_sweep, "selfplay": is_selfplay}
    return next((kind for kind, is_it in kinds.items() if is_it(folder)), "run")


def look_into(folder: Path) -> Found:
    """What is in a folder of results; never raises what the folder is to blame for."""
    kind = _kind(folder)
    readers = {"sweep": _sweep, "selfplay": _selfplay, "run": _run}
    try:
        return readers.get(kind, _study)(folder)
    except (ConfigError, OSError, *DAMAGES) as error:
        said = one_line(error).removeprefix(str(folder)).lstrip(":/ ")
        short = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."
        return Found(
            str(folder), kind, folder.parent.name, "", None, None, "", None, visible(short)
        )


def _run(folder: Path) -> Found:
    if not_begun(folder):
        state = "starting" if state_of(folder, False) == "being played" else "not begun"
        return Found(str(folder), "run", folder.parent.name, "", None, None, "", None, state)
    with reading(folder) as record:
        head = record.run()
        results = record.results()
        leader, score = _leader(record, results) if results else ("", None)
        return Found(
            folder=str(folder),
            kind="run",
            name=str(head["name"]),
            started=str(head["started"]),
            agents=len(record.agents()),
            games=sum(count for *_, count in results),
            leader=leader,
            score=score,
            state=state_of(folder, bool(head["complete"])),
        )


def _leader(record: Record, results: Sequence[tuple[int, int, str, int]]) -> tuple[str, float]:
    """Who has the most points for its games, and how many of a hundred; results: of
    :meth:`~experiments.record.store.Record.results`, some."""
    points, games = Counter[int](), Counter[int]()
    for black, white, result, count in results:
        for agent, color in ((black, "black"), (white, "white")):
            games[agent] += count
            points[agent] += 2 * count * (result == color) + count * (result == "draw")
    scores = {agent: 50 * points[agent] / games[agent] for agent in sorted(games)}
    best = max(scores, key=lambda agent: scores[agent])
    if sum(score == scores[best] for score in scores.values()) > 1:
        return "(shared)", scores[best]
    return str(record.agents()["name"][best]), scores[best]


def _study(folder: Path) -> Found:
    with StudyRecord.open(folder) as record:
        about = record.study()
    state = state_of(folder, bool(about["complete"]))
    return Found(
        folder=str(folder),
        kind=record.kind.word,
        name=str(about["name"]),
        started=str(about["started"]),
        agents=len(about["config"].get("agents") or ()) or None,
        games=None,
        leader="",
        score=None,
        state=f"{record.kind.word} {about['name']}, {state}",
    )


def _selfplay(folder: Path) -> Found:
    about = about_of(folder)
    state = state_of(folder, bool(about["complete"]))
    return Found(
        folder=str(folder),
        kind="selfplay",
        name=str(about["name"]),
        started=str(about["started"]),
        agents=len(about["config"]["agents"]) if not about["config"]["data"]["read"] else None,
        games=about.get("games"),
        leader="",
        score=None,
        state=f"positions, {state}",
    )


def _sweep(folder: Path) -> Found:
    known = Sweep.read(folder).combinations()
    games, agents, started = 0, 0, ""
    for each in known:
        if each.has_games:
            with Record.open(each.folder) as record:
                games += record.count_games()
                agents = max(agents, len(record.agents()))
                started = min(filter(None, (started, str(record.run()["started"]))))
    counts = Counter(str(each.state) for each in known)
    playing = state_of(folder, complete=False) == "being played"
    state = ", ".join(f"{count} {state}" for state, count in counts.items())
    return Found(
        folder=str(folder),
        kind="sweep",
        name=folder.parent.name,
        started=started,
        agents=agents or None,
        games=games,
        leader="",
        score=None,
        state=f"sweep, {'being played, ' if playing else ''}{state or 'not begun'}",
    )
