"""``othello-lab verify``: what holds of a job, what differs, and what could not be checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from othello_lab.agents.loading import only
from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.cli import seconds as positive_seconds
from othello_lab.core.system.escaping import plain
from othello_lab.experiments.jobs.kinds import check_single, kind_of
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.experiments.results.verify.run_check import CHECKS, Checked, Verification
from othello_lab.experiments.results.verify.study_check import StudyVerification
from othello_lab.experiments.studies.kind import StudyKind

_SHOWN = 20  # findings of a check that are shown


def _parser() -> Parser:
    parser = Parser(
        prog="othello-lab verify",
        description="Check a run's record by the rules, by its schedule and by playing games "
        "again, and all other files by writing them anew. Of a sweep, study or training: its runs, "
        "its pieces by doing them again, and its files. Exit code 1: something differs.",
    )
    parser.add_argument("folder", type=Path, help="the folder, results/NAME/DATE")
    help_text = "number of games to play again, regardless of the time (default: until time is up)"
    parser.add_argument("--games", type=whole_number(0), help=help_text)
    parser.add_argument("--seconds", type=positive_seconds, default=30.0, help="for that (30)")
    parser.add_argument("--seed", type=whole_number(0), default=1, help="of their choice (1)")
    help_text = "follow games by the plain rules, and play by the searches' twins in plain Python"
    parser.add_argument("--independent", action="store_true", help=help_text)
    help_text = "run what the record names from outside the lab too, with your rights"
    parser.add_argument("--trust", action="store_true", help=help_text)
    return parser


def verify_command(arguments: Sequence[str], console: Console) -> int:
    """``verify``: 0 where all that was checked holds, 1 where something differs; ConfigError."""
    options = vars(_parser().parse_args(arguments))
    folder = options.pop("folder")
    kind = kind_of(folder)
    if isinstance(kind, StudyKind):
        with reading(folder, kind.word) as record, only(None if options["trust"] else ()):
            verification: Checked = StudyVerification(record, kind.maker(), **options)
    else:
        check_single(folder)
        with reading(folder) as record:
            verification = Verification(record, **options)
    table, lines = terminal_table(), [f"not checked: {said}" for said in verification.unchecked]
    for heading in ("check", "holds", "of", "what"):
        table.add_column(heading, overflow="fold")
    for name in verification.checks:
        findings, extent = verification.wrong[name], verification.extents.get(name, "")
        holds = plain("yes" * bool(extent))
        if findings:
            holds = plain(f"{len(findings):,} wrong", "bold red")
        table.add_row(plain(name), holds, plain(extent), plain(CHECKS[name]))
        lines += [f"{name}: {said}" for said in findings[:_SHOWN]]
        lines += [f"{name}: and {len(findings) - _SHOWN:,} more"] * (len(findings) > _SHOWN)
    wrong = sum(map(len, verification.wrong.values()))
    verdict = f"{wrong:,} thing{'s' * (wrong > 1)} wrong" if wrong else "all that was checked holds"
    console.print(table)
    for line in (*lines, f"{folder}: {verdict}; {verification.power}"):
        console.print(plain(line), soft_wrap=True)
    return 1 if wrong else 0
