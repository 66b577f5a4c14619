"""``report`` and ``show``: what came out of a run or a sweep, from its record alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import counted, plain
from othello_lab.experiments.config import FIGURES
from othello_lab.experiments.playing.trust import check_trusted
from othello_lab.experiments.record.reading import damage_told, reading
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.findings import Findings, findings
from othello_lab.experiments.report.rebuilt import recorded_plan
from othello_lab.experiments.report.report import tell, write
from othello_lab.experiments.results.data import print_json, rows_of, state_of
from othello_lab.experiments.studies.record import TRAINING, StudyRecord, is_study, kind_of
from othello_lab.experiments.sweep.folder import Sweep, is_sweep
from othello_lab.training.data import Positions
from othello_lab.training.folder import about_of, is_selfplay, refuse_selfplay
from othello_lab.training.selfplay import stages, summary


def report_command(arguments: Sequence[str], console: Console) -> int:
    """Write the report of a run or sweep anew, or one that compares several runs."""
    parser = Parser(
        prog="othello-lab report",
        description="Write report.html, report.md and the figures of a run, a sweep, or a complete "
        "study anew from its record alone. Of several runs: one report that compares them, in "
        "--output. Agents from outside the lab are not run for that, unless with --trust; without "
        "it the report leaves out what would have to be searched again with them.",
    )
    parser.add_argument("folder", type=Path, nargs="+", help="results/NAME/DATE")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="for the comparison of several (default: a new one beside the first, comparison)",
    )
    parser.add_argument(
        "--figures",
        choices=FIGURES,
        help="of a run: where to draw them (default: as the run was asked to)",
    )
    _add_trust(parser)
    options = parser.parse_args(arguments)
    if len(options.folder) > 1:
        from othello_lab.experiments.results.compare import compare, write_comparison

        found = compare(options.folder)
        write_comparison(found, options.output, console)
        return 0
    if options.output:
        raise ConfigError("--output is for the comparison of several runs")
    (folder,) = options.folder
    if is_sweep(folder):
        _report_sweep(folder, console)
        return 0
    if is_study(folder):
        _report_study(folder, console, options.trust)
        return 0
    with facts_of(folder, console, options.trust) as facts:
        if options.figures is not None:
            facts.plan.settings.figures = options.figures
        try:
            write(facts, findings(facts), folder, console)
        except OSError as error:
            raise ConfigError(f"{folder}: cannot be written ({one_line(error)})") from error
    return 0


def show_command(arguments: Sequence[str], console: Console) -> int:
    """Print what came out of a run, or of a sweep."""
    parser = Parser(
        prog="othello-lab show",
        description="Print the standings of a run, or the runs of a sweep, and what there is to "
        "say of them. Nothing is written, and a run in progress is not disturbed.",
    )
    parser.add_argument("folder", type=Path, help="results/NAME/DATE")
    parser.add_argument("--json", action="store_true", help="for a program to read")
    _add_trust(parser)
    options = parser.parse_args(arguments)
    if is_sweep(options.folder):
        _show_sweep(options.folder, console, options.json)
        return 0
    if is_selfplay(options.folder):
        _show_selfplay(options.folder, console, options.json)
        return 0
    if is_study(options.folder) and options.json:
        print_json(_study_data(options.folder))
        return 0
    with facts_of(options.folder, console, options.trust) as facts:
        said = findings(facts)
        if options.json:
            print_json(_as_data(options.folder, facts, said))
            return 0
        head = facts.record.run()
        state = state_of(facts.record.path.parent, bool(head["complete"]))
        games = counted(facts.record.count_games(), "game")
        when = str(head["started"]).replace("T", " ")
        console.print(plain(f"{head['name']}, {when}: {games}, {state}"))
        tell(facts, said, console)
    return 0


def _show_selfplay(folder: Path, console: Console, as_json: bool) -> None:
    about = about_of(folder)
    if as_json:
        print_json(about)
        return
    found, state = Positions.read(folder), state_of(folder, bool(about["complete"]))
    console.print(plain(f"{about['name']}, {about['started'].replace('T', ' ')}: {state}"))
    for line in summary(found, about):
        console.print(plain(line), soft_wrap=True)
    console.print(stages(found))


def _add_trust(parser: Parser) -> None:
    parser.add_argument(
        "--trust", action="store_true", help="run what the record names from outside the lab"
    )


@contextmanager
def facts_of(folder: Path, console: Console, trust: bool = False) -> Iterator[RunFacts]:
    """The facts of the run in a folder, from its record; ConfigError where there is no game."""
    if kind := kind_of(folder):
        raise ConfigError(f"{folder} is a {kind.word}: what it found is in {folder / 'report.md'}")
    refuse_selfplay(folder)
    with reading(folder) as record:
        trusted = partial(check_trusted, folder, trust=trust, console=console)
        plan = recorded_plan(record, trusted, trust)
        if not record.count_games():
            raise ConfigError(f"{folder}: no game of this run has ended yet")
        yield RunFacts(record, plan)


# ---------------------------------------------------------------------- sweeps and studies


def _sweep(folder: Path) -> tuple[list[Any], Mapping[str, Mapping[int, Any]]]:
    """The combinations of a sweep, and what varies; ConfigError where none has games."""
    asked = Sweep.read(folder)
    with damage_told(folder):
        known = asked.combinations()
    if not any(each.has_games for each in known):
        raise ConfigError(f"{folder}: no run of this sweep has any games yet")
    return known, asked.varied(known)


def _report_sweep(folder: Path, console: Console) -> None:
    from othello_lab.experiments.sweep.reporting import conclude

    known, values = _sweep(folder)
    with damage_told(folder):
        conclude(folder, known, values, console)


def _report_study(folder: Path, console: Console, trust: bool) -> None:
    from othello_lab.experiments.studies import running as studies
    from othello_lab.training import several as trainings

    with StudyRecord.open(folder) as record:
        complete, kind = record.study()["complete"], record.kind
    if not complete:
        raise ConfigError(
            f"{folder}: this {kind.word} is not complete; resume writes its report too"
        )
    resume = trainings.resume if kind == TRAINING else studies.resume
    # Nothing is left to do, so that other versions than its own change no number.
    resume(folder, as_typed(["report", str(folder)]), console, force=True, trust=trust)


def _show_sweep(folder: Path, console: Console, as_json: bool) -> None:
    from othello_lab.experiments.sweep.reporting import sweep_table
    from othello_lab.experiments.sweep.results import table_of

    known, values = _sweep(folder)
    with damage_told(folder):
        table = table_of(known, values)
    if as_json:
        print_json({"folder": str(folder), "kind": "sweep", "runs": rows_of(table)})
    else:
        console.print(sweep_table(table, values))


# ---------------------------------------------------------------------- for programs


def _study_data(folder: Path) -> dict[str, Any]:
    """A study's record: what it is, and all rows of its tables."""
    with StudyRecord.open(folder) as record:
        head, tables = record.study(), record.tables()
    return {
        "folder": str(folder),
        "kind": record.kind.word,
        "state": state_of(folder, bool(head["complete"])),
        **{key: head[key] for key in ("name", "command", "started")},
        "tables": {name: rows_of(table) for name, table in tables.items()},
        "settings": head["config"],
        "versions": head["versions"],
        "machine": head["machine"],
    }


def _as_data(folder: Path, facts: RunFacts, said: Findings) -> dict[str, Any]:
    head = facts.record.run()
    return {
        "folder": str(folder),
        "kind": "run",
        "state": state_of(facts.record.path.parent, bool(head["complete"])),
        **{key: head[key] for key in ("name", "command", "started", "seed", "ruleset")},
        "games": facts.record.count_games(),
        "openings": facts.openings,
        "findings": said.sentences,
        "standings": rows_of(facts.standings),
        "matches": rows_of(facts.matches),
        "settings": head["config"],
        "versions": head["versions"],
        "machine": head["machine"],
    }
